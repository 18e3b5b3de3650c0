"""The first moment or release at which the answer to a question changes, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from ...engine.errors import UsageError
from ...engine.events import Recorded
from ...engine.session.framework.behaviour_recorder import RecordedBehaviours
from ...engine.session.framework.trace import TraceStep
from ...engine.state.clock import Unsure
from ...engine.state.log_coverage import Pair
from ...engine.volcano.releases import RELEASES, Release, parse_release
from ...engine.volcano.session.history import resolve
from ..moments.unknown import Unknown
from ..sessions.session_answer import SessionAnswer
from ..sessions.step_words import SessionStep, shown_step
from ..tabular.column_table import ColumnTable, table_of
from ..tabular.documents import shown_as
from ..tabular.record_columns import Time
from ..tabular.tabular import Tabular
from .causes import Cause, causes, changed, most_specific_first, partly
from .crashes import LoggedCrash, PanickingReleases
from .decisions import FirstDifference, Parting, decisions_of, differing, first_differences
from .releases import BehaviourDiff, session_diff
from .session_claims import ClaimAnswer, SessionClaim
from .subjects import RunnableSession


class Probe(NamedTuple):
    """An answer, and its moment or release."""

    at: str
    answer: ClaimAnswer


class AnswerRow(NamedTuple):
    """An answer. :param at: its moment or release."""

    at: str
    holds: bool
    result: str


class FlipSide(NamedTuple):
    """The session before or after the change: its answer, and its steps about the object."""

    probe: Probe
    steps: list[TraceStep]


@dataclass(frozen=True, slots=True)
class Flip:
    """Two neighbours with different answers.

    :param events: of a log: the events between the two.
    :param causes: of releases: the behaviours that cause the difference, see :mod:`.causes`.
    :param behaviours: of releases: those named in ``causes``, with their values.
    :param first_differences: of releases: the first differences of the two traces.
    """

    before: FlipSide
    after: FlipSide
    events: list[Recorded] = field(default_factory=list)
    causes: list[Cause] = field(default_factory=list)
    behaviours: list[BehaviourDiff] = field(default_factory=list)
    first_differences: list[FirstDifference] = field(default_factory=list)


SESSIONS, CHANGES, HALVES, RELEASES_IN_TURN, STEPS = SEARCHES = (
    *("sessions", "changes", "halves"),
    *("releases", "steps"),
)
"""How a search chose the sessions to check.

