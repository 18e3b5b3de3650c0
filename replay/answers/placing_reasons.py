"""Why a session places none of a job's pods, or not one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from ...engine.kubernetes.counts import counted
from ...engine.session.actions.placing import SKIPPED
from ...engine.session.framework.trace import StepOutcome
from ...engine.session.framework.vote_details import (
    FURTHER,
    GangCounts,
    NodesChecked,
    QueueCheck,
    RefusingNodes,
    SkippedTask,
    Unprepared,
)
from ...engine.session.kube.claims import mounted_claims
from ...engine.session.nodes.node_selection import Purpose
from ...engine.session.plugins.predicates.filters import UNPREPARED
from ...engine.session.reasons.objections import NodeCode, Objection
from .amounts import amounts_of, in_order, joined, word
from .answering_session import CSI_NODE, NODE, NUMA, PLACING, PODGROUP, Run
from .carried import carries
from .demands import Demands, demands_of, unbound_claim
from .enqueueing import compares, refusal
from .finding import GANG_SHORT, Blocked, causes_of
from .gates import gated_pod
from .node_words import node_reason, refusals, skipped_words
from .queue_words import ALLOCATE, ATTACH_LIMIT, OVERUSED, full_queue, path_of
from .records import Link, Nodes, Note, Placement, Refusal, Score
from .requested_amounts import of_which
from .undecoded import absence, undecoded_names, undecoded_nodes

_PODS = "pods"
REASONS = 2
"""How many different reasons of a job's pods a sentence names."""
NO_NODE = "no-node"
PIPELINE, DISCARD = "pipeline", "discard"
"""Steps of a trace: a node is kept for a pod, and what was planned is taken back."""


def placed(run: Run, pod: str) -> Placement | None:
    """Return the node that the session gives a pod, if it does."""
    for decision, nodes in (("bind", run.binds), ("pipeline", run.pipelined)):
        node = nodes.get(pod)
        if node is not None:
            does = f"binds pod {pod} to node {node}"
            if decision == "pipeline":
                does = f"keeps node {node} for pod {pod} until pods are gone"
            refused = (
                f"; {bind.sentence(run.answer.release)}"
                for bind in run.answer.refused
                if bind.pod == pod
            )
            text = f"the session at this moment {does}{''.join(refused)}"
            return Placement(text=text, pod=pod, decision=decision, node=node)
    return None


def not_placed(run: Run, pod: str, queue: str, own: str) -> Blocked | None:
    """Return why a session finds no node for a pod; None if it did not come to that pod.

    :param own: its PodGroup.
    """
    key = (pod, queue, own)
    if key not in run.refusals:
        run.refusals[key] = _not_placed(run, pod, queue, own)
    return run.refusals[key]


def _not_placed(run: Run, pod: str, queue: str, own: str) -> Blocked | None:
    # In the order of allocate: the queue is asked before any node is.
    by_queue = _queue_refuses(run, pod, queue, own)
    if by_queue is not None:
        return by_queue
    seen = _refusing(run, pod)
    if seen is not None:
        return _no_node(run, pod, seen)
    text = run.answer.result.fit_errors.get(pod, "")
    return _unprepared(run, pod, text) if text else None


def _refusing(run: Run, pod: str) -> NodesChecked | None:
    """Return the nodes that an action compared with a pod, if none of them takes it."""
    for action in PLACING:
        seen = run.detail(NodesChecked, action, pod, action)
        if seen is not None and not seen.passing:
            return seen
    return None


def queue_further(run: Run, pod: str, own: str) -> Blocked | None:
    """Return why the queue of a pod would refuse it, which the session did not ask."""
    check = run.detail(QueueCheck, ALLOCATE, pod, FURTHER)
    return None if check is None else full_queue(run, check, "allocate", ALLOCATE, own)


def nodes_further(run: Run, pod: str) -> Blocked | None:
    """Return why no node would take a pod that the session compared with none."""
    seen = run.detail(NodesChecked, Purpose.ALLOCATE.value, pod, FURTHER)
    return None if seen is None or seen.passing else _no_node(run, pod, seen)


