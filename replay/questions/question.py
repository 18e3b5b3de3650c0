"""What a question is: a record of what may be asked, and a function that answers it from a log.

The command line, the Python API, the JSON API and the tools for agents are made from the record:
its fields are their options and parameters, its docstring is their help. So an addition to a
question is made in one place.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import Flag, auto
from types import MappingProxyType, NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Generic,
    NamedTuple,
    Self,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec

from .defaults import DEFAULT_RELEASE

if TYPE_CHECKING:
    from ...engine.errors import PlinianError
    from ...engine.kubernetes.resources import GroupKind
    from ..logs.given_confs import Conf
    from ..logs.log import Log, Progress
    from ..moments.moment import Moment
    from ..moments.unknown import Unknown
    from ..render.tables import Style, Table
    from ..review.review_records import Review
    from ..truth.points import Point

A = TypeVar("A")


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


ALL = Door.COMMAND | Door.PYTHON | Door.API


class Field(NamedTuple):
    """What doors say of a field of a question.

    :param help: one sentence for people. :param metavar: what stands for its value in help.
    :param short: a letter, if its option has one. :param name: of its option, and of its parameter
        in the JSON API and for agents, if it is another than in Python.
    :param only: the doors that have it.
    :param is_argument: commands take it without a name, although it may be left out.
    :param least: and ``most``: the bounds of a number.
    :param begins: a range begins there: the command takes the first moment of a log if it is later.
    :param in_words: commands take it as several words, too: ``KIND NAME``, and not ``KIND/NAME``.
    """

    help: str
    metavar: str = ""
    short: str = ""
    name: str = ""
    only: Door = ALL
    is_argument: bool = False
    least: int | None = None
    most: int | None = None
    begins: bool = False
    in_words: bool = False


AT = Field(
    "The moment: @POSITION, rv:REVISION, an RFC 3339 time, -5m (before the end), session:N or end; "
    "with a branch: what-if@1042.",
    metavar="POINT",
)
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


Remark = Callable[[str], None]


def unsaid(_text: str) -> None:
    """Drop a remark: only people at a terminal read them."""


class Question(msgspec.Struct, Generic[A], frozen=True):
    """A question about a log: a class of it has the docstring that help shows.

    Its fields are annotated with a :class:`Field`. Class variables say the rest: ``command``, the
    words of its command; ``name``, what Python and the API call it, if that is something else;
    ``about``, what it asks in one sentence, for lists of questions; ``in_terminal``, what only the
    help of the command says; ``examples``, commands for the end of its help; ``is_long``, whether
    it may take more than half a second; ``work``, what progress counts; ``is_table``, whether
    people read its answers as a table, and not as lines; ``forms``, how the command writes them, if
    they are no table; ``is_drawn``, whether it can also draw them; ``reads_inputs``, whether it can
    answer from files, without a log; ``exit_code``, when it exits with 1, if that can be asked for;
    ``reads_all``, what it finds by reading the whole log; ``is_tool``, whether agents are offered
    it; ``point``, the field whose moment it is about; ``at_end``, whether that is the end of the
    log if a request does not name it; ``names_inputs``, whether its sentences may name inputs.
    """

    command: ClassVar[str]
    name: ClassVar[str] = ""
    about: ClassVar[str]
    in_terminal: ClassVar[str] = ""
    examples: ClassVar[Sequence[str]] = ()
    is_long: ClassVar[bool] = False
    work: ClassVar[str] = ""
    is_table: ClassVar[bool] = False
    forms: ClassVar[str] = "text|wide|json|yaml"
    is_drawn: ClassVar[bool] = False
    reads_inputs: ClassVar[bool] = False
    exit_code: ClassVar[str] = ""
    reads_all: ClassVar[str] = ""
    is_tool: ClassVar[bool] = True
    point: ClassVar[str] = "at"
    at_end: ClassVar[bool] = False
    names_inputs: ClassVar[bool] = False

    @classmethod
    def of_command(cls, given: Mapping[str, Any]) -> Question[Any]:
        """Return the question that the options of its command ask, by their names."""
        return cls(**given)

    def prepared(self, _log: Log, _remark: Remark = unsaid) -> Self:
        """Return the question as the command asks it: with its moments, and what it takes of a log.

        :param remark: called with what people should know of that.
        """
        return self

    def answer(self, log: Log) -> A:
        """Return the answer, of which doors write the document or the lines."""
        raise NotImplementedError

    def ask(self, log: Log) -> A:
        """Return the answer, as Python and the API ask for it."""
        return self.answer(log)

    def document(self, found: A) -> Any:
        """Return what ``-o json`` prints of an answer: by default the answer."""
        return found

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

    def beside_document(self, _found: A) -> Sequence[str]:
        """Return what is said beside a document, because it has no place in one."""
        return ()

    def fault(self, _log: Log, _found: A) -> PlinianError | None:
        """Return what the command says in place of an answer that is none; it exits with 1."""
        return None

    def beside_lines(self, _found: A) -> Iterable[str]:
        """Return what is said after an answer for people, on standard error."""
        return ()

    def review(self, found: A) -> Review:
        """Return an answer for code review and pipelines."""
        raise NotImplementedError

    def code(self, _found: A, *, asked: bool) -> int:  # noqa: ARG002 -- for others
        """Return with which code the command exits. :param asked: ``--exit-code`` is given."""
        return 0


class QuestionOfMoment(Question[A], Generic[A], frozen=True, kw_only=True):
    """A question about a moment of a log; its answers have ``not_known``."""

    at: Annotated[Point, AT] = "end"
    strict: Annotated[bool, STRICT] = False

    def ask(self, log: Log) -> A:
        """Return the answer; a strict question takes no uncertain one.

        :raises NotKnown: it is strict, and the log lacks what it needs.
        """
        return self.strictly(self.answer(log))

    def strictly(self, found: A) -> A:
        """Return an answer, unless it is uncertain and the question strict.

        :raises NotKnown: it is.
        """
        if self.strict:
            from ..coverage.coverage import refuse  # noqa: PLC0415 -- seldom needed

            refuse(lacking(found))
        return found

    def kinds(self, _found: A) -> Collection[GroupKind] | None:
        """Return the kinds of objects that an answer rests on; None is all."""
        return None


class QuestionOfRelease(Question[A], Generic[A], frozen=True, kw_only=True):
    """A question whose answer depends on the release of Volcano."""

    strict: Annotated[bool, STRICT] = False
    assume: Annotated[bool, ASSUME] = False

    def ask(self, log: Log) -> A:
        """Return the answer; a strict question needs all that the scheduler sees.

        :raises NotKnown: it is strict, and the log lacks something.
        :raises UsageError: the release is not known, or rejects the configuration, and nothing may
            be assumed.
        """
        ready = self.prepared(log)
        if self.strict:
            moment, unknown = ready.moment(log), ready.unknown(log)
            check_known(log, moment, unknown, is_configured=not ready.needs_conf)
        return ready.answer(log)

    def moment(self, log: Log) -> Moment:
        """Return the moment at which the log must know what the answer needs."""
        raise NotImplementedError

    @property
    def named_releases(self) -> Sequence[str]:
        """Return the releases that it names, of which documents say what was assumed for them."""
        return ()

    @property
    def caches(self) -> Sequence[str]:
        """Return the releases whose cache at the moment answers it, once it is prepared."""
        return ()

    @property
    def needs_conf(self) -> bool:
        """Return whether sessions run with the configuration of the log."""
        return False

    def unknown(self, log: Log) -> Sequence[Unknown]:
        """Return what the answer needs and the log does not know."""
        from ..coverage.coverage import SCHEDULING, unknown_at  # noqa: PLC0415 -- seldom needed

        return unknown_at(log, self.moment(log), SCHEDULING)

    def remarks(self, _log: Log) -> Iterable[str]:
        """Return what else is said before the answer, on standard error."""
        return ()


class QuestionOfScheduler(QuestionOfRelease[A], Generic[A], frozen=True, kw_only=True):
    """A question about the scheduler at a moment: about its cache, or what its sessions decide."""

    at: Annotated[Point, AT] = "end"
    release: Annotated[str, RELEASE] = DEFAULT_RELEASE
    progress: Annotated[Progress | None, PROGRESS] = None

    def moment(self, log: Log) -> Moment:
        """Return the moment that it is about."""
        return log.moment(self.at)

    def prepared(self, log: Log, remark: Remark = unsaid) -> Self:
        """Return the question with its moment and a known release."""
        release = taken(self.release, remark, assume=self.assume)
        return msgspec.structs.replace(self, release=release, at=log.moment(self.at))

    @property
    def named_releases(self) -> Sequence[str]:
        """Return its release."""
        return (self.release,)

    @property
    def caches(self) -> Sequence[str]:
        """Return its release."""
        return (self.release,)


class QuestionOfSessions(QuestionOfRelease[A], Generic[A], frozen=True, kw_only=True):
    """A question that sessions answer: of the release that runs, with a given configuration."""

    at: Annotated[Point, AT] = "end"
    release: Annotated[str | None, RELEASE_OF_IMAGE] = None
    conf: Annotated[Conf | None, CONF] = None

    def moment(self, log: Log) -> Moment:
        """Return the moment that it is about."""
        return log.moment(self.at)

    def prepared(self, log: Log, remark: Remark = unsaid) -> Self:
        """Return the question with its moment, the release that runs, and a configuration."""
        from ..logs.scheduler_release import running_release  # noqa: PLC0415
        from ..sessions.assumed import accepted_conf  # noqa: PLC0415

        moment, release = log.moment(self.at), self.release
        running = None if release is not None else running_release(log, moment)
        if running is not None:
            release = running.release
            remark(f"release {release}: pod {running.pod} runs the image {running.image}")
        used = taken(release or DEFAULT_RELEASE, remark, assume=self.assume)
        conf = accepted_conf(self.conf, [used], assume=self.assume, remark=remark)
        return msgspec.structs.replace(self, at=moment, release=release, conf=conf)

    @property
    def needs_conf(self) -> bool:
        """Return whether none is given."""
        return self.conf is None

    @property
    def caches(self) -> Sequence[str]:
        """Return the release that the answer is about."""
        return (self.as_release,)

    @property
    def as_release(self) -> str:
        """Return the release that the answer is about; ``release`` may be one taken for it."""
        return taken(self.release or DEFAULT_RELEASE, unsaid, assume=self.assume)


def taken(release: str, remark: Remark, *, assume: bool) -> str:
    """Return the release that a name stands for; a remark says which one replaces it.

    :raises UsageError: it is not known, and nothing may be assumed.
    """
    from ..sessions.assumed import taken_release  # noqa: PLC0415 -- doors read the fields only

    found = taken_release(release, assume=assume)
    if found.remark:
        remark(found.remark)
    return found.release


class QuestionInNamespace(QuestionOfMoment[A], Generic[A], frozen=True, kw_only=True):
    """A question about an object at a moment of a log."""

    namespace: Annotated[str | None, NAMESPACE] = None


def check_known(
    log: Log,
    moment: Moment,
    unknown: Sequence[Unknown] | None = None,
    *,
    is_configured: bool,
) -> None:
    """Refuse a moment at which the log lacks what sessions need.

    :param unknown: what it does not know; None is computed for the moment.
    :param is_configured: a configuration is given, so the log need not have one.
    :raises NotKnown: anything is missing.
    """
    from ...engine.errors import NotKnown  # noqa: PLC0415 -- doors read the fields only
    from ..coverage.coverage import SCHEDULING, refuse, unknown_at  # noqa: PLC0415
    from ..logs.scheduler_confs import has_no_conf  # noqa: PLC0415

    refuse(unknown_at(log, moment, SCHEDULING) if unknown is None else unknown)
    if not is_configured and has_no_conf(log, moment):
        raise NotKnown(
            "the log holds no configuration of the scheduler",
            now="give one as conf, or ingest it",
        )


def lacking(found: object) -> Sequence[Unknown]:
    """Return what the log lacks that makes an answer uncertain."""
    unknown: Sequence[Unknown] = getattr(found, "not_known", ())
    return unknown


def declared_fields(kind: type[Question[Any]]) -> list[DeclaredField]:
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
    return sorted(found, key=lambda field: not field.is_required)


class PointText(str):
    """Stands for the type of a point, which takes long to load."""

    __slots__ = ()


def _declared(name: str, hint: Any, default: Any, *, is_named: bool) -> DeclaredField:
    """Read ``Annotated[T, Field]``: T is a plain type, a list of one, or either or None."""
    value, about = get_args(hint)
    is_union = get_origin(value) in {Union, UnionType}
    kinds = [kind for kind in (get_args(value) if is_union else (value,)) if kind is not NoneType]
    many = any(get_origin(kind) is not None for kind in kinds)
    of = next((kind for kind in kinds if kind in {bool, int, PointText}), str)
    return DeclaredField(name, about, of, default, many, is_named)


_LATE = MappingProxyType({"Conf": str, "ObjectName": str, "Point": PointText, "Progress": object})
"""What stands for types whose modules take long to load, by the names that fields use."""
