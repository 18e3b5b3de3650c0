"""The queues as a release sees them: which plugin limits them, and what each may use.

The session's own code builds and checks the tree of queues, on a cluster with the sum of the nodes,
or with unlimited resources if no node is known. Errors do not stop it here, so all of them are
found. Where requests matter, jobs request everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from ...engine.cache.cache import SchedulerCache
from ...engine.kubernetes.objects import Node, Pod, PodGroup, Queue, decode
from ...engine.model.panic import Panic
from ...engine.model.queue import QueueInfo
from ...engine.model.resource import ZERO, Resource
from ...engine.model.resource_names import PODS, is_scalar_name
from ...engine.model.task import GROUP_NAME
from ...engine.session.framework.process_parts import ProcessState
from ...engine.session.framework.session import Session
from ...engine.session.framework.trace import Trace
from ...engine.session.plugins import BUILDERS, NEWER_PLUGINS
from ...engine.session.plugins.capacity.attrs import QueueAttr, real_capability
from ...engine.session.plugins.capacity.flat import flat_capability, total_guarantee
from ...engine.session.plugins.capacity.hierarchy import Hierarchy
from ...engine.session.plugins.capacity.soundness import Complaint
from ...engine.session.plugins.proportion import Proportion
from ...engine.volcano.admission import queue_weight
from ...engine.volcano.conf import Arguments, PluginOption, SchedulerConf
from .answer_cache import AnswerCache, changed
from .assumed_plugin import LimitingPlugin
from .lint_inputs import ENDLESS, LintInputs
from .objects import ROOT, amounts_in

if TYPE_CHECKING:
    from ...engine.volcano.session.behaviours import Behaviours

_NOTHING = SchedulerConf((), (), (), {})
BYTES_PER_UNIT = 1000
"""Scalars are counted in thousandths, which makes bytes comparable to devices."""


class Mode(Enum):
    """What limits the queues."""

    TREE = "capacity, with the queues as a tree"
    FLAT = "capacity"
    PROPORTION = "proportion"
    NOTHING = "nothing"


class LintedQueueTree(NamedTuple):
    """A tree of queues as a release builds it.

    :param attrs: the account of each queue; after a panic some lack limits.
    :param complaints: all errors between queues and their children.
    :param panic: the scheduler's panic, or None.
    """

    attrs: Mapping[str, QueueAttr]
    complaints: tuple[Complaint, ...]
    panic: Panic | None


class QueueLimit(NamedTuple):
    """What a queue may use, and the queue that has this limit."""

    queue: str
    amounts: Resource


class Limits(NamedTuple):
    """The limits of a queue and of its ancestors, and the resulting maximum."""

    each: tuple[QueueLimit, ...]
    all: Resource

    @classmethod
    def of(cls, limits: Iterable[QueueLimit]) -> Limits:
        """Return the limits, the queue's own first."""
        each = tuple(limits)
        least = each[0].amounts.clone() if each else Resource()
        for limit in each[1:]:
            least.min_dimension_resource(limit.amounts, ZERO)
        return cls(each, least)

    def refusing(self, wanted: Resource) -> QueueLimit | None:
        """Return the first limit that some amounts exceed; None if all fit."""
        if wanted.less_equal_with_dimension(self.all, wanted):
            return None
        return next(
            (
                limit
                for limit in self.each
                if not wanted.less_equal_with_dimension(limit.amounts, wanted)
            ),
            None,
        )


