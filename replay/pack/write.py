"""Write a pack: take a slice of a log, ask it the same question, and keep it if it answers alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from ...engine.errors import PlinianError, UsageError
from ...engine.events import Event, Reference, canonical_json
from ...engine.events.payloads import AnswerExpected, Payload, SliceBegan, SliceEnded
from ...engine.ingest.objects.redaction import Redaction
from ...engine.kubernetes.units import SECOND_US, parse_duration
from ...engine.volcano.session.history import resolve
from ...engine.version import __version__
from ..moments.log import Log, opened
from ..moments.points import Point
from .answer import Answered, Decisions
from .file import replacing, seal, write_events
from .remnants import before, differing_units, events_of, units_at
from .reading import FORMAT, summary_of
from .slice import Range, Slice, range_around, read_at, slice_of

AROUND_US = 600 * SECOND_US

_SOURCE = "plinian pack"

_ROUNDS = 3
"""How often the state at the begin is extended: events of one object may concern another."""

Progress = Callable[[int, int], None]


class Packed(msgspec.Struct, frozen=True, kw_only=True):
    """What was packed.

    :param objects: events that give the state at the begin. :param events: those that followed.
    :param left_out: values that were left out, as ``ingest --redact`` does.
    :param bytes: the size of the file.
    """

    path: str
    begin: int
    end: int
    since: int
    until: int
    objects: int
    events: int
    left_out: int
    bytes: int
    expected: AnswerExpected


class PackDiffers(PlinianError):
    """The slice would not answer as the log does, so no pack was written."""


def pack(
    log: Log,
    path: str | Path,
    *,
    at: Point = "end",
    around: int = AROUND_US,
    release: str,
    ask: str = "",
    progress: Progress | None = None,
) -> Packed:
    """Write the part of a log around a moment to a file, and return what is in it.

    :param around: how much time before and after the moment, microseconds.
    :param release: of the session whose decisions are the expected answer.
    :param ask: why it is sent, in words. :param progress: called with (events done, in all).
    :raises UsageError: the log holds nothing there, or the place is the log itself.
    :raises PackDiffers: sessions of the slice would decide otherwise than those of the log.
    """
    path = Path(path)
    _check_place(path)
    wanted = range_around(log, at, around)
    chosen = _with_remnants(log, wanted, slice_of(log, wanted), path, release)
    original = Answered(log, wanted.point, release)
    expected = original.expected(at=wanted.at, question=ask)
    redaction = Redaction()
    with replacing(path) as beside:
        events = slice_events(log, wanted, chosen, expected, redaction)
        count = len(chosen.state) + len(chosen.events)
        write_events(beside, events, progress=progress and (lambda done: progress(done, count)))
        with opened(beside, read_only=True) as slice_log:
            _compare(original.decisions, Answered(slice_log, wanted.at, release).decisions)
            summary = summary_of(slice_log)
        seal(beside, summary)
        size = beside.stat().st_size
    return Packed(
        path=str(path),
        begin=wanted.begin,
        end=wanted.end,
        since=wanted.since,
        until=wanted.until,
        objects=len(chosen.state),
        events=len(chosen.events),
        left_out=redaction.count,
        bytes=size,
        expected=expected,
    )


def duration_of(text: str) -> int:
    """Return a duration such as ``90s`` in microseconds.

    :raises UsageError: it is none.
    """
    try:
        return parse_duration(text)
    except ValueError as fault:
        raise UsageError(f"invalid --around: {fault}", now="write it as in 90s or 1h30m") from fault


def _with_remnants(log: Log, wanted: Range, chosen: Slice, path: Path, release: str) -> Slice:
    """Add the earlier events that explain what the scheduler's cache holds at the begin."""
    if wanted.from_begin:
        return chosen
    behaviours, begin = resolve(release), before(wanted.point, wanted.begin)
    held = units_at(log, begin, behaviours)
    for _ in range(_ROUNDS):
        state = Slice(chosen.state, ())
        with replacing(path.with_name(f"{path.name}.begin"), keep=False) as beside:
            write_events(beside, slice_events(log, wanted, state, None, Redaction()))
            with opened(beside, read_only=True) as draft:
                units = differing_units(held, units_at(draft, draft.moment(), behaviours))
        more = {*events_of(log, begin, units)} - {*chosen.state}
        if not more:
            break
        chosen = Slice(sorted({*chosen.state, *more}), chosen.events)
    return chosen


def _check_place(path: Path) -> None:
    if path.is_dir():
        raise UsageError("this is a folder", where=str(path), now="name a file in it")
    if not path.parent.is_dir():
        raise UsageError(
            "its folder does not exist", where=str(path), now=f"create it: mkdir -p {path.parent}"
        )


def slice_events(
    log: Log,
    wanted: Range,
    chosen: Slice,
    expected: AnswerExpected | None,
    redaction: Redaction,
) -> Iterator[Event]:
    """Yield the events of a pack, in order.

    :param expected: the answer; without it, only the state at the begin is wanted.
    """
    yield began(log, wanted, objects=len(chosen.state))
    branch = wanted.point.branch
    for positions in (chosen.state, chosen.events):
        for recorded in read_at(log, positions, branch):
            yield redaction.redacted(recorded.event)
    cluster = wanted.point.cluster
    if expected is None:
        return
    yield about("slice.ended", SliceEnded(events=len(chosen.events)), cluster, **_end(log, wanted))
    yield about("answer.expected", expected, cluster)


def about(kind: str, payload: Payload, cluster: str, **fields: int | None) -> Event:
    """Return an event about the slice itself."""
    return Event(
        kind=kind,
        reference=Reference(kind="Slice", name="" if kind == "slice.began" else kind),
        payload=canonical_json(payload),
        source=_SOURCE,
        cluster=cluster,
        **fields,  # type: ignore[arg-type] # revision and times
    )


def began(log: Log, wanted: Range, *, objects: int) -> Event:
    """Return the event that says where a slice begins, and what was known in it.

    Its times are the bounds of the begin, which follow from events that the slice lacks.
    """
    coverage = log.coverage(wanted.point)
    (span,) = log.clock(wanted.point).spans([wanted.begin])
    payload = SliceBegan(
        format=FORMAT,
        plinian=__version__,
        objects=objects,
        whole=coverage.whole,
        proof=coverage.proof,
        known=tuple(dict.fromkeys(coverage.between(wanted.begin, wanted.end))),
    )
    return about(
        "slice.began",
        payload,
        wanted.point.cluster,
        revision=wanted.begin,
        earliest=span.earliest,
        latest=span.estimate,
    )


def _end(log: Log, wanted: Range) -> dict[str, int | None]:
    (span,) = log.clock(wanted.point).spans([wanted.end])
    return {"revision": wanted.end, "latest": span.latest}


def _compare(original: Decisions, sliced: Decisions) -> None:
    """Check that a session of the slice decided as that of the log.

    :raises PackDiffers: it did not.
    """
    differing = sorted(
        key for key in {*original, *sliced} if original.get(key) != sliced.get(key)
    )
    if differing:
        kind, name = differing[0]
        raise PackDiffers(
            f"a session on the slice decides otherwise than on the log: {len(differing)} decisions"
            f" differ, the first is {kind} {name}: {original.get(differing[0])} in the log,"
            f" {sliced.get(differing[0])} in the slice",
            now="pack more time before the moment, with a longer --around",
        )
