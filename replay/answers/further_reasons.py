"""What else keeps a job or a pod waiting: a session stops at its first reason, and more may hold.

A queue that is full hides that no node has room; a gang without enough pods hides both. If only
the first reason is mended, the pod waits again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ...engine.kubernetes.counts import counted
from ...engine.session.framework.vote_details import GangCounts
from .amounts import joined
from .answering_session import JOB, PODGROUP, Run
from .carried import carries
from .enqueueing import closed
from .finding import Blocked
from .gates import gates_of
from .limit_sources import releases_like
from .other_schedulers import whose_they_are
from .placing_reasons import nodes_further, queue_further
from .records import Note
from .rejected import rejected_beside
from .undecoded import undecoded_pods

_OF_QUEUE = frozenset(
    {
        *("queue-full", "queue-overused", "queue-closed", "queue-tree", "queue-not-leaf"),
        *("overcommitted", "quota-full", "refused", "attach-limit"),
    }
)
"""The causes with which a session compares a job's pods with no node."""
_OF_CLUSTER = frozenset({"overcommitted", "quota-full", "queue-closed"})
"""Those with which it does not compare them with the account of their queue either."""
_OF_GANG = "gang-lacks-pods"
_PENDING = frozenset({"", "Pending"})


def with_further(run: Run, key: str, first: Blocked, *pods: str) -> Blocked:
    """Return why a job or some of its pods wait, with all that also holds.

    :param key: of the PodGroup. :param pods: by default, all of the job that wait.
    """
    waiting = pods or run.waiting_pods(key)
    asked: list[Blocked | None] = []
    # Added in the order in which a session would come to them: job, queue, nodes.
    if first.cause == _OF_GANG:
        asked += [_closed(run, key), gates_of(run, waiting)]
    elif first.cause in _OF_QUEUE:
        asked.append(_gang(run, key))
    if first.cause in _OF_CLUSTER or first.cause == _OF_GANG:
        asked.append(_first(queue_further(run, pod, key) for pod in waiting))
    if asked:
        asked.append(_first(nodes_further(run, pod) for pod in waiting))
    for also in asked:
        if also is not None and carries(run, also):
            first = first.and_also(also)
    return first


def lacking_pods(run: Run, key: str) -> Blocked | None:
    """Return which pods a gang lacks; None if it has enough that are neither failed nor leaving."""
    gang = run.detail(GangCounts, "gang", key)
    if gang is None or (gang.valid >= gang.least and not gang.lacking):
        return None
    states = joined(f"{n} {name}" for name, n in gang.statuses.items())
    # Enough pods in all, but too few of a role (`CheckTaskValid`).
    if gang.valid >= gang.least:
        parts = [f"{valid} of {least} {role}" for role, (least, valid) in gang.lacking.items()]
        text = f"its gang lacks pods of a role: only {joined(parts)} exist"
    else:
        text = f"its gang needs {counted(gang.least, 'pod')} at once, and has only {gang.valid}"
        text += f" ({states})"
        if gang.lacking:
            roles = (f"{role} has {n} of {most}" for role, (most, n) in gang.lacking.items())
            text += f": task {joined(roles)}"
    text += _dropped(run, key, gang.lacking) + rejected_beside(run, key)
    unseen = run.unseen.get(key)
    if unseen:
        text += f"; sessions do not see {whose_they_are(run, unseen)}"
    undecoded = undecoded_pods(run, key)
    text += "" if undecoded is None else f"; {undecoded.because}"
    return Blocked(text, _OF_GANG, (Note(text=text, blocks=True),), ((PODGROUP, key),))


def _dropped(run: Run, key: str, roles: Collection[str]) -> str:
    """Return which roles a PodGroup does not name any more, but the scheduler keeps."""
    group = run.group(key)
    named = {} if group is None else group.spec.min_task_member
    dropped = [role for role in roles if role not in named]
    if not dropped:
        return ""
    like = releases_like(run, _KEPT)
    return (
        f"; the PodGroup's minTaskMember does not name {joined(dropped, 'or')} any more, but the "
        f"scheduler keeps what it was (as {like}, behaviour {_KEPT})"
    )


_KEPT = "removed_min_task_members_forgotten"


def _gang(run: Run, key: str) -> Blocked | None:
    """Return which pods a gang lacks beside what its queue refuses.

    Volcano's job controller makes pods when the PodGroup is enqueued: until then none is missing.
    """
    group, job = run.group(key), run.job(key)
    if group is None or job is None or not job.tasks:
        return None
    owner = group.metadata.controller
    makes_later = owner is not None and owner.api_version.startswith(JOB[0])
    if makes_later and group.status.phase in _PENDING:
        return None
    return lacking_pods(run, key)


def _closed(run: Run, key: str) -> Blocked | None:
    """Return that the queue of a job is not open."""
    job = run.job(key)
    info = None if job is None else run.cache.queues.get(job.queue)
    return None if info is None or info.state == "Open" else closed(run, info.name)


def _first(candidates: Iterator[Blocked | None]) -> Blocked | None:
    return next((blocked for blocked in candidates if blocked is not None), None)
