"""Changes of node groups: what the affinity of a queue allows, and in which group a node is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...engine.cache.cache import SchedulerCache
from ...engine.kubernetes.objects import Pod
from ...engine.session.plugins.nodegroup import NODE_GROUP, QueueGroupAffinity
from ..answers.answering_session import NODE
from ..answers.records import Link, NodeReason, Nodes
from ..answers.refusing_nodes import OF_NODE_GROUPS, affinity_of, queue_of
from ..objects.kinds import ObjectName
from .cluster_changes import SetField
from .suggestion import TOPOLOGY, Suggestion, queue_name, single

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
