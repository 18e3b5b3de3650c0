"""Times of a page: a link to a moment says its time before its number, and all are in one zone.

A page is made first. Then the times of all positions that it links are read at once, whatever part
of the page made the link; and times in UTC become those of the zone that the look names.
"""

from __future__ import annotations

import re
from copy import copy

from ....engine.log import Query
from ....engine.state.clock import UNDATED, TimeSpan
from ...facade.log import Log
from ...moments.times import exact_text, is_known, known_text, with_spans
from ...moments.zones import Zone, time_of_day, times_in
from .look import Look

_LINK = re.compile(r'(<a\sclass="at(-event)?"[^<>]*>)@([0-9]{1,18})</a>')
"""A link to a moment, as :func:`~replay.render.blocks.moment_ref` and templates write it.

One of ``at-event`` has the time of the event itself also at the position of the page.
"""

_TAG = re.compile(r"(<[^<>]*>)")
_TIME = re.compile(r'<time[^>]*datetime="([^"]+)"')
_ELEMENT = re.compile(r"(<time[^<>]*>)([^<]+)</time>")
_AS_WRITTEN = ("<code", "<pre", "<textarea")
"""Elements whose text is copied, or is as an object has it."""

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def with_times(log: Log, page: str, look: Look, when: TimeSpan) -> str:
    """Return a page in which each link to a moment has the time of the event at the position.

    :param when: the time of the state at the position of the page, which its own links have. Times
        of other days have their dates.
    """
    positions = sorted({int(match[3]) for match in _LINK.finditer(page)})
    if not positions:
        return page
    events = list(log.store.read(Query(branch=log.branch, positions=tuple(positions))))
    spans = {event.position: span for event, span in with_spans(events, log.clock())}
    day, zone = day_of(when, look.zone), look.zone

    def with_time(match: re.Match[str]) -> str:
        position = int(match[3])
        is_own = position == look.position and not match[2] and is_known(when)
        span = when if is_own else spans.get(position, UNDATED)
        shown, exact = clock_text(span, zone, day), exact_text(span)
        if not shown:
            return match[0]
        time = f'<time datetime="{exact}">{shown}</time>' if exact else shown
        return f"{match[1]}{time} <small>@{position}</small></a>"

    return _LINK.sub(with_time, page)


def clock_text(span: TimeSpan, zone: Zone | None, day: str) -> str:
    """Return a time of day in a zone; with its date, if that is not the day of the page."""
    text = times_in(known_text(span), zone)
    bounds = (day, f"after {day}", f"before {day}")
    return time_of_day(text) if day and text.startswith(bounds) else text


def day_of(span: TimeSpan, zone: Zone | None) -> str:
    """Return the day of a time in a zone, as in ``2026-11-21``; empty if it is not known."""
    found = _DAY.search(times_in(exact_text(span) or known_text(span), zone))
    return found[0] if found else ""


def without_day(page: str, day: str) -> str:
    """Return a page with the times of its day without their date, which its head has.

    :param day: as in ``2026-11-21``; empty if it is not known.
    """

    def of_day(match: re.Match[str]) -> str:
        text = match[2]
        return f"{match[1]}{time_of_day(text) if text.startswith(day) else text}</time>"

    return _ELEMENT.sub(of_day, page) if day else page


def in_zone(page: str, zone: Zone | None) -> str:
    """Return a page with the times of its text in a zone; what is copied from it stays in UTC.

    :param zone: None is UTC.
    """
    if zone is None:
        return page
    parts, exact, kept = _TAG.split(page), "", ""
    for place, part in enumerate(parts):
        if place % 2:
            found = _TIME.match(part)
            exact = found[1] if found else ""
            if not kept:
                kept = next((f"</{tag[1:]}" for tag in _AS_WRITTEN if part.startswith(tag)), "")
            elif part.startswith(kept):
                kept = ""
        elif not kept:
            shown = times_in(part, zone)
            # A time of day alone is known by what the element says to programs.
            is_of_day = exact and shown == part and part in exact
            parts[place] = time_of_day(times_in(exact, zone)) if is_of_day else shown
    return "".join(parts)


def read_in(log: Log, zone: Zone | None) -> Log:
    """Return the log, as it reads points without a zone in this one. :param zone: None is UTC."""
    if zone is None:
        return log
    read = copy(log)
    read.zone = zone
    return read
