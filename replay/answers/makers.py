"""Which events made it so: the last changes of what a reason rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ...engine.events import Recorded
from ...engine.log.store import Query
from ...engine.model.task_status import ALLOCATED_STATUS
from ...engine.session.plugins.shared.gauge_amounts import plain
from ...engine.state.log_coverage import Pair
from ..logs.log import Log
from ..moments.moment import Moment
from ..moments.verbs import is_only_seen
from .amounts import amounts_of
from .answering_session import NODE, POD, PODGROUP, QUEUE, Run
from .evidence import evidence_of, versions_of
from .finding import ObjectKey, SessionFinding
from .object_changes import last_change, node_of, spec_of
from .records import (
    Account,
    Evidence,
    Link,
    NodeReason,
    Nodes,
    PodGroupState,
    QueuePath,
    QueueState,
    QueueTree,
)

MOST = 6
"""How many events are named; the latest ones."""

_PODS = 20
"""How many pods of one job or on one node are looked at."""


def makers_of(log: Log, run: Run, finding: SessionFinding) -> tuple[Evidence, ...]:
    """Return the last events that made an answer what it is, in the order in which they happened.

    Of a queue that is full these are the bindings of the pods that fill it, and the last change of
    its spec; of a node that lacks room, of what is allocatable there, and the bindings of pods that
    hold some of it; of an invalid tree, changes of its queues and of the nodes; of an object that
    is gone, its deletion.
    """
    by_position: dict[int, Recorded] = {}
    for link in finding.chain:
        if link.blocks:
            for event in _of_link(log, run, link, finding.about):
                by_position[event.position] = event
    if all(is_only_seen(event.event.kind) for event in by_position.values()):
        return ()  # lists say how things were, not what happened
    events = sorted(
        by_position.values(), key=lambda event: (event.event.revision or 0, event.position)
    )
    return tuple(evidence_of(log, run.moment, events[-MOST:]))


def _of_link(log: Log, run: Run, link: Link, about: Iterable[ObjectKey]) -> Iterator[Recorded]:
    if isinstance(link, QueuePath):
        full = next(
            (account for account in link.accounts if account.checked and account.exceeded), None
        )
        if full is not None:
            yield from last_change(log, run.moment, (QUEUE, full.queue), spec_of)
        if full is not None and _rests_on_nodes(full):
            yield from _last_of_nodes(log, run.moment)
        for holder in link.holders[:MOST]:
            yield from _placements(log, run, holder.podgroup)
    elif isinstance(link, QueueTree):
        yield from _of_tree(log, run, link)
    elif isinstance(link, QueueState):
        yield from _last_change(log, run.moment, (QUEUE, link.queue))
    elif isinstance(link, PodGroupState):
        yield from versions_of(log, run.moment, (PODGROUP, link.podgroup))[-1:]
    else:
        named = [name for pair, name in about if pair == NODE and name]
        for name in dict.fromkeys((*named, *_nearest(link))):
            yield from _of_node(log, run, name, _refusing(link, name))


def _nearest(link: Link) -> list[str]:
    """Return the nodes that lack least for a pod: one of those with the same reasons."""
    groups = link.groups if isinstance(link, Nodes) else ()
    return [group.nearest[0].node for group in groups if group.nearest]


def _refusing(link: Link, node: str) -> list[NodeReason]:
    """Return why a node refuses a pod."""
    groups = link.groups if isinstance(link, Nodes) else ()
    return [group for group in groups if node in group.nodes]


def _of_node(log: Log, run: Run, name: str, why: Sequence[NodeReason]) -> Iterator[Recorded]:
    """Yield what made a node refuse a pod: its own last change, or what fills it."""
    lacked = [resource for group in why for resource in group.lacks]
    # Some of the reasons is no lack, so the node's own last change counts, too.
    if not lacked or len(lacked) < sum(len(group.reasons) for group in why):
        yield from _last_change(log, run.moment, (NODE, name))
    if lacked:
        yield from last_change(log, run.moment, (NODE, name), _allocatable_of(lacked))
        info = run.cache.nodes.get(name)
        tasks = [] if info is None else [task_on_node.task for task_on_node in info.tasks.values()]
        holding = [task.key for task in tasks if any(map(task.request.get, lacked))]
        yield from _bindings(log, run, holding)


def _allocatable_of(names: Sequence[str]) -> Callable[[Any], object]:
    def read(document: Any) -> object:
        allocatable = (document.get("status") or {}).get("allocatable") or {}
        return [allocatable.get(name) for name in names]

    return read


def _rests_on_nodes(full: Account) -> bool:
    """Return whether a limit is not the queue's own, but what the nodes have and others leave."""
    return any(full.capability.get(name) != full.limit.get(name) for name in full.exceeded)


