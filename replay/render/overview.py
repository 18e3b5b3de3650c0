"""An overview for people: problems, the worst first, and what was done shortly before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from types import MappingProxyType

from ...engine.kubernetes.counts import counted
from ...engine.kubernetes.units import parse_time
from ..moments.actors import short_actor
from ..moments.zones import Zone, time_of_day, times_in
from ..overview.problems import Act, Overview, Problem, ProblemKind
from .amounts import UNKNOWN, duration
from .blocks import (
    Block,
    CommandLine,
    ItemList,
    ListedItem,
    Ref,
    Section,
    Sentence,
    TerminalLine,
    Words,
    joined,
    moment_ref,
    object_ref,
)
from .tables import Table, whole_sentence

_TITLES: Mapping[ProblemKind, str] = MappingProxyType(
    {
        ProblemKind.CRASH: "Crash",
        ProblemKind.STOP: "Stopped",
        ProblemKind.NODE: "Nodes",
        ProblemKind.WAITING: "Waiting",
        ProblemKind.QUEUE: "Queues",
        ProblemKind.VIOLATION: "Violated invariants",
        ProblemKind.DRIFT: "The scheduler's cache",
        ProblemKind.LINT: "Errors in objects and the configuration",
    }
)

_LEADS: Mapping[ProblemKind, str] = MappingProxyType(
    {ProblemKind.CRASH: "crash:", ProblemKind.STOP: "stopped:"}
)
"""Why problems of the worst kinds stand out."""

_DATE = len("2006-01-02T")

_ASKED = frozenset({ProblemKind.WAITING, ProblemKind.QUEUE})
"""Kinds whose objects *why* is asked about."""

_NAMED = 4
"""How many objects of a problem or an act a line names."""

_LISTED = 10
"""How many problems of a kind are listed; commands list the others."""


def overview_sections(overview: Overview, zone: Zone | None = None) -> Iterator[Section]:
    """Yield an overview, as a terminal and pages show it. :param zone: of its times; None is UTC.

    Times of day are without their zone: the first line says it, and the head of what was done.
    """
    asked = overview.asked
    when = asked.at if asked.time in {"", asked.at} else f"{asked.at} ({asked.time})"
    yield Section(
        [
            f"overview at {when} as {asked.release}, configuration {asked.conf}",
            Sentence(whole_sentence(overview.sentence), "sentence"),
            *_placed(overview),
        ]
    )
    for kind, group in groupby(overview.problems, key=lambda problem: ProblemKind(problem.kind)):
        yield _section(kind, list(group), asked.time, zone)
    if asked.since:
        yield _done(overview, zone)
    if overview.not_checked:
        items = [ListedItem(text) for text in overview.not_checked]
        yield Section([TerminalLine("NOT CHECKED"), ItemList(items, "gaps")], "Not checked")


def _placed(overview: Overview) -> Iterator[Block]:
    if overview.placed:
        starts = counted(overview.placed, "job waits", "jobs wait")
        yield Sentence(f"{starts} only for this session, which starts them.", "blank")


def _section(kind: ProblemKind, problems: list[Problem], now: str, zone: Zone | None) -> Section:
    shown, left = problems[:_LISTED], len(problems) - _LISTED
    items = [_item(problem, now, zone) for problem in shown]
    blocks: list[Block] = [TerminalLine(_TITLES[kind].upper()), ItemList(items, "chain")]
    if left > 0:
        blocks.append(Sentence(f"and {left} more", "cut"))
    blocks.append(CommandLine(problems[0].command, "In a terminal, as in:"))
    return Section(blocks, _TITLES[kind], id=kind)


def _item(problem: Problem, now: str, zone: Zone | None) -> ListedItem:
    parts: list[str] = [problem.text]
    if problem.since or problem.between:
        parts.append(_since(problem, now, zone))
    if problem.objects:
        named = [_link(problem, name) for name in problem.objects[:_NAMED]]
        left = problem.count - len(named)
        parts += [" · ", *joined(named), f" and {left} more" if left > 0 else ""]
    return ListedItem(Words(*parts), lead=_LEADS.get(ProblemKind(problem.kind), ""))


def _link(problem: Problem, name: str) -> Ref:
    """Return an object of a problem; of one that waits, it leads to why."""
    if problem.kind in _ASKED:
        return Ref(name, f"why/{name}", look="ref", hint="why it waits")
    return object_ref(name)


def _since(problem: Problem, now: str, zone: Zone | None) -> str:
    """Return since when something is so; of a queue or a node, since when it holds so much."""
    if problem.between:
        so_much = "so much " if problem.at_least else ""
        return f" · {so_much}since {times_in(problem.between, zone)}"
    took = duration(parse_time(problem.since) or 0, parse_time(now) or 0) if now else ""
    since = f"since {_clock(times_in(problem.since, zone), times_in(now, zone))}"
    if problem.at_least:
        return f" · so much for at least {took}, {since}" if took else f" · so much {since}"
    return f" · {took}, {since}" if took else f" · {since}"


def _done(overview: Overview, zone: Zone | None) -> Section:
    since = overview.asked.since
    title = f"Done since {since}"
    blocks: list[Block] = [TerminalLine(f"DONE SINCE {since}")]
    if overview.acts:
        rows = [_row(act, zone) for act in overview.acts]
        table = Table(("TIME", "BY", "WHAT"), rows, keep=("WHAT",), shorten=("BY", "WHAT"))
        blocks.append(table)
    else:
        blocks.append(Sentence("Nothing that the log shows.", "blank"))
    if overview.acts_left_out:
        diff = f"plinian diff {since} {overview.asked.at} --who"
        blocks.append(Sentence(f"{overview.acts_left_out} more: {diff}", "cut"))
    return Section(blocks, title, id="done", captions=False)


def _row(act: Act, zone: Zone | None) -> tuple[str, str, str]:
    what: str = act.text
    if act.count > 1:
        more = act.count - min(len(act.objects), _NAMED)
        listed = [object_ref(name) for name in act.objects[:_NAMED]]
        what = Words(f"{act.text}: ", *joined(listed), f" and {more} more" if more > 0 else "")
    elif act.objects:
        what = Words(f"{act.text} ", object_ref(act.objects[0]))
    when = act.of_day or act.time
    if zone is not None:
        when = time_of_day(times_in(act.time, zone))
    time = Words(when, " ", moment_ref(act.position)) if act.position else when
    return time, short_actor(act.actor) or UNKNOWN, what


def _clock(time: str, now: str) -> str:
    """Return one time without the date, if that is the date of the moment."""
    return time_of_day(time) if now.startswith(time[:_DATE]) else time