- ``sessions``: every recorded session.
- ``changes``: the log records no sessions: after every change of an object that sessions read.
- ``halves``: by halving.
- ``releases``: one release after the other.
- ``steps``: every step of a scenario.
"""


class LeftOut(NamedTuple):
    """Moments that were not checked, because there are no earlier complete lists.

    :param moments: sessions, or changes if the log records no sessions.
    :param begin: the point where the search began. :param first: the earliest possible begin.
    :param lists: the kinds whose first complete lists are at ``begin``.
    """

    moments: int
    begin: str
    first: str
    lists: tuple[Pair, ...]


class ObjectRange(msgspec.Struct, frozen=True):
    """The range in which a log holds versions of an object.

    :param name: of the object, as in ``podgroup/ml/train``. :param first: and :param last: revision
    of the first and of the last version. :param gone: it was deleted after that.
    """

    name: str
    first: int
    last: int
    gone: bool


@dataclass(frozen=True, slots=True)
class Bisection(Tabular):
    """All answers in order, and the change; None if the answer never changes.

    :param searched: one of :data:`SEARCHES`.
    :param release: the release that sessions were run as; empty for a search over releases.
    :param unsure: of a log: changes that may have happened before or after the last moment.
    :param not_known: of a log: what sessions need and it does not know where they were run.
    :param doubtful: how many answers are at moments where any of it is not known.
    :param left_out: of a log: what the search left out; None if nothing.
    :param sessions: of a log: how many sessions it records, even without a known place.
    :param there: of a log: where it holds the object of the question.
    """

    question: SessionClaim
    probes: list[Probe]
    flip: Flip | None
    searched: str
    release: str = ""
    unsure: Unsure | None = None
    not_known: tuple[Unknown, ...] = ()
    doubtful: int = 0
    left_out: LeftOut | None = None
    sessions: int = 0
    there: ObjectRange | None = None

    @property
    def answered(self) -> bool:
        """Whether the answer is certain: it changes, or was found where everything is known."""
        return self.flip is not None or self.doubtful < len(self.probes)

    @property
    def document(self) -> BisectionDocument:
        """What answers show of it."""
        return bisection_document(self)

    def tables(self) -> Mapping[str, ColumnTable]:
        """Return the answers in order."""
        rows = (AnswerRow(probe.at, *probe.answer[:2]) for probe in self.probes)
        return {"answers": table_of(AnswerRow, rows)}


def first_flip(
    ask: Callable[[int], Probe], first: int, last: int
) -> tuple[list[Probe], tuple[int, int] | None]:
    """Halve a range until two neighbours answer differently; return the answers, and the two.

    Right if the answer changes once in the range. None if both ends answer the same.
    """
    # Sorted and each once: both ends may be the same place.
    probes = {place: ask(place) for place in sorted({first, last})}
    low, high = first, last
    if probes[low].answer.holds == probes[high].answer.holds:
        return list(probes.values()), None
    while high - low > 1:
        middle = (low + high) // 2
        probes[middle] = ask(middle)
        if probes[middle].answer.holds == probes[low].answer.holds:
            low = middle
        else:
            high = middle
    return [probes[place] for place in sorted(probes)], (low, high)


def first_change(probes: Iterable[Probe]) -> tuple[list[Probe], bool]:
    """Take probes until one differs from the first; return them, and whether one did."""
    taken: list[Probe] = []
    for probe in probes:
        taken.append(probe)
        if probe.answer.holds != taken[0].answer.holds:
            return taken, True
    return taken, False


def releases_between(span: str) -> list[Release]:
    """Return the releases of ``R1..R2``, oldest first.

    :raises UsageError: the form is wrong, or there is no such release.
    """
    oldest, dots, newest = span.partition("..")
    if not dots:
        raise UsageError(f"--releases {span}: expected R1..R2", now="as in v1.11.0..v1.12.1")
    low, high = (parse_release(name) for name in (oldest, newest))
    releases = list(RELEASES[RELEASES.index(low) : RELEASES.index(high) + 1])
    if len(releases) < 2:
        raise UsageError(
            f"--releases {span}: {high} is not newer than {low}", now="the older one comes first"
        )
    return releases


def over_releases(
    subject: RunnableSession, question: SessionClaim, releases: Sequence[Release]
) -> Bisection:
    """Run releases in order until the answer changes, and find the cause.

    All are run: fixes are backported, so an answer may change there and back.
    """
    taken, is_found = first_change(
        Probe(str(release), question.of(subject.session(resolve(str(release)))))
        for release in releases
    )
    doubtful = len(taken) if subject.not_known else 0
    knowledge = subject.unsure, subject.not_known, doubtful
    if not is_found:
        return Bisection(question, taken, None, RELEASES_IN_TURN, "", *knowledge)
    before, after = (RecordedBehaviours.of(resolve(probe.at)) for probe in taken[-2:])
    sessions = [subject.session(behaviours) for behaviours in (before, after)]
    values = changed(before.plain, after.plain)

    second = decisions_of(sessions[1])
    effects: dict[Cause, int] = {}

    def goes(names: Cause) -> bool:
        # The later release with the older values of some behaviours: what changes the answer back
        # is a cause.
        session = subject.session(partly(after.plain, values, names))
        effects[names] = len(differing([second, decisions_of(session)]))
        return question.of(session).holds == taken[-2].answer.holds

    # A behaviour that a session did not read cannot have changed it.
    asked = [name for name in values if name in after.names]
    named = most_specific_first(causes(asked, goes, asked, list(values)), effects.__getitem__)
    matter = {name for cause in named for name in cause}
    flip = Flip(
        *sides(question, taken[-2:], sessions),
        causes=named,
        behaviours=[
            row for row in session_diff(before.release, after.release) if row.behaviour in matter
        ],
        first_differences=first_differences([session.result.trace for session in sessions]),
    )
    return Bisection(question, taken, flip, RELEASES_IN_TURN, "", *knowledge)


def sides(
    question: SessionClaim, probes: Sequence[Probe], sessions: Sequence[SessionAnswer]
) -> tuple[FlipSide, FlipSide]:
    """Return the two sides of a change."""
    before, after = (
        FlipSide(probe, question.steps(session))
        for probe, session in zip(probes, sessions, strict=True)
    )
    return before, after


class ShownCrash(msgspec.Struct, frozen=True, kw_only=True):
    """A crash of the scheduler, from its log; see :class:`.crashes.LoggedCrash`."""

    position: int
    revision: int | None
    observed_at: Time | None
    earliest: Time | None
    latest: Time | None
    message: str


class CrashingReleases(msgspec.Struct, frozen=True, kw_only=True):
    """Why a release was chosen: its session panics where the log records a crash.

    :param crash: position of its event. :param same: with the same message.
    """

    crash: int
    same: bool
    releases: list[str]


class ShownProbe(msgspec.Struct, frozen=True, kw_only=True):
    """A session's answer. :param says: the node, the phase, or the reason."""

    at: str
    answer: bool
    says: str


