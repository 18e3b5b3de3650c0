"""The operation of the API that asks a question, made from its declaration."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ...questions.question import (
    DeclaredField,
    Question,
    QuestionOfScheduler,
    declared_fields,
)
from .operation import Asked, Operation
from .parameters import Kind, Parameter
from .words import TIME

_KINDS: Mapping[type, Kind] = MappingProxyType({bool: Kind.FLAG, int: Kind.NUMBER, str: Kind.TEXT})

_OF_SESSIONS = frozenset({"assume", "strict"})
"""The parameters of all operations that run sessions, which need not name them."""


def operation_of(kind: type[Question[Any]]) -> Operation:
    """Return the operation that asks a question of a log."""
    about_scheduler = issubclass(kind, QuestionOfScheduler)

    def ask(asked: Asked) -> Any:
        progress = {"progress": asked.limit.progress} if about_scheduler else {}
        return kind(**asked.keywords(), **progress).ask(asked.log)

    name = kind.command.replace(" ", "-")
    fields = [field for field in declared_fields(kind) if not field.about.in_python]
    takes = [_parameter(field) for field in fields]
    if about_scheduler:
        takes = [*(one for one in takes if one.name not in _OF_SESSIONS), TIME]
    return Operation(
        name=name,
        about=kind.about,
        method=f"Log.{name.replace('-', '_')}",
        command=tuple(kind.command.split()),
        ask=ask,
        takes=tuple(takes),
        long=kind.is_long,
        runs_sessions=about_scheduler,
    )


def _parameter(field: DeclaredField) -> Parameter:
    name = field.about.name or field.name
    return Parameter(
        name=name,
        about=field.about.help,
        kind=_KINDS[field.of],
        required=field.is_required,
        many=field.many,
        argument=field.name if name != field.name else "",
        option="" if field.is_required else "--",
    )
