"""Why a node takes no pods, or which of the waiting pods it does not take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from types import MappingProxyType

import msgspec

from ...engine.cache.cache import SchedulerCache
from ...engine.cache.job_cache import job_of
from ...engine.kubernetes.counts import counted
from ...engine.model.node import NodeInfo
from ...engine.model.resource import Resource
from ...engine.model.task_status import TaskStatus
from ...engine.session.framework.vote_details import (
    FURTHER,
    GangCounts,
    NodesChecked,
    RefusingNodes,
)
from ...engine.session.plugins.shared.gauge_amounts import plain
from .amounts import amounts_of, in_order, joined, word
from .answering_session import CLOSELY, NODE, Run
from .demands import demands_of
from .drifted_evidence import differences
from .finding import SessionFinding
from .node_words import phrase, refusal_of
from .records import Link, NodeState, Waiting

_READY, _UNKNOWN = "Ready", "Unknown"
_STATES: Mapping[str | None, str] = MappingProxyType({"True": _READY, "False": "NotReady"})
"""How kubectl calls a status of the condition Ready; any other, and none, is Unknown."""
_REPELS = frozenset({"NoSchedule", "NoExecute"})
_NAMED = 3


class _Refused(msgspec.Struct, frozen=True):
    """Why a node refuses a pod, and what of it this session planned for others before.

    :param after: words for that; empty if the node has too little without it.
    """

    group: RefusingNodes
    after: str


def node_finding(run: Run, name: str) -> SessionFinding:
    """Return why a node takes no pods, or what it has left."""
    info, about = run.cache.nodes.get(name), ((NODE, name),)
    if info is None or info.node is None:
        text = f"node {name} exists, but the scheduler's cache does not have it"
        stale = tuple(differences(run, [("Node", name)]))
        return SessionFinding(text, True, "stale-cache", stale, about, (name,))
    refused = dict(_refused(run, name))
    closed = _closed(info)
    links = [
        _state(info, closed=closed is not None),
        *_refusals(run, name, refused),
        *differences(run, [("Node", name)]),
    ]
    waiting = f"; {_would(run, name, refused)}" if refused else ""
    if closed is not None:
        cause, because = closed
        text = f"node {name} takes no pods: {because}{waiting}"
        return SessionFinding(text, True, cause, tuple(links), about, (name,))
    dead = f", though {_unlike_ready(info)}" if _condition(info) not in {None, "True"} else ""
    text = f"node {name} takes pods{dead}: {_left(info)}{waiting}"
    return SessionFinding(text, False, "open", tuple(links), about)


def waiting_pods(cache: SchedulerCache) -> list[str]:
    """Return some of the pods that wait for a node in the whole cluster, by name."""
    pending = (job.index.get(TaskStatus.PENDING, {}).values() for job in cache.jobs.values())
    return sorted(task.key for tasks in pending for task in tasks)[:CLOSELY]


def waiting_groups(cache: SchedulerCache) -> list[str]:
    """Return some of the PodGroups with pods that wait for a node, by name."""
    return sorted(key for key, job in cache.jobs.items() if job.index.get(TaskStatus.PENDING))[
        :CLOSELY
    ]


def _closed(info: NodeInfo) -> tuple[str, str] | None:
    """Return the cause and the words for a node that takes no pods at all."""
    assert info.node is not None
    # The worst first: not in sessions at all, used by none, closed to some pods.
    if info.reason:
        return "not-ready", f"sessions do not see it: {info.reason}"
    lacking = info.out_of_sync()
    if lacking:
        parts = []
        for name in in_order(lacking):
            used = word(info.used.get(name), name)
            parts.append(f"{used} of {word(info.allocatable.get(name), name)} {name}")
        return "out-of-sync", f"its pods use more than it has: {joined(parts)}"
    if info.node.spec.unschedulable:
        return "cordoned", "it is cordoned (spec.unschedulable)"
    taints = [taint for taint in info.taints if taint.effect in _REPELS]
    if taints:
        return (
            "tainted",
            f"only pods that tolerate {joined(taint.text for taint in taints)} may run there",
        )
    return None


def _state(info: NodeInfo, *, closed: bool) -> NodeState:
    assert info.node is not None
    unlike = "" if info.reason else _unlike_ready(info)
    state = info.reason or _STATES.get(_condition(info), _UNKNOWN)
    pods = counted(len(info.tasks), "pod")
    is_so = f"node {info.name} is {state} with {pods}"
    if unlike:
        is_so = f"sessions use node {info.name}, though {unlike}: it has {pods}"
    return NodeState(
        text=f"{is_so}{';' if unlike else ':'} {_left(info)}",
        blocks=closed,
        state=state,
        unschedulable=info.node.spec.unschedulable,
        taints=tuple(taint.text for taint in info.taints),
        allocatable=_amounts(info.allocatable),
        used=_amounts(info.used),
        idle=_amounts(info.idle),
        pods=len(info.tasks),
    )


def _condition(info: NodeInfo) -> str | None:
    """Return the status of a node's condition Ready; None if it has no such condition."""
    assert info.node is not None
    return next(
        (condition.status for condition in info.node.status.conditions if condition.type == _READY),
        None,
    )


