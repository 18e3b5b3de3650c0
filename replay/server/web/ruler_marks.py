"""Marks on the ruler of the timeline: evictions, cordons, crashes, starts and edits."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from ...facade.log import Log
from ...moments.actors import short_actor
from ...moments.times import known_text
from ...overview.recent_acts import Deed, DeedSort, deeds_between
from ...render.events import object_text
from .axis import Axis
from .look import Look

MOST_MARKS = 200
"""Marks that are drawn; the gravest first."""

MOST_SAID = 6
"""Deeds at one place that a mark says."""

LONGEST = 50_000
"""In a window of more events, nothing is compared to find marks."""

_SIGNS: Mapping[DeedSort, str] = MappingProxyType(
    {
        DeedSort.CRASH: "✖",
        DeedSort.EVICTION: "◇",
        DeedSort.CORDON: "⊘",
        DeedSort.EDIT: "✎",
        DeedSort.START: "▸",
    }
)
"""The sign of each sort, the gravest first."""


class RulerMark(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was done.

    :param text: what, by which actor and when. :param object: to select.
    """

    x: float
    sort: str
    sign: str
    position: int
    object: str
    text: str


def marks_of(log: Log, look: Look, axis: Axis) -> list[RulerMark]:
    """Return the marks of a window; of several at one place the gravest."""
    if not look.last or look.end - look.begin > LONGEST:
        return []
    before, after = (log.moment(f"@{position}") for position in (look.begin - 1, look.end))
    done = [deed for deed in deeds_between(log, before, after) if deed.sort in _SIGNS]
    order = list(_SIGNS)
    done.sort(key=lambda deed: (order.index(deed.sort), deed.position))
    by_place: dict[int, list[RulerMark]] = {}
    for deed in done:
        mark = _mark(deed, axis)
        by_place.setdefault(round(mark.x), []).append(mark)
    return [_first(alike) for alike in by_place.values()][:MOST_MARKS]


def _first(marks: list[RulerMark]) -> RulerMark:
    """Return the gravest of some marks at one place, and what else was done there."""
    texts = [mark.text for mark in marks[:MOST_SAID]]
    more = [f"and {len(marks) - MOST_SAID} more"] if len(marks) > MOST_SAID else []
    return msgspec.structs.replace(marks[0], text="\n".join([*texts, *more]))


def _mark(deed: Deed, axis: Axis) -> RulerMark:
    time = deed.span.estimate
    is_dated = axis.dated and time is not None
    named = object_text(deed.object) if deed.object.name else ""
    said = [deed.verb, named, f"by {short_actor(deed.actor)}" if deed.actor else ""]
    return RulerMark(
        x=axis.share_of(time or 0) if is_dated else axis.share(deed.position),
        sort=deed.sort,
        sign=_SIGNS[deed.sort],
        position=deed.position,
        object=named,
        text=" ".join(filter(None, [known_text(deed.span), *said])),
    )
