"""Why a pod waits: the pod itself, and then its job."""

from __future__ import annotations

import msgspec

from ...engine.cache.job_cache import job_of
from ...engine.kubernetes.objects import Pod
from ...engine.model.job import JobInfo
from ...engine.session.framework.vote_details import GangCounts
from .amounts import amounts_of, joined
from .answering_session import POD, PODGROUP, Run
from .awaited import with_evictions
from .drifted_evidence import differences
from .evicting import evicted_here, eviction_links
from .finding import Blocked, SessionFinding
from .further_reasons import with_further
from .gates import gated_pod
from .hypernodes import no_hypernode
from .job_reasons import SentenceSubject, job_finding, missing_group, panics, pod_conditions
from .other_schedulers import OTHER_SCHEDULER, own_schedulers, scheduler_of, schedulers_of
from .outlook import releasing
from .placing_reasons import (
    gang_short,
    node_links,
    not_placed,
    of_nodes,
    placed,
    places,
)
from .records import Link, Note, PodState

_DONE = frozenset({"Succeeded", "Failed"})


def pod_finding(run: Run, key: str, pod: Pod) -> SessionFinding:
    """Return why a pod waits, or that it does not.

    :param key: ``ns/pod``. :param pod: as the API server held it.
    """
    subject, state = f"pod {key}", pod_state(run, key, pod)
    settled = _settled(run, key, pod) or _foreign(run, subject, pod)
    if settled is not None:
        return settled.after([state], (POD, key))
    # The API server binds no pod with gates, so its job and its nodes do not matter yet.
    gated = gated_pod(run, [key])
    if gated:
        return gated[0][1].finding(subject).after([state], (POD, key))
    group = job_of(pod)
    if not group:
        text = (
            "it names no PodGroup, and the scheduler ignores it until Volcano's controller has "
            "made one for it"
        )
        blocked = Blocked(text, "no-podgroup", (Note(text=text, blocks=True),))
        return blocked.finding(subject).after([state], (POD, key))
    return _in_group(run, key, group).after([state], (POD, key), (PODGROUP, group))


def pod_state(run: Run, key: str, pod: Pod) -> PodState:
    """Return the state of a pod as a record."""
    job = run.job(job_of(pod))
    task = None if job is None else job.tasks.get(pod.uid)
    node = _node(run, pod)
    request = None if task is None else task.request
    plain = {} if request is None else {"cpu": request.cpu, "memory": request.memory}
    gates = tuple(gate.name for gate in pod.spec.scheduling_gates)
    where = f" on node {node}" if node else ", without a node"
    text = f"pod {key} exists: {pod.status.phase or 'no phase'}{where}"
    if gates:
        text += f", scheduling gates {joined(gates)}"
    return PodState(
        text=text,
        phase=pod.status.phase,
        node=node,
        scheduler=pod.spec.scheduler_name,
        gates=gates,
        request=amounts_of({**plain, **((request and request.scalars) or {})}, zeros=False),
    )


def _node(run: Run, pod: Pod) -> str:
    """Return the node of a pod: that of its object, or the one that its task was given."""
    job = run.job(job_of(pod))
    task = None if job is None else job.tasks.get(pod.uid)
    return pod.spec.node_name or ("" if task is None else task.node_name)


def _settled(run: Run, key: str, pod: Pod) -> SessionFinding | None:
    """Return the answer for a pod that needs no node any more."""
    subject, node, phase = f"pod {key}", _node(run, pod), pod.status.phase
    place = f" on node {node}" if node else ""
    # Before the node counts: pods that ended, or are being deleted, still have theirs.
    if phase in _DONE:
        return SessionFinding(
            f"{subject} does not wait: it has ended ({phase}){place}", False, "ended"
        )
    if pod.metadata.deletion_timestamp is not None:
        text = f"{subject} does not wait: it is being deleted{place}{_evicted(pod)}"
        return SessionFinding(text, False, "deleting")
    goes = evicted_here(run, key, node)
    if node and phase == "Running":
        text = f"{subject} does not wait: it runs{place}"
        return _going(text, goes) or SessionFinding(text, False, "runs")
    if node:
        text = f"{subject} does not wait for the scheduler: it is bound to node {node}"
        going = _going(text, goes)
        return going or SessionFinding(
            f"{text}, where its containers have to start", False, "bound"
        )
    return None


