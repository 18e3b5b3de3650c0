"""Read what a pack says about itself."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import msgspec

from ...engine.errors import InputTruncated, LogNewer, UsageError
from ...engine.events import KINDS
from ...engine.events.payloads import AnswerExpected, NamesRedacted, Payload, SliceEnded
from ...engine.kubernetes.units import format_time
from ...engine.log.store import Query
from ..logs.log import Log
from ..moments.slices import SliceBegin, begin_of

FORMAT = 1
"""The newest version of the format that this Plinian reads."""

P = TypeVar("P", bound=Payload)


class About(NamedTuple):
    """What a pack says about itself.

    :param end: its last revision. :param since: and ``until``: times of both ends, if known.
    :param redacted: how names were replaced; None if they are the original ones.
    """

    begin: SliceBegin
    end: int
    since: int | None
    until: int | None
    events: int
    expected: AnswerExpected
    redacted: NamesRedacted | None


def about_pack(log: Log) -> About:
    """Return what a pack says about itself.

    :raises UsageError: it is a log, but no pack. :raises LogNewer: its format is newer.
    :raises InputTruncated: its end is missing.
    """
    begin = begin_of(log.store)
    if begin is None:
        raise UsageError(
            "this is a log, but not a pack", now="read it with any command and --log FILE"
        )
    if begin.slice.format > FORMAT:
        raise LogNewer(
            f"the pack has format {begin.slice.format}, and this Plinian knows up to {FORMAT}",
            now=f"use Plinian {begin.slice.plinian}, which wrote it, or a newer one",
        )
    ended, end = _only(log, "slice.ended", SliceEnded)
    expected, _ = _only(log, "answer.expected", AnswerExpected)
    if ended is None or expected is None or end is None:
        raise InputTruncated(
            "the pack is cut short: its end is missing", now="ask the sender for the file again"
        )
    clock = log.clock()
    return About(
        begin=begin,
        end=end,
        since=clock.time_of(begin.revision),
        until=clock.time_of(end),
        events=ended.events,
        expected=expected,
        redacted=_only(log, "names.redacted", NamesRedacted)[0],
    )


def _only(log: Log, kind: str, payload: type[P]) -> tuple[P | None, int | None]:
    """Return the payload and the revision of the one event of a kind; None if there is none."""
    assert KINDS[kind].payload is payload, "each kind has one shape of payload"
    for recorded in log.store.read(Query(kinds=(kind,))):
        said = msgspec.json.decode(recorded.event.payload, type=payload)
        return said, recorded.event.revision
    return None, None


def summary_of(about: About) -> dict[str, str]:
    """Return what the table ``pack`` holds, by name."""
    begin, expected, redacted = about.begin, about.expected, about.redacted
    summary = {
        "format": str(begin.slice.format),
        "plinian": begin.slice.plinian,
        "begin": f"rv:{begin.revision}",
        "end": f"rv:{about.end}",
        "since": _time(about.since),
        "until": _time(about.until),
        "objects": str(begin.slice.objects),
        "events": str(about.events),
        "question": expected.question,
        "at": expected.at,
        "release": expected.release,
        "decisions": ", ".join(f"{count} {kind}" for kind, count in expected.decisions.items()),
        "digest": expected.digest,
    }
    if redacted is not None:
        summary |= {
            "names redacted": str(redacted.names),
            "map": redacted.map,
            "proof": redacted.digest,
        }
    return summary


def _time(time: int | None) -> str:
    return "" if time is None else format_time(time)
