"""What a question is: a record of what may be asked, and a function that answers it from a log.

The command line, the Python API, the JSON API and the tools for agents are made from the record:
its fields are their options and parameters, its docstring is their help. So an addition to a
question is made in one place.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, Self, TypeVar

import msgspec

from .defaults import DEFAULT_RELEASE
from .fields import (
    ASSUME,
    AT,
    CONF,
    NAMESPACE,
    PROGRESS,
    RELEASE_OF_IMAGE,
    SINCE,
    STRICT,
    UNTIL,
)

if TYPE_CHECKING:
    from ...engine.errors import PlinianError
    from ...engine.kubernetes.resources import GroupKind
    from ..logs.given_confs import Conf
    from ..logs.log import Log, Progress
    from ..moments.moment import Moment
    from ..moments.unknown import Unknown
    from ..plot.asked import PlotRequest
    from ..render.tables import Style, Table
    from ..review.review_records import Review
    from ..sessions.session_answer import SessionRun
    from ..truth.points import Point

A = TypeVar("A")


Remark = Callable[[str], None]


def unsaid(_text: str) -> None:
    """Drop a remark: only people at a terminal read them."""


class Question(msgspec.Struct, Generic[A], frozen=True):
    """A question about a log: a class of it has the docstring that help shows.

    Its fields are annotated with a :class:`Field`. Class variables say the rest: ``command``, the
    words of its command; ``name``, what Python and the API call it, if that is something else;
    ``about``, what it asks in one sentence, for lists of questions; ``guide``, when an agent asks
    it, what it asks instead, and what of the answer to read; ``in_terminal``, what only the
    help of the command says; ``examples``, commands for the end of its help; ``is_long``, whether
    it may take more than half a second; ``work``, what progress counts; ``is_table``, whether
    people read its answers as tables, and not as lines; ``forms``, how the command writes them, if
    not in the usual forms; ``is_drawn``, whether it can also draw them; ``reads_inputs``, whether
    it can answer from files, without a log; ``exit_code``, when it exits with 1, if that can be
    asked for; ``reads_all``, what it finds by reading the whole log; ``is_tool``, whether agents
    are offered it; ``point``, the field whose moment it is about; ``is_list``, whether the answer
    is a list; ``names_inputs``, whether its sentences may name inputs; ``words``, with which the
    command prints all that the API answers; ``needs_log``, whether it is about a log;
    ``wide_adds``, what help says of the wide form; ``takes_release``, whether it is of the release
    of a server, if a request names none.
    """

    command: ClassVar[str]
    name: ClassVar[str] = ""
    about: ClassVar[str]
    guide: ClassVar[str] = ""
    in_terminal: ClassVar[str] = ""
    examples: ClassVar[Sequence[str]] = ()
    is_long: ClassVar[bool] = False
    work: ClassVar[str] = ""
    is_table: ClassVar[bool] = False
    forms: ClassVar[str] = ""
    is_drawn: ClassVar[bool] = False
    reads_inputs: ClassVar[bool] = False
    exit_code: ClassVar[str] = ""
    reads_all: ClassVar[str] = ""
    is_tool: ClassVar[bool] = True
    point: ClassVar[str] = "at"
    is_list: ClassVar[bool] = False
    names_inputs: ClassVar[bool] = False
    words: ClassVar[Sequence[str]] = ()
    needs_log: ClassVar[bool] = True
    wide_adds: ClassVar[str] = ""
    takes_release: ClassVar[bool] = True

    @classmethod
    def of_command(cls, given: Mapping[str, Any]) -> Question[Any]:
        """Return the question that the options of its command ask, by their names."""
        return cls(**given)

    def prepared(self, _log: Log, _remark: Remark = unsaid) -> Self:
        """Return the question as the command asks it: with its moments, and what it takes of a log.

        :param remark: called with what people should know of that.
        """
        return self

    def remarks(self, _log: Log) -> Iterable[str]:
        """Return what is said before an answer, on standard error."""
        return ()

    def answer(self, log: Log) -> A:
        """Return the answer, of which doors write the document or the lines."""
        raise NotImplementedError

    def ask(self, log: Log) -> A:
        """Return the answer, as Python and the API ask for it."""
        return self.answer(log)

    def document(self, found: A) -> Any:
        """Return what ``-o json`` prints of an answer."""
        return getattr(found, "document", found)

    def lines(self, found: A, style: Style) -> Iterator[str]:
        """Yield an answer for people."""
        raise NotImplementedError

    def tables(self, found: A, style: Style) -> Iterable[Table]:
        """Return an answer for people, of a question whose answers are tables."""
        raise NotImplementedError

    def nothing(self, _found: A) -> str | None:
        """Return what is said in place of tables without rows; None if their heads say it."""
        return None

    def drawing(self, _log: Log) -> PlotRequest | None:
        """Return what the command draws below an answer; None is the answer itself."""
        return None

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
    """A question whose answer depends on the release of Volcano.

    The class variable ``warns`` says whether its command warns of what the log lacks, and does not
    leave that to the answer; ``says_release``, whether its command says that a release is assumed.
    """

    warns: ClassVar[bool] = True
    says_release: ClassVar[bool] = False

    strict: Annotated[bool, STRICT] = False
    assume: Annotated[bool, ASSUME] = False

    def ask(self, log: Log) -> A:
        """Return the answer; a strict question needs all that the scheduler sees.

        :raises NotKnown: it is strict, and the log lacks something.
        :raises UsageError: the release is not known, or rejects the configuration, and nothing may
            be assumed.
        """
        ready = self.prepared(log)
        ready.check(log)
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
        """Return whether sessions run with the configuration of the log, as none is given."""
        return getattr(self, "conf", "") is None

    def unknown(self, log: Log) -> Sequence[Unknown]:
        """Return what the answer needs and the log does not know."""
        from ..coverage.coverage import SCHEDULING, unknown_at  # noqa: PLC0415 -- seldom needed

        return unknown_at(log, self.moment(log), SCHEDULING)

    def check(self, log: Log) -> None:
        """Refuse an answer if the question is strict, and the log lacks what it needs.

        :raises NotKnown: it does.
        """
        if self.strict:
            moment, unknown = self.moment(log), self.unknown(log)
            check_known(log, moment, unknown, is_configured=not self.needs_conf)

    def assumptions(self) -> Sequence[str]:
        """Return what the answer assumes that can be said before it, as sentences."""
        return ()

    def sessions(self, _found: A) -> Sequence[SessionRun]:
        """Return the sessions that an answer consists of."""
        return ()


class QuestionOfScheduler(QuestionOfRelease[A], Generic[A], frozen=True, kw_only=True):
    """A question about the scheduler at a moment: about its cache, or what its sessions decide."""

    at: Annotated[Point, AT] = "end"
    release: Annotated[str | None, RELEASE_OF_IMAGE] = None
    progress: Annotated[Progress | None, PROGRESS] = None

    def moment(self, log: Log) -> Moment:
        """Return the moment that it is about."""
        return log.moment(self.at)

    def prepared(self, log: Log, remark: Remark = unsaid) -> Self:
        """Return the question with its moment and the release that runs."""
        moment = log.moment(self.at)
        release = self.release or running(log, moment, remark) or DEFAULT_RELEASE
        used = taken(release, remark, assume=self.assume)
        return msgspec.structs.replace(self, release=used, at=moment)

    @property
    def as_release(self) -> str:
        """Return its release, once it is prepared."""
        return self.release or DEFAULT_RELEASE

    @property
    def named_releases(self) -> Sequence[str]:
        """Return its release."""
        return (self.as_release,)

    @property
    def caches(self) -> Sequence[str]:
        """Return its release."""
        return (self.as_release,)


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
        from ..sessions.assumed import accepted_conf  # noqa: PLC0415

        moment, release = log.moment(self.at), self.release
        release = release or running(log, moment, remark)
        used = taken(release or DEFAULT_RELEASE, remark, assume=self.assume)
        conf = accepted_conf(self.conf, [used], assume=self.assume, remark=remark)
        return msgspec.structs.replace(self, at=moment, release=release, conf=conf)

    @property
    def caches(self) -> Sequence[str]:
        """Return the release that the answer is about."""
        return (self.as_release,)

    def assumptions(self) -> Sequence[str]:
        """Return that the release is assumed, if it is, and nothing else says so."""
        from ..answers.why import assumed_of  # noqa: PLC0415 -- doors read the fields only

        return assumed_of(self.release, self.as_release) if self.says_release else ()

    @property
    def as_release(self) -> str:
        """Return the release that the answer is about; ``release`` may be one taken for it."""
        return taken(self.release or DEFAULT_RELEASE, unsaid, assume=self.assume)


class QuestionOfRange(QuestionOfRelease[A], Generic[A], frozen=True, kw_only=True):
    """A question about the sessions of a log, or of a part of it: of one moment, or of a range."""

    at: Annotated[Point | None, AT] = None
    since: Annotated[Point | None, SINCE] = None
    until: Annotated[Point | None, UNTIL] = None
    release: Annotated[str | None, RELEASE_OF_IMAGE] = None
    conf: Annotated[Conf | None, CONF._replace(help="A configuration instead of the log's.")] = None
    progress: Annotated[Progress | None, PROGRESS] = None

    def prepared(self, log: Log, remark: Remark = unsaid) -> Self:
        """Return the question with its moments, the release that runs, and a configuration."""
        from ..sessions.assumed import accepted_conf  # noqa: PLC0415 -- doors read the fields only

        between = bounds(log, at=self.at, since=self.since, until=self.until)
        end = between.get("at") or between.get("until") or log.moment()
        release = self.release or running(log, end, remark)
        used = taken(release or DEFAULT_RELEASE, remark, assume=self.assume)
        conf = accepted_conf(self.conf, [used], assume=self.assume, remark=remark)
        release = None if release is None else used
        return msgspec.structs.replace(self, release=release, conf=conf, **between)

    @property
    def as_release(self) -> str:
        """Return the release that sessions are run as."""
        return self.release or DEFAULT_RELEASE

    @property
    def named_releases(self) -> Sequence[str]:
        """Return its release."""
        return (self.as_release,)


def running(log: Log, moment: Moment, remark: Remark) -> str | None:
    """Return the release of the image of the scheduler's pods; None if the log has none of them."""
    from ..logs.scheduler_release import running_release  # noqa: PLC0415

    release = running_release(log, moment)
    if release is None:
        return None
    remark(f"release {release.release}: pod {release.pod} runs the image {release.image}")
    return release.release


