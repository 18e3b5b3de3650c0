"""The page of what-if: a form of changes, and what happens with them beside what happens without.

It is one session, or with ``for`` a cluster that lives on for some time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ....engine.errors import NotKnown, ObjectNotFound, PointUnknown, UsageError
from ...facade.log import Log
from ...forecast.forecast_outcome import Forecast
from ...render.blocks import (
    Block,
    CommandLine,
    Marked,
    Section,
    Sentence,
    Words,
    joined,
)
from ...render.comparison import decision_table
from ...render.forecast import certainty_texts, course_table, event_table, panic_texts, use_table
from ...render.tables import Table
from ...what_if.changed_sessions import WhatIf
from ..reach import reach_cache
from .blocks import BlockPage, fault_data, fault_sentence
from .look import Look
from .notes import sentences
from .page import NavGroup, page
from .session import assumptions, chosen_conf
from .what_if_form import TAKES, WhatIfForm

if TYPE_CHECKING:
    from ..works import WorkWatch


def _runs(look: Look) -> bool:
    """Return whether a look asks for something that may take minutes."""
    form = WhatIfForm(look)
    return bool(form.text("for")) or form.is_each


@page(
    "what-if",
    "What if",
    nav="What if",
    group=NavGroup.SCHEDULER,
    key="w",
    long=True,
    runs=_runs,
    takes=TAKES,
)
def what_if(log: Log, look: Look, watch: WorkWatch | None = None) -> BlockPage:
    """Run the moment as it was, and with the changes of the query."""
    form = WhatIfForm(look)
    asked, point, result, fault = form.asks(), look.at, None, None
    try:
        point = form.point(log)
        if asked:
            releases = [look.release, form.text("try_release") or look.release]
            reach_cache(log, log.moment(point), releases)
            result = (_forecast if form.text("for") else _sessions)(log, form, watch)
    except (UsageError, ObjectNotFound, NotKnown, PointUnknown) as wrong:
        fault = wrong
    drawn, command = form.drawn(log), form.command(point) if asked else ""

    def sections() -> Iterator[Section]:
        yield Section([drawn])
        if fault is not None:
            yield Section([fault_sentence(fault)])
        elif result is None:
            yield Section([Sentence("Nothing is changed yet.", "blank")])
        else:
            yield from _sections(result, command)

    return BlockPage(
        "What if",
        sections,
        result if fault is None else fault_data(fault),
        assumed=assumptions(log, log.moment(look.at), own=False, release=look.release),
        not_known=() if result is None else sentences(result.not_known),
    )


def _sections(result: WhatIf | Forecast, command: str) -> Iterator[Section]:
    """Yield what the changes do, and the command that says the same."""
    yield Section([Sentence(text, "warn") for text in result.unread])
    same = CommandLine(command)
    if isinstance(result, Forecast):
        yield Section([*_courses(result), same], "What happens")
        return
    yield Section([_sides(result)], "What it decides")
    if result.decisions:
        table = decision_table(result.decisions, [side.name for side in result.sides])
        yield Section([table, same], "Decisions that differ")
    else:
        known = ", with what is in the log" if result.not_known else ""
        yield Section([Sentence(f"The session decides the same{known}.", "blank"), same])


def _sides(compared: WhatIf) -> Block:
    """Return how much each session decides."""
    rows = []
    for place, side in enumerate(compared.sides):
        result = side.answer.result
        same = all(row.values[place] == row.values[0] for row in compared.decisions)
        decides = "the same" if same else Marked("otherwise", "warn")
        panic = () if result.panic is None else (Marked(result.panic.sentence, "bad"),)
        counts = (len(result.enqueued), len(result.binds), len(result.evictions))
        changes = Words(*joined((*side.texts, *panic), "; "))
        rows.append((side.name, changes, *map(str, counts), decides if place else ""))
    heads = ("SESSION", "CHANGES", "ENQUEUES", "BINDS", "EVICTS", "DECIDES")
    return Table(heads, rows, title="Sessions")


def _courses(forecast: Forecast) -> Iterator[Block]:
    """Yield what happens over time, in each course; tables are those of the command."""
    if forecast.missing:
        names = ", ".join(forecast.missing)
        stopped = Marked("Stopped by hand.", "bad")
        yield Sentence(Words(stopped, f" Not finished, and not shown: {names}."), "panic")
    for course in forecast.courses[1:]:
        if course.texts != (course.name,):
            yield Sentence(Words(Marked(course.name, "name"), f": {'; '.join(course.texts)}"))
    yield from (Sentence(text, "bad") for text in panic_texts(forecast))
    yield course_table(forecast)
    events, uses, several = event_table(forecast), use_table(forecast), len(forecast.courses) > 1
    if events.rows:
        yield events
    elif several:
        yield Sentence("Everything happens at the same times.", "blank")
    if uses.rows:
        yield uses
    for number, text in enumerate(certainty_texts(forecast)):
        yield Sentence(text, "cut" if number else "sure")


def _sessions(log: Log, form: WhatIfForm, watch: WorkWatch | None) -> WhatIf:
    def progress(done: int, total: int) -> None:
        if watch is not None:
            watch.report(f"Sessions run with each change: {done} of {total}.", done, total)

    return log.what_if(at=form.point(log), progress=progress, **_tried(form))


def _forecast(log: Log, form: WhatIfForm, watch: WorkWatch | None) -> Forecast:
    def progress(done: int, total: int) -> None:
        if watch is not None:
            watch.report(f"The clusters live on: {100 * done // max(total, 1)} %.", done, total)

    return log.forecast(
        form.text("for"),
        at=form.point(log),
        start_after=form.text("start_after") or None,
        run_for=form.lines("run_for"),
        period=form.text("period") or None,
        arrivals=form.has_arrivals,
        progress=progress,
        **_tried(form),
    )


def _tried(form: WhatIfForm) -> dict[str, Any]:
    """Return what is otherwise, by the parameters of the Python API."""
    return {
        **form.changes(),
        "count": form.copies,
        "conf": chosen_conf(own=form.is_built_in("conf")),
        "try_conf": chosen_conf(own=form.is_built_in("try_conf")),
        "release": form.look.release,
        "try_release": form.text("try_release") or None,
        "each": form.is_each,
    }
