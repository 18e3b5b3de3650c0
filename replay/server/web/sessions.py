"""The page of the sessions that the scheduler ran, as far as the log shows them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ....engine.kubernetes.counts import counted
from ....engine.kubernetes.units import SECOND_US
from ...facade.log import Log
from ...moments.times import time_text
from ...recorded.recorded_sessions import HowKnown
from ...recorded.session_list import ListedSession, listed_sessions, within
from ...render.blocks import (
    CHOSEN,
    Block,
    Marked,
    Ref,
    Section,
    Sentence,
    Words,
    here_ref,
    moment_ref,
)
from ...render.tables import NONE, TextColumn, table_of
from ..reach import reach_all
from .blocks import BlockPage, paged
from .bounded import MOST_ROWS
from .look import Look
from .page import NavGroup, page
from .sorting import sort_heads


@page(
    "sessions",
    "All sessions",
    nav="All sessions",
    group=NavGroup.SCHEDULER,
    key="s",
    long=True,
    takes=("show", "skip", "sort"),
)
def sessions(log: Log, look: Look) -> BlockPage:
    """Return the sessions; without ``skip``, the page with the one of the moment."""
    reach_all(log, "the sessions", "plinian session list")
    known, active = listed_sessions(log.store, log.moment()), look.get("show") == "active"
    listed = [session for session in known if session.binds or session.evictions or not active]
    now = _last_number(log, look, known)
    before = sum(session.number < now for session in listed)
    usual = before // MOST_ROWS * MOST_ROWS
    listing = _columns(now)
    columns = {column.head: column.value for column in listing}
    shown, pager = paged(look, listed, "sessions", name="skip", usual=usual, columns=columns)
    heads = sort_heads(look, columns, "skip", shown.total)

    def sections() -> Iterator[Section]:
        if not known:
            yield Section([_none()])
            return
        many = counted(len(known), "session of the scheduler is", "sessions of the scheduler are")
        only = "nly those that bound or evicted a pod"
        if active:
            every = here_ref("Show all", show=None, skip=None)
            more: tuple[str, ...] = (f"O{only} are shown. ", every)
        else:
            more = (here_ref(f"O{only}", show="active", skip=None),)
        blocks: list[Block] = [Sentence(Words(f"{many} known. ", *more))]
        table = table_of(listing, shown.rows, "Sessions")
        blocks += [table._replace(headers=heads), pager]
        if not shown.rows:
            blocks.append(Sentence("No session bound or evicted a pod.", "blank"))
        yield Section(blocks, captions=False)

    items, skip, total = shown.rows, shown.skip, shown.total
    data = {"apiVersion": "v1", "items": items, "kind": "SessionList", "skip": skip, "total": total}
    return BlockPage("All sessions", sections, data, when="")


def _last_number(log: Log, look: Look, known: Sequence[ListedSession]) -> int:
    """Return the number of the last session that was opened by the moment; 0 if there is none."""
    time = log.truth(look.at).time
    if time is None:
        opened: Iterable[ListedSession] = within(known, at=log.moment(look.at))
    else:
        # By time, as a scheduler's log may be appended long after the changes that it is about.
        opened = (session for session in known if session.begin <= time)
    return max((session.number for session in opened), default=0)


def _none() -> Sentence:
    known = "Sessions are known from the scheduler's log, from bindings and from PodGroups."
    run = Ref("Run the session of this moment", "session")
    return Sentence(Words(f"The log records no session. {known} ", run, " instead."), "blank")


def _columns(now: int) -> Sequence[TextColumn[ListedSession]]:
    """Return the columns. :param now: the last session that was opened by the moment."""

    def session(listed: ListedSession) -> str:
        is_now, point = listed.number == now, f"session:{listed.number}"
        number = Ref(str(listed.number), "session", at=point, look=CHOSEN if is_now else "")
        return Words(number, Marked(" the last by this moment", "cut")) if is_now else number

    return (
        TextColumn("SESSION", session),
        TextColumn("OPENED", _opened),
        TextColumn("LASTS", _lasts),
        TextColumn("HOW KNOWN", _how_known),
        TextColumn("SHOWN BY", lambda listed: moment_ref(listed.position)),
        TextColumn("BINDS", lambda listed: str(listed.binds)),
        TextColumn(
            "EVICTIONS", lambda listed: NONE if listed.evictions is None else str(listed.evictions)
        ),
        TextColumn("PODGROUPS", lambda listed: str(listed.podgroups)),
    )


def _wrote(session: ListedSession) -> bool:
    """Return whether a session is only known by what it wrote."""
    return session.how is HowKnown.INFERRED


def _how_known(session: ListedSession) -> str:
    return Marked(
        "inferred from writes" if _wrote(session) else "logged", place=f"s{session.number}"
    )


def _opened(session: ListedSession) -> str:
    if session.opened is None:
        return NONE
    time = Marked(time_text(session.opened), "time")
    return Words("by ", time) if _wrote(session) else time


def _lasts(session: ListedSession) -> str:
    if session.closed is None:
        return NONE
    return f"{'≥ ' if _wrote(session) else ''}{(session.closed - session.begin) / SECOND_US:.3f} s"