def reasons_of(run: Run, pods: Sequence[str], queue: str, own: str) -> list[tuple[str, Blocked]]:
    """Return why pods have no node: the first pod of each kind of reason, and that reason.

    :param own: their PodGroup.
    """
    by_kind: dict[object, tuple[str, Blocked]] = {}
    seen: list[object] = []
    for pod in pods:
        if by_kind and (own not in run.trace.fully or not run.trace.follows(pod)):
            break  # Nothing more is known of it than of the first.
        alike = _alike(run, pod, queue, own)
        if alike is not None and alike in seen:
            continue  # Pods of a task differ in their names, and nodes refuse all for the same.
        seen.append(alike)
        blocked = not_placed(run, pod, queue, own)
        if blocked is not None:
            by_kind.setdefault(_kind(blocked), (pod, blocked))
    return list(by_kind.values())


def _alike(run: Run, name: str, queue: str, own: str) -> object:
    """Return what is equal for pods that nodes refuse for one kind of reason; else None."""
    pod, seen = run.pod(name), _refusing(run, name)
    # The account of a queue changes from pod to pod, so its refusals are not alike.
    if pod is None or seen is None or _queue_refuses(run, name, queue, own) is not None:
        return None
    return pod.spec, frozenset(reason for group in seen.groups for reason in group.reasons)


def of_nodes(blocked: Blocked) -> bool:
    """Return whether a reason is that no node takes a pod, or too few take pods of a gang."""
    return {NO_NODE, GANG_SHORT}.issuperset(causes_of(blocked))


def _kind(blocked: Blocked) -> object:
    """Return what is equal for reasons that differ only in amounts."""
    groups = (each for link in blocked.links if isinstance(link, Nodes) for each in link.groups)
    return (blocked.cause, *blocked.of), frozenset(
        reason for group in groups for reason in group.reasons
    )


def node_links(run: Run, pod: str) -> Iterator[Link]:
    """Yield the nodes that were checked for a pod that some take, and their scores."""
    for action in PLACING:
        check = run.detail(QueueCheck, ALLOCATE, pod, action)
        if check is not None and check.permits:
            yield path_of(run, check, action, ALLOCATE)
        seen = run.detail(NodesChecked, action, pod, action)
        if seen is not None and seen.passing:
            yield nodes_link(run, pod, seen, demands_of(run, pod))
    for step in run.steps(pod, "score"):
        scores = {name: float(str(score)) for name, score in step.numbers.items()}
        text = f"action {step.action} scores nodes for pod {pod}: {', '.join(_scores(scores))}"
        yield Score(text=text, pod=pod, scores=scores)


def overused(run: Run, queue: str, own: str) -> Blocked | None:
    """Return why a queue's jobs are passed over: it is over its share."""
    # allocate asks again before each job of the queue: the last vote kept the rest waiting.
    last = run.last_placing.get((OVERUSED, (queue,)))
    if last is None or last.outcome is not StepOutcome.OVERUSED or not run.has_nodes:
        return None
    check = run.detail(QueueCheck, OVERUSED, queue, last.action)
    if check is None:
        return refusal(run, last, queue)
    return full_queue(run, check, last.action, OVERUSED, own)


def places(run: Run, key: str) -> list[dict[str, str]]:
    """Return the nodes that a session found for a job's pods, for each time that it took them back.

    A session may try a part of the pods again after it took others back: what it found then does
    not count together. What it would have to evict others for does not count at all.
    """
    waiting = set(run.waiting_pods(key))
    planned: list[tuple[str, str]] = []
    tries = []
    for step in run.placings:
        if step.outcome is not StepOutcome.TAKEN_BACK:
            planned += [(pod, step.named) for pod in step.about]
        else:
            tries.append({pod: node for pod, node in planned if pod in waiting})
            del planned[max(0, len(planned) - step.many) :]
    tries.append({pod: node for pod, node in planned if pod in waiting})
    return tries