def _unlike_ready(info: NodeInfo) -> str:
    """Return what a node's condition Ready is, if it is not True; empty if it is.

    A node without the condition is in all sessions: the releases that compare it leave out nodes
    where it has another status than True.

    Source: ``pkg/scheduler/api/node_info.go`` ``setNodeState``.
    """
    status = _condition(info)
    if status is None:
        return "it has no condition Ready"
    return "" if status == "True" else f"its condition Ready is {status}"


def _left(info: NodeInfo) -> str:
    names = [name for name in info.allocatable.resource_names() if info.allocatable.get(name)]
    shown = [name for name in in_order(names) if name in {"cpu", "memory"} or "/" in name]
    parts = [
        f"{word(info.idle.get(name), name)} of {word(info.allocatable.get(name), name)} {name}"
        for name in shown
    ]
    return f"{joined(parts)} are idle"


def _amounts(resource: Resource) -> dict[str, str]:
    return amounts_of(plain(resource))


def _refused(run: Run, name: str) -> Iterator[tuple[str, _Refused]]:
    """Yield the waiting pods that a node refuses, with its group of nodes."""
    for (action, _, pod), seen in run.trace.details.items():
        # That was looked up when the session was over, and is nothing that the session decided.
        if action == FURTHER:
            continue
        if isinstance(seen, NodesChecked):
            for group in seen.groups:
                if name in group.nodes:
                    yield pod, _Refused(group, _after(run, name, group, seen.request))


def _after(run: Run, name: str, group: RefusingNodes, request: Mapping[str, float]) -> str:
    """Return that a node lacks something only as this session planned other pods there before."""
    info = run.cache.nodes.get(name)
    lacked = [reason.resource for reason in group.reasons if reason.resource]
    if info is None or not lacked:
        return ""
    # Of one of these it has too little without what this session planned, too.
    if any(info.idle.get(resource) < request.get(resource, 0.0) for resource in lacked):
        return ""
    pods = sorted(_planned(run, name))
    groups = dict.fromkeys(job_of(planned) for pod in pods if (planned := run.pod(pod)) is not None)
    titles = [run.title(group_name) for group_name in groups]
    if not titles:
        return ""
    more = [f"{len(titles) - 2} more"] if len(titles) > 2 else []
    return f", after what this session planned there for {joined([*titles[:2], *more])}"


def _planned(run: Run, name: str) -> set[str]:
    """Return the pods for which this session planned a node, also those that it took back."""
    gangs = [detail for detail in run.trace.details.values() if isinstance(detail, GangCounts)]
    taken_back = ((pod, node) for gang in gangs for pod, (_, node) in gang.planned.items())
    every = chain(run.binds.items(), run.pipelined.items(), taken_back)
    return {pod for pod, node in every if node == name}


def _refusals(run: Run, name: str, refused: Mapping[str, _Refused]) -> Iterator[Link]:
    for pod, why in refused.items():
        own = demands_of(run, pod)
        text = f"it does not take pod {pod}: {refusal_of(why.group, name, own)}{why.after}"
        yield Waiting(text=text, names=(pod,))


def _would(run: Run, name: str, refused: Mapping[str, _Refused]) -> str:
    """Return which waiting pods a node refuses, or how many, and why."""
    if len(refused) == 1:
        ((pod, only),) = refused.items()
        why = refusal_of(only.group, name, demands_of(run, pod))
        return f"it does not take pod {pod}, which waits: {why}{only.after}"
    by_reason: dict[str, int] = {}
    for refusal in refused.values():
        says = joined(f"it {phrase(reason, one=True)}" for reason in refusal.group.reasons)
        by_reason[says + refusal.after] = by_reason.get(says + refusal.after, 0) + 1
    parts = [f"{says} ({counted(pods, 'pod')})" for says, pods in by_reason.items()]
    rest = sum(list(by_reason.values())[_NAMED:])
    more = [f"it refuses {rest} more for other reasons"] if rest else []
    many = f"it does not take {counted(len(refused), 'pod')} that wait"
    return f"{many}: {joined([*parts[:_NAMED], *more])}"