def taken(release: str, remark: Remark, *, assume: bool, pre_releases: bool = False) -> str:
    """Return the release that a name stands for; a remark says which one replaces it.

    :param pre_releases: take known pre-releases, too.
    :raises UsageError: it is not known, and nothing may be assumed.
    """
    from ..sessions.assumed import taken_release  # noqa: PLC0415 -- doors read the fields only

    resolved = taken_release(release, assume=assume, pre_releases=pre_releases)
    if resolved.remark:
        remark(resolved.remark)
    return resolved.release


class QuestionInNamespace(QuestionOfMoment[A], Generic[A], frozen=True, kw_only=True):
    """A question about an object at a moment of a log."""

    namespace: Annotated[str | None, NAMESPACE] = None


def check_known(
    log: Log, moment: Moment, unknown: Sequence[Unknown] | None = None, *, is_configured: bool
) -> None:
    """Refuse a moment at which the log lacks what sessions need.

    :param unknown: what it does not know; None is computed for the moment.
    :param is_configured: a configuration is given, so the log need not have one.
    :raises NotKnown: anything is missing.
    """
    from ...engine.errors import NotKnown  # noqa: PLC0415 -- doors read the fields only
    from ..coverage.coverage import SCHEDULING, refuse, unknown_at  # noqa: PLC0415
    from ..logs.logged_confs import has_no_conf  # noqa: PLC0415

    refuse(unknown_at(log, moment, SCHEDULING) if unknown is None else unknown)
    if not is_configured and has_no_conf(log, moment):
        raise NotKnown(NO_CONF, now=GIVE_CONF)


NO_CONF = "the log holds no configuration of the scheduler"
GIVE_CONF = "give the cluster's volcano-scheduler.conf with --conf, or ingest it"


def bounds(log: Log, **points: Point | None) -> dict[str, Moment]:
    """Return the moments of ``at``, ``since`` and ``until``, without those that are not given.

    :raises UsageError: both a moment and a range are given, or the range ends before it begins.
    """
    from ...engine.errors import UsageError  # noqa: PLC0415 -- doors read the fields only

    given = {name: point for name, point in points.items() if point is not None}
    if "at" in given and len(given) > 1:
        raise UsageError("--at is one moment, --since and --until are a range", now="choose one")
    moments = {name: log.moment(point) for name, point in given.items()}
    since, until = moments.get("since"), moments.get("until")
    if since is not None and until is not None and until.is_before(since):
        message = f"the range ends at {until.label}, before it begins at {since.label}"
        raise UsageError(message, now="exchange --since and --until")
    return moments


def lacking(found: object) -> Sequence[Unknown]:
    """Return what the log lacks that makes an answer uncertain."""
    unknown: Sequence[Unknown] = getattr(found, "not_known", ())
    return unknown
