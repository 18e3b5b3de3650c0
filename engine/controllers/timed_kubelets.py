"""Kubelets whose pods take time: they start, run and end when a record of other pods says so."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple, Protocol

from ..kubernetes.api_errors import NotFound
from ..kubernetes.api_server import DELETED, Document
from .component import Client
from .kubelet import END, FINISH, START, is_ending, ready_conditions
from .workloads import phase_of


class End(NamedTuple):
    """When a pod's containers end by themselves.

    :param after: microseconds from now. :param phase: ``Succeeded`` or ``Failed``.
    """

    after: int
    phase: str


class PodTimes(Protocol):
    """How long pods take, in microseconds from now; each is asked when it begins."""

    def start(self, pod: Document) -> int:
        """Return when a pod runs that has a node."""

    def finish(self, pod: Document) -> End | None:
        """Return when a running pod ends by itself; None if it never does."""

    def end(self, pod: Document) -> int:
        """Return when a pod is gone that is being deleted."""


class _Plan(NamedTuple):
    """What is to be done with a pod. :param at: in the kubelets' time."""

    at: int
    order: int
    key: str
    uid: str
    what: str
    phase: str = ""


class TimedKubelets:
    """Start pods that have a node, let them finish, and end those that are deleted.

    :param times: how long each of these takes.
    """

    kinds: tuple[str, ...] = ("Pod",)

    def __init__(self, times: PodTimes) -> None:
        self._times = times
        self._now = 0
        self._order = 0
        self._pods: dict[str, Document] = {}
        self._planned: dict[str, _Plan] = {}
        self._queue: list[_Plan] = []

    def deliver(
        self,
        verb: str,
        kind: str,  # noqa: ARG002 -- there is only one
        key: str,
        document: Document,
        client: Client,  # noqa: ARG002 -- nothing is sent at once
    ) -> None:
        """Let an informer deliver a change of a pod: what comes next for it is planned."""
        if verb == DELETED:
            self._pods.pop(key, None)
            self._planned.pop(key, None)
            return
        self._pods[key] = document
        what = _next_of(document)
        plan = self._planned.get(key)
        # Another change of the pod does not begin its time again.
        if plan is not None and (plan.uid, plan.what) == (document["metadata"]["uid"], what):
            return
        self._planned.pop(key, None)
        self._plan(key, document, what)

    def _plan(self, key: str, pod: Document, what: str) -> None:
        phase, after = "", 0
        if what == START:
            after = self._times.start(pod)
        elif what == END:
            after = self._times.end(pod)
        elif what == FINISH:
            end = self._times.finish(pod)
            if end is None:
                what = ""
            else:
                after, phase = end
        if what:
            self._order += 1
            uid = pod["metadata"]["uid"]
            plan = _Plan(self._now + max(after, 0), self._order, key, uid, what, phase)
            self._planned[key] = plan
            heapq.heappush(self._queue, plan)

    def steps(self) -> Sequence[str]:
        """Return what is due first, as in ``start default/web-1``."""
        plan = self._first()
        return (f"{plan.what} {plan.key}",) if plan is not None and plan.at <= self._now else ()

    def step(self, name: str, client: Client) -> None:
        """Start a pod, let it finish, or let it be gone."""
        plan = self._first()
        assert plan is not None
        assert name == f"{plan.what} {plan.key}"
        heapq.heappop(self._queue)
        del self._planned[plan.key]
        pod = self._pods[plan.key]
        with suppress(NotFound):
            if plan.what == END:
                client.delete("Pod", plan.key, uid=plan.uid, grace=0)
                return
            runs = plan.what == START
            status = {
                "phase": "Running" if runs else plan.phase,
                "conditions": ready_conditions(pod, "True" if runs else "False"),
            }
            client.patch("Pod", plan.key, {"status": status}, status=True)

    def due(self) -> int | None:
        """Return in how many microseconds something is due; None if nothing is."""
        plan = self._first()
        return None if plan is None else max(plan.at - self._now, 0)

    def advance(self, by: int) -> None:
        """Let so many microseconds pass."""
        self._now += by

    def _first(self) -> _Plan | None:
        """Return what is due first, without plans that another one replaced."""
        # A heap lets nothing out of its middle: replaced plans stay until they come first.
        while self._queue and self._planned.get(self._queue[0].key) is not self._queue[0]:
            heapq.heappop(self._queue)
        return self._queue[0] if self._queue else None


def _next_of(pod: Document) -> str:
    """Return what a kubelet does next with a pod; empty if nothing."""
    if not pod["spec"].get("nodeName"):
        return ""
    if is_ending(pod):
        return END
    return {"Pending": START, "Running": FINISH}.get(phase_of(pod), "")
