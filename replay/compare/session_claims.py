"""What a bisection asks of each session: a claim that holds or does not."""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple

import msgspec

from ...engine.cache.job_cache import job_of
from ...engine.errors import UsageError
from ...engine.kubernetes.objects import Pod
from ...engine.session.framework.trace import TraceStep
from ..objects.kind_names import object_named
from ..sessions.session_answer import SessionAnswer
from .decisions import phases_after

PANIC, BOUND, PENDING, ENQUEUED, PHASE = KINDS = (
    *("panic", "bound", "pending"),
    *("enqueued", "phase"),
)

_PHASES = ("Pending", "Inqueue", "Running", "Unknown", "Completed")
"""The phases of PodGroups."""

_NOT_ENQUEUED = frozenset({"", "Pending"})
_LIKE = MappingProxyType(
    {
        BOUND: "default/train-0",
        PENDING: "default/train-0",
        ENQUEUED: "default/train",
        PHASE: "default/train=Running",
    }
)


class ClaimAnswer(NamedTuple):
    """A session's answer.

    :param holds: yes or no. :param text: the node, the phase, or the reason.
    :param absent: there is no such object.
    """

    holds: bool
    text: str
    absent: bool = False


class SessionClaim(msgspec.Struct, frozen=True):
    """A claim about a pod or a PodGroup (``ns/name``) after a session.

    - ``panic``: the scheduler panics.
    - ``bound``: the pod has a node; it had one before, or this session binds it.
    - ``pending``: the pod exists without a node.
    - ``enqueued``: the PodGroup has left the phase Pending, before or in this session.
    - ``phase``: the PodGroup has the phase ``value``.

    A missing object is neither bound nor pending, nor enqueued.
    """

    kind: str
    about: str = ""
    value: str = ""

    def __str__(self) -> str:
        return " ".join(filter(None, (self.kind, self.about, self.value)))

    def of(self, answer: SessionAnswer) -> ClaimAnswer:
        """Return the answer of a session."""
        if self.kind == PANIC:
            panic = answer.result.panic
            alive = "alive" if answer.cache.nodes else "no panic; there is no node"
            return ClaimAnswer(panic is not None, alive if panic is None else panic.in_context)
        claim_answer = (
            self._of_pod(answer) if self.kind in {BOUND, PENDING} else self._of_group(answer)
        )
        panic = answer.result.panic
        # The session panicked in the middle: what it decided until then is the answer, with this
        # remark.
        why = claim_answer.text if panic is None else f"{claim_answer.text}; {panic.sentence}"
        return claim_answer._replace(text=why)

    def _of_group(self, answer: SessionAnswer) -> ClaimAnswer:
        phase = phases_after(answer).get(self.about)
        if phase is None:
            return ClaimAnswer(False, "no such PodGroup", absent=True)
        if self.kind == PHASE:
            return ClaimAnswer(phase == self.value, phase or "no phase")
        return ClaimAnswer(phase not in _NOT_ENQUEUED, phase or "no phase")

    def steps(self, answer: SessionAnswer) -> list[TraceStep]:
        """Return a session's steps about the object, with the numbers that were compared.

        For a pod also the steps about its PodGroup; a step may also concern a queue.
        """
        names = {self.about}
        if self.kind in {BOUND, PENDING}:
            pod = answer.cache.stores.get("Pod", self.about)
            names |= {job_of(pod)} if isinstance(pod, Pod) else set()
        return [step for step in answer.result.trace if not names.isdisjoint(step.about)]

    def _of_pod(self, answer: SessionAnswer) -> ClaimAnswer:
        pod = answer.cache.stores.get("Pod", self.about)
        if not isinstance(pod, Pod):
            return ClaimAnswer(False, "no such pod", absent=True)
        # A binding of this session is in no version of the pod yet.
        node = dict(answer.result.binds).get(self.about) or _node(answer, pod)
        if node:
            return ClaimAnswer(self.kind == BOUND, f"on {node}")
        condition = answer.result.pod_conditions.get(self.about)
        why = answer.result.fit_errors.get(self.about) or (condition.message if condition else "")
        return ClaimAnswer(self.kind == PENDING, f"pending: {why}" if why else "waits")


def claim_of(
    *, panic: bool, bound: str | None, pending: str | None, enqueued: str | None, phase: str | None
) -> SessionClaim:
    """Return the claim that options give.

    :param phase: ``ns/podgroup=Phase``.
    :raises UsageError: there is none, more than one, its object is not ``ns/name``, or no PodGroup
        has such a phase.
    """
    given = {BOUND: bound, PENDING: pending, ENQUEUED: enqueued, PHASE: phase}
    asked = [(kind, text) for kind, text in given.items() if text is not None]
    if len(asked) + panic != 1:
        raise UsageError(
            "choose exactly one of --bound, --pending, --enqueued, --phase, --panic",
            now=f"as in: --{BOUND} {_LIKE[BOUND]}",
        )
    if panic:
        return SessionClaim(PANIC)
    kind, text = asked[0]
    about, _, value = text.partition("=")
    about = _without_kind(about, kind)
    if about.count("/") != 1 or not all(about.split("/")) or bool(value) != (kind == PHASE):
        form = "NAMESPACE/NAME=PHASE" if kind == PHASE else "NAMESPACE/NAME"
        raise UsageError(f"--{kind} {text}: expected {form}", now=f"as in: --{kind} {_LIKE[kind]}")
    if kind == PHASE and value not in _PHASES:
        known = ", ".join(_PHASES)
        raise UsageError(f"--{kind} {text}: no phase {value!r}", now=f"choose from: {known}")
    return SessionClaim(kind, about, value)


def _without_kind(about: str, question: str) -> str:
    """Return ``ns/name`` of a text that may be ``KIND/NAMESPACE/NAME``, as other commands print it.

    :raises UsageError: the question is about another kind.
    """
    if about.count("/") != 2:
        return about
    named = object_named(about)
    kinds = ("Pod",) if question in {BOUND, PENDING} else ("PodGroup", "Job")
    if named.kind not in kinds:
        wanted = " or ".join(kinds)
        raise UsageError(f"--{question} {about}: this is a {named.kind}", now=f"name a {wanted}")
    return f"{named.namespace}/{named.name}"


def _node(answer: SessionAnswer, pod: Pod) -> str:
    """Return the node of a pod in the cache, even if only an earlier session assigned it."""
    job = answer.cache.jobs.get(job_of(pod))
    # The task knows of bindings that no version of the pod shows yet.
    task = None if job is None else job.tasks.get(pod.uid)
    return pod.spec.node_name or ("" if task is None else task.node_name)