def gang_short(run: Run, key: str, gang: GangCounts) -> Blocked | None:
    """Return why a gang can only be placed in part; None if none of it was, or enough."""
    # Of several attempts, the one that came farthest shows what was missing.
    having = max(places(run, key), key=len)
    # Pods that the session binds are among the ready ones already.
    fits = gang.ready + sum(pod not in run.binds for pod in having)
    if not 0 < fits < gang.least:
        return None
    left = [pod for pod in run.waiting_pods(key) if pod not in having]
    reasons = reasons_of(run, left, run.cache.jobs[key].queue, key) or gated_pod(run, left)
    # The first one stays in any case, else the gang would wait for no reason.
    failing = [*reasons[:1], *(reason for reason in reasons[1:] if carries(run, reason[1]))][
        :REASONS
    ]
    text = f"its gang needs {counted(gang.least, 'pod')} at once, and only {fits}"
    text += " has a place" if fits == 1 else " have a place"
    if not failing:
        note = Note(text=text, blocks=True)
        return Blocked(text, GANG_SHORT, (note,), ((PODGROUP, key),))
    parts = [f"pod {who} has none, because {reason.because}" for who, reason in failing]
    return Blocked(
        f"{text}: {'; '.join(parts)}",
        GANG_SHORT,
        tuple(link for _, reason in failing for link in reason.links),
        ((PODGROUP, key), *(about for _, reason in failing for about in reason.about)),
        (failing[0][1].cause, *failing[0][1].of),
    )


def _queue_refuses(run: Run, pod: str, queue: str, own: str) -> Blocked | None:
    # A pod may be tried several times: the last vote counts, also if it permits.
    refused = run.last_placing.get((ALLOCATE, (queue, pod)))
    if refused is None or refused.outcome is StepOutcome.PERMIT:
        return None
    check = run.detail(QueueCheck, ALLOCATE, pod, refused.action)
    if check is not None and check.plugin == refused.by and compares(refused):
        full = full_queue(run, check, refused.action, ALLOCATE, own)
        if full is not None:
            full = _unbound_first(run, pod, full)
            more = of_which(run, pod, _exceeded(check))
            return msgspec.structs.replace(full, because=full.because + more)
    return refusal(run, refused, queue)


def _exceeded(check: QueueCheck) -> list[str]:
    names = (name for level in check.levels if level.checked for name in level.exceeded)
    return [name for name in dict.fromkeys(names) if name != "pods"]


def _unbound_first(run: Run, pod: str, full: Blocked) -> Blocked:
    """Return why a pod waits whose claim has no volume, if the limits of volumes are not known.

    Without CSINodes the session counts no volume as possible, and refuses what may be permitted.
    """
    if full.cause != ATTACH_LIMIT or not run.never_listed(CSI_NODE):
        return full
    claim = unbound_claim(run, run.pod(pod))
    if not claim:
        return full
    unknown = Note(
        text="the log holds no csinodes: it is not known how many volumes nodes may have"
    )
    links = (Note(text=claim, blocks=True), unknown)
    return msgspec.structs.replace(full, because=claim, cause="unbound-claim", of=(), links=links)


def _no_node(run: Run, pod: str, seen: NodesChecked) -> Blocked:
    count = sum(len(group.nodes) for group in seen.groups)
    own = demands_of(run, pod)
    if not count:
        text = no_nodes(run)
    elif count == 1:
        text = f"the only node does not take it: {refusals(seen.groups, own)}"
    else:
        text = f"none of {count} nodes takes it: {refusals(seen.groups, own)}"
    text += _above_every_node(run, seen.request) if count else ""
    text += of_which(run, pod, _lacked(seen)) if count else ""
    text += "".join(f"; {why}" for why in _unseen(run)) if count else ""
    about = ((NODE, ""), *((NODE, name) for group in _few(seen.groups) for name in group.nodes[:2]))
    link = nodes_link(run, pod, seen, own)
    reasons = [reason for group in seen.groups for reason in group.reasons]
    cause = next(
        (cause for objection in reasons if (cause := _cause(run, objection, own))), NO_NODE
    )
    return Blocked(text, cause, (link,), about)


def _cause(run: Run, objection: Objection, own: Demands) -> str:
    """Return the cause of an answer that rests on what does not exist, or is in no log."""
    if objection.code is NodeCode.VOLUME_MISSING:
        return "no-volume"
    if objection.code is NodeCode.NUMA_UNREPORTED and run.never_listed(NUMA):
        return "no-numatopology"
    return own.absent.get(objection, "")


def no_nodes(run: Run) -> str:
    """Return that sessions see no node, and why."""
    why = joined(_unseen(run))
    return f"there is no node that the scheduler could use{f' ({why})' if why else ''}"