class LintedQueues:
    """The queues of the inputs.

    :param assumed: the plugin that limits them, if no configuration is known.
    """

    def __init__(self, world: LintInputs, assumed: LimitingPlugin | None = None) -> None:
        self.world = world
        self._assumed = assumed
        self.tree = AnswerCache(self._tree)
        self.mode = AnswerCache(self._mode)
        self.division = AnswerCache(self._division)
        """The panic of ``proportion`` in a release if all queues request everything; or None."""
        self.limits = AnswerCache(self._limits)
        """What each queue may use in a release, by name; none if no plugin limits it."""

    def _mode(self, how: Behaviours) -> Mode:
        if self._assumed is LimitingPlugin.CAPACITY and exists("capacity", how):
            return Mode.TREE if how.root_queue else Mode.FLAT
        options = {option.name: option for option in options_of(self.world.conf(how))}
        capacity = options.get("capacity")
        if capacity is not None and exists("capacity", how):
            tree = capacity.enabled_hierarchy and how.root_queue
            return Mode.TREE if tree else Mode.FLAT
        return Mode.PROPORTION if "proportion" in options else Mode.NOTHING

    def named(self, how: Behaviours) -> frozenset[str]:
        """Return the names of all queues that a release has, malformed ones too."""
        given = {name for kind, name in self.world.subjects if kind == "Queue"}
        created = {"default", ROOT} if how.root_queue else {"default"}
        return frozenset(given | created)

    @cached_property
    def parents(self) -> Mapping[str, str]:
        """The parent of each queue, as the scheduler reads it; the root has none."""
        return {
            name: queue.spec.parent or ROOT
            for name, queue in self.world.queues.items()
            if name != ROOT
        }

    @cached_property
    def children(self) -> Mapping[str, tuple[str, ...]]:
        """The children of each queue, by name."""
        children: dict[str, tuple[str, ...]] = {}
        for name in sorted(self.parents):
            parent = self.parents[name]
            children[parent] = (*children.get(parent, ()), name)
        return children

    def lineage(self, name: str) -> Iterator[str]:
        """Yield a queue and its ancestors; a cycle ends where it began."""
        seen: dict[str, None] = {}
        # Queues may name each other in a circle; a stop at the first repetition ends it.
        while name in self.world.queues and name not in seen:
            seen[name] = None
            yield name
            if name == ROOT:
                return
            name = self.parents[name]

    def cycle(self, name: str) -> tuple[str, ...]:
        """Return the cycle that contains a queue, from it on; empty if there is none."""
        above = tuple(self.lineage(name))
        last = self.parents.get(above[-1]) if above else None
        return above if last == name else ()

    def rooted(self) -> dict[str, Queue]:
        """Return the queues whose ancestors lead to the root."""
        return {
            name: queue
            for name, queue in self.world.queues.items()
            if name == ROOT or ROOT in self.lineage(name)
        }

    @cached_property
    def cluster(self) -> Node:
        """One node with the sum of the nodes, or with unlimited resources."""
        total = self.world.total
        if total is None:
            amounts = dict.fromkeys(self._names(), str(ENDLESS))
            amounts["memory"] = str(ENDLESS * BYTES_PER_UNIT)
        else:
            amounts = {"cpu": f"{total.cpu:.0f}m", "memory": f"{total.memory:.0f}"}
            # Resources count in thousandths, and pods as they are.
            for name, amount in (total.scalars or {}).items():
                amounts[name] = f"{amount:.0f}" if name == PODS else f"{amount:.0f}m"
        return decode(Node, {"metadata": {"name": "all"}, "status": {"allocatable": amounts}})

    @cached_property
    def _all(self) -> Mapping[str, str]:
        """An unlimited amount of everything that the cluster has."""
        named = [name for name in self.cluster.status.allocatable if name != PODS]
        most = dict.fromkeys(named, str(ENDLESS))
        return {**most, "memory": str(ENDLESS * BYTES_PER_UNIT)}

    def _names(self) -> list[str]:
        named = {"cpu", PODS, "ephemeral-storage"}
        for manifest in self.world.manifests.values():
            for _, amounts in amounts_in(manifest):
                named |= {name for name in amounts if is_scalar_name(name)}
        return sorted(named)

    def _tree(self, how: Behaviours) -> LintedQueueTree:
        # This session has no jobs: capped by their requests, no queue would deserve anything.
        tree = self._built(changed(how, deserved_capped_by_request=False))
        if how.children_may_exceed_parent:
            return tree
        # Excess is removed before the comparison: compare what was written.
        granted = self._built(
            changed(how, deserved_capped_by_request=False, children_may_exceed_parent=True)
        )
        return tree._replace(complaints=granted.complaints)

    def _built(self, how: Behaviours) -> LintedQueueTree:
        tree = Hierarchy(self._session(how, self.rooted()), goes_on=True)
        panic = None
        try:
            tree.build()
        except Panic as crash:
            panic = crash
        return LintedQueueTree(tree.attrs, tuple(tree.complaints), panic)

    def _division(self, how: Behaviours) -> Panic | None:
        queues = {
            name: _weighed(queue) for name, queue in self.world.queues.items() if name != ROOT
        }
        work = [each for name in queues for each in _work(name, self._all)]
        session = self._session(how, queues, work)
        try:
            Proportion(Arguments()).on_session_open(session)
        except Panic as crash:
            return crash
        return None

    def _session(
        self, how: Behaviours, queues: Mapping[str, Queue], work: Iterable[PodGroup | Pod] = ()
    ) -> Session:
        """Return a session on some queues, the cluster as one node, and possibly jobs."""
        cache = SchedulerCache(how)
        cache.deliver("Node", self.cluster)
        for queue in queues.values():
            cache.deliver("Queue", queue)
        for each in work:
            cache.deliver(type(each).__name__, each)
        cache.run_workers()
        return Session(
            cache.snapshot(),
            _NOTHING,
            how,
            now=0,
            process=ProcessState(),
            cache=cache,
            trace=Trace(),
        )

    @cached_property
    def everything(self) -> Resource:
        """All resources of the cluster, or unlimited ones."""
        return Resource.of(self.cluster.status.allocatable)

    def _limits(self, how: Behaviours) -> Mapping[str, Limits]:
        mode = self.mode(how)
        if mode is Mode.NOTHING:
            return {}
        if mode is not Mode.TREE:
            return {name: Limits.of([limit]) for name, limit in self._flat.items()}
        return {
            name: Limits.of(
                QueueLimit(queue_attr.name, queue_attr.real_capability)
                for queue_attr in attr.lineage
                # After a panic some queues have no limit yet.
                if queue_attr.real_capability is not None
            )
            for name, attr in self.tree(how).attrs.items()
        }

    @cached_property
    def guarantees(self) -> Resource:
        """The sum of all guarantees."""
        return total_guarantee(self._infos.values())

    @cached_property
    def _infos(self) -> Mapping[str, QueueInfo]:
        return {name: QueueInfo(queue) for name, queue in self.world.queues.items()}

    @cached_property
    def _flat(self) -> Mapping[str, QueueLimit]:
        return {
            name: QueueLimit(
                name,
                real_capability(
                    self.everything, self.guarantees, info.guarantee, flat_capability(info)
                ),
            )
            for name, info in self._infos.items()
        }


