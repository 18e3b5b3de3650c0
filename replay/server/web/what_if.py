"""The page of what-if: a form of changes, and what happens with them beside what happens without.

It is one session, or with ``for`` a cluster that lives on for some time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from ....engine.errors import NotKnown, ObjectNotFound, PointUnknown, UsageError
from ...facade.documents import document
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
from .blocks import answer
from .bounded import MOST_ROWS
from .look import Look
from .notes import sentences
from .page import page
from .session import assumptions, chosen_conf
from .what_if_form import WhatIfForm, command_of, form_of, lines_of

if TYPE_CHECKING:
    from ..works import WorkWatch


class WhatIfPage(msgspec.Struct, frozen=True, kw_only=True):
    """What the changes do. :param fault: why they cannot be made, and ``now`` what to do.

    :param command: gives the same in a terminal. :param nodes: some names, for the form.
    :param branches: of the log.
    """

    form: WhatIfForm
    asked: bool
    fault: str
    now: str
    command: str
    nodes: tuple[str, ...]
    branches: tuple[str, ...]
    assumed: tuple[str, ...]
    not_known: tuple[str, ...]
    found: WhatIf | Forecast | None


def _json(found: WhatIfPage) -> Any:
    """Return the result as the command prints it; null if nothing is asked."""
    if found.fault:
        return {"error": {"what": found.fault, "now": found.now}}
    return None if found.found is None else document(found.found)


def _shown(found: WhatIfPage, look: Look) -> Mapping[str, Any]:
    return answer(look, "What if", _sections(found))


def _sections(found: WhatIfPage) -> Iterator[Section]:
    """Yield what the changes do, and the command that says the same."""
    result, command = found.found, CommandLine(found.command)
    if result is not None:
        yield Section([Sentence(text, "warn") for text in result.unread])
    if found.fault:
        yield Section([Sentence(Words(Marked(found.fault, "bad"), f" {found.now}"), "panic")])
    elif isinstance(result, Forecast):
        yield Section([*_courses(result), command], "What happens")
    elif result is not None:
        yield Section([_sides(result)], "What it decides")
        names = [side.name for side in result.sides]
        known = ", with what is in the log" if found.not_known else ""
        same = Sentence(f"The session decides the same{known}.", "blank")
        title = "Decisions that differ" if result.decisions else ""
        yield Section(
            [decision_table(result.decisions, names) if result.decisions else same, command], title
        )
    else:
        yield Section([Sentence("Nothing is changed yet.", "blank")])


def _sides(found: WhatIf) -> Block:
    """Return how much each session decides."""
    rows = []
    for place, one in enumerate(found.sides):
        result = one.answer.result
        same = all(row.values[place] == row.values[0] for row in found.decisions)
        decides = "the same" if same else Marked("otherwise", "warn")
        panic = () if result.panic is None else (Marked(result.panic.sentence, "bad"),)
        counts = (len(result.enqueued), len(result.binds), len(result.evictions))
        changes = Words(*joined((*one.texts, *panic), "; "))
        rows.append((one.name, changes, *map(str, counts), decides if place else ""))
    heads = ("SESSION", "CHANGES", "ENQUEUES", "BINDS", "EVICTS", "DECIDES")
    return Table(heads, rows, title="Sessions")


def _courses(found: Forecast) -> Iterator[Block]:
    """Yield what happens over time, in each course; tables are those of the command."""
    if found.missing:
        names = ", ".join(found.missing)
        stopped = Marked("Stopped by hand.", "bad")
        yield Sentence(Words(stopped, f" Not finished, and not shown: {names}."), "panic")
    for course in found.courses[1:]:
        if course.texts != (course.name,):
            yield Sentence(Words(Marked(course.name, "name"), f": {'; '.join(course.texts)}"))
    yield from (Sentence(text, "bad") for text in panic_texts(found))
    yield course_table(found)
    events, uses, several = event_table(found), use_table(found), len(found.courses) > 1
    if events.rows:
        yield events
    elif several:
        yield Sentence("Everything happens at the same times.", "blank")
    if uses.rows:
        yield uses
    for number, text in enumerate(certainty_texts(found)):
        yield Sentence(text, "cut" if number else "sure")


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
    show=_shown,
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
    moment = log.moment(look.at)
    nodes = [one.reference.name for one in log.truth(moment).of("", "Node")]
    return WhatIfPage(
        form=form,
        asked=asked,
        fault=fault,
        now=now,
        command=command_of(form, point, look.release) if asked else "",
        nodes=tuple(nodes[:MOST_ROWS]),
        branches=tuple(one.branch for one in log.heads()),
        assumed=assumptions(log, moment, own=False, release=look.release),
        not_known=() if found is None else sentences(found.not_known),
        found=found,
    )


def _sessions(log: Log, look: Look, form: WhatIfForm, watch: WorkWatch | None) -> WhatIf:
    def progress(done: int, total: int) -> None:
        if watch is not None:
            watch.report(f"Sessions run with each change: {done} of {total}.", done, total)

    return log.what_if(at=form.point(log, look), progress=progress, **_tried(look, form))


def _forecast(log: Log, look: Look, form: WhatIfForm, watch: WorkWatch | None) -> Forecast:
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


def _tried(look: Look, form: WhatIfForm) -> dict[str, Any]:
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


PAGES = (what_if,)
