"""The page of the sessions that the scheduler ran, as far as the log shows them."""

from __future__ import annotations

from typing import Any

import msgspec

from ....engine.kubernetes.units import SECOND_US
from ...facade.log import Log
from ...moments.times import time_text
from ...recorded.recorded_sessions import HowKnown
from ...recorded.session_list import ListedSession
from ..reach import reach_all
from .bounded import MOST_ROWS, Some, number, some
from .look import Look
from .page import page
from .whole_log import sessions_of


class SessionLine(msgspec.Struct, frozen=True, kw_only=True):
    """A session. :param point: its moment. :param lasts: empty if it is not known.

    :param current: it is the last one that was opened by the moment of the page.
    """

    number: int
    point: str
    opened: str
    inferred: bool
    lasts: str
    position: int
    binds: int
    evictions: int | None
    podgroups: int
    current: bool


class SessionsPage(msgspec.Struct, frozen=True, kw_only=True):
    """The sessions of the whole log. :param only_active: those that bound or evicted pods."""

    all: int
    only_active: bool
    lines: Some[SessionLine]
    listed: tuple[ListedSession, ...]


def _json(found: SessionsPage) -> Any:
    """Return the sessions of the page as the command lists them."""
    return {
        "apiVersion": "v1",
        "kind": "SessionList",
        "items": found.listed,
        "skip": found.lines.skip,
        "total": found.lines.total,
    }


@page(
    "sessions",
    template="sessions.html",
    title="Sessions",
    nav="Sessions",
    key="s",
    long=True,
    json=_json,
)
def sessions(log: Log, look: Look) -> SessionsPage:
    """Return the sessions; without ``skip``, the page with the one of the moment."""
    reach_all(log, "the sessions", "plinian session list")
    found = sessions_of(log)
    active = look.get("show") == "active"
    shown = [one for one in found if one.binds or one.evictions or not active]
    time = log.truth(look.at).time or 0
    now = max((one.number for one in found if one.begin <= time), default=0)
    before = sum(one.number < now for one in shown)
    skip = number(look, "skip", before // MOST_ROWS * MOST_ROWS)
    part = some(shown, skip)
    return SessionsPage(
        all=len(found),
        only_active=active,
        lines=Some(
            rows=tuple(_line(one, now) for one in part.rows), skip=part.skip, total=part.total
        ),
        listed=part.rows,
    )


def _line(one: ListedSession, now: int) -> SessionLine:
    inferred = one.how is HowKnown.INFERRED
    lasts = "" if one.closed is None else f"{(one.closed - one.begin) / SECOND_US:.3f} s"
    return SessionLine(
        number=one.number,
        point=f"session:{one.number}",
        opened="" if one.opened is None else time_text(one.opened),
        inferred=inferred,
        lasts=f"≥ {lasts}" if inferred and lasts else lasts,
        position=one.position,
        binds=one.binds,
        evictions=one.evictions,
        podgroups=one.podgroups,
        current=one.number == now,
    )


PAGES = (sessions,)
