"""The page of what-if: a form of changes, and what happens with them beside what happens without.

It is one session, or with ``for`` a cluster that lives on for some time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from ....engine.errors import NotKnown, ObjectNotFound, PointUnknown, UsageError
from ...facade.documents import document
from ...facade.log import Log
from ...forecast.forecast_run import Forecast
from ...render.forecast import certainty_texts, course_table, event_table, panic_texts, use_table
from ...render.tables import Table
from ...what_if.changed_sessions import WhatIf
from ..reach import reach_cache
from .bounded import MOST_ROWS, Some, number, some
from .decided import DecisionRow, decision_rows
from .look import Look
from .notes import sentences
from .page import page
from .session import assumptions, chosen_conf
from .what_if_form import Form, command_of, form_of, lines_of

if TYPE_CHECKING:
    from ..works import WorkWatch


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """A session. :param changes: in words. :param same: it decides the same as the original."""

    name: str
    changes: tuple[str, ...]
    panic: str
    enqueued: int
    binds: int
    evictions: int
    same: bool


class Courses(msgspec.Struct, frozen=True, kw_only=True):
    """What happens over time, in each variant; tables are those of the command.

    :param changes: of each variant after the original. :param events: what differs.
    :param total: how many rows of events there are. :param sure: how sure that is.
    :param missing: variants that were not finished when a person stopped it.
    """

    changes: tuple[tuple[str, tuple[str, ...]], ...]
    courses: Table
    events: Table
    total: int
    uses: Table
    panics: tuple[str, ...]
    sure: tuple[str, ...]
    missing: tuple[str, ...]


class WhatIfPage(msgspec.Struct, frozen=True, kw_only=True):
    """What the changes do. :param fault: why they cannot be made, and ``now`` what to do.

    :param command: gives the same in a terminal. :param nodes: some names, for the form.
    :param branches: of the log. :param courses: None if one session was asked for.
    :param unread: sentences: changed fields that no session reads, resources that nothing has.
    """

    form: Form
    asked: bool
    fault: str
    now: str
    sides: tuple[Side, ...]
    rows: Some[DecisionRow]
    courses: Courses | None
    command: str
    nodes: tuple[str, ...]
    branches: tuple[str, ...]
    assumed: tuple[str, ...]
    not_known: tuple[str, ...]
    unread: tuple[str, ...]
    found: WhatIf | Forecast | None


def _json(found: WhatIfPage) -> Any:
    """Return the result as the command prints it; null if nothing is asked."""
    if found.fault:
        return {"error": {"what": found.fault, "now": found.now}}
    return None if found.found is None else document(found.found)


def _runs(look: Look) -> bool:
    """Return whether a look asks for something that may take minutes."""
    form = form_of(look)
    return bool(form.lasts) or form.each


@page(
    "what-if",
    template="what_if.html",
    title="What if",
    nav="What if",
    key="w",
    long=True,
    runs=_runs,
    json=_json,
)
def what_if(log: Log, look: Look, watch: WorkWatch | None = None) -> WhatIfPage:
    """Run the moment as it was, and with the changes of the query."""
    form = form_of(look)
    asked, found, fault, now = form.asks(look.release), None, "", ""
    point = look.at
    try:
        point = form.point(log, look)
        if asked:
            releases = [look.release, form.try_release or look.release]
            reach_cache(log, log.moment(point), releases)
            found = (_forecast if form.lasts else _sessions)(log, look, form, watch)
    except (UsageError, ObjectNotFound, NotKnown, PointUnknown) as wrong:
        fault, now = wrong.what, wrong.now
    sessions = found if isinstance(found, WhatIf) else None
    moment = log.moment(look.at)
    nodes = [one.reference.name for one in log.truth(moment).of("", "Node")]
    return WhatIfPage(
        form=form,
        asked=asked,
        fault=fault,
        now=now,
        sides=() if sessions is None else tuple(_sides(sessions)),
        rows=some(
            [] if sessions is None else decision_rows(sessions.decisions), number(look, "skip")
        ),
        courses=_courses(found) if isinstance(found, Forecast) else None,
        command=command_of(form, point, look.release) if asked else "",
        nodes=tuple(nodes[:MOST_ROWS]),
        branches=tuple(one.branch for one in log.heads()),
        assumed=assumptions(log, moment, own=False, release=look.release),
        not_known=() if found is None else sentences(found.not_known),
        unread=() if found is None else found.unread,
        found=found,
    )


def _sessions(log: Log, look: Look, form: Form, watch: WorkWatch | None) -> WhatIf:
    def progress(done: int, total: int) -> None:
        if watch is not None:
            watch.report(f"Sessions run with each change: {done} of {total}.", done, total)

    return log.what_if(at=form.point(log, look), progress=progress, **_tried(look, form))


def _forecast(log: Log, look: Look, form: Form, watch: WorkWatch | None) -> Forecast:
    def progress(done: int, total: int) -> None:
        if watch is not None:
            watch.report(f"The clusters live on: {100 * done // max(total, 1)} %.", done, total)

    return log.forecast(
        form.lasts,
        at=form.point(log, look),
        start_after=form.start_after or None,
        run_for=lines_of(form.run_for),
        period=form.period or None,
        arrivals=form.arrivals,
        progress=progress,
        **_tried(look, form),
    )


def _tried(look: Look, form: Form) -> dict[str, Any]:
    """Return what is otherwise, by the parameters of the Python API."""
    return {
        **form.changes(),
        "count": form.count,
        "conf": chosen_conf(own=form.own_conf),
        "try_conf": chosen_conf(own=form.try_own_conf),
        "release": look.release,
        "try_release": form.try_release or None,
        "each": form.each,
    }


def _sides(found: WhatIf) -> Iterator[Side]:
    for place, one in enumerate(found.sides):
        result = one.answer.result
        yield Side(
            name=one.name,
            changes=one.texts,
            panic="" if result.panic is None else result.panic.sentence,
            enqueued=len(result.enqueued),
            binds=len(result.binds),
            evictions=len(result.evictions),
            same=all(row.values[place] == row.values[0] for row in found.decisions),
        )


def _courses(found: Forecast) -> Courses:
    events = event_table(found)
    return Courses(
        changes=tuple((one.name, one.texts) for one in found.courses[1:]),
        courses=course_table(found),
        events=events.first(MOST_ROWS),
        total=len(events.rows),
        uses=use_table(found),
        panics=tuple(panic_texts(found)),
        sure=tuple(certainty_texts(found)),
        missing=found.missing,
    )


PAGES = (what_if,)