def _weighed(queue: Queue) -> Queue:
    """Return a queue with the weight that admission gives it."""
    spec = msgspec.structs.replace(queue.spec, weight=queue_weight(queue.spec.weight))
    return msgspec.structs.replace(queue, spec=spec)


def _work(queue: str, requests: Mapping[str, str]) -> Iterator[PodGroup | Pod]:
    """Yield a PodGroup in a queue, and its one pod, which requests these resources."""
    metadata = {"name": queue, "namespace": "default", "uid": queue}
    yield decode(PodGroup, {"metadata": metadata, "spec": {"queue": queue, "minMember": 1}})
    containers = [{"name": "all", "resources": {"requests": requests}}]
    yield decode(
        Pod,
        {
            "metadata": {**metadata, "annotations": {GROUP_NAME: queue}},
            "spec": {"schedulerName": "volcano", "containers": containers},
            "status": {"phase": "Pending"},
        },
    )


def exists(plugin: str, how: Behaviours) -> bool:
    """Return whether a release has a plugin."""
    return plugin in BUILDERS and (plugin not in NEWER_PLUGINS or plugin in how.plugins)


def options_of(conf: SchedulerConf) -> list[PluginOption]:
    """Return the plugins of all tiers, in order."""
    return [option for tier in conf.tiers for option in tier]