def _going(text: str, goes: str) -> SessionFinding | None:
    """Return the answer for a pod that the session evicts."""
    if not goes:
        return None
    return SessionFinding(f"{text}, but {goes}", False, "to-be-evicted", (Note(text=goes),))


def _evicted(pod: Pod) -> str:
    """Return what the scheduler wrote when it evicted a pod."""
    for condition in pod.status.conditions:
        if condition.type == "Ready" and condition.reason == "Evict":
            return f', because the scheduler evicted it: "{condition.message}"'
    return ""


def _foreign(run: Run, subject: str, pod: Pod) -> SessionFinding | None:
    """Return the answer for a pod that another scheduler has to place."""
    if run.cache.job_cache.handles(pod):
        return None
    name, own = scheduler_of(pod), own_schedulers(run)
    text = f"{subject} waits for another scheduler: its schedulerName is {name}, not {own}"
    own_words = f"its schedulerName is {name}, and sessions see only pods of {own}"
    note = Note(text=own_words, blocks=True)
    return SessionFinding(text, True, OTHER_SCHEDULER, (note,), of=schedulers_of([pod]))


def _in_group(run: Run, key: str, group: str) -> SessionFinding:
    """Return why a pod without a node waits, as a member of its PodGroup."""
    subject = f"pod {key}"
    if run.group(group) is None:
        blocked = missing_group(run, group)
        return blocked.finding(subject).after(differences(run, [("PodGroup", group)]))
    crash = panics(run)
    job = run.job(group)
    if crash is None and job is not None:
        own = _own(run, key, job, group)
        if own is not None:
            return own
    title = run.title(group)
    with_job = f"{subject} waits with its {title}"
    says = SentenceSubject(
        f"{with_job}, which", f"{with_job} because", f"{subject} waits, but {title}"
    )
    # The job may not wait as a whole, and this pod does: the session did not come to it.
    whole = job_finding(run, group, says)
    return (
        whole
        if whole.waits
        else msgspec.structs.replace(whole, waits=True, cause="not-tried", of=())
    )


def _with_gang(run: Run, key: str, group: str) -> Blocked | None:
    """Return why a pod waits that has a place: too few others of its gang have one."""
    gang = run.detail(GangCounts, "gang", group)
    node = next((place[key] for place in places(run, group) if key in place), "")
    short = None if gang is None or not node else gang_short(run, group, gang)
    if short is None:
        return None
    return msgspec.structs.replace(
        short, because=f"{short.because} (this pod could go to node {node})"
    )


def _own(run: Run, key: str, job: JobInfo, group: str) -> SessionFinding | None:
    """Return what the session says about the pod itself; None if it did not come to it."""
    subject = f"pod {key}"
    link = placed(run, key)
    if link is not None and link.decision == "bind":
        text = f"{subject} waits only for the next session, which binds it to node {link.node}"
        wrong = tuple(differences(run, [("Node", link.node)]))
        if wrong:
            text += "; but the scheduler's cache is wrong about that node"
        said = pod_conditions(run, key)
        links: tuple[Link, ...] = (*node_links(run, key), link, *wrong, *said)
        return SessionFinding(text, True, "next-session", links)
    if link is None:
        far = not_placed(run, key, job.queue, group)
        topology = no_hypernode(run, group) if far is None or of_nodes(far) else None
        if topology is not None:
            return topology.finding(f"{subject} waits with its {run.title(group)}", verb="because")
    # Before the kept node: without the rest of its gang, that node is of no use to the pod.
    together = _with_gang(run, key, group)
    if together is not None:
        return together.finding(subject)
    if link is not None:
        links = (*node_links(run, key), link, *pod_conditions(run, key))
        return releasing(run, subject, [key], links, ())
    blocked = not_placed(run, key, job.queue, group)
    if blocked is None:
        return None
    blocked = with_evictions(run, with_further(run, group, blocked, key), key, group)
    head = [
        link
        for link in job_finding(run, group, SentenceSubject.of(subject)).chain
        if not link.blocks
    ][:2]
    tail = (*eviction_links(run, key, group), *pod_conditions(run, key))
    finding = msgspec.structs.replace(blocked, links=(*blocked.links, *tail)).finding(subject)
    return finding.after(head, (PODGROUP, group))
