"""What a question is: a record of what may be asked, and a function that answers it from a log.

The command line, the Python API, the JSON API and the tools for agents are made from the record:
its fields are their options and parameters, its docstring is their help. So an addition to a
question is made in one place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType, NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Generic,
    NamedTuple,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec

from .defaults import DEFAULT_RELEASE

if TYPE_CHECKING:
    from ..logs.log import Log, Progress
    from ..moments.unknown import Unknown
    from ..render.tables import Style, Table
    from ..truth.points import Point

A = TypeVar("A")


class Field(NamedTuple):
    """What doors say of a field of a question.

    :param help: one sentence for people. :param metavar: what stands for its value in help.
    :param short: a letter, if its option has one. :param name: of its parameter in the JSON API
        and for agents, if it is another than in Python. :param in_python: only Python has it, and
        other doors give it a value by themselves.
    """

    help: str
    metavar: str = ""
    short: str = ""
    name: str = ""
    in_python: bool = False


AT = Field(
    "The moment: @POSITION, rv:REVISION, an RFC 3339 time, -5m (before the end), session:N or end; "
    "with a branch: what-if@1042.",
    metavar="POINT",
)
NAMESPACE = Field("The namespace to look in.", metavar="NAME", short="n")
RELEASE = Field("The release of Volcano, as in v1.12.1.", metavar="RELEASE")
ASSUME = Field(
    "Replace an unknown release by the nearest one, and a configuration that a release rejects by "
    "its built-in one; without this, both are errors."
)
PROGRESS = Field("Called with (done, total).", in_python=True)
STRICT = Field("Fail if the log does not know all that the question needs.")


class DeclaredField(NamedTuple):
    """A field of a question as its class declares it.

    :param name: in Python. :param of: the type of one value, as doors read it. :param default:
        ``msgspec.NODEFAULT`` if it must be given. :param many: it may have several values.
    """

    name: str
    about: Field
    of: type
    default: Any
    many: bool

    @property
    def is_required(self) -> bool:
        """Whether it must be given; the command takes it without a name."""
        return self.default is msgspec.NODEFAULT


class Question(msgspec.Struct, Generic[A], frozen=True):
    """A question about a log: a class of it has the docstring that help shows.

    Its fields are annotated with a :class:`Field`. Class variables say the rest: ``command``, the
    words of its command; ``about``, what it asks in one sentence, for lists of questions;
    ``examples``, commands for the end of its help; ``is_long``, whether it may take more than half
    a second; ``work``, what progress counts; ``is_table``, whether people read its answers as a
    table, and not as lines; ``exit_code``, when the command exits with 1, if that can be asked for.
    """

    command: ClassVar[str]
    about: ClassVar[str]
    examples: ClassVar[Sequence[str]] = ()
    is_long: ClassVar[bool] = False
    work: ClassVar[str] = ""
    is_table: ClassVar[bool] = False
    exit_code: ClassVar[str] = ""

    def answer(self, log: Log) -> A:
        """Return the answer, of which doors write the document or the lines."""
        raise NotImplementedError

    def ask(self, log: Log) -> A:
        """Return the answer, as Python and the API ask for it."""
        return self.answer(log)

    def document(self, found: A) -> Mapping[str, Any]:
        """Return an answer as ``-o json`` prints it."""
        raise NotImplementedError

    def lines(self, found: A, style: Style) -> Iterator[str]:
        """Yield an answer for people."""
        raise NotImplementedError

    def table(self, found: A) -> Table:
        """Return an answer for people, of a question whose answers are tables."""
        raise NotImplementedError

    def nothing(self, found: A) -> str:
        """Return what is said in place of a table without rows."""
        raise NotImplementedError

    def notes(self, _found: A) -> Sequence[str]:
        """Return what is said beside an answer, on standard error."""
        return ()

    def differs(self, found: A) -> bool:
        """Return whether the command exits with 1, if it is asked to."""
        raise NotImplementedError


class QuestionOfMoment(Question[A], Generic[A], frozen=True, kw_only=True):
    """A question about a moment of a log; its answers have ``not_known``."""

    at: Annotated[Point, AT] = "end"
    strict: Annotated[bool, STRICT] = False

    def ask(self, log: Log) -> A:
        """Return the answer; a strict question takes no uncertain one.

        :raises NotKnown: it is strict, and the log lacks what it needs.
        """
        found = self.answer(log)
        if self.strict:
            from ..coverage.coverage import refuse  # noqa: PLC0415 -- seldom needed

            refuse(lacking(found))
        return found


class QuestionOfScheduler(QuestionOfMoment[A], Generic[A], frozen=True, kw_only=True):
    """A question about the scheduler at a moment: about its cache, or what its sessions decide."""

    release: Annotated[str, RELEASE] = DEFAULT_RELEASE
    assume: Annotated[bool, ASSUME] = False
    progress: Annotated[Progress | None, PROGRESS] = None

    def ask(self, log: Log) -> A:
        """Return the answer; a strict question needs complete lists of what the scheduler sees.

        :raises NotKnown: it is strict, and the log lacks one.
        :raises UsageError: its release is not known, and nothing may be assumed.
        """
        from ..coverage.coverage import SCHEDULING, refuse, unknown_at  # noqa: PLC0415
        from ..sessions.assumed import taken_release  # noqa: PLC0415

        release = taken_release(self.release, assume=self.assume).release
        moment = log.moment(self.at)
        if self.strict:
            refuse(unknown_at(log, moment, SCHEDULING))
        return msgspec.structs.replace(self, release=release, at=moment).answer(log)


class QuestionInNamespace(QuestionOfMoment[A], Generic[A], frozen=True, kw_only=True):
    """A question about an object at a moment of a log."""

    namespace: Annotated[str | None, NAMESPACE] = None


def lacking(found: object) -> Sequence[Unknown]:
    """Return what the log lacks that makes an answer uncertain."""
    unknown: Sequence[Unknown] = getattr(found, "not_known", ())
    return unknown


def declared_fields(kind: type[Question[Any]]) -> list[DeclaredField]:
    """Return the fields of a question in their order; those that must be given are the first."""
    hints = get_type_hints(kind, localns=_LATE, include_extras=True)
    names, defaults = kind.__struct_fields__, kind.__struct_defaults__
    lacking = [msgspec.NODEFAULT] * (len(names) - len(defaults))
    return [
        _declared(name, hints[name], default)
        for name, default in zip(names, [*lacking, *defaults], strict=True)
    ]


def _declared(name: str, hint: Any, default: Any) -> DeclaredField:
    """Read ``Annotated[T, Field]``: T is a plain type, a list of one, or either or None."""
    value, about = get_args(hint)
    is_union = get_origin(value) in {Union, UnionType}
    kinds = [kind for kind in (get_args(value) if is_union else (value,)) if kind is not NoneType]
    many = any(get_origin(kind) is not None for kind in kinds)
    of = next((kind for kind in kinds if kind in {bool, int}), str)
    return DeclaredField(name, about, of, default, many)


_LATE = MappingProxyType({"Point": str, "Progress": object})
"""What stands for types whose modules take long to load, by the names that fields use."""
