"""Plugin ``network-topology-aware`` of newer releases: hypernodes are filled up one by one.

    packed = Σ w[r] × (used[r] + request[r]) / allocatable[r]  /  Σ w[r]     of a hypernode

A job is placed where it packs best, in the smallest hypernodes with room; its tasks near each
other. Other pods also prefer hypernodes that are already used, so that free ones stay free.

Source: pkg/scheduler/plugins/network-topology-aware/network_topology_aware.go since v1.14.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ....model.panic import NIL_POINTER, Panic
from ....model.resource import ZERO, Resource
from ....model.session_tables import NO_NODE, Floats, Rows
from ....volcano.conf import Arguments
from ...framework.plugin_registry import SearchPurpose
from ...framework.session import Session

MAX_SCORE = 100.0
_BINPACK = "hypernode.binpack"
_NORMAL = f"{_BINPACK}.normal-pod"
_EVICT_MOST = "hypernode.gradient.evict.max-hypernodes"
_DEFAULT_EVICT_MOST = 8


_PLUGIN = "plugins/network-topology-aware.(*networkTopologyAwarePlugin)"
_NO_CHILD = (
    "api.(*HyperNodeInfo).Tier",
    f"{_PLUGIN}.isEligibleHyperNode",
    f"{_PLUGIN}.hyperNodeGradientFn",
)


class NetworkTopologyGradients:
    """Scores hypernodes and nodes, and says which hypernodes are to be tried, in which order.

    Arguments ``weight`` (1), ``hypernode.binpack.cpu``, ``.memory`` (1), ``.resources`` and the
    weight of each, ``hypernode.binpack.normal-pod.enable`` (true), ``.fading`` (0.8: how much less
    each higher tier counts), ``hypernode.gradient.evict.max-hypernodes`` (8: how many are tried for
    a gang that evicts).
    """

    def __init__(self, ssn: Session, name: str, arguments: Arguments) -> None:
        self._ssn = ssn
        self._scale = MAX_SCORE * _weight(arguments, "weight")
        self._weights = read_weights(arguments)
        self._packs_others = arguments.get_bool(f"{_NORMAL}.enable", True)
        fading = arguments.get_float(f"{_NORMAL}.fading", 0.8)
        self._fading = fading if fading >= 0 else 0.8
        most = arguments.get_int(_EVICT_MOST, _DEFAULT_EVICT_MOST)
        self._evict_most = most if most > 0 else _DEFAULT_EVICT_MOST
        tree = ssn.hypernodes
        self._names = sorted(tree.infos)
        self._index = {each: row for row, each in enumerate(self._names)}
        empty: frozenset[str] = frozenset()
        self._inside: NDArray[np.bool_] = np.array(
            [
                [node in tree.real_nodes.get(each, empty) for node in ssn.nodes.names]
                for each in self._names
            ],
            dtype=np.bool_,
        ).reshape(len(self._names), len(ssn.nodes))
        self._allocatable = self._sum(ssn.nodes.allocatable)
        self._used = self._sum(ssn.nodes.used)
        # Handlers update only what is used; idle and future idle stay those of the opening.
        self._idle = self._sum(ssn.nodes.idle)
        self._future_idle = self._sum(ssn.nodes.future_idle())
        tiers = list(tree.by_tier)
        self._min_tier, self._max_tier = (tiers[0], tiers[-1]) if tiers else (0, 0)
        ssn.registry.add_hyper_node_order(name, self._hyper_node_order)
        ssn.registry.add_batch_node_order(name, self._batch_node_order)
        ssn.registry.add_hyper_node_gradient(name, self._gradient)
        ssn.registry.add_event_handler(allocate=self._allocated, deallocate=self._deallocated)

    def _sum(self, amounts: Floats) -> Floats:
        """Return the sums over the nodes of each hypernode."""
        # No product of matrices: that makes NaN of an infinite amount of a node that is outside.
        sums = np.zeros((len(self._inside), amounts.shape[1]))
        for row, inside in enumerate(self._inside):
            sums[row] = amounts[inside].sum(axis=0)
        return sums

    def _allocated(self, task: int, node: int) -> None:
        if node != NO_NODE:
            self._used[self._inside[:, node]] += self._ssn.tasks.request[task]

    def _deallocated(self, task: int, node: int) -> None:
        if node != NO_NODE:
            self._used[self._inside[:, node]] -= self._ssn.tasks.request[task]

    def _packed(self, hypernode: int, requests: dict[int, float]) -> float:
        """Return the packing score of a request in a hypernode; 0 if it does not fit."""
        score, weights = 0.0, 0
        for dim, request in requests.items():
            has = float(self._allocatable[hypernode, dim])
            full = float(self._used[hypernode, dim]) + request
            # Where this passes, `has` is above 0: `resource_names` leaves out requests below 0.1.
            if full > has:
                return 0.0
            weight = self._weights[self._ssn.dims[dim]]
            score += weight * (full / has)
            weights += weight
        return score / weights if weights > 0 else 0.0

    def _asked(self, tasks: Sequence[int]) -> dict[int, float]:
        """Return the requests of tasks for resources with a weight."""
        asked: dict[int, float] = {}
        for task in tasks:
            request = self._ssn.tasks.info[task].request
            for name in request.resource_names():
                if name in self._weights:
                    dim = self._ssn.dims.index(name)
                    asked[dim] = asked.get(dim, 0.0) + request.get(name)
        return asked

    def _hyper_node_order(
        self, _: int, tasks: Sequence[int], hypernodes: dict[str, Rows]
    ) -> dict[str, float]:
        """Score hypernodes by how well all of a group's tasks pack; of equals, where most are."""
        asked = self._asked(tasks)
        scores = {name: self._packed(self._index[name], asked) for name in hypernodes}
        best = [name for name in scores if scores[name] == max(scores.values())]
        if len(best) > 1:
            for name in best:
                scores[name] += self._part(tasks, self._index[name])
        return {name: self._scale * score for name, score in scores.items()}

    def _part(self, tasks: Sequence[int], hypernode: int) -> float:
        """Return the part of a group's tasks that is in a hypernode."""
        nodes = self._ssn.tasks.node[list(tasks)]
        inside = np.count_nonzero(self._inside[hypernode][nodes[nodes != NO_NODE]])
        return float(inside / len(tasks)) if tasks else 0.0

    def _batch_node_order(self, task: int, rows: Rows) -> Floats | None:
        tasks = self._near_tasks(task)
        if tasks is not None:
            scores = self._near(task, tasks, rows)
        else:
            scores = self._of_tiers(task, rows) if self._packs_others else None
        return None if scores is None else self._scale * scores

    def _near_tasks(self, task: int) -> Sequence[int] | None:
        """Return the tasks near which a task should be; ``None`` if it has no topology."""
        jobs, job = self._ssn.jobs, self._ssn.tasks.job.item(task)
        if job in jobs.grouped:
            sub_job = self._ssn.sub_jobs.of_task(task)
            return sub_job.tasks if sub_job.topology else None
        return None if jobs.pod_group(job).spec.network_topology is None else jobs.tasks[job]

    def _near(self, task: int, tasks: Sequence[int], rows: Rows) -> Floats | None:
        """Score nodes by how near they are to the group's tasks."""
        given = self._ssn.tasks.job_hypernode.get(task, "")
        if not given:
            return None
        leaves = [self._leaf(row) for row in rows.tolist()]
        nearness = {leaf: self._nearness(leaf, given) for leaf in sorted(set(leaves))}
        scores = np.array([nearness[leaf] for leaf in leaves])
        best = scores == scores.max(initial=-1.0)
        if np.count_nonzero(best) > 1:
            parts = {
                leaf: self._part(tasks, self._index[leaf]) if leaf else 0.0 for leaf in nearness
            }
            scores = np.where(best, scores + np.array([parts[leaf] for leaf in leaves]), scores)
        return scores

    def _leaf(self, node: int) -> str:
        """Return the hypernode of the lowest tier that a node is in; empty if it is in none."""
        lowest = next(iter(self._ssn.hypernodes.by_tier.values()), ())
        return next((name for name in lowest if self._has(name, node)), "")

    def _has(self, name: str, node: int) -> bool:
        return name in self._index and bool(self._inside[self._index[name], node])

    def _nearness(self, name: str, given: str) -> float:
        if not name:
            return 0.0
        if name == given:
            return 1.0
        common = self._ssn.hypernodes.infos.get(self._ssn.hypernodes.get_lca(name, given))
        if common is None:
            return 0.0
        if self._min_tier == self._max_tier:
            return 1.0
        if not self._min_tier <= common.tier <= self._max_tier:
            return 0.0
        return (self._max_tier - common.tier) / (self._max_tier - self._min_tier)

    def _of_tiers(self, task: int, rows: Rows) -> Floats:
        """Score nodes by how well a task packs into the hypernodes above them, tier by tier.

        A node that is in none at a tier counts as full there.
        """
        asked = self._asked((task,))
        total, weights = np.zeros(len(rows)), 0.0
        for tier in range(self._min_tier, self._max_tier + 1):
            # 0 ** 0 is 1, as with `math.Pow`: without fading only tier 1 counts.
            weight = self._fading ** (tier - 1)
            scores, missing = np.ones(len(rows)), np.ones(len(rows), dtype=np.bool_)
            for name in self._ssn.hypernodes.by_tier.get(tier, ()):
                if name in self._index:
                    here = self._inside[self._index[name]][rows] & missing
                    scores[here] = self._packed(self._index[name], asked)
                    missing &= ~here
            total += weight * scores
            weights += weight
        return total / weights if weights > 0 else total

    def _gradient(
        self, root: str, highest: int, given: str, least: Resource, purpose: SearchPurpose
    ) -> list[list[str]]:
        """Return the hypernodes below one that may take a job, by tier from the lowest.

        For evictions: the few widest ones with room if all others were evicted, widest first.

        Source: ``hyperNodeGradientFn``, ``reverseAndCapEvictionGradients``.
        """
        rooms = (self._allocatable,) if purpose == "evict" else (self._idle, self._future_idle)
        by_tier: dict[int, list[str]] = {}
        for name in self._below(root, highest, given):
            # A job that is partly placed is not filtered by room: only the rest of it needs some.
            if given or self._has_room(name, least, rooms):
                by_tier.setdefault(self._ssn.hypernodes.infos[name].tier, []).append(name)
        gradients = [by_tier[tier] for tier in sorted(by_tier)]
        if purpose != "evict":
            return gradients
        widest, left = [], self._evict_most
        for gradient in reversed(gradients):
            widest.append(gradient[max(len(gradient) - left, 0) :])
            left = max(left - len(gradient), 0)
        return [gradient for gradient in widest if gradient]

    def _below(self, root: str, highest: int, given: str) -> list[str]:
        """Return the hypernodes that a job may be in, those above before those below them.

        :raises Panic: one of them still lists a deleted child.
        """
        start = self._search_root(root, highest, given)
        if start is None:
            return []
        infos = self._ssn.hypernodes.infos
        children: dict[str, list[str]] = {}
        for name in sorted(infos):
            children.setdefault(infos[name].parent, []).append(name)
        waiting = [start]
        for name in waiting:
            waiting += [child for child in children.get(name, ()) if child not in waiting]
            if name in self._ssn.hypernodes.dangling:
                raise Panic(NIL_POINTER, _NO_CHILD)
        return [name for name in waiting if infos[name].tier <= highest]

    def _has_room(self, name: str, least: Resource, rooms: Sequence[Floats]) -> bool:
        row = self._index[name]
        return any(
            least.less_equal(Resource.from_vector(self._ssn.dims, room[row].tolist()), ZERO)
            for room in rooms
        )

    def _search_root(self, root: str, highest: int, given: str) -> str | None:
        """Return the hypernode to search in: allowed by both the caller and the job's hypernode."""
        if not given:
            return root
        tree, allowed = self._ssn.hypernodes, ""
        for name in tree.get_ancestors(given):
            if name not in tree.infos:
                return None
            if tree.infos[name].tier > highest:
                break
            allowed = name
        if not allowed:
            return None
        common = tree.get_lca(root, allowed)
        if common == allowed:
            return root
        return allowed if common == root else None


def read_weights(arguments: Arguments) -> dict[str, int]:
    """Return the weights of resources that arguments give."""
    weights = {
        name: _weight(arguments, f"{_BINPACK}.resources.{name}")
        for name in map(str.strip, arguments.get_str(f"{_BINPACK}.resources", "").split(","))
        if name
    }
    cpu, memory = (_weight(arguments, f"{_BINPACK}.{name}") for name in ("cpu", "memory"))
    return {**weights, "cpu": cpu, "memory": memory}


def _weight(arguments: Arguments, key: str) -> int:
    weight = arguments.get_int(key, 1)
    return weight if weight >= 0 else 1
