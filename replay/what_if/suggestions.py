"""Single changes that may make a waiting object start: what its reasons name, and what runs beside.

Nothing here says that a change helps: that is found by running the session with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import to_builtins

from ...engine.cache.cache import SchedulerCache
from ...engine.kubernetes.objects import Node, Pod, Taint
from ...engine.kubernetes.quantity_lists import amounts
from ...engine.session.kube.tolerations import UNSCHEDULABLE_TAINT
from ...engine.session.plugins.nodegroup import NODE_GROUP, QueueGroupAffinity
from ...engine.volcano.releases import RELEASES
from ..answers.answering_session import NODE
from ..answers.records import Link, NodeReason, Nodes
from ..answers.refusing_nodes import OF_NODE_GROUPS, affinity_of, queue_of
from ..objects.kind_names import ObjectName
from ..tabular.record_columns import Amounts
from .changed_sessions import Variant
from .cluster_changes import AddNodes, Cordon, SetField, WhatIfChange, new_name
from .holders import holders
from .own_fields import of_job, restored
from .queue_room import of_queues
from .quotas import of_quotas
from .suggestion import (
    KINDS,
    MORE,
    RELEASE,
    TOPOLOGY,
    UNCORDON,
    UNTAINT,
    Suggestion,
    WaitingObject,
    queue_name,
    single,
    words,
)
from .victim_changes import of_victims

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_AFFINITY = ("spec", "affinity", "nodeGroupAffinity", _REQUIRED)
_MOST = 2
"""So many groups, and nodes of each kind of refusal, are tried."""


def of_node_groups(chain: Iterable[Link], cache: SchedulerCache) -> Iterator[Suggestion]:
    """Yield what lets the queue of a pod use nodes that plugin ``nodegroup`` keeps from it."""
    for link in chain:
        pod = cache.stores.get("Pod", link.pod) if isinstance(link, Nodes) else None
        if not isinstance(link, Nodes) or not isinstance(pod, Pod) or not link.blocks:
            continue
        for reason in link.groups:
            for text in OF_NODE_GROUPS.intersection(reason.reasons):
                queue = queue_of(cache, pod, text)
                if queue in cache.queues:
                    yield from _allowing(queue, reason, cache)
                    yield from _joining(affinity_of(cache, queue), reason)


def _allowing(queue: str, refused: NodeReason, cache: SchedulerCache) -> Iterator[Suggestion]:
    """Yield the queue with a group of the nodes that refuse its pods."""
    infos = [cache.nodes[name] for name in refused.nodes if name in cache.nodes]
    groups = sorted({info.labels[NODE_GROUP] for info in infos if NODE_GROUP in info.labels})
    required = affinity_of(cache, queue).required
    for rank, group in enumerate(group for group in groups[:_MOST] if group not in required):
        change = SetField(queue_name(queue), _AFFINITY, sorted({*required, group}))
        yield single(TOPOLOGY, rank, f"queue {queue} may use node group {group}", change)


def _joining(affinity: QueueGroupAffinity, refused: NodeReason) -> Iterator[Suggestion]:
    """Yield a node that refuses the pods in a group that their queue allows."""
    allowed = sorted(affinity.required | affinity.preferred)
    near = [miss.node for miss in refused.nearest] or list(refused.nodes)
    for rank, node in enumerate(near[:_MOST]):
        for group in filter(affinity.takes, allowed[:1]):
            change = SetField(ObjectName(*NODE, node), ("metadata", "labels", NODE_GROUP), group)
            yield single(TOPOLOGY, _MOST + rank, f"node {node} is in node group {group}", change)


_UNCORDONED = 4
"""So many cordoned nodes are tried of those with the same amounts, labels and taints."""

_ALIKE = 2
"""So many nodes are tried of those with the same amounts, labels and taints."""

_TURN = 3
"""So many changes of one kind are tried before others have their turn."""

_LARGER = 2
"""So many shapes of nodes are tried with more than they have."""

_LAST = 1_000
"""After the shapes that exist."""

_REPELS = frozenset({"NoSchedule", "NoExecute"})


def suggestions_for(
    asked: WaitingObject, was: Mapping[str, Any] | None = None, confs: Iterable[Suggestion] = ()
) -> list[Suggestion]:
    """Return the changes to try for an object that waits, the cheapest first.

    :param was: the last version of the PodGroup, if that does not exist any more.
    :param confs: changed configurations.
    """
    by_text: dict[str, Suggestion] = {}
    why, podgroup, cache, evicting, _ = asked
    job = cache.jobs.get(podgroup)
    every = (
        *(() if was is None else restored(was)),
        *_cordoned(cache),
        *_tainted(cache),
        *of_queues(why.chain, "" if job is None else job.queue, cache),
        *of_quotas(why.chain, podgroup, cache),
        *of_node_groups(why.chain, cache),
        *of_job(why.chain, podgroup, cache),
        *of_victims(why.chain, podgroup, cache, evicting),
        *confs,
        *_new_nodes(asked),
        *holders(asked),
        *_releases(why.asked.release),
    )
    for suggestion in every:
        by_text.setdefault(suggestion.text, suggestion)
    return sorted(
        by_text.values(),
        key=lambda suggestion: (KINDS.index(suggestion.kind), suggestion.size, suggestion.text),
    )


def in_turns(some: Sequence[Suggestion]) -> list[Suggestion]:
    """Return changes in the order in which they are tried: a few of each kind, then a few more.

    So each kind has its turn also if there is little time. Releases come last: others than the
    present one take the longest.
    """
    number: dict[str, int] = {}

    def turn(suggestion: Suggestion) -> tuple[bool, int, int]:
        number[suggestion.kind] = number.get(suggestion.kind, -1) + 1
        return (
            suggestion.kind == RELEASE,
            number[suggestion.kind] // _TURN,
            KINDS.index(suggestion.kind),
        )

    return [
        suggestion
        for _, suggestion in sorted(
            ((turn(suggestion), suggestion) for suggestion in some), key=lambda pair: pair[0]
        )
    ]


def _tainted(cache: SchedulerCache) -> Iterator[Suggestion]:
    """Yield nodes without the taints that keep pods away; a cordoned one is also uncordoned."""
    alike: dict[object, int] = {}
    for name, node in sorted(cache.stores.of("Node").items()):
        if not isinstance(node, Node):
            continue
        repels = [taint for taint in _own(node.spec.taints) if taint.effect in _REPELS]
        shape = (_shape(node), node.spec.unschedulable)
        alike[shape] = alike.get(shape, 0) + 1
        if not repels or alike[shape] > _ALIKE:
            continue
        remaining = [to_builtins(taint) for taint in _own(node.spec.taints) if taint not in repels]
        taints = ", ".join(repel.text for repel in repels)
        field = ("spec", "taints")
        change: WhatIfChange = SetField(ObjectName(*NODE, name), field, remaining)
        text = f"no taint {taints} on node {name}"
        if node.spec.unschedulable:
            both = f"uncordon node {name}, and {text}"
            yield single(UNTAINT, 1, both, Cordon(name, undo=True), change)
        else:
            yield single(UNTAINT, 0, text, change)


def _own(taints: Sequence[Taint]) -> list[Taint]:
    """Return the taints of a node but for that of a cordon."""
    return [taint for taint in taints if taint.key != UNSCHEDULABLE_TAINT.key]


def _shape(node: Node) -> object:
    """Return what is equal for nodes with the same amounts, labels and taints."""
    # These labels differ between nodes that are otherwise alike.
    labels = {k: v for k, v in node.metadata.labels.items() if "hostname" not in k}
    # As texts, since maps and lists cannot be parts of a key.
    return repr(node.status.allocatable), repr(sorted(labels.items())), repr(node.spec.taints)


def _cordoned(cache: SchedulerCache) -> Iterator[Suggestion]:
    """Yield cordoned nodes; of those that are alike, only those with the most free.

    If a node helps, one that is alike and has more free helps, too.
    """
    alike: dict[object, list[tuple[float, float, str]]] = {}
    for name, node in sorted(cache.stores.of("Node").items()):
        if isinstance(node, Node) and node.spec.unschedulable:
            info = cache.nodes.get(name)
            free = (0.0, 0.0) if info is None else (info.idle.cpu, info.idle.memory)
            alike.setdefault(_shape(node), []).append((-free[0], -free[1], name))
    for nodes in alike.values():
        for _, _, name in sorted(nodes)[:_UNCORDONED]:
            yield single(UNCORDON, 0, f"uncordon node {name}", Cordon(name, undo=True))


def _new_nodes(asked: WaitingObject) -> Iterator[Suggestion]:
    """Yield one more node of each shape: nodes with the same amounts, labels and taints.

    A pod that is too large for all of them gets one that has as much as it requests.
    """
    seen = set()
    requests = [link.request for link in asked.why.chain if isinstance(link, Nodes) and link.blocks]
    larger: list[Suggestion] = []
    for name, node in sorted(asked.cache.stores.of("Node").items()):
        if not isinstance(node, Node) or node.spec.unschedulable:
            continue
        shape = _shape(node)
        if shape not in seen:
            seen.add(shape)
            yield single(MORE, len(seen), f"one more node like {name}", AddNodes(name))
            larger += _larger(node, requests[0], asked.cache) if requests else ()
    # Only if each shape is too small: else one more node as it is has room for the pod.
    if len(larger) == len(seen):
        yield from larger[:_LARGER]


def _larger(node: Node, request: Amounts, cache: SchedulerCache) -> Iterator[Suggestion]:
    """Yield one more node like another, with all that a pod requests, if that has too little."""
    has, wanted = amounts(node.status.allocatable), amounts(request)
    more = {
        name: str(amount)
        for name, amount in wanted.items()
        if name not in has or amount.billionths > has[name].billionths
    }
    if more:
        new = ObjectName(*NODE, new_name(node.name, cache.stores.of("Node")))
        fields = (("status", field) for field in ("allocatable", "capacity"))
        text = f"one more node like {node.name}, but with {words(more)}"
        changes = (SetField(new, field, more) for field in fields)
        yield single(MORE, _LAST, text, AddNodes(node.name), *changes)


def _releases(now: str) -> Iterator[Suggestion]:
    """Yield all other releases of Volcano, the nearest newer ones first."""
    names = [str(release) for release in RELEASES if not release.ours]
    # A release that is not Volcano's stands after all others, so only older ones follow.
    here = names.index(now) if now in names else len(names)
    order = [*range(here + 1, len(names)), *range(here - 1, -1, -1)]
    for rank, at in enumerate(order):
        text = f"release {names[at]}"
        yield Suggestion(RELEASE, rank, text, Variant(text, release=names[at]))