class ProbeWithSteps(ShownProbe, frozen=True, kw_only=True):
    """A session's answer beside the change, with its steps about the object."""

    steps: list[SessionStep]


class FlipEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event between the two answers."""

    position: int
    revision: int | None
    kind: str
    object: str


class ShownFlip(msgspec.Struct, frozen=True, kw_only=True):
    """Where the answer changes; see :class:`.bisection.Flip`."""

    before: ProbeWithSteps
    after: ProbeWithSteps
    events: list[FlipEvent]
    causes: list[Cause]
    behaviours: list[BehaviourDiff]
    partings: list[Parting]


class ShownLeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """What a search left out: so many moments before a point; ``first`` is the earliest begin."""

    count: int
    before: str
    first: str


class BisectionDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A bisection; see :class:`.bisection.Bisection`.

    :param crashes: for ``panic``: those that the log records.
    :param object_there: where the log holds the object of the question.
    """

    question: SessionClaim
    searched: str
    release: str | None
    release_because: CrashingReleases | None
    unsure: Unsure | None
    not_known: tuple[Unknown, ...]
    crashes: list[ShownCrash]
    probes: list[ShownProbe]
    answered: bool
    doubtful: int
    left_out: ShownLeftOut | None
    object_there: ObjectRange | None
    flip: ShownFlip | None


def bisection_document(
    bisection: Bisection,
    crashes: Sequence[LoggedCrash] = (),
    panicking: PanickingReleases | None = None,
) -> BisectionDocument:
    """Return what answers show of a bisection.

    :param crashes: those that the log records.
    :param panicking: why the release was chosen, if none was given.
    """
    left = bisection.left_out
    return shown_as(
        BisectionDocument,
        bisection,
        release=bisection.release or None,
        release_because=None if panicking is None else _panicking(panicking),
        crashes=list(map(_crash, crashes)),
        probes=[ShownProbe(**_probe(probe)) for probe in bisection.probes],
        left_out=None
        if left is None
        else ShownLeftOut(count=left.moments, before=left.begin, first=left.first),
        object_there=bisection.there,
        flip=None if bisection.flip is None else _flip(bisection.flip),
    )


def _crash(crash: LoggedCrash) -> ShownCrash:
    span = crash.span
    return shown_as(
        ShownCrash,
        crash,
        observed_at=Time.of(span.latest or span.earliest),
        earliest=Time.of(span.earliest),
        latest=Time.of(span.latest),
    )


def _panicking(found: PanickingReleases) -> CrashingReleases:
    releases = list(map(str, found.releases))
    return CrashingReleases(crash=found.crash.position, same=found.same, releases=releases)


def _probe(probe: Probe) -> dict[str, Any]:
    return {"at": probe.at, "answer": probe.answer.holds, "says": probe.answer.text}


def _side(side: FlipSide) -> ProbeWithSteps:
    return ProbeWithSteps(**_probe(side.probe), steps=list(map(shown_step, side.steps)))


def _flip(flip: Flip) -> ShownFlip:
    return shown_as(
        ShownFlip,
        flip,
        before=_side(flip.before),
        after=_side(flip.after),
        events=list(map(_event, flip.events)),
        partings=[parting.document for parting in flip.first_differences],
    )


def _event(recorded: Recorded) -> FlipEvent:
    event = recorded.event
    name = "/".join(filter(None, (event.reference.namespace, event.reference.name)))
    return FlipEvent(
        position=recorded.position, revision=event.revision, kind=event.kind, object=name
    )
