"""The behaviours that a cache reads: those of the session's record and the cache's own.

Both records are read once, when a cache is created. A stored cache serves every release that reads
the same values (:func:`contents_of`).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from ..model.node import NodeRules
from ..model.resource import Resource
from ..model.resource_names import PODS
from ..model.subtraction import Subtract, subtraction
from ..model.task import TaskRules
from ..volcano.cache.behaviours import CacheBehaviours
from ..volcano.session.devices import VirtualGpuUse
from ..volcano.session.pods import PodsWithoutClaims
from ..volcano.table import cache_behaviours

if TYPE_CHECKING:
    from ..volcano.session.behaviours import Behaviours

CONTENTS = (
    *("cleanup_delayed", "cleanup_delay_resets", "cleanup_key"),
    *("failed_tasks_delayed", "failed_tasks_delay_resets", "failed_tasks_key"),
    *("nodes_through_work_queue", "unselected_nodes", "removed_images_forgotten"),
    "volume_limits_written_to_shared_nodes",
)
"""The cache's own behaviours that affect its content; others affect requests and timing."""


class JobRules(NamedTuple):
    """Behaviours for jobs and tasks in the cache.

    :param ignores_stale: stale deletions have no effect (``stale_deletions_ignored``).
    :param subtract: how requests are subtracted from a job's sums.
    """

    forgets_minima: bool
    skips_terminated: bool
    job_cleanup_removes_recreated_job: bool
    claimless_pods: PodsWithoutClaims
    volumes_counted: bool
    needs_device_claims: bool
    ignores_stale: bool = False
    subtract: Subtract = Resource.sub


class NodeCacheRules(NamedTuple):
    """Behaviours for nodes in the cache.

    :param condition_hides: a node whose condition Ready is not True is not ready, and keeps the
        account that it had.
    :param uncounted: resources that are ignored everywhere.
    :param gpus_uncounted: only the devices' own accounts count virtual GPUs.
    :param accounts: how nodes keep their accounts.
    :param hypernodes: there is a tree of HyperNodes.
    """

    condition_hides: bool
    uncounted: frozenset[str]
    gpus_uncounted: bool
    volumes_counted: bool
    accounts: NodeRules
    hypernodes: bool = True


class CacheRules(NamedTuple):
    """All behaviours that a cache reads, by purpose.

    :param own: the cache's own record.
    """

    jobs: JobRules
    nodes: NodeCacheRules
    tasks: TaskRules
    own: CacheBehaviours


def rules_of(behaviours: Behaviours, own: CacheBehaviours | None = None) -> CacheRules:
    """Return the behaviours that a cache of a release reads.

    :param own: the cache's own record; by default that of the release that ``behaviours`` names.
    """
    return CacheRules(
        jobs=JobRules(
            forgets_minima=behaviours.removed_min_task_members_forgotten,
            skips_terminated=behaviours.ended_pods_not_removed_from_node,
            job_cleanup_removes_recreated_job=behaviours.job_cleanup_removes_recreated_job,
            claimless_pods=behaviours.pods_without_claims,
            volumes_counted=behaviours.volumes_are_a_resource,
            needs_device_claims=behaviours.device_claims_needed,
            ignores_stale=behaviours.stale_deletions_ignored,
            subtract=subtraction(checked=behaviours.subtractions_checked),
        ),
        nodes=NodeCacheRules(
            condition_hides=behaviours.not_ready_nodes_excluded,
            uncounted=frozenset() if behaviours.pods_are_a_resource else frozenset({PODS}),
            gpus_uncounted=behaviours.virtual_gpu_use is VirtualGpuUse.FROM_LAST,
            volumes_counted=behaviours.volumes_are_a_resource,
            accounts=NodeRules(
                checked=behaviours.subtractions_checked,
                skipped=behaviours.overfull_nodes_skipped,
                binding_counts=behaviours.binding_pods_always_count,
                keep_pods=behaviours.returning_nodes_keep_pods,
            ),
            hypernodes=behaviours.hypernodes_in_cache,
        ),
        tasks=TaskRules(
            scheduling_gates=behaviours.scheduling_gates,
            role_by_label=behaviours.role_by_label,
            sidecar_requests_counted=behaviours.sidecar_requests_counted,
            pod_level_requests_counted=behaviours.pod_level_requests_counted,
            in_place_resizes_counted=behaviours.in_place_resizes_counted,
        ),
        own=own or own_behaviours(behaviours.release),
    )


@cache
def own_behaviours(release: str) -> CacheBehaviours:
    """Return the cache's own record of a release."""
    return cache_behaviours(release)


def contents_of(own: CacheBehaviours) -> tuple[tuple[str, object], ...]:
    """Return the cache's own behaviours that affect its content, with their values."""
    return tuple((name, getattr(own, name)) for name in CONTENTS)
