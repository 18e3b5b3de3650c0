"""gangpreempt: make room for a whole gang among less important jobs of its queue.

Source: ``pkg/scheduler/actions/gangpreempt/gangpreempt.go`` since v1.15.
"""

from __future__ import annotations

from ...model.resource import Resource
from ...model.session_tables import PREEMPTABLE_STATUS
from ..framework import framework_orders as orders
from ..framework.plugin_registry import PREEMPT
from ..framework.session import Session
from ..nodes.node_views import NodeViews
from . import gang_eviction
from .bundle import Bundle


def execute(ssn: Session, views: NodeViews) -> None:
    """Evict for one starving job after the other, if that pipelines it."""
    gang_eviction.execute(ssn, views, _RULES)


def _may_be_evicted(ssn: Session, job: int, task: int, status: int) -> bool:
    """Return whether a task is bound or runs, for a less important job of the same queue."""
    jobs, theirs = ssn.jobs, ssn.tasks.job.item(task)
    return (
        status in PREEMPTABLE_STATUS
        and jobs.queue[theirs] == jobs.queue[job]
        and jobs.priority.item(theirs) < jobs.priority.item(job)
    )


def _sort(ssn: Session, _: int, bundles: list[Bundle], __: Resource) -> list[Bundle]:
    """Put safe bundles first; among safe bundles, and among others, the job that comes last.

    Volcano then compares the value of bundles, which never decides: no two jobs are equal.

    Source: ``SortBundlesForPreempt``.
    """
    last = sorted(bundles, key=lambda bundle: orders.job_key(ssn, bundle.job), reverse=True)
    return sorted(last, key=lambda bundle: bundle.whole)


_RULES = gang_eviction.GangRules(
    action=PREEMPT,
    skips=lambda _ssn, _queue: False,
    may=lambda _ssn, _queue, _tasks: True,
    may_be_evicted=_may_be_evicted,
    sort=_sort,
)
