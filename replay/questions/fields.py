"""What doors say of the fields of a question, and how they read its class.

Commands that ask no question declare their options in the same way, in their signatures.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from enum import Flag, auto
from functools import cache
from pathlib import Path
from types import MappingProxyType, NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from .defaults import DEFAULT_RELEASE

if TYPE_CHECKING:
    import msgspec

Names: TypeAlias = str | Sequence[str]
"""One name, or several."""


def several(names: Names) -> list[str]:
    """Return names as a list; a single one need not be in one."""
    return [names] if isinstance(names, str) else list(names)


class Door(Flag):
    """A door of a question; doors that do not have a field give it a value by themselves."""

    COMMAND = auto()
    PYTHON = auto()
    API = auto()


LOCAL = Door.COMMAND | Door.PYTHON
ALL = LOCAL | Door.API


class Field(NamedTuple):
    """What doors say of a field of a question.

    :param help: one sentence for people. :param metavar: what stands for its value in help.
    :param short: a letter, if its option has one. :param name: of its option, and of its parameter
        in the JSON API and for agents, if it is another than in Python.
    :param only: the doors that have it.
    :param is_argument: commands take it without a name, although it may be left out.
    :param choices: all its values. :param least: and ``most``: the bounds of a number.
    :param begins: a range begins there: the command takes the first moment of a log if it is later.
    :param in_words: commands take it as several words, too: ``KIND NAME``, and not ``KIND/NAME``.
    :param is_hidden: help does not show it. :param repeatable: the command takes several, of which
        :meth:`Question.of_command` makes another question.
    :param variable: of the environment, which the command reads if the option is not given.
    :param form: how its value is written, for doors that do not show ``metavar``; empty if ``help``
        says it. None is that of all moments for a moment, and nothing for another value.
    """

    help: str
    metavar: str = ""
    short: str = ""
    name: str = ""
    only: Door = ALL
    is_argument: bool = False
    choices: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None
    begins: bool = False
    in_words: bool = False
    repeatable: bool = False
    is_hidden: bool = False
    variable: str = ""
    form: str | None = None


REQUIRED: Any = inspect.Parameter.empty
"""Stands for the default of a field that must be given."""

NAMED_OBJECT = "KIND/NAME or KIND/NAMESPACE/NAME"
"""How an object is written."""

LAST_SESSION = Field("Only the last session opened by this moment.", "POINT")
UNTIL_SESSION = Field("Only sessions up to this point.", "POINT")
AT = Field(
    "The moment: @POSITION, rv:REVISION, an RFC 3339 time, -5m (before the end), session:N or end; "
    "with a branch: what-if@1042.",
    "POINT",
    form="",
)
SINCE = Field("From this point on.", "POINT")
UNTIL = Field("Up to this point.", "POINT")
BEFORE = Field("The first moment.", "A", begins=True)
AFTER = Field("The second moment; by default the end.", "[B]", is_argument=True)
NAMESPACE = Field("The namespace to look in.", "NAME", short="n")
RELEASE = Field("The release of Volcano, as in v1.12.1.", "RELEASE")
RELEASE_OF_IMAGE = Field(
    "The release of Volcano; by default that of the image of the scheduler's pods, if the log has "
    f"them, else {DEFAULT_RELEASE}.",
    "RELEASE",
)
CONF = Field("A volcano-scheduler.conf instead of the log's at the moment.", "FILE")
IGNORE = Field(
    "Leave out changes of this field and of all fields below it (* matches any); repeatable.",
    "PATH",
)
ASSUME = Field(
    "Replace an unknown release by the nearest one, and a configuration that a release rejects by "
    "its built-in one; without this, both are errors."
)
JOBS = Field(
    "Processes. With more than one, the program must be importable: guard its start with "
    '``if __name__ == "__main__":``.',
    only=Door.PYTHON,
)
PLOT = Field("Also draw it over time, in characters; only below text.", only=Door.COMMAND)
PROGRESS = Field("Called with (done, total).", only=Door.PYTHON)
STRICT = Field("Fail if the log does not know all that the question needs.")


class DeclaredField(NamedTuple):
    """A field of a question as its class declares it, or a parameter of a command's function.

    :param name: in Python. :param default: :data:`REQUIRED` if it must be given.
    :param is_argument: the command takes it without a name.
    :param of: the type of one value, as doors read it. :param many: it may have several values.
    """

    name: str
    about: Field
    default: Any
    is_argument: bool
    of: type = str
    many: bool = False

    @property
    def is_required(self) -> bool:
        """Whether it must be given."""
        return self.default is REQUIRED

    def has(self, door: Door) -> bool:
        """Return whether a door has it."""
        return door in self.about.only


@cache
def declared_fields(kind: type[msgspec.Struct]) -> Sequence[DeclaredField]:
    """Return the fields of a question in their order; those that must be given are the first.

    A field without a :class:`Field` is not asked: the question finds it when it is prepared.
    """
    import msgspec  # noqa: PLC0415 -- commands that ask no question do without it

    names, defaults = kind.__struct_fields__, kind.__struct_defaults__
    lacking = [msgspec.NODEFAULT] * (len(names) - len(defaults))
    values = {
        name: REQUIRED if default is msgspec.NODEFAULT else default
        for name, default in zip(names, [*lacking, *defaults], strict=True)
    }
    arguments = {name for name in kind.__match_args__ if values[name] is REQUIRED}
    declared = _declared_in(kind, values, arguments)
    # The sort is stable: else the order of the class stays.
    return sorted(declared, key=lambda field: not field.is_required)


def declared_parameters(function: Callable[..., object]) -> Sequence[DeclaredField]:
    """Return the parameters of a command that have a :class:`Field`.

    Those that the function takes by position are arguments.
    """
    parameters = inspect.signature(function).parameters.values()
    arguments = {
        parameter.name
        for parameter in parameters
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    }
    return list(
        _declared_in(
            function, {parameter.name: parameter.default for parameter in parameters}, arguments
        )
    )


class PointText(str):
    """Stands for the type of a point, which takes long to load."""

    __slots__ = ()


def _declared_in(
    owner: object, values: Mapping[str, Any], arguments: Collection[str]
) -> Iterator[DeclaredField]:
    """Yield what a class or a function declares, in its order.

    :param values: the defaults, by name. :param arguments: what commands take without a name.
    """
    hints = get_type_hints(owner, localns=_LATE, include_extras=True)
    for name, default in values.items():
        if get_origin(hints.get(name)) is Annotated:
            value, about = get_args(hints[name])
            is_argument = about.is_argument or name in arguments
            yield _declared(DeclaredField(name, about, default, is_argument), value)


def _declared(field: DeclaredField, value: Any) -> DeclaredField:
    """Return a field with the T of ``Annotated[T, Field]``: a plain type, a list, or either."""
    is_union = get_origin(value) in {Union, UnionType}
    kinds = [kind for kind in (get_args(value) if is_union else (value,)) if kind is not NoneType]
    if get_origin(kinds[0]) is Literal:
        return field._replace(about=field.about._replace(choices=get_args(kinds[0])))
    many = any(get_origin(kind) is not None for kind in kinds)
    # Of a union doors read text: what it stands for is found when the question is prepared.
    of = (get_args(kinds[0]) or kinds)[0] if len(kinds) == 1 else str
    return field._replace(many=many, of=of if of in _PLAIN else str)


_PLAIN = frozenset({bool, int, Path, PointText})
_LATE = MappingProxyType(
    {"Case": str, "Conf": str, "ObjectName": str, "Point": PointText, "Progress": object}
)
"""What stands for types whose modules take long to load, by the names that fields use."""
