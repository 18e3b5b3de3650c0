"""The page of invariants: what was violated, since when, and what was not checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ....engine.invariants.invariant import Invariant
from ....engine.invariants.violation_timeline import Breach
from ....engine.kubernetes.counts import counted
from ....engine.kubernetes.units import SECOND_US
from ...facade.log import Log
from ...invariants.check_report import CheckReport
from ...invariants.check_task import ALL, chosen_invariants
from ...render.blocks import (
    Block,
    CommandLine,
    ItemList,
    ListedItem,
    Marked,
    Section,
    Sentence,
    Words,
    chip,
    here_ref,
    moment_ref,
)
from ...render.check import check_table
from ...render.tables import TextColumn, table_of
from ..reach import reach_all, reach_cache
from .blocks import BlockPage
from .look import Look
from .notes import sentences
from .page import NavGroup, page

if TYPE_CHECKING:
    from ..works import WorkWatch

EAGER = 20_000
"""A log with at most so many events is checked without being asked to."""

MOMENT = "moment"


@page(
    "check",
    "Invariants",
    nav="Invariants",
    group=NavGroup.CHECK,
    key="i",
    long=True,
    runs=lambda look: look.get("run") == "yes",
    takes=("over", "invariant", "run", "violations", "do", "sort_violations"),
)
def check(log: Log, look: Look, watch: WorkWatch | None = None) -> BlockPage:
    """Check the log up to the moment, or the moment alone; long logs only on demand.

    :raises UsageError: there is no invariant of that name.
    """
    name = look.get("invariant")
    wanted = chosen_invariants([name])[0].id if name else ""
    alone = look.get("over") == MOMENT
    report = None
    if look.get("run") == "yes" or look.position <= EAGER:
        at, until = (look.at, None) if alone else (None, look.at)
        if alone:
            reach_cache(log, log.moment(look.at), [look.release])
        else:
            reach_all(log, "violations", f"plinian check --until {look.at}")
        progress = None if watch is None else partial(watch.report, "Events are checked.")
        report = log.check(at=at, until=until, release=look.release, progress=progress)
    return BlockPage(
        "Invariants",
        lambda: _sections(report, look, wanted),
        report,
        when=Words("at " if alone else "up to ", moment_ref(look.position)),
        not_known=() if report is None else sentences(report.not_known),
    )


def _sections(report: CheckReport | None, look: Look, wanted: str) -> Iterator[Section]:
    """Yield what was checked, what was found, and all invariants."""
    alone, run = look.get("over") == MOMENT, look.get("run")
    chips = [
        chip("the log up to here", chosen=not alone, over=None, violations=None, run=run),
        chip("this moment alone", chosen=alone, over=MOMENT, violations=None),
    ]
    violations = _not_run(look) if report is None else _violations(report, wanted)
    yield Section([ItemList([ListedItem(ref) for ref in chips], "chips"), *violations])
    yield Section([_invariants(report)], "All invariants")


def _not_run(look: Look) -> Iterator[Block]:
    """Yield how to check a long log."""
    yield Sentence(
        Words(
            "An invariant is a sentence that holds of every sound cluster. Checking this log takes "
            "a while. ",
            here_ref("Check it now", "button", run="yes"),
        )
    )
    yield CommandLine(f"plinian check --until {look.at}")


def _violations(report: CheckReport, wanted: str) -> Iterator[Block]:
    """Yield the violations, and how many were left out."""
    shown = [
        violation
        for violation in report.violations
        if not wanted or violation.invariant.id == wanted
    ]
    settle = f"{report.settle / SECOND_US:g} s"
    short = len(report.unsettled)
    if shown:
        yield check_table(report, wide=True, violations=shown)
    else:
        noun = f"violation of {wanted}" if wanted else "violation"
        said = f"No {noun} is known to have lasted {settle}." if short else f"No {noun}."
        if not wanted and not short:
            said = "No violation: every invariant that could be checked holds."
        more = (" ", here_ref("Show all", invariant=None)) if wanted else ()
        yield Sentence(Words(said, *more), "blank")
    ran = f"{counted(report.sessions, 'session')} ran as {report.release}."
    left = f" Left out: {short} that lasted less than {settle}, or for a time that is not known."
    yield Sentence(f"{ran}{left if short else ''}")


def _invariants(report: CheckReport | None) -> Block:
    """Return all invariants, with how many violations each has."""
    result = partial(_result, report)
    columns: Sequence[TextColumn[Invariant]] = (
        TextColumn(
            "ID", lambda invariant: Marked(f"{invariant.id} {invariant.name}", place=invariant.id)
        ),
        TextColumn("RESULT", result),
        TextColumn("STATEMENT", lambda invariant: invariant.statement),
        TextColumn("NEEDS", lambda invariant: invariant.needs.value),
    )
    return table_of(columns, ALL, "All invariants")


def _result(report: CheckReport | None, invariant: Invariant) -> str:
    if report is None:
        return f"not checked{f': {invariant.unseen}' if invariant.unseen else ''}"
    if many := _count(report.violations, invariant):
        return Marked(f"✖ {many} violated", "bad")
    if short := _count(report.unsettled, invariant):
        return Marked(f"{short} left out", "warn")
    if any(each.id == invariant.id for each in report.checked):
        return Marked("✔ holds", "good")
    reason = next(
        (x.reason for x in report.not_checked if x.invariant.id == invariant.id), invariant.unseen
    )
    return f"not checked{f': {reason}' if reason else ''}"


def _count(breaches: Sequence[Breach], invariant: Invariant) -> int:
    return sum(breach.invariant.id == invariant.id for breach in breaches)
