"""Write a pack: take a slice of a log, and keep it if it answers as the log does."""

from __future__ import annotations

from pathlib import Path
from secrets import token_bytes

import msgspec

from ...engine.errors import PackDiffers, UsageError
from ...engine.events.payloads import AnswerExpected, NamesRedacted
from ...engine.ingest.objects.redaction import Redaction
from ...engine.kubernetes.units import SECOND_US, parse_duration
from ...engine.volcano.session.history import resolve
from ..logs.log import Log, opened
from ..truth.points import Point
from .file import Progress, counter, replacing, seal, summary_in, write_events
from .pack_answer import Answered, Decisions
from .pack_events import slice_events
from .pack_reading import about_pack, summary_of
from .redacting import redact_pack
from .remnants import all_before, before, differing_units, events_of, units_at
from .slice import Range, Slice, range_around, slice_of

AROUND_US = 600 * SECOND_US

_SALT_BYTES = 32

_ROUNDS = 5
"""How often the state at the begin is extended: events of one object may concern another."""


class Packed(msgspec.Struct, frozen=True, kw_only=True):
    """What was packed.

    :param begin: the first and :param end: the last revision. :param since: and ``until``: their
        times, if known; microseconds since 1970.
    :param objects: events that give the state at the begin. :param events: those that followed.
    :param left_out: values that were left out, as ``ingest --redact`` does.
    :param bytes: the size of the file.
    """

    path: str
    begin: int
    end: int
    since: int | None
    until: int | None
    objects: int
    events: int
    left_out: int
    bytes: int
    expected: AnswerExpected
    redacted: NamesRedacted | None = None


def pack(
    log: Log,
    path: str | Path,
    *,
    at: Point = "end",
    around: int = AROUND_US,
    release: str,
    ask: str = "",
    map_file: Path | None = None,
    salt: bytes | None = None,
    progress: Progress | None = None,
) -> Packed:
    """Write the part of a log around a moment to a file, and return what is in it.

    :param around: how much time before and after the moment, microseconds.
    :param release: of the session whose decisions are the expected answer.
    :param ask: why it is sent, in words.
    :param map_file: replace all names, and write what they were to this file.
    :param salt: the secret for new names; by default a random one.
    :param progress: called from time to time.
    :raises UsageError: the log holds nothing there, or at the place is a file that is no pack.
    :raises PackDiffers: sessions would decide otherwise than those of the log, or an original name
        is left.
    """
    path = Path(path)
    _check_place(path)
    wanted = range_around(log, at, around)
    # The slice is written until its cache agrees with that of the log; only then sessions run.
    chosen = _with_remnants(log, wanted, slice_of(log, wanted), path, release)
    original = Answered(log, wanted.point, release)
    expected = original.expected(at=wanted.at, question=ask)
    redaction = Redaction()
    with replacing(path) as beside:
        events = slice_events(log, wanted, chosen, expected, redaction)
        moved = counter(progress, "write the slice", len(chosen.state) + len(chosen.events))
        write_events(beside, events, progress=moved)
        with opened(beside, read_only=True) as slice_log:
            # Before names change: a difference now is a fault of the slice, not of the names.
            _compare(original.decisions, Answered(slice_log, wanted.at, release).decisions)
        if map_file is not None:
            redact_pack(beside, map_file, salt or token_bytes(_SALT_BYTES), progress)
        with opened(beside, read_only=True) as slice_log:
            about = about_pack(slice_log)
        if map_file is None:
            seal(beside, summary_of(about))
        size = beside.stat().st_size
    return Packed(
        path=str(path),
        begin=wanted.begin,
        end=wanted.end,
        since=about.since,
        until=about.until,
        objects=about.begin.slice.objects,
        events=about.events,
        left_out=redaction.count,
        bytes=size,
        expected=about.expected,
        redacted=about.redacted,
    )


def duration_of(text: str) -> int:
    """Return a duration such as ``90s`` in microseconds.

    :raises UsageError: it is none.
    """
    try:
        return parse_duration(text)
    except ValueError as fault:
        raise UsageError(f"invalid --around: {fault}", now="write it as in 90s or 1h30m") from fault


def map_place(pack_file: str, given: str | None, *, redact: bool) -> Path | None:
    """Return where to write the map of names; None if names are not replaced.

    :raises UsageError: a place was given, but names are not replaced.
    """
    if not redact:
        if given is not None:
            raise UsageError("--map works with --redact only", now="add --redact, or leave it out")
        return None
    return Path(given or f"{pack_file}.map")


def _with_remnants(log: Log, wanted: Range, chosen: Slice, path: Path, release: str) -> Slice:
    """Add the earlier events that explain what the scheduler's cache holds at the begin.

    If the events of the objects concerned do not explain it, all earlier changes are added.
    """
    if wanted.from_begin:
        return chosen
    behaviours, begin = resolve(release), before(wanted.point, wanted.begin)
    in_log = units_at(log, begin, behaviours)
    for _ in range(_ROUNDS):
        state = Slice(chosen.state, ())
        with replacing(path.with_name(f"{path.name}.begin"), keep=False) as beside:
            write_events(beside, slice_events(log, wanted, state, None, Redaction()))
            with opened(beside, read_only=True) as draft:
                units = differing_units(in_log, units_at(draft, draft.moment(), behaviours))
        if not units:
            return chosen
        more = {*chosen.state, *events_of(log, begin, units)}
        chosen = Slice(sorted(more), chosen.events)
    return Slice(sorted({*chosen.state, *all_before(log, begin)}), chosen.events)


def _check_place(path: Path) -> None:
    if path.is_dir():
        raise UsageError("this is a folder", where=str(path), now="name a file in it")
    if path.exists() and not summary_in(path):
        raise UsageError(
            "there is another file, which is no pack", where=str(path), now="choose another name"
        )
    if not path.parent.is_dir():
        raise UsageError(
            "its folder does not exist", where=str(path), now=f"create it: mkdir -p {path.parent}"
        )


def _compare(original: Decisions, sliced: Decisions) -> None:
    """Check that a session of the slice decided as that of the log.

    :raises PackDiffers: it did not.
    """
    differing = sorted(key for key in {*original, *sliced} if original.get(key) != sliced.get(key))
    if differing:
        kind, name = differing[0]
        raise PackDiffers(
            f"a session on the slice decides otherwise than on the log: {len(differing)} decisions"
            f" differ, the first is {kind} {name}: {original.get(differing[0])} in the log,"
            f" {sliced.get(differing[0])} in the slice",
            now="pack more time before the moment, with a longer --around",
        )
