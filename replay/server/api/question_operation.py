"""The operation of the API that asks a question, made from its declaration."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ...questions.question import DeclaredField, Question, answer_to, declared_fields
from .operation import Asked, Operation
from .parameters import Kind, Parameter

_KINDS: Mapping[type, Kind] = MappingProxyType({bool: Kind.FLAG, int: Kind.NUMBER, str: Kind.TEXT})


def operation_of(kind: type[Question[Any]]) -> Operation:
    """Return the operation that asks a question of a log."""

    def ask(asked: Asked) -> Any:
        return answer_to(kind(**asked.keywords()), asked.log)

    name = kind.command.replace(" ", "-")
    return Operation(
        name=name,
        about=kind.about,
        method=f"Log.{name.replace('-', '_')}",
        command=tuple(kind.command.split()),
        ask=ask,
        takes=tuple(map(_parameter, declared_fields(kind))),
        long=kind.is_long,
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
