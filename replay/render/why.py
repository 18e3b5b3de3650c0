"""An answer to ``why`` as text: one sentence, then the reasons in order, then their numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import MappingProxyType

import msgspec

from ...engine.kubernetes.counts import counted
from ...engine.volcano.releases import RELEASES
from ..answers.amounts import in_order
from ..answers.answer import Why
from ..answers.records import (
    Account,
    Evidence,
    Gang,
    Held,
    Hypernode,
    Hypernodes,
    Link,
    Nodes,
    Overcommitted,
    QueuePath,
    Step,
)
from ..answers.since import begins_of
from ..answers.stages import Stage
from ..what_if.help import WouldHelp
from ..what_if.suggestion import GONE, RELEASE
from ..what_if.trial import AFTER_EVICTIONS, ENQUEUED, NOW, Remedy
from .session import number_text, step_table
from .simulation import spans
from .tables import NONE, PLAIN, Style, Table, lines_of, paragraph

SENTENCE, NUMBERS, STEPS = 0, 1, 2
"""Depths: the reasons; also all numbers; also the steps of the session."""

_MARK = "=>"
_COLUMNS = (
    *("wanted", "left", "limit", "allocated", "inqueue", "elastic", "deserved", "guarantee"),
    "capability",
)


def help_lines(found: WouldHelp, *, depth: int = 0, style: Style = PLAIN) -> Iterator[str]:
    """Yield the changes with which the object starts, and how many were tried.

    :param depth: from 1 on, also those that do not help.
    """
    yield "\n"
    if said := no_change_text(found):
        yield f"{said}\n"
    if found.found:
        shown, _ = few(found.found)
        rows = [(one.text, one.starts, _names(one.evicts), _names(one.no_longer)) for one in shown]
        heads = ("WOULD HELP", "STARTS", "EVICTS", "NO LONGER PLACED")
        paid = [at for at in (2, 3) if any(row[at] != NONE for row in rows)]
        keep = ("STARTS", *(heads[at] for at in paid[:1]))
        yield from lines_of(Table(heads, rows, keep=keep), style=style)
    if tried := tried_text(found):
        listed = "; -v lists those that do not help." if found.in_vain and not depth else "."
        yield from paragraph(f"{tried}{listed}", style)
    yield from _fault_lines(found.by_fault, style)
    if depth and found.in_vain:
        yield "\n"
        tried_rows = [(text,) for text in _listed_in_vain(found)]
        yield from lines_of(Table(("DOES NOT HELP",), tried_rows), style=style)
    if found.left:
        left = counted(found.left, "other change was", "other changes were")
        left = f"{left} not tried, for lack of time: --budget gives more."
        yield from paragraph(left, style)


def _fault_lines(found: Sequence[Remedy], style: Style) -> Iterator[str]:
    """Yield the releases with which an object starts only by a fault, and that fault."""
    if found:
        yield "\n"
        shown, _ = few(found)
        rows = [(one.text, one.starts, " ".join(one.faults)) for one in shown]
        heads = ("ONLY BY A FAULT", "STARTS", "FAULT")
        yield from lines_of(Table(heads, rows, keep=("FAULT",)), style=style)


def tried_text(found: WouldHelp) -> str:
    """Return how many changes were tried, without a full stop; empty if none was."""
    if not found.tried:
        return ""
    singles = found.tried - found.pairs
    tried = f"{singles} {'change' if singles == 1 else 'changes'}"
    if found.pairs:
        tried += f" and {found.pairs} {'pair' if found.pairs == 1 else 'pairs'} of them"
    if found.found:
        _, more = few(found.found)
        helps = "more job helps" if more == 1 else "more jobs help"
        rest = f"; {more} {helps}, too" if more else ""
        return f"Found by running the session with each of {tried}{rest}"
    sooner = " sooner" if found.unchanged else ""
    faults = ", except by a fault of a release" if found.by_fault else ""
    if found.tried == 1:
        return f"The one change that was tried does not make it start{sooner}{faults}"
    return f"None of {tried} makes it start{sooner}{faults}"


def _listed_in_vain(found: WouldHelp) -> Iterator[str]:
    """Yield the changes that do not help: releases together."""
    prefix = f"{RELEASE} "
    names = {text.removeprefix(prefix) for text in found.in_vain if text.startswith(prefix)}
    yield from (text for text in found.in_vain if not text.startswith(prefix))
    if names:
        yield f"{prefix}{spans([str(one) for one in RELEASES if str(one) in names])}"


def no_change_text(found: WouldHelp) -> str:
    """Return that the object starts without any change; empty if it does not."""
    return _UNCHANGED.get(found.unchanged, "")


def few(found: Sequence[Remedy]) -> tuple[list[Remedy], int]:
    """Return the changes to show, and how many are not: of jobs a few, releases together."""
    shown: list[Remedy] = []
    gone = [one for one in found if one.kind == GONE]
    releases: dict[tuple[object, ...], list[Remedy]] = {}
    for one in found:
        if one.kind == RELEASE:
            same_as = (one.starts, one.evicts, one.no_longer, one.faults)
            releases.setdefault(same_as, []).append(one)
        elif one.kind != GONE:
            shown.append(one)
    shown += gone[:_JOBS]
    for same in releases.values():
        names = {one.text.removeprefix("release ") for one in same}
        ordered = [str(release) for release in RELEASES if str(release) in names]
        shown.append(msgspec.structs.replace(same[0], text=f"release {spans(ordered)}"))
    return shown, len(gone) - len(gone[:_JOBS])


def _names(some: Sequence[str]) -> str:
    if not some:
        return NONE
    rest = len(some) - _NAMES
    return ", ".join(some[:_NAMES]) + (f" and {rest} more" if rest > 0 else "")


_UNCHANGED = MappingProxyType(
    {
        NOW: "No change is needed: this session lets it start.",
        AFTER_EVICTIONS: "No change is needed: it starts when the pods that leave are gone.",
        ENQUEUED: "No change is needed: this session enqueues it, and then its pods are created.",
    }
)
_NAMES = 3
_JOBS = 3
_HYPERNODES = 6


def why_lines(found: Why, *, depth: int = SENTENCE, style: Style = PLAIN) -> Iterator[str]:
    """Yield the lines of an answer.

    :param depth: how much is shown: one of :data:`SENTENCE`, :data:`NUMBERS`, :data:`STEPS`.
    """
    yield from paragraph(style.bold(found.sentence), style)
    yield "\n"
    yield from since_lines(found, style=style)
    yield from _reasons(found.chain, depth, style)
    if depth >= NUMBERS and found.events:
        yield "\n"
        yield from lines_of(event_table("RESTS ON", found.events), style=style)
    if depth >= STEPS and found.steps:
        yield "\n"
        yield from lines_of(_steps(found.steps), style=style)


def since_lines(found: Why, *, style: Style = PLAIN) -> Iterator[str]:
    """Yield since when it waits, and when the reason changed."""
    if found.began is not None:
        begin = "exists" if found.began.is_creation else "in the log"
        yield from paragraph(f"{begin} since {found.began.place}", style)
    for stage, words in zip(found.stages, begins_of(found.stages), strict=True):
        said = "for the present reason" if stage is found.stages[-1] else stage.sentence
        yield from paragraph(f"{words}: {said}{_by(stage)}", style)
    if found.made_by:
        named, when = ", ".join(map(_named, found.made_by)), found.made_by[-1].when
        yield from paragraph(f"made so by {named}{f' (last at {when})' if when else ''}", style)
    if found.began is not None or found.stages:
        yield "\n"


def _by(stage: Stage) -> str:
    events = stage.since.events
    if not events:
        return ""
    named = [_named(one) for one in events[-3:]]
    rest = len(events) - 3 + stage.since.more
    more = f" and {rest} more" if rest > 0 else ""
    return f"; before that came {', '.join(named)}{more}"


def _named(one: Evidence) -> str:
    by = f" by {one.by}" if one.by else ""
    return f"{one.kind} {one.about} @{one.position}{by}"


def _reasons(chain: Sequence[Link], depth: int, style: Style) -> Iterator[str]:
    for link in chain:
        mark = _MARK if link.blocks else "  "
        line = f"{mark} {link.text}"
        yield from paragraph(style.removed(line) if link.blocks else line, style)
        if link.blocks or depth >= NUMBERS:
            yield from _numbers(link, depth, style)


def _numbers(link: Link, depth: int, style: Style) -> Iterator[str]:
    """Yield the table of a reason that has one, indented."""
    tables = link_tables(link, depth)
    for table in tables:
        yield "\n"
        yield from (f"   {line}" for line in lines_of(table, style=style.narrower(3)))
    if tables:
        yield "\n"


def link_tables(link: Link, depth: int = NUMBERS) -> list[Table]:
    """Return the tables with the numbers of a reason; none are empty."""
    return [table for table in _tables(link, depth) if table.rows]


def _tables(link: Link, depth: int) -> Iterator[Table]:
    if isinstance(link, QueuePath):
        yield _accounts(link.accounts)
        yield _holders(link.holders)
    elif isinstance(link, Overcommitted):
        yield _holders(link.holders)
    elif isinstance(link, Nodes):
        yield _nodes(link, depth)
    elif isinstance(link, Hypernodes):
        yield _hypernodes(link, depth)
    elif isinstance(link, Gang) and link.planned and depth >= NUMBERS:
        yield Table(("POD", "PLANNED NODE"), sorted(link.planned.items()))


def _hypernodes(link: Hypernodes, depth: int) -> Table:
    """Return the hypernodes that a job may be in, and how many of its pods have a place there."""
    shown = link.tried if depth >= NUMBERS else link.tried[:_HYPERNODES]
    rows = [
        (one.name, str(one.tier), str(one.nodes), _places(one), _listed(one.room)) for one in shown
    ]
    if len(shown) < len(link.tried):
        rows.append((f"({len(link.tried) - len(shown)} more)", "", "", "", ""))
    heads = ("HYPERNODE", "TIER", "NODES", "PODS WITH A PLACE", "FREE")
    room = ("FREE",) if any(one.places is None for one in link.tried) else ()
    return Table(heads, rows, keep=("PODS WITH A PLACE", *room))


def _places(one: Hypernode) -> str:
    return "not tried" if one.places is None else str(one.places)


def _accounts(accounts: Sequence[Account]) -> Table:
    """Return queues from leaf to root, one row for each resource that matters.

    Columns without any amount are left out.
    """
    names, rows = _compared(accounts), []
    for account in accounts:
        for name in names:
            amounts = [getattr(account, column).get(name, "") for column in _COLUMNS]
            rows.append([account.queue, name, *amounts, _check(account, name)])
    headers = ["QUEUE", "RESOURCE", *(column.upper() for column in _COLUMNS), "CHECK"]
    used = [place for place in range(len(headers)) if _says_something(rows, place)]
    return Table(
        [headers[at] for at in used],
        [[row[at] or NONE for at in used] for row in rows],
        keep=("RESOURCE", "WANTED", "LIMIT", *_compared_columns(accounts), "CHECK"),
    )


def _compared_columns(accounts: Sequence[Account]) -> tuple[str, ...]:
    """Return the columns that a sentence names beside what is wanted and the limit.

    It is what a limit leaves. Of a share, and of what a job does not ask for, it is what is held.
    """
    full = next((one for one in accounts if one.checked and one.exceeded), None)
    if full is None:
        return ("LEFT",)
    asked = any(full.wanted.get(name, "0") != "0" for name in full.exceeded)
    if full.compared == "deserved" or not asked:
        return ("ALLOCATED",)
    return ("LEFT",)


def _check(account: Account, name: str) -> str:
    """Return what comparing a resource of a queue with its limit gave."""
    if not account.checked:
        return "not checked"
    if not account.limit:
        return "not computed"
    return "exceeded" if name in account.exceeded else "fits"


def _compared(accounts: Sequence[Account]) -> list[str]:
    """Return the resources that were wanted; pods only if there were too many."""
    wanted = {name for one in accounts for name, text in one.wanted.items() if text != "0"}
    exceeded = {name for one in accounts for name in one.exceeded}
    known = {name for one in accounts for name in one.limit}
    shown = (wanted - {"pods"}) | exceeded
    return in_order(shown or ({"cpu", "memory"} & known))


def _says_something(rows: Sequence[Sequence[str]], place: int) -> bool:
    return any(row[place] not in {"", "0"} for row in rows)


def _holders(holders: Sequence[Held]) -> Table:
    rows = [(one.job, one.queue, _listed(one.allocated), _listed(one.reserved)) for one in holders]
    heads = ("HOLDER", "QUEUE", "HOLDS", "HAS RESERVED")
    named = [heads[at] for at in (2, 3) if any(row[at] != NONE for row in rows)]
    return Table(heads, rows, keep=named)


def _listed(amounts: dict[str, str]) -> str:
    return ",".join(f"{name}={text}" for name, text in amounts.items()) or NONE


def _nodes(link: Nodes, depth: int) -> Table:
    """Return the nodes nearest to taking a pod, by reason; with more depth all that are known."""
    rows = []
    for group in link.groups:
        shown = group.nearest if depth >= NUMBERS else group.nearest[:2]
        reasons = "; ".join(group.reasons) + (f" (for pod {group.of})" if group.of else "")
        for one in shown:
            also = f"; {'; '.join(one.also)}" if one.also else ""
            free = {name: text for name, text in one.free.items() if name in link.request}
            rows.append((one.node, _listed(one.missing), _listed(free), reasons + also))
        rest = len(group.nodes) - len(shown)
        if rest:
            rows.append((f"({rest} more)", "", "", reasons))
    rows += [(name, "", "", f"not in sessions: {reason}") for name, reason in link.skipped.items()]
    return Table(("NODE", "LACKS", "FREE", "REASON"), rows, keep=("LACKS", "REASON"))


def event_table(head: str, events: Sequence[Evidence]) -> Table:
    """Return events as a table, the first column with this head."""
    rows = [(one.about, one.kind, f"@{one.position}", one.time, one.by or NONE) for one in events]
    headers = (head, "EVENT", "POSITION", "TIME", "BY")
    return Table(headers, rows, keep=("EVENT", "POSITION"), shorten=("BY",))


def _steps(steps: Sequence[Step]) -> Table:
    rows = []
    for one in steps:
        numbers = " ".join(f"{name}={_number(value)}" for name, value in one.numbers.items())
        rows.append((one.action, one.what, one.about, one.by, one.outcome, numbers))
    return step_table(rows)


def _number(value: object) -> str:
    if isinstance(value, dict):
        return f"({','.join(f'{name}={text}' for name, text in value.items())})"
    return number_text(value)
