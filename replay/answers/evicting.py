"""Whether a session looked for pods to evict, why it evicts none, and which it evicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from ...engine.model.status import Status
from ...engine.session.framework.details import EvictionSearch, EvictionVotes, GangCounts
from .amounts import counted, joined
from .placing import DISCARD, PIPELINE, placed
from .records import EvictionTry, Link
from .run import Run

_EVICTING = ("preempt", "reclaim", "gangpreempt", "gangreclaim")
_VOTES = ("Preemptable", "Reclaimable", "UnifiedEvictable")
_PREEMPTING = frozenset({"preempt", "gangpreempt"})
_SEARCHES = (("victims", "votes"), ("victims in its job", "votes in its job"))
_SPARES: Mapping[str, str] = MappingProxyType(
    {
        "priority": "none has a lower priority",
        "gang": "their gangs would have fewer pods than minMember",
        "conformance": "they are critical, or in kube-system",
        "pdb": "their PodDisruptionBudgets allow no disruption, or they have no labels",
        "proportion": "their queues hold no more than they deserve",
        "capacity": "their queues hold no more than they deserve",
        "drf": "their jobs have no larger share than this one would have",
        "tdm": "they are in no revocable zone whose time is over",
    }
)
"""By plugin, why it lets none of the candidates go."""


def eviction_links(run: Run, pod: str, job: str) -> Iterator[Link]:
    """Yield whether the session looked for pods to evict for a pod, and why it found none."""
    if placed(run, pod) is not None:
        return
    for action in run.conf.actions:
        if action in _EVICTING:
            yield _tried(run, action, pod, job)


def _tried(run: Run, action: str, pod: str, job: str) -> EvictionTry:
    searches = [run.detail(EvictionSearch, what, pod, action) for what, _ in _SEARCHES]
    found = [one for one in searches if one is not None]
    votes = _votes(run, action, pod, job)
    if not found:
        text = f"{action}: it does not look for victims for this pod"
        return EvictionTry(text=text, action=action, pod=pod, tried=False, votes=votes)
    forbidden = next((one.forbidden for one in found if one.forbidden), "")
    nodes = max(one.nodes for one in found)
    candidates = max(one.candidates for one in found)
    gang = run.detail(GangCounts, "gang", job)
    room = _room_taken_back(run, action, job)
    if forbidden:
        text = f"{action}: the pod may not evict others: {forbidden}"
    elif room and gang is not None:
        text = f"{action}: {_incomplete(room, gang)}"
    elif not nodes:
        text = f"{action}: on no node could evictions help"
    elif not candidates:
        text = f"{action}: there is no pod that it may evict{_protected(run, action, job)}"
    else:
        text = f"{action}: {counted(candidates, 'pod')} could be evicted, but "
        text += _spared(run, action, job) or "that would not make enough room on any node"
    return EvictionTry(
        text=text,
        action=action,
        pod=pod,
        tried=True,
        nodes=nodes,
        candidates=candidates,
        room=room,
        votes=votes,
    )


def _room_taken_back(run: Run, action: str, job: str) -> int:
    """Return for how many pods of a job an action made room at most, before it took that back."""
    waiting = {pod for pod in run.waiting_pods(job) if placed(run, pod) is None}
    held: set[str] = set()
    most = 0
    for step in run.trace.steps:
        if step.action == action and step.what == PIPELINE and step.about in waiting:
            held.add(step.about)
        elif step.action == action and step.what == DISCARD:
            most = max(most, len(held))
            held.clear()
    return most


def _incomplete(room: int, gang: GangCounts) -> str:
    """Return that evictions make room for a part of a gang only."""
    text = f"evictions would make room for {counted(room, 'pod')}, but its gang "
    has = gang.ready + gang.waiting
    if room + has < gang.least:
        text += f"needs {gang.least}{f', and has {has}' if has else ''}"
    else:
        text += "does not become complete with that"
    return f"{text}, so the session takes it back"


def _votes(run: Run, action: str, pod: str, job: str) -> dict[str, int]:
    """Return by plugin how many victims it chose at most: of all candidates, or on a node."""
    votes: dict[str, int] = {}
    for about in dict.fromkeys((pod, job)):
        for step in run.steps(about):
            if step.action == action and step.what in _VOTES:
                chosen = step.numbers.get("victims", ())
                count = len(chosen) if isinstance(chosen, list) else 0
                votes[step.by] = max(votes.get(step.by, 0), count)
    for tier in _tiers(run, action, job):
        for plugin, count in tier.items():
            votes[plugin] = max(votes.get(plugin, 0), count)
    return votes


def _tiers(run: Run, action: str, job: str) -> tuple[Mapping[str, int], ...]:
    """Return what the plugins say of all candidates of other jobs, or else of the same job."""
    found = (run.detail(EvictionVotes, what, job, action) for _, what in _SEARCHES)
    return next((one.tiers for one in found if one is not None and one.tiers), ())


def _spared(run: Run, action: str, job: str) -> str:
    """Return why no candidate may go; empty if some may: in each tier a plugin lets none go."""
    tiers = _tiers(run, action, job)
    if not tiers or not all(0 in tier.values() for tier in tiers):
        return ""
    none = dict.fromkeys(plugin for tier in tiers for plugin, count in tier.items() if not count)
    parts = [f"{_SPARES.get(one, 'it chooses none of them')} (plugin {one})" for one in none]
    return f"no plugin lets one go: {joined(parts)}" if len(parts) > 1 else parts[0]


def _protected(run: Run, action: str, job: str) -> str:
    """Return which running pods are no candidates, and why."""
    own = run.job(job)
    if own is None:
        return ""
    same = action in _PREEMPTING
    spared = closed = 0
    for key, other in run.cache.jobs.items():
        queue = run.cache.queues.get(other.queue)
        if key == job or queue is None or (other.queue == own.queue) is not same:
            continue
        running = other.index.get(Status.RUNNING, {}).values()
        if not same and not queue.reclaimable:
            closed += len(running)
        else:
            spared += sum(not task.preemptable for task in running)
    parts = []
    if spared:
        verb = "is" if spared == 1 else "are"
        parts.append(f"{counted(spared, 'pod')} {verb} not preemptable (volcano.sh/preemptable)")
    if closed:
        verb = "is" if closed == 1 else "are"
        parts.append(f"{counted(closed, 'pod')} {verb} in queues that are not reclaimable")
    return f": {joined(parts)}" if parts else ""


def evicted_here(run: Run, pod: str, node: str) -> str:
    """Return that the session evicts a pod, and for which pods; empty if it does not."""
    reasons = dict(run.answer.result.evictions)
    if pod not in reasons:
        return ""
    others = [name for name, where in sorted(run.pipelined.items()) if where == node]
    rest = len(others) - 3
    named = joined([*others[:3], f"{rest} more"] if rest > 0 else others)
    wins = "pod" if len(others) == 1 else "pods"
    gain = f" for {wins} {named}, which then {'gets' if len(others) == 1 else 'get'} its place"
    return f"this session evicts it ({reasons[pod]}){gain if others else ''}"
