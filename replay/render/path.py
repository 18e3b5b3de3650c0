"""The path of a pod for people: its checks in order, and a table of nodes by filters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType

from ...engine.kubernetes.counts import counted
from ...engine.session.framework.vote_details import CheckState
from ..answers.amounts import in_order
from ..answers.records import Nodes
from ..pod_path.path_records import FilteredNodes, FilterSays, NodesByFilter, PathCheck, PodPath
from .amounts import listed
from .blocks import (
    Block,
    Marked,
    Ref,
    Section,
    Sentence,
    Words,
    joined,
    object_ref,
)
from .tables import NONE, Table
from .why import link_tables

_STATES: Mapping[str, str] = MappingProxyType(
    {
        CheckState.PASSED: "passed",
        CheckState.FAILED: "failed",
        CheckState.NOT_REACHED: "not reached",
        CheckState.NOT_KNOWN: "not known",
        CheckState.IGNORED: "ignored",
    }
)
_LOOKS: Mapping[str, str] = MappingProxyType(
    {CheckState.PASSED: "good", CheckState.FAILED: "bad", CheckState.NOT_KNOWN: "warn"}
)
_ASKED = ("request", "wanted", "minResources")
"""How plugins call a request among the numbers that they compare."""
_NAMED = 3
"""How many nodes of a row are named."""


def path_sections(
    path: PodPath, *, wide: bool = False, each: str = "--nodes all lists each"
) -> Iterator[Section]:
    """Yield a path, as a terminal and pages show it.

    :param wide: also filters that all nodes pass have their columns.
    :param each: says how nodes get their own rows.
    """
    yield Section([Sentence(path.sentence, "sentence"), *_before(path)])
    yield _checks(path.checks)
    if path.nodes is not None:
        yield _nodes(path.nodes, wide=wide, each=each)
    tables = [table for check in path.checks for table in _numbers(check)]
    if tables:
        yield Section(tables, "Numbers that the session compared")


def _before(path: PodPath) -> Iterator[Block]:
    if path.before:
        command = f"plinian path pod/{path.asked.name} --at {path.before}"
        here = Ref(command, f"path/pod/{path.asked.name}", at=path.before[1:], look="code")
        yield Sentence(Words("The session before it got its node: ", here), "remark")


def _checks(checks: Sequence[PathCheck]) -> Section:
    rows = [
        (_span(part[0].check, part[-1].check, " .. "), *_said(part))
        for alone, some in groupby(checks, key=_says_something)
        for part in (([check] for check in some) if alone else [list(some)])
    ]
    title = "Checks, in the order in which the scheduler comes to them"
    heads = ("CHECK", "BY", "RESULT", "COMPARED")
    return Section([Table(heads, rows, keep=heads, title=title)], title, "checks")


def _says_something(check: PathCheck) -> bool:
    return bool(check.text) or check.state != CheckState.NOT_REACHED


def _said(checks: Sequence[PathCheck]) -> tuple[str, str, str]:
    """Return who makes some checks, the result, and what was compared."""
    by = "" if len({check.by for check in checks}) > 1 else checks[0].by
    return by or NONE, _mark(checks[0].state), _compared(checks[0])


def _mark(state: str) -> str:
    return Marked(_STATES[state], _LOOKS.get(state, ""))


def _compared(check: PathCheck) -> str:
    """Return what was compared; of a check that passed also the amounts, which no table has."""
    amounts = _amounts(check) if check.state == CheckState.PASSED or not check.text else ""
    if not check.text:
        return amounts or NONE
    return f"{check.text} ({amounts})" if amounts else check.text


def _amounts(check: PathCheck) -> str:
    """Return the amounts of a check; with a request, those of the same resources."""
    sides = {name: side for name, side in check.numbers.items() if isinstance(side, Mapping)}
    asked = next((sides[name] for name in _ASKED if name in sides), None)
    parts = []
    for name in sorted(sides, key=lambda name: (name not in _ASKED, name)):
        shown = {
            resource: text
            for resource, text in sides[name].items()
            if resource != "pods" and (asked is None or resource in asked)
        }
        parts.append(f"{name} {listed(shown)}")
    return "; ".join(parts)


def _numbers(check: PathCheck) -> list[Table]:
    """Return the tables of a failed check; nodes have their own."""
    if check.state != CheckState.FAILED or check.reason is None or isinstance(check.reason, Nodes):
        return []
    title = f"Compared for {check.check}{f' by {check.by}' if check.by else ''}"
    return [table._replace(title=title) for table in link_tables(check.reason)]


def _nodes(nodes: NodesByFilter, *, wide: bool, each: str) -> Section:
    title = "Nodes, and what each filter says of them"
    blocks: list[Block] = []
    if not nodes.reached:
        text = "The session does not compare the pod with nodes. At its end it would find:"
        blocks.append(Sentence(text, "remark"))
    blocks.append(_table(nodes, wide=wide)._replace(title=title))
    passed = [name for name in nodes.filters if name not in _columns(nodes, wide=wide)]
    if passed:
        said = f"Filters that refuse no node that comes to them: {', '.join(passed)}."
        blocks.append(Sentence(said, "cut"))
    if nodes.silent:
        said = f"Filters with nothing to check for this pod: {', '.join(nodes.silent)}."
        blocks.append(Sentence(said, "cut"))
    if not nodes.each and any(len(row.nodes) > 1 for row in nodes.rows):
        rows = f"{counted(nodes.total, 'node')} in {counted(len(nodes.rows), 'row')}"
        blocks.append(Sentence(f"{rows}; {each}.", "cut"))
    return Section(blocks, title, "nodes", captions=False)


def _columns(nodes: NodesByFilter, *, wide: bool) -> list[str]:
    """Return the filters with a column: those that do not just pass or are not reached."""
    dull = {CheckState.PASSED, CheckState.NOT_REACHED}
    return [
        name
        for place, name in enumerate(nodes.filters)
        if wide or any(row.cells and row.cells[place].state not in dull for row in nodes.rows)
    ]


def _table(nodes: NodesByFilter, *, wide: bool) -> Table:
    columns = _columns(nodes, wide=wide)
    places = [nodes.filters.index(name) for name in columns]
    lacking = "pods" in nodes.request and any(
        code == "too-many-pods" for row in nodes.rows for cell in row.cells for code in cell.codes
    )
    resources = [name for name in in_order(nodes.request) if name != "pods" or lacking]
    scored = any(row.score_least is not None for row in nodes.rows)
    heads = [
        "NODE",
        "RESULT",
        *(name.rpartition("/")[2].upper() for name in columns),
        *(f"FREE {name.upper()}" for name in resources),
        *(["SCORE"] if scored else []),
    ]
    rows = [
        [
            _names(row),
            _result(row),
            *(_cell(row.cells[place]) if row.cells else NONE for place in places),
            *(_free(row, name) for name in resources),
            *([_score(row)] if scored else []),
        ]
        for row in nodes.rows
    ]
    keep = ["RESULT", *heads[2 : 2 + len(columns)]]
    return Table(heads, rows, keep=keep, shorten=["NODE"], pages="rows", total=len(rows))


def _names(row: FilteredNodes) -> str:
    shown = [object_ref(f"node/{name}", name) for name in row.nodes[:_NAMED]]
    if len(row.nodes) == 1:
        return shown[0]
    rest = len(row.nodes) - len(shown)
    more = f" and {rest} more" if rest else ""
    return Words(f"{len(row.nodes)} nodes: ", *joined(shown), more)


def _result(row: FilteredNodes) -> str:
    """Return what came of nodes; why, where no cell says it."""
    if row.state == CheckState.PASSED:
        return Marked("chosen" if row.chosen else "passed", "good")
    if row.state == CheckState.NOT_REACHED:
        return Words(Marked("not checked", ""), f": {row.text}" if row.text else "")
    if any(cell.state == CheckState.FAILED for cell in row.cells):
        return Marked("failed", "bad")
    return Words(Marked("failed", "bad"), f": {row.text}")


def _cell(cell: FilterSays) -> str:
    mark = _mark(cell.state)
    return Words(mark, f": {cell.text}") if cell.text else mark


def _free(row: FilteredNodes, name: str) -> str:
    """Return what is free of a resource, of what the nodes have; bounds of several nodes."""
    if name not in row.total_least:
        return NONE
    free = _span(row.least[name], row.most[name])
    total = _span(row.total_least[name], row.total_most[name])
    idle = _span(row.idle_least[name], row.idle_most[name])
    return f"{free} of {total}" + (f" ({idle} now)" if idle != free else "")


def _span(least: str, most: str, between: str = "..") -> str:
    return least if least == most else f"{least}{between}{most}"


def _score(row: FilteredNodes) -> str:
    if row.score_least is None or row.score_most is None:
        return NONE
    return _span(f"{row.score_least:.9g}", f"{row.score_most:.9g}")
