"""Shares of queues for people: accounts by resource, relations, rules, and one queue's steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from ...engine.kubernetes.counts import counted
from ..answers.amounts import in_order
from ..answers.amounts import joined as listed
from ..shares.entitled_amounts import short_text
from ..shares.entitlements import (
    EntitledRound,
    EntitledStep,
    Entitlement,
    LimitSource,
    QueuePart,
    Reclaiming,
    ResourceOfQueues,
    Shares,
)
from ..tabular.record_columns import Amounts
from .amounts import UNKNOWN
from .blocks import (
    Block,
    ItemList,
    ListedItem,
    Marked,
    Ref,
    Section,
    Sentence,
    TerminalLine,
    Words,
    object_ref,
)
from .tables import NONE, Table, TextColumn, table_of, whole_sentence

_KEPT = ("deserved", "holds")
_LISTED = 40
"""How many queues a table shows; a command about one shows any."""


def shares_sections(shares: Shares) -> Iterator[Section]:
    """Yield what queues are entitled to, as a terminal and pages show it."""
    asked = shares.asked
    when = asked.at if asked.time in {"", asked.at} else f"{asked.at} ({asked.time})"
    about = f" of queue {asked.queue}" if asked.queue else ""
    yield Section(
        [
            f"shares{about} at {when} as {asked.release}, configuration {asked.conf}",
            Sentence(whole_sentence(shares.sentence), "sentence"),
            *(Sentence(whole_sentence(text), "blank") for text in shares.decided),
            *([Sentence(whole_sentence(shares.unsure), "blank")] if shares.unsure else []),
        ]
    )
    if not shares.queues:
        return
    if asked.queue:
        for entry in shares.queues:
            yield from _of_one(shares, entry)
    else:
        yield from (_of_resource(shares, resource) for resource in shares.resources)
        yield from _without_account(shares)
    yield from _relations(shares)
    yield from _reclaim(shares)
    yield _further(shares)


class _Cell:
    """The cells of one resource. :param unsure: nothing may only be not known."""

    def __init__(self, resource: str, *, unsure: bool) -> None:
        self._resource, self._unsure = resource, unsure

    def __call__(self, amounts: Amounts, *, held: bool = False) -> str:
        """Return an amount. :param held: it counts pods, so without their list it is not known."""
        text = amounts.get(self._resource, "0")
        if text == "0":
            return UNKNOWN if held and self._unsure else "0"
        return short_text(self._resource, text)


def _of_resource(shares: Shares, resource: ResourceOfQueues) -> Section:
    name = resource.resource
    title = f"{name}: all nodes have {short_text(name, resource.total)}"
    title += f", of which {short_text(name, resource.free)} are idle"
    queues = [entry for entry in shares.queues if entry.plugin]
    table = _table_of(shares, name, queues[:_LISTED])
    rest = len(queues) - _LISTED
    blocks: list[Block] = [TerminalLine(title), table._replace(title=title)]
    if rest > 0:
        blocks.append(
            Sentence(
                f"{counted(rest, 'more queue')}: plinian shares QUEUE --at {shares.asked.at}", "cut"
            )
        )
    return Section(blocks, title, id=f"resource-{name}", captions=False)


def _without_account(shares: Shares) -> Iterator[Section]:
    """Yield which queues have no account."""
    names = [entry.queue for entry in shares.queues if not entry.plugin]
    if names:
        shown = [*names[:_FEW], *([f"{len(names) - _FEW} more"] if len(names) > _FEW else [])]
        text = f"Without jobs, queues have no account, and deserve nothing: {listed(shown)}."
        yield Section([Sentence(text, "blank")])


def _table_of(shares: Shares, name: str, queues: Sequence[Entitlement]) -> Table:
    cell = _Cell(name, unsure=bool(shares.unsure))
    several, tree = len(shares.plugins) > 1, any(entry.depth for entry in queues)
    columns: list[TextColumn[Entitlement]] = [
        TextColumn("QUEUE", _queue_name, keep=True),
        *([TextColumn[Entitlement]("PLUGIN", lambda entry: entry.plugin or NONE)] * several),
        TextColumn("DESERVED", lambda entry: cell(entry.deserved), keep=True),
        TextColumn("HOLDS", lambda entry: cell(entry.holds, held=True), keep=True),
        TextColumn("LACKS", lambda entry: _marked(cell(entry.lacks)), keep=True),
        TextColumn("OVER", lambda entry: cell(entry.over), keep=True),
        TextColumn("IDLE", lambda entry: cell(entry.idle)),
        TextColumn("REQUESTS", lambda entry: cell(entry.requests, held=True)),
        TextColumn("LIMIT", lambda entry: cell(entry.limit)),
        TextColumn("GUARANTEE", lambda entry: cell(entry.guarantee)),
        TextColumn("RESERVED", lambda entry: cell(entry.reserved, held=True)),
        TextColumn("WEIGHT", lambda entry: str(entry.weight)),
        *([TextColumn[Entitlement]("PARENT", lambda entry: entry.parent or NONE)] * tree),
        TextColumn("STATE", lambda entry: entry.state or NONE),
    ]
    return table_of(columns, queues)


def _queue_name(entry: Entitlement) -> str:
    ref = _queue_ref(entry.queue)
    return Words("  " * entry.depth, ref) if entry.depth else ref


def _queue_ref(name: str) -> Ref:
    """Return the name of a queue that leads to its share."""
    return Ref(name, "shares", look="ref", hint="its share, step by step", queue=name)


def _marked(text: str) -> str:
    return text if text in {"0", UNKNOWN} else Marked(text, "bad")


def _of_one(shares: Shares, entry: Entitlement) -> Iterator[Section]:
    """Yield the account of one queue, and how the session came to it."""
    if not entry.plugin:
        return
    rows = []
    for name in _shown(entry):
        cell = _Cell(name, unsure=bool(shares.unsure))
        rows.append(
            [
                name,
                cell(entry.deserved),
                cell(entry.holds, held=True),
                _marked(cell(entry.lacks)),
                cell(entry.over),
                cell(entry.idle),
                cell(entry.requests, held=True),
                cell(entry.limit),
                cell(entry.guarantee),
                cell(entry.reserved, held=True),
                cell(entry.after, held=True),
            ]
        )
    heads = (
        *("RESOURCE", "DESERVED", "HOLDS", "LACKS", "OVER", "IDLE", "REQUESTS"),
        *("LIMIT", "GUARANTEE", "RESERVED", "HOLDS AFTER"),
    )
    title = f"What it has by plugin {entry.plugin}"
    kept = ("DESERVED", "HOLDS", "LACKS", "OVER")
    above = f", below queue {entry.parent}" if entry.depth else ""
    state = f"Its state is {entry.state or 'not set'}, its weight {entry.weight}{above}."
    named = Words("Queue ", object_ref(f"queue/{entry.queue}", entry.queue), f". {state}")
    yield _titled(title, Sentence(named, "blank"), Table(heads, rows, keep=kept))
    if entry.limit_source is not None:
        yield _limit(entry, entry.limit_source)
    if entry.rounds:
        yield _rounds(shares, entry)
    if entry.steps:
        yield _steps(entry)


def _titled(title: str, *blocks: Block) -> Section:
    return Section([TerminalLine(title.upper()), *blocks], title, captions=False)


def _shown(entry: Entitlement) -> list[str]:
    """Return the resources of one queue that matter."""
    amounts = (entry.holds, entry.requests, entry.written, entry.guarantee, entry.capability)
    return in_order({name for part in amounts for name in part if name != "pods"})


def _limit(entry: Entitlement, source: LimitSource) -> Section:
    """Return how the limit of a queue comes about."""
    whose = f"queue {source.above} may use" if source.above else "all nodes have"
    items = []
    for name in _shown(entry):
        text = f"{name}: {whose} {_amount(name, source.total)}"
        if name in source.guaranteed:
            given = _amount(name, source.guaranteed)
            text += f", less {given} that are guaranteed to other queues"
        if source.capability.get(name, _ENDLESS) != _ENDLESS:
            text += f", at most its capability {_amount(name, source.capability)}"
        items.append(ListedItem(f"{text}: it may use {_amount(name, entry.limit)}"))
    return _titled("What it may use", ItemList(items, "chain"))


_ENDLESS = "unlimited"


def _amount(name: str, amounts: Amounts) -> str:
    text = amounts.get(name, "0")
    return "any amount" if text == _ENDLESS else short_text(name, text)


def _rounds(shares: Shares, entry: Entitlement) -> Section:
    """Return the rounds of a division, a row for each round and resource."""
    rows = []
    for entitled in entry.rounds:
        for name in _shown(entry):
            steps = {step.step: step.amounts.get(name, "0") for step in entitled.steps}
            rows.append(
                [
                    str(entitled.number),
                    name,
                    short_text(name, entitled.remaining.get(name, "0")),
                    f"{entitled.weight}/{entitled.weights}",
                    short_text(name, entitled.part.get(name, "0")),
                    short_text(name, steps["part"]),
                    short_text(name, steps["guarantee"]),
                    _bounds(name, entitled.steps) or NONE,
                ]
            )
    heads = ("ROUND", "RESOURCE", "REMAINS", "WEIGHT", "PART", "SUM", "DESERVED", "BOUNDED BY")
    kept = ("RESOURCE", "REMAINS", "PART", "DESERVED")
    said = [Sentence(whole_sentence(text), "blank") for text in _ends(shares, entry.rounds)]
    return _titled("How it came to what it deserves", Table(heads, rows, keep=kept), *said)


def _ends(shares: Shares, rounds: Sequence[EntitledRound]) -> Iterator[str]:
    """Yield why the division ends for a queue, and what is left of it."""
    last = rounds[-1]
    why = _ENDS[last.ended]
    yield f"after round {last.number} {why}"
    if shares.remaining:
        left = shares.remaining[-1]
        shown = [name for name in in_order(left) if name != "pods" and left[name] != "0"]
        texts = [f"{short_text(name, left[name])} {name}" for name in shown]
        whole = f"{counted(len(shares.remaining) - 1, 'round')} in all"
        yield (
            f"{whole}; {listed(texts)} are left for no queue" if texts else f"{whole}; all is given"
        )


_ENDS: Mapping[str, str] = MappingProxyType(
    {
        "met": "it deserves all that its jobs request, and takes no part in further rounds",
        "bounded": "it takes no part in further rounds, as this one changed nothing for it",
        "divided": "the division ends, as nothing that it could get remains",
    }
)


def _steps(entry: Entitlement) -> Section:
    """Return how capacity came to what a queue deserves."""
    items = []
    for name in _shown(entry):
        first, *_ = entry.steps
        text = f"{name}: {_FIRST[first.step]} {short_text(name, first.amounts.get(name, '0'))}"
        bounds = _bounds(name, entry.steps)
        deserved = short_text(name, entry.deserved.get(name, "0"))
        items.append(ListedItem(f"{text}{f'; {bounds}' if bounds else ''}: it deserves {deserved}"))
    return _titled("How it came to what it deserves", ItemList(items, "chain"))


_FIRST: Mapping[str, str] = MappingProxyType({"written": "its spec says"})


def _bounds(name: str, steps: Sequence[EntitledStep]) -> str:
    """Return the steps that changed an amount, in order."""
    texts, before = [], steps[0].amounts.get(name, "0")
    for step in steps[1:]:
        after = step.amounts.get(name, "0")
        if after != before:
            texts.append(_STEPS[step.step].format(short_text(name, after)))
        before = after
    return listed(texts)


_STEPS: Mapping[str, str] = MappingProxyType(
    {
        "granted": "its parent has {} for it",
        "limit": "its limit {}",
        "request": "its request {}",
        "guarantee": "its guarantee {}",
        "nodes": "all nodes have {}",
        "children": "its children deserve {}",
    }
)


def _relations(shares: Shares) -> Iterator[Section]:
    """Yield who has more and who has less than it deserves, by resource."""
    items = [
        ListedItem(text, lead="short:" if resource.lacks else "")
        for resource in shares.resources
        for text in _relation(shares, resource)
    ]
    if items:
        note = Sentence("Volcano notes no lender and no borrower: these are differences.", "blank")
        yield _titled("More and less than deserved", ItemList(items, "chain"), note)


def _relation(shares: Shares, resource: ResourceOfQueues) -> Iterator[str]:
    name, only = resource.resource, shares.asked.queue
    groups = (resource.over, resource.lacks, resource.idle, resource.idle_guarantee)
    if only and not any(part.queue == only for group in groups for part in group):
        return
    over = _whose(resource.over, name)
    idle = _whose(resource.idle, name)
    if resource.over:
        beside = f"; {idle} deserved and not requested" if resource.idle else ""
        yield f"{name}: {over} more than deserved{beside}"
    elif resource.idle and not resource.lacks:
        yield f"{name}: {idle} deserved and not requested"
    if resource.lacks:
        beside = f"while {over} more than deserved" if resource.over else _NO_OVER
        free = short_text(name, resource.free)
        lacking = _whose(resource.lacks, name, verb="lacks")
        yield f"{name}: {lacking} that it deserves, {beside}; {free} are idle on nodes"
    if resource.idle_guarantee:
        kept = _whose(resource.idle_guarantee, name, verb="is guaranteed")
        yield f"{name}: {kept} that it does not request, and no other queue may use"


def _whose(parts: Sequence[QueuePart], name: str, verb: str = "has") -> str:
    texts = [f"{part.queue} {verb} {short_text(name, part.amount)}" for part in parts[:_FEW]]
    rest = len(parts) - _FEW
    return listed([*texts, f"{rest} more"] if rest > 0 else texts)


_FEW = 4
_NO_OVER = "and no queue holds more than it deserves"


def _reclaim(shares: Shares) -> Iterator[Section]:
    """Yield the rules of the release, and what could be reclaimed."""
    rules = [ListedItem(text) for text in shares.rules]
    if rules:
        yield _titled("What may be reclaimed", ItemList(rules, "chain"))
    only = shares.asked.queue
    items = [
        ListedItem(_reclaiming(entry))
        for entry in shares.reclaiming
        if not only or only == entry.queue or any(part.queue == only for part in entry.queues)
    ]
    unasked = shares.reclaiming_unasked
    blocks: list[Block] = [ItemList(items, "chain")] if items else []
    if unasked:
        which = counted(unasked, "queue was", "queues were")
        blocks.append(
            Sentence(
                f"{which} not asked what they could reclaim, as there are many: plinian shares "
                f"QUEUE --at {shares.asked.at}",
                "cut",
            )
        )
    if blocks:
        yield _titled("What could be reclaimed now", *blocks)


def _reclaiming(entry: Reclaiming) -> str:
    """Return what one queue could reclaim for its first pod that waits."""
    asks = _amounts(entry.requests) or "nothing"
    queue, pod = _queue_ref(entry.queue), object_ref(f"pod/{entry.pod}")
    begin = ("queue ", queue, " for ", pod, f", which requests {asks}, ")
    having = [part for part in entry.queues if part.pods]
    if entry.gate:
        return Words(*begin, f"reclaims nothing: {entry.because}")
    if having:
        texts = [
            f"at most {counted(part.pods, 'pod')} of {part.queue} ({_amounts(part.amounts)})"
            for part in having
        ]
        return Words(*begin, f"could reclaim {listed(texts)}")
    candidates = sum(part.candidates for part in entry.queues)
    if not candidates:
        return Words(*begin, "reclaims nothing: no preemptable pod runs in another queue")
    text = f"{counted(candidates, 'preemptable pod')} in other queues"
    return Words(*begin, f"reclaims nothing: the plugins choose none of {text}")


def _amounts(amounts: Amounts) -> str:
    names = [name for name in in_order(amounts) if name != "pods"]
    return listed(f"{short_text(name, amounts[name])} {name}" for name in names)


def _further(shares: Shares) -> Section:
    """Return what to ask next."""
    queue, at = shares.asked.queue, f"--at {shares.asked.at}"
    steps = f"How a queue came to its share, step by step: plinian shares QUEUE {at}."
    first = f"Why its jobs wait: plinian why queue/{queue} {at}." if queue else steps
    over_time = f"plinian plot queues{f' {queue}' if queue else ''}"
    ref = Ref(over_time, "queues/over-time", look="code", hint="queues over time")
    return Section([Sentence(Words(f"{first} Over time: ", ref, "."), "blank")])
