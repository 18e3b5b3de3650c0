"""Times of a page: people think in times, so a link to a moment says its time before its number.

A page is made first. Then the times of all positions that it links are read at once, whatever part
of the page made the link.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial

from ....engine.log import Query
from ....engine.state.clock import UNDATED, TimeSpan
from ...facade.log import Log
from ...moments.times import exact_text, is_known, known_text, span_of_day, with_spans

_LINK = re.compile(r'(class="at"[^>]*>)@([0-9]{1,18})</a>')
"""A link to a moment, as :func:`~replay.render.blocks.moment_ref` and templates write it."""

_DAY = len("2006-01-02")


def with_times(log: Log, page: str, position: int, when: TimeSpan) -> str:
    """Return a page in which each link to a moment has the time of the event at the position.

    :param position: of the page. :param when: the time of the state there, which its own links
        have. Times of other days have their dates.
    """
    positions = sorted({int(match[2]) for match in _LINK.finditer(page)})
    if not positions:
        return page
    events = list(log.store.read(Query(branch=log.branch, positions=tuple(positions))))
    spans = {event.position: span for event, span in with_spans(events, log.clock())}
    if is_known(when):
        spans[position] = when
    return _LINK.sub(partial(_with_time, spans, day_of(when)), page)


def _with_time(spans: Mapping[int, TimeSpan], day: str, match: re.Match[str]) -> str:
    span = spans.get(int(match[2]), UNDATED)
    shown, exact = clock_text(span, day), exact_text(span)
    if not shown:
        return match[0]
    time = f'<time datetime="{exact}">{shown}</time>' if exact else shown
    return f"{match[1]}{time} <small>@{match[2]}</small></a>"


def clock_text(span: TimeSpan, day: str) -> str:
    """Return a time of day; with its date, if that is not the day of the page."""
    text = known_text(span)
    return span_of_day(span) if day and text.startswith(day) else text


def day_of(span: TimeSpan) -> str:
    """Return the day of a time, as in ``2026-11-21``; empty if it is not known."""
    text = exact_text(span) or known_text(span)
    return text[:_DAY] if text[:1].isdigit() else ""