def _of_tree(log: Log, run: Run, link: QueueTree) -> Iterator[Recorded]:
    for name in dict.fromkeys((link.queue, link.child)):
        if name and name not in _of_the_nodes(run, link):
            yield from last_change(log, run.moment, (QUEUE, name), _part_of_spec(link.what))
    if _of_the_nodes(run, link):
        yield from _last_of_nodes(log, run.moment)


def _of_the_nodes(run: Run, link: QueueTree) -> frozenset[str]:
    """Return the queue at fault if its amounts are not its own, but what all nodes have."""
    info = run.cache.queues.get(link.queue)
    if info is None or link.what != "capability":
        return frozenset()
    own = amounts_of(plain(info.capability))
    same = all(own.get(name) == link.own.get(name) for name in link.exceeded)
    return frozenset() if same else frozenset({link.queue})


def _part_of_spec(field: str) -> Callable[[Any], object]:
    if not field:
        return spec_of
    return lambda document: (document.get("spec") or {}).get(field)


def _placements(log: Log, run: Run, key: str) -> Iterator[Recorded]:
    """Yield, for each pod of a job that holds resources, the event that gave it its node."""
    job = run.job(key)
    tasks = [] if job is None else job.tasks.values()
    yield from _bindings(log, run, [task.key for task in tasks if task.status in ALLOCATED_STATUS])


def _bindings(log: Log, run: Run, pods: Sequence[str]) -> Iterator[Recorded]:
    """Yield the events that gave some pods their nodes."""
    for name in sorted(pods)[:_PODS]:
        yield from last_change(log, run.moment, (POD, name), node_of)


def _last_change(log: Log, moment: Moment, about: ObjectKey) -> list[Recorded]:
    """Return the last event that changed what scheduling reads of an object; a list of one."""
    if not about[1]:
        return []
    return last_change(log, moment, about, _READ.get(about[0], spec_of))


def _queue_of(document: Any) -> object:
    return document.get("spec"), (document.get("status") or {}).get("state")


def _node_read(document: Any) -> object:
    return document.get("spec"), (document.get("status") or {}).get("allocatable")


_READ: Mapping[Pair, Callable[[Any], object]] = MappingProxyType(
    {QUEUE: _queue_of, NODE: _node_read}
)


def _last_of_nodes(log: Log, moment: Moment) -> list[Recorded]:
    """Return the last event that changed what all nodes have together; a list of one."""
    query = Query(branch=moment.branch, cluster=moment.cluster, until=moment.known, objects=(NODE,))
    last = moment.revision
    names: dict[str, None] = {}
    for recorded in log.store.read(query):
        revision = recorded.event.revision
        if revision is not None and (last is None or revision <= last):
            names[recorded.event.reference.name] = None
    events = [
        event for name in names for event in last_change(log, moment, (NODE, name), _part_of_total)
    ]
    return sorted(events, key=lambda event: (event.event.revision or 0, event.position))[-1:]


def _part_of_total(document: Any) -> object:
    return (document.get("metadata") or {}).get("uid"), (document.get("status") or {}).get(
        "allocatable"
    )
