"""gangreclaim: make room for a whole gang among the jobs of other queues.

Source: ``pkg/scheduler/actions/gangreclaim/gangreclaim.go`` since v1.15.
"""

from __future__ import annotations

from functools import cmp_to_key

from ...model.resource import Resource
from ...model.session_tables import TaskStatus
from ..framework import framework_orders as orders
from ..framework import voting
from ..framework.plugin_registry import RECLAIM
from ..framework.session import Session
from ..nodes.node_views import NodeViews
from . import gang_eviction
from .bundle import Bundle


def execute(ssn: Session, views: NodeViews) -> None:
    """Evict for one starving job after the other, if its queue may and that pipelines it."""
    gang_eviction.execute(ssn, views, _RULES)


def _may_be_evicted(ssn: Session, job: int, task: int, status: int) -> bool:
    """Return whether a task runs in another queue that may be reclaimed from."""
    queue = ssn.jobs.queue[ssn.tasks.job.item(task)]
    return (
        status == TaskStatus.RUNNING
        and queue != ssn.jobs.queue[job]
        and queue in ssn.queues
        and ssn.queues[queue].reclaimable
    )


def _sort(ssn: Session, job: int, bundles: list[Bundle], need: Resource) -> list[Bundle]:
    """Put safe bundles first; then by queue, and within a queue the most valuable first.

    Source: ``SortBundlesForReclaim``.
    """
    queue_of, own = ssn.jobs.queue, ssn.jobs.queue[job]

    def compare(left: Bundle, right: Bundle) -> int:
        if left.whole != right.whole:
            return 1 if left.whole else -1
        left_queue, right_queue = queue_of[left.job], queue_of[right.job]
        if left_queue != right_queue:
            first = orders.victim_queue_order(ssn, left_queue, right_queue, own)
            if first != orders.victim_queue_order(ssn, right_queue, left_queue, own):
                return -1 if first else 1
        left_worth, right_worth = left.worth(need), right.worth(need)
        if left_worth != right_worth:
            return -1 if left_worth > right_worth else 1
        return -1 if _place(ssn, left) < _place(ssn, right) else 1

    return sorted(bundles, key=cmp_to_key(compare))


def _place(ssn: Session, bundle: Bundle) -> tuple[str, str, int]:
    """Return the sort key of bundles of equal value. Source: ``stableBundleLess``."""
    first = ssn.tasks.info[bundle.tasks[0]].uid
    return ssn.jobs.keys[bundle.job], first, len(bundle.tasks)


_RULES = gang_eviction.GangRules(
    action=RECLAIM,
    skips=voting.overused,
    may=voting.preemptive,
    may_be_evicted=_may_be_evicted,
    sort=_sort,
)
