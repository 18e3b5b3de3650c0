"""What a queue's account says, and what it has more and less of than it deserves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ...engine.kubernetes.counts import counted
from ...engine.kubernetes.units import resource_amount
from ...engine.model.resource import MIN_RESOURCE
from ...engine.session.framework.vote_details import (
    DeservedStep,
    DivisionRound,
    LimitBasis,
    OpenedAccount,
    QueueCheck,
)
from ...engine.session.plugins.shared.gauge_amounts import plain
from ...engine.session.plugins.shared.queue_details import ACCOUNT
from ..answers.amounts import amounts_of, in_order, joined, word
from ..answers.answering_session import POD, PODGROUP, Run
from ..answers.limit_sources import on_nodes
from ..tabular.record_columns import Amounts
from .entitlements import (
    EntitledRound,
    EntitledStep,
    Entitlement,
    LimitSource,
    QueuePart,
    ResourceOfQueues,
)

_NAMED = 3
"""How many queues a sentence names."""

Plain = Mapping[str, float]


def entitlement_of(run: Run, name: str, account: OpenedAccount | None, depth: int) -> Entitlement:
    """Return what a queue is entitled to. :param account: None if no plugin opened one."""
    info, spec = run.cache.queues[name], run.cache.queues[name].queue.spec
    guarantee = _named(plain(info.guarantee))
    written, capability = _named(plain(info.deserved)), _named(plain(info.capability))
    check = run.detail(QueueCheck, ACCOUNT, name)
    deserved, requests, holds = ({}, {}, {}) if account is None else _demand(account)
    known = not (run.not_listed(POD) or run.not_listed(PODGROUP))
    return Entitlement(
        queue=name,
        plugin="" if account is None else account.plugin,
        parent=(spec.parent if account is None else account.parent) or "",
        depth=depth,
        children=() if account is None else account.children,
        state=info.state,
        weight=info.weight,
        priority=info.priority,
        reclaimable=info.reclaimable,
        guarantee=amounts_of(guarantee),
        written=amounts_of(written),
        capability=amounts_of(capability),
        limit={} if account is None else amounts_of(account.limit),
        limit_source=None if account is None else _source_of(account),
        deserved=amounts_of(deserved),
        requests=amounts_of(requests, zeros=False),
        holds=amounts_of(holds, zeros=False),
        reserved={} if account is None else amounts_of(account.inqueue, zeros=False),
        elastic={} if account is None else amounts_of(account.elastic, zeros=False),
        after=_after(check, account),
        over=_beyond(holds, deserved),
        lacks=_beyond(_least(deserved, requests), holds),
        # Without lists of pods, little is requested only because little is known.
        idle=_beyond(deserved, requests) if known else {},
        idle_guarantee=_beyond(guarantee, requests) if known else {},
        steps=() if account is None else tuple(_steps(account.steps)),
        rounds=() if account is None else tuple(_rounds(account.rounds, info.weight)),
    )


def _demand(account: OpenedAccount) -> tuple[Plain, Plain, Plain]:
    return account.deserved, account.request, account.allocated


def _named(amounts: Plain) -> Plain:
    """Return the amounts that a spec names: those that are not 0."""
    return {name: amount for name, amount in amounts.items() if amount}


def _after(check: QueueCheck | None, account: OpenedAccount | None) -> Amounts:
    # With two plugins one check is kept: it says nothing of the account of the other.
    if check is None or account is None or check.plugin != account.plugin:
        return {}
    return amounts_of(check.levels[0].allocated, zeros=False)


def _beyond(amounts: Plain, most: Plain) -> Amounts:
    """Return how much more there is of each resource than in another list; pods left out."""
    beyond = {name: amount - most.get(name, 0.0) for name, amount in amounts.items()}
    # Amounts that differ by less than `minResource` are equal for Volcano.
    return amounts_of(
        {name: more for name, more in beyond.items() if more > MIN_RESOURCE and name != "pods"}
    )


def _least(deserved: Plain, requests: Plain) -> Plain:
    return {name: min(amount, requests.get(name, 0.0)) for name, amount in deserved.items()}


def _source_of(account: OpenedAccount) -> LimitSource | None:
    basis = account.basis
    if basis is None:
        return None
    return LimitSource(
        total=amounts_of(basis.total),
        above=account.parent,
        guaranteed=amounts_of(_of_others(basis, account.guarantee), zeros=False),
        capability=amounts_of(basis.capability, zeros=False),
    )


def _of_others(basis: LimitBasis, own: Plain) -> Plain:
    # A limit leaves out what is guaranteed to others; the queue's own guarantee is within it.
    return {name: amount - own.get(name, 0.0) for name, amount in basis.guarantees.items()}


def _steps(steps: Iterable[DeservedStep]) -> Iterator[EntitledStep]:
    for seen in steps:
        yield EntitledStep(step=str(seen.step), amounts=amounts_of(seen.amounts))


def _rounds(rounds: Sequence[DivisionRound], weight: int) -> Iterator[EntitledRound]:
    for place, seen in enumerate(rounds, start=1):
        ended = "met" if seen.met else "bounded" if seen.unchanged else ""
        if not ended and place == len(rounds):
            ended = "divided"
        yield EntitledRound(
            number=seen.number,
            remaining=amounts_of(seen.remaining),
            weight=weight,
            weights=seen.weights,
            part=amounts_of(seen.part),
            steps=tuple(_steps(seen.steps)),
            ended=ended,
        )


def resources_of(run: Run, queues: Sequence[Entitlement]) -> tuple[ResourceOfQueues, ...]:
    """Return which queues have more and less of each resource than they deserve.

    Queues with queues below them are left out: they hold what these hold.
    """
    leaves = [entry for entry in queues if not entry.children]
    named = {name for entry in queues for name in (*entry.holds, *entry.requests, *entry.guarantee)}
    # Releases write all that nodes have into the root's spec, also what no queue uses.
    named |= {name for entry in leaves if entry.plugin for name in entry.written}
    named -= {"pods"}
    # Below, a node that is overfull must not lessen what others have free.
    nodes = [info for info in run.cache.nodes.values() if not info.reason]
    return tuple(
        ResourceOfQueues(
            resource=name,
            total=amounts_of({name: on_nodes(run.cache, name)})[name],
            free=amounts_of({name: sum(max(0.0, info.idle.get(name)) for info in nodes)})[name],
            over=_parts(leaves, name, lambda entry: entry.over),
            lacks=_parts(leaves, name, lambda entry: entry.lacks),
            idle=_parts(leaves, name, lambda entry: entry.idle),
            idle_guarantee=_parts(leaves, name, lambda entry: entry.idle_guarantee),
        )
        for name in in_order(named)
    )


def _parts(
    queues: Sequence[Entitlement], name: str, amounts: Callable[[Entitlement], Amounts]
) -> tuple[QueuePart, ...]:
    """Return the queues that have some of a resource, the most first."""
    parts = [
        QueuePart(queue=entry.queue, amount=amounts(entry)[name])
        for entry in queues
        if name in amounts(entry)
    ]
    return tuple(sorted(parts, key=lambda part: (-amount_of(name, part.amount), part.queue)))


def amount_of(name: str, text: str) -> float:
    """Return an amount of a record as a number, in Volcano's unit."""
    return _ENDLESS if text.endswith("unlimited") else resource_amount(name, text)


