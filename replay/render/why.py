"""Answers to ``why`` and ``blame``: one sentence, then the reasons in order, then their numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..answers.amounts import in_order
from ..answers.answer import Why
from ..answers.blamed import Blame, NumberPart
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
)
from ..answers.since import begins_of
from ..answers.stages import Stage
from .amounts import listed
from .blocks import (
    Block,
    ItemList,
    ListedItem,
    Marked,
    Section,
    Sentence,
    Words,
    block_lines,
    moment_ref,
    number_ref,
    object_ref,
)
from .session import step_table
from .tables import NONE, PLAIN, Style, Table, TextColumn, table_of

SENTENCE, NUMBERS, STEPS = 0, 1, 2
"""Depths: the reasons; also all numbers; also the steps of the session."""

_COLUMNS = (
    *("wanted", "left", "limit", "allocated", "inqueue", "elastic", "deserved", "guarantee"),
    "capability",
)
_HOLDING = frozenset({"allocated", "inqueue", "deserved", "guarantee", "capability"})
"""Columns of a queue whose numbers ``blame`` explains."""

NUMBERS_COMPARED = "Numbers that the session compared"


_HYPERNODES = 6


def why_lines(why: Why, *, depth: int = SENTENCE, style: Style = PLAIN) -> Iterator[str]:
    """Yield the lines of an answer.

    :param depth: how much is shown: one of :data:`SENTENCE`, :data:`NUMBERS`, :data:`STEPS`.
    """
    # Since when, before why: it says whether the reasons are new.
    since = [*since_blocks(why), *_made_by(why)]
    sections = [
        Section([Sentence(why.sentence, "sentence")]),
        *([Section(since)] if since else ()),
        reasons_section(why, depth),
    ]
    if depth >= NUMBERS and why.events:
        sections.append(Section([event_table("RESTS ON", why.events)]))
    if depth >= STEPS and why.steps:
        sections.append(Section([step_table(why.steps)]))
    return block_lines(sections, style=style)


def since_blocks(why: Why) -> list[Block]:
    """Return since when it waits, and when the reason changed."""
    blocks: list[Block] = []
    if why.began is not None:
        begin = "exists" if why.began.is_creation else "in the log"
        blocks.append(Sentence(Words(f"{begin} since ", *_place(why.began))))
    if why.stages:
        stages = zip(why.stages, begins_of(why.stages), strict=True)
        blocks.append(ItemList([ListedItem(_stage_text(*stage, why)) for stage in stages], "since"))
    return blocks


def _made_by(why: Why) -> Iterator[Sentence]:
    """Yield which events made it so; a page has a table of them instead."""
    if why.made_by:
        when = why.made_by[-1].when
        named = _listed_events(why.made_by)
        last = f" (last at {when})" if when else ""
        yield Sentence(Words("made so by ", *named, last))


def _place(evidence: Evidence) -> tuple[str, ...]:
    """Return the words of its time and its position."""
    place = moment_ref(evidence.position)
    return (f"{evidence.when} (", place, ")") if evidence.when else (place,)


def _stage_text(stage: Stage, words: str, why: Why) -> Words:
    said = "for the present reason" if stage is why.stages[-1] else stage.sentence
    events = stage.since.events
    if not events:
        return Words(f"{words}: {said}")
    # The last events are nearest to the change, so they are named.
    rest = len(events) - 3 + stage.since.more
    more = f" and {rest} more" if rest > 0 else ""
    return Words(f"{words}: {said}; before that came ", *_listed_events(events[-3:]), more)


def _listed_events(events: Sequence[Evidence]) -> Iterator[str]:
    for number, event in enumerate(events):
        by = f" by {event.by}" if event.by else ""
        yield f"{', ' if number else ''}{event.kind} "
        yield from (object_ref(event.about), " ", moment_ref(event.position), by)


def reasons_section(why: Why, depth: int = NUMBERS) -> Section:
    """Return the reasons, with the numbers of those that keep it waiting; with depth, of all."""
    lead = "This is why it is not known." if why.waits is None else "This keeps it waiting."
    items = [
        ListedItem(
            link.text,
            lead if link.blocks else "",
            link_tables(link, depth) if link.blocks or depth >= NUMBERS else (),
            "" if link.blocks else "Numbers",
        )
        for link in why.chain
    ]
    title = "The reasons, in the order in which the scheduler comes to them"
    return Section([ItemList(items, "chain")], title)


def link_tables(link: Link, depth: int = NUMBERS) -> list[Table]:
    """Return the tables with the numbers of a reason; none are empty."""
    tables = (table._replace(title=NUMBERS_COMPARED) for table in _tables(link, depth))
    return [table for table in tables if table.rows]


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
        planned = sorted(link.planned.items())
        rows = [(object_ref(f"pod/{pod}", pod), node) for pod, node in planned]
        yield Table(("POD", "PLANNED NODE"), rows)


def _hypernodes(link: Hypernodes, depth: int) -> Table:
    """Return the hypernodes that a job may be in, and how many of its pods have a place there."""
    shown = link.tried if depth >= NUMBERS else link.tried[:_HYPERNODES]
    rows = [
        (
            hypernode.name,
            str(hypernode.tier),
            str(hypernode.nodes),
            _places(hypernode),
            listed(hypernode.room),
        )
        for hypernode in shown
    ]
    if len(shown) < len(link.tried):
        rows.append((f"({len(link.tried) - len(shown)} more)", "", "", "", ""))
    heads = ("HYPERNODE", "TIER", "NODES", "PODS WITH A PLACE", "FREE")
    room = ("FREE",) if any(hypernode.places is None for hypernode in link.tried) else ()
    return Table(heads, rows, keep=("PODS WITH A PLACE", *room))


def _places(hypernode: Hypernode) -> str:
    return "not tried" if hypernode.places is None else str(hypernode.places)


def _accounts(accounts: Sequence[Account]) -> Table:
    """Return queues from leaf to root, one row for each resource that matters.

    Columns without any amount are left out.
    """
    # All queues show the same resources, so that a column can be read from leaf to root.
    names, rows = _compared(accounts), []
    for account in accounts:
        for name in names:
            amounts = [_amount(account, column, name) for column in _COLUMNS]
            queue = object_ref(f"queue/{account.queue}", account.queue)
            rows.append([queue, name, *amounts, _check(account, name)])
    headers = ["QUEUE", "RESOURCE", *(column.upper() for column in _COLUMNS), "CHECK"]
    # Most columns are empty for most answers: each plugin fills in others.
    used = [at for at in range(len(headers)) if any(row[at] not in {"", "0"} for row in rows)]
    return Table(
        [headers[at] for at in used],
        [[row[at] or NONE for at in used] for row in rows],
        keep=("RESOURCE", "WANTED", "LIMIT", *_compared_columns(accounts), "CHECK"),
    )


def _amount(account: Account, column: str, name: str) -> str:
    text: str = getattr(account, column).get(name, "")
    if not text or column not in _HOLDING:
        return text
    return number_ref(f"queue/{account.queue}", f"{column}.{name}", text)


def _compared_columns(accounts: Sequence[Account]) -> tuple[str, ...]:
    """Return the columns that a sentence names beside what is wanted and the limit.

    It is what a limit leaves. Of a share, and of what a job does not ask for, it is what is held.
    """
    full = next((account for account in accounts if account.checked and account.exceeded), None)
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
    return Marked("exceeded", "bad") if name in account.exceeded else "fits"


def _compared(accounts: Sequence[Account]) -> list[str]:
    """Return the resources that were wanted; pods only if there were too many."""
    wanted = {name for account in accounts for name, text in account.wanted.items() if text != "0"}
    exceeded = {name for account in accounts for name in account.exceeded}
    known = {name for account in accounts for name in account.limit}
    # Every pod counts as one, which says nothing unless the number of pods is the limit.
    shown = (wanted - {"pods"}) | exceeded
    return in_order(shown or ({"cpu", "memory"} & known))


def _holders(holders: Sequence[Held]) -> Table:
    rows = [
        (holder.job, holder.queue, listed(holder.allocated), listed(holder.reserved))
        for holder in holders
    ]
    heads = ("HOLDER", "QUEUE", "HOLDS", "HAS RESERVED")
    named = [heads[at] for at in (2, 3) if any(row[at] != NONE for row in rows)]
    return Table(heads, rows, keep=named)


def _nodes(link: Nodes, depth: int) -> Table:
    """Return the nodes nearest to taking a pod, by reason; with more depth all that are known."""
    rows: list[tuple[str, ...]] = []
    for group in link.groups:
        shown = group.nearest if depth >= NUMBERS else group.nearest[:2]
        # Pods of a gang may be refused for different reasons: the pod is named.
        reasons = "; ".join(group.reasons) + (f" (for pod {group.of})" if group.of else "")
        for miss in shown:
            also = f"; {'; '.join(miss.also)}" if miss.also else ""
            free = {name: text for name, text in miss.free.items() if name in link.request}
            node = object_ref(f"node/{miss.node}", miss.node)
            rows.append((node, listed(miss.missing), listed(free), reasons + also))
        rest = len(group.nodes) - len(shown)
        if rest:
            rows.append((f"({rest} more)", "", "", reasons))
    # Sessions never see these nodes, so no reason of a plugin names them.
    for name, reason in link.skipped.items():
        rows.append((object_ref(f"node/{name}", name), "", "", f"not in sessions: {reason}"))
    return Table(("NODE", "LACKS", "FREE", "REASON"), rows, keep=("LACKS", "REASON"))


def event_table(head: str, events: Sequence[Evidence], title: str = "") -> Table:
    """Return events as a table, the first column with this head."""
    columns: Sequence[TextColumn[Evidence]] = (
        TextColumn(head, lambda evidence: object_ref(evidence.about)),
        *_EVENT_COLUMNS,
    )
    return table_of(columns, events, title)


_EVENT_COLUMNS: Sequence[TextColumn[Evidence]] = (
    TextColumn("EVENT", lambda evidence: evidence.kind, keep=True),
    TextColumn("POSITION", lambda evidence: moment_ref(evidence.position), keep=True),
    TextColumn("TIME", lambda evidence: evidence.time),
    TextColumn("BY", lambda evidence: evidence.by or NONE, shorten=True),
)


_AMOUNT: Sequence[TextColumn[NumberPart]] = (
    TextColumn("AMOUNT", lambda number_part: number_part.amount, keep=True),
)
_VALUES: Sequence[TextColumn[NumberPart]] = (
    TextColumn("BEFORE", lambda number_part: number_part.before, keep=True),
    TextColumn("AFTER", lambda number_part: number_part.amount, keep=True),
)
_EVENT: Sequence[TextColumn[NumberPart]] = (
    TextColumn("OBJECT", lambda number_part: object_ref(number_part.about), keep=True),
    TextColumn("SINCE EVENT", lambda number_part: number_part.event.kind, keep=True),
    TextColumn("POSITION", lambda number_part: moment_ref(number_part.event.position)),
    TextColumn("TIME", lambda number_part: number_part.event.time),
    TextColumn("BY", lambda number_part: number_part.event.by or NONE, shorten=True),
)


def blame_lines(blame: Blame, *, style: Style = PLAIN) -> Iterator[str]:
    """Yield the lines of an answer."""
    return block_lines(blame_sections(blame), style=style)


def blame_sections(blame: Blame) -> Iterator[Section]:
    """Yield what an answer says."""
    number = f"{blame.about} {blame.number} is {blame.value}: {blame.how}"
    said = [Sentence(number, "sentence")]
    last = blame.last
    if last is not None:
        by = f" by {last.by}" if last.by else ""
        when = f" at {last.when}" if last.when else ""
        event = (f"last changed by {last.kind} ", object_ref(last.about), " ")
        place = moment_ref(last.position)
        said.append(Sentence(Words(*event, place, f"{by}{when} ({blame.changed})")))
    yield Section(said)
    if blame.parts:
        amount = _VALUES if any(part.before for part in blame.parts) else _AMOUNT
        columns = (*amount, *_EVENT)
        table = table_of(columns, blame.parts, "What the number is made of", pages="parts")
        yield Section([table])