def _unseen(run: Run) -> Iterator[str]:
    """Yield which nodes sessions do not see, and why."""
    if run.not_ready:
        yield skipped_words(run.not_ready)
    undecoded = undecoded_nodes(run)
    if undecoded is not None:
        yield undecoded.because


def _lacked(seen: NodesChecked) -> list[str]:
    """Return the resources of which nodes lack some for a pod."""
    near = (miss for group in seen.groups for miss in group.nearest)
    return list(dict.fromkeys(name for miss in near for name in miss.missing if name != "pods"))


def _above_every_node(run: Run, request: Mapping[str, float]) -> str:
    """Return of what a pod requests more than any node has, even an empty one."""
    parts = [
        f"no node has {word(request[name], name)} {name}, even when it is empty"
        for name in in_order(request)
        if request[name] > run.largest.get(name) and name != _PODS
    ]
    if request.get(_PODS, 0.0) > run.largest.get(_PODS):
        parts.append("no node may have any pod")
    return f"; {joined(parts)}" if parts else ""


def _few(groups: tuple[RefusingNodes, ...]) -> list[RefusingNodes]:
    """Return the groups of one or two nodes: sentences name these."""
    return [group for group in groups if len(group.nodes) <= 2][:2]


def nodes_link(run: Run, pod: str, seen: NodesChecked, own: Demands) -> Nodes:
    """Return the nodes that were checked for a pod as a record. :param own: what it demands."""
    groups = tuple(node_reason(group, own) for group in seen.groups)
    total = len(seen.passing) + sum(len(group.nodes) for group in groups)
    many = len(seen.passing)
    text = f"{many} of {counted(total, 'node')} {'takes' if many == 1 or total == 1 else 'take'}"
    text = f"{text} pod {pod}"
    if groups:
        text += f"; {refusals(seen.groups, own)}"
    undecoded = undecoded_nodes(run)
    text += "" if undecoded is None else f"; {undecoded.because}"
    return Nodes(
        text=text,
        blocks=not seen.passing,
        pod=pod,
        request=amounts_of(seen.request),
        passing=seen.passing,
        groups=groups,
        skipped={**run.not_ready, **undecoded_names(run)},
    )


_VOLUMES = frozenset({"VolumeBinding", "VolumeZone"})


def _unprepared(run: Run, pod: str, text: str) -> Blocked:
    """Return why a pod was compared with no node, though the session came to it."""
    seen = run.detail(Unprepared, UNPREPARED, pod)
    skipped = run.detail(SkippedTask, SKIPPED, pod)
    because, cause, plugin = f"no node takes it: {text}", NO_NODE, ""
    if seen is not None:
        plugin, cause = seen.by, NO_NODE
        because = f"filter {seen.by} fails for all nodes: {seen.message}"
        if seen.by in _VOLUMES:
            because, cause = _volume(run, pod, seen.message)
    elif skipped is not None:
        kind = f"with the role {skipped.role}" if skipped.role else "without a role"
        because = f"the scheduler skips it, as a pod of its job {kind} found no node just before"
    link = Refusal(
        text=because,
        blocks=True,
        action="allocate",
        point="predicate",
        plugin=plugin,
        message=text,
    )
    return Blocked(because, cause, (link,))


def _volume(run: Run, pod: str, says: str) -> tuple[str, str]:
    """Return why a pod's volumes keep it from all nodes, and the cause."""
    pod_object = run.pod(pod)
    place = pod.partition("/")[0]
    # A missing claim comes first: VolumeBinding fails at it before it looks at any volume.
    for claim in () if pod_object is None else mounted_claims(pod_object):
        key = f"{place}/{claim.name}"
        if run.cache.stores.get("PersistentVolumeClaim", key) is None:
            absent = absence(run, "PersistentVolumeClaim", key)
            return f"its PersistentVolumeClaim {key} {absent}", "no-claim"
    unbound = unbound_claim(run, pod_object)
    if unbound:
        return unbound, "unbound-claim"
    return f"its volumes keep it from all nodes: {says}", NO_NODE


def _scores(scores: dict[str, float]) -> list[str]:
    return [f"{name} {score:.9g}" for name, score in scores.items()]