_ENDLESS = 2.0**63


def short_text(name: str, text: str) -> str:
    """Return an amount of a record, short enough for a table and a sentence."""
    return text if text.endswith("unlimited") else word(resource_amount(name, text), name)


def part_sentence(
    queues: Sequence[Entitlement],
    resources: Sequence[ResourceOfQueues],
    *,
    unsure: str,
    queue: str,
) -> str:
    """Return who has more and who has less than it deserves, in one sentence.

    :param queue: it is about this queue only; empty is all.
    """
    if queue:
        return _of_one(queues, queue)
    parts = []
    for verb, kind in (
        ("holds {} more than it deserves", "over"),
        ("lacks {} that it deserves and requests", "lacks"),
        ("is guaranteed {} that it does not request", "idle_guarantee"),
    ):
        by_queue: dict[str, list[str]] = {}
        for entry in resources:
            for part in getattr(entry, kind):
                amount = f"{short_text(entry.resource, part.amount)} {entry.resource}"
                by_queue.setdefault(part.queue, []).append(amount)
        listed = [f"queue {name} {verb.format(joined(has))}" for name, has in by_queue.items()]
        if len(listed) > _NAMED:
            listed = [*listed[:_NAMED], f"so do {counted(len(listed) - _NAMED, 'other queue')}"]
        parts += listed
    if parts:
        return "; ".join(parts)
    if unsure:
        return f"no queue is known to hold more than it deserves, but {unsure}"
    return "no queue holds more than it deserves, and none lacks any of it"


def _of_one(queues: Sequence[Entitlement], queue: str) -> str:
    # With two plugins a queue has two accounts, and the sentence is about the first.
    entry = queues[0]
    # proportion and a flat capacity find queues through their jobs, so others get no account.
    if not entry.plugin:
        return (
            f"queue {queue} has no account in this session, as it has no jobs: it deserves nothing "
            "until it has one"
        )
    shown = [name for name in in_order(entry.deserved) if name != "pods"]
    of = []
    for name in shown:
        deserves, has = entry.deserved[name], entry.holds.get(name, "0")
        if {deserves, has} != {"0"}:
            of.append(f"{short_text(name, has)} of {short_text(name, deserves)} {name}")
    said = (
        f"queue {queue} holds {joined(of)} that it deserves"
        if of
        else (f"queue {queue} deserves nothing, and holds nothing")
    )
    for verb, amounts in (("holds", entry.over), ("lacks", entry.lacks)):
        if amounts:
            more = joined(f"{short_text(name, text)} {name}" for name, text in amounts.items())
            said += f"; it {verb} {more}{' beyond that' if verb == 'holds' else ''}"
    return said
