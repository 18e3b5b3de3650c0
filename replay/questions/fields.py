"""What doors say of the fields of a question, and how they read its class."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Flag, auto
from functools import cache
from types import MappingProxyType, NoneType, UnionType
from typing import (
    Annotated,
    Any,
    NamedTuple,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec

from .defaults import DEFAULT_RELEASE

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


LAST_SESSION = Field("Only the last session opened by this moment.", metavar="POINT")
UNTIL_SESSION = Field("Only sessions up to this point.", metavar="POINT")
AT = Field(
    "The moment: @POSITION, rv:REVISION, an RFC 3339 time, -5m (before the end), session:N or end; "
    "with a branch: what-if@1042.",
    metavar="POINT",
)
SINCE = Field("From this point on.", metavar="POINT")
UNTIL = Field("Up to this point.", metavar="POINT")
BEFORE = Field("The first moment.", metavar="A", begins=True)
AFTER = Field("The second moment; by default the end.", metavar="[B]", is_argument=True)
NAMESPACE = Field("The namespace to look in.", metavar="NAME", short="n")
RELEASE = Field("The release of Volcano, as in v1.12.1.", metavar="RELEASE")
RELEASE_OF_IMAGE = Field(
    "The release of Volcano; by default that of the image of the scheduler's pods, if the log has "
    f"them, else {DEFAULT_RELEASE}.",
    metavar="RELEASE",
)
CONF = Field("A volcano-scheduler.conf instead of the log's at the moment.", metavar="FILE")
IGNORE = Field(
    "Leave out changes of this field and of all fields below it (* matches any); repeatable.",
    metavar="PATH",
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
    """A field of a question as its class declares it.

    :param name: in Python. :param of: the type of one value, as doors read it. :param default:
        ``msgspec.NODEFAULT`` if it must be given. :param many: it may have several values.
    :param is_named: it must be given by name, even if it must be given.
    """

    name: str
    about: Field
    of: type
    default: Any
    many: bool
    is_named: bool

    @property
    def is_required(self) -> bool:
        """Whether it must be given."""
        return self.default is msgspec.NODEFAULT

    @property
    def is_argument(self) -> bool:
        """Whether the command takes it without a name."""
        return self.about.is_argument or (self.is_required and not self.is_named)

    def has(self, door: Door) -> bool:
        """Return whether a door has it."""
        return door in self.about.only


@cache
def declared_fields(kind: type[msgspec.Struct]) -> Sequence[DeclaredField]:
    """Return the fields of a question in their order; those that must be given are the first.

    A field without a :class:`Field` is not asked: the question finds it when it is prepared.
    """
    hints = get_type_hints(kind, localns=_LATE, include_extras=True)
    names, defaults = kind.__struct_fields__, kind.__struct_defaults__
    lacking = [msgspec.NODEFAULT] * (len(names) - len(defaults))
    found = [
        _declared(name, hints[name], default, is_named=name not in kind.__match_args__)
        for name, default in zip(names, [*lacking, *defaults], strict=True)
        if get_origin(hints[name]) is Annotated
    ]
    return tuple(sorted(found, key=lambda field: not field.is_required))


class PointText(str):
    """Stands for the type of a point, which takes long to load."""

    __slots__ = ()


def _declared(name: str, hint: Any, default: Any, *, is_named: bool) -> DeclaredField:
    """Read ``Annotated[T, Field]``: T is a plain type, a list of one, or either or None."""
    value, about = get_args(hint)
    is_union = get_origin(value) in {Union, UnionType}
    kinds = [kind for kind in (get_args(value) if is_union else (value,)) if kind is not NoneType]
    many = any(get_origin(kind) is not None for kind in kinds)
    of = kinds[0] if len(kinds) == 1 and kinds[0] in {bool, int, PointText} else str
    return DeclaredField(name, about, of, default, many, is_named)


_LATE = MappingProxyType({"Conf": str, "ObjectName": str, "Point": PointText, "Progress": object})
"""What stands for types whose modules take long to load, by the names that fields use."""
