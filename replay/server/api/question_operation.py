"""The operation of the API that asks a question, made from its declaration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from ...questions.fields import DeclaredField, Door, PointText, declared_fields
from ...questions.question import Question, QuestionOfRelease
from .operation import Operation, OperationRequest, in_words_of
from .parameters import Parameter, ParameterType
from .words import (
    ADD_NODE,
    BUDGET,
    CONF,
    FOR,
    LASTS,
    MANIFEST,
    POINT,
    RELEASES,
    TIME,
    TRY_CONF,
    TRY_RELEASE,
)

_KINDS: Mapping[type, ParameterType] = MappingProxyType(
    {bool: ParameterType.FLAG, int: ParameterType.NUMBER}
)

_OF_SESSIONS = frozenset({"assume", "strict"})
"""The parameters of all operations that run sessions, which need not name them."""

_OWN: Mapping[str, Parameter] = MappingProxyType(
    {
        parameter.keyword: parameter
        for parameter in (
            ADD_NODE,
            BUDGET,
            CONF,
            FOR,
            LASTS,
            MANIFEST,
            RELEASES,
            TRY_CONF,
            TRY_RELEASE,
        )
    }
)
"""Parameters whose values a request gives in another way than a command."""

_MOST: Mapping[str, int] = MappingProxyType({"count": 1_000, "sample": 100_000})
"""The most that a request may ask for, where a terminal may ask for more."""


def operation_of(kind: type[Question[Any]]) -> Operation:
    """Return the operation that asks a question of a log."""
    runs_sessions = issubclass(kind, QuestionOfRelease)
    fields = declared_fields(kind)
    has_progress = any(field.name == "progress" and field.has(Door.PYTHON) for field in fields)

    def ask(asked: OperationRequest) -> Any:
        progress = {"progress": asked.limit.progress} if has_progress else {}
        return kind(**asked.keywords(), **progress).ask(asked.log)

    takes = [_parameter(field) for field in fields if field.has(Door.API)]
    if runs_sessions:
        takes = [parameter for parameter in takes if parameter.name not in _OF_SESSIONS]
    # Such a question reports its progress, so its time can be bounded.
    if has_progress and BUDGET not in takes:
        takes.append(TIME)
    name = kind.name or kind.command
    defaults = {field.name: field.default for field in fields}
    return Operation(
        name=name,
        about=kind.about,
        guide=kind.guide,
        method=f"{'Log.' * kind.needs_log}{name.replace('-', '_')}",
        command=(*kind.command.split(), *kind.words),
        ask=ask,
        takes=tuple(_in_own_words(takes)),
        long=kind.is_long,
        runs_sessions=runs_sessions,
        reads_all=kind.reads_all,
        is_tool=kind.is_tool,
        takes_release=kind.takes_release,
        is_list=kind.is_list,
        is_whole=kind.point == "at" and defaults["at"] is None,
        names_inputs=kind.names_inputs,
        point=kind.point,
        default="end" if kind.reads_all or kind.point == "after" else "",
    )


def _parameter(field: DeclaredField) -> Parameter:
    about, name = field.about, field.about.name or field.name
    own = _OWN.get(field.name)
    if own is not None and own.many == field.many:
        return own
    return Parameter(
        name=name,
        about=_said(field),
        kind=_KINDS.get(field.of, ParameterType.TEXT),
        required=field.is_required,
        default=field.default if about.is_argument else None,
        many=field.many,
        choices=about.choices,
        least=about.least,
        most=_MOST.get(name, about.most),
        argument=field.name if name != field.name else "",
        option="" if field.is_argument else "--",
    )


def _said(field: DeclaredField) -> str:
    """Return what the API says of a field: its help, and how its value is written."""
    about, usual = field.about, POINT if field.of is PointText else ""
    if about.in_words:
        return f"{about.help.removesuffix('.')}, as in job/train or pod/ml/train-0."
    form = usual if about.form is None else about.form
    return f"{about.help} Write {form}." if form else about.help


def _in_own_words(takes: Sequence[Parameter]) -> Iterator[Parameter]:
    for parameter in takes:
        yield msgspec.structs.replace(parameter, about=in_words_of(takes, parameter.about))
