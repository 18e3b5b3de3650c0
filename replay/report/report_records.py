"""What a report is made of: answers of other folders, bounded, with the commands that give them."""

from __future__ import annotations

from typing import NamedTuple

from ...engine.state.clock import TimeSpan
from ..answers.answer import Why
from ..histories.diff import Diff
from ..recorded.session_list import ListedSession
from ..render.tables import Table
from ..sessions.session_answer import SessionAnswer


class Subject(NamedTuple):
    """What a report is about.

    :param log: the name of the log, without its folder. :param head: the hash of its end.
    :param events: how many events it has.
    :param at: the moment, as printed. :param time: as tables print it; empty if it is not known.
    :param known: the position up to which events count.
    :param release: and ``conf``: of the session; ``conf`` is the source of the configuration.
    :param assumed: what was assumed, as sentences.
    """

    log: str
    head: str
    events: int
    cluster: str
    at: str
    time: str
    revision: int | None
    known: int
    release: str
    conf: str
    assumed: tuple[str, ...]


class Lane(NamedTuple):
    """How many events of one sort there were in each part of the time.

    :param kinds: how many of each kind there are in all, by kind.
    """

    name: str
    counts: tuple[int, ...]
    kinds: tuple[tuple[str, int], ...]

    @property
    def total(self) -> int:
        """How many there are in all."""
        return sum(self.counts)


class Mark(NamedTuple):
    """Something that people look for: a node goes, pods are evicted, a process starts or panics.

    :param when: the bounds of its time. :param position: of the first event that shows it.
    """

    when: TimeSpan
    text: str
    position: int


class Stretch(NamedTuple):
    """A time during which an object waited for one reason; microseconds since 1970.

    :param begin: the last possible one. :param end: the first possible one.
    :param since: the bounds of its begin; None if it is known exactly.
    """

    begin: int
    end: int
    cause: str
    text: str
    since: TimeSpan | None = None


class ReportWaiting(NamedTuple):
    """An object, and for which reasons it waited up to the moment."""

    name: str
    stretches: tuple[Stretch, ...]


class Timeline(NamedTuple):
    """What happened around the moment; times are microseconds since 1970.

    :param before: the earlier moment that the state is compared with; None if there is none.
    :param lanes: the first has all changes of objects.
    :param sessions: when they were opened, and how many pods each bound.
    :param more_marks: how many marks are left out.
    """

    begin: int
    end: int
    moment: int
    before: int | None
    lanes: tuple[Lane, ...]
    waiting: tuple[ReportWaiting, ...]
    sessions: tuple[tuple[int, int], ...]
    marks: tuple[Mark, ...]
    more_marks: int


class Share(NamedTuple):
    """One resource of a queue: amounts as texts, and as shares of the largest one of the resource.

    :param depth: how many queues are above it. :param shares: by the name of the amount.
    """

    queue: str
    depth: int
    resource: str
    amounts: dict[str, str]
    shares: dict[str, float]


class Bounded(NamedTuple):
    """A table that may have been cut.

    :param command: prints all of its rows.
    :param order: in which order its rows are, if that is not by name.
    """

    table: Table
    command: str
    order: str = ""


class State(NamedTuple):
    """The objects that the API server held.

    :param shares: what queues use, of what they may. :param more_shares: how many are left out.
    """

    tables: tuple[Bounded, ...]
    shares: tuple[Share, ...]
    more_shares: int


class ReportAnswer(NamedTuple):
    """The answer to one ``why``, and the command that gives it."""

    why: Why
    command: str


class Answers(NamedTuple):
    """Why objects wait.

    :param chosen: nothing was named: these are the ones that wait longest.
    :param waiting: how many wait in all, if nothing was named.
    """

    answers: tuple[ReportAnswer, ...]
    chosen: bool
    waiting: int


class ReportChange(NamedTuple):
    """What differs between an earlier moment and the moment.

    :param remarks: on what could not be compared.
    """

    diff: Diff
    command: str
    remarks: tuple[str, ...]


class Later(NamedTuple):
    """What the cluster's scheduler did from the moment on.

    :param sessions: the next ones. :param more: how many come after these.
    :param number: of the first of them that bound or evicted a pod, else that wrote a PodGroup;
        0 if none did. :param decided: its decisions; the command runs it again and compares.
    """

    sessions: tuple[ListedSession, ...]
    more: int
    number: int
    decided: Bounded
    command: str


class Decided(NamedTuple):
    """What the session at the moment decides, and what the cluster's scheduler did next.

    :param doubt: if the session panics, what the log lacks that may be the only cause; else empty.
    """

    answer: SessionAnswer
    doubt: str
    command: str
    later: Later


class Gap(NamedTuple):
    """Something that the log does not know, and what would make it known."""

    what: str
    remedy: str


class MomentReport(NamedTuple):
    """All answers about one moment.

    :param timeline: None if the log has no times. :param change: None if nothing is before.
    :param commands: what must be run before the other commands.
    """

    subject: Subject
    timeline: Timeline | None
    timeline_command: str
    answers: Answers
    change: ReportChange | None
    state: State
    decided: Decided
    gaps: tuple[Gap, ...]
    commands: tuple[str, ...]
