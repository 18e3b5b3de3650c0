"""The requests of pods that run together: a Job's minimum, a PodGroup's own numbers.

Source: pkg/controllers/job/job_controller_actions.go calcPGMinResources.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from ...engine.kubernetes.objects import Container, Pod, PodSpec
from ...engine.model.resource import Resource
from ...engine.model.task import pod_request
from .answer_cache import AnswerCache
from .findings import FindingSubject
from .lint_inputs import LintInputs
from .objects import Job

if TYPE_CHECKING:
    from ...engine.volcano.session.behaviours import Behaviours

RESOURCES_OF_A_POD = frozenset({"pods"})
"""Every pod counts one of these; that is not part of its request."""


class GangRequest(NamedTuple):
    """The resources that some pods need at once.

    :param field: the path of the field.
    """

    subject: FindingSubject
    queue: str
    field: str
    amounts: Resource


class SinglePod(NamedTuple):
    """A single pod that must fit on a node, and the path of its field."""

    subject: FindingSubject
    field: str
    amounts: Resource


class Gangs:
    """The requests of all jobs, PodGroups and pods."""

    def __init__(self, world: LintInputs) -> None:
        self._world = world
        self.wanted = AnswerCache(self._wanted)
        self.singles = AnswerCache(self._singles)
        self._requests = AnswerCache(_Requests)

    def _wanted(self, how: Behaviours) -> tuple[GangRequest, ...]:
        world = self._world
        requests = []
        for members in world.members:
            job = world.jobs.get(members.key) if members.subject.kind == "Job" else None
            # Pods that have run need no room any more.
            if members.ended:
                continue
            if job is not None:
                least = self._least(job, how)
                if least is not None:
                    requests.append(
                        GangRequest(members.subject, members.queue, "spec.minAvailable", least)
                    )
                continue
            named = world.pod_groups[members.key].spec.min_resources
            if named:
                amounts = Resource.of(named)
                requests.append(
                    GangRequest(members.subject, members.queue, "spec.minResources", amounts)
                )
        return tuple(requests)

    def _singles(self, how: Behaviours) -> tuple[SinglePod, ...]:
        requests = self._requests(how)
        singles = []
        for key, job in self._world.jobs.items():
            for number, task in enumerate(job.spec.tasks):
                amounts = requests.of(task.template.spec)
                if task.replicas > 0 and amounts is not None:
                    subject = self._world.subject("Job", key)
                    singles.append(SinglePod(subject, f"spec.tasks[{number}].template", amounts))
        for key, pod in self._world.pods.items():
            amounts = requests.of(pod.spec) if waits(pod) else None
            if amounts is not None:
                subject = self._world.subject("Pod", key)
                singles.append(SinglePod(subject, "spec.containers", amounts))
        return tuple(singles)

    def _least(self, job: Job, how: Behaviours) -> Resource | None:
        """Return what any ``minAvailable`` pods of a job request at least, if it can be read."""
        requests = self._requests(how)
        pods = []
        for task in job.spec.tasks:
            request = requests.of(task.template.spec)
            if request is None:
                return None
            pods.append((task.least(how), task.replicas, request))
        # A minimum above the number of pods is another rule's finding.
        needed = min(job.min_available(how), sum(max(count, 0) for _, count, _ in pods))
        total = Resource()
        for name in sorted({name for _, _, request in pods for name in _names(request)}):
            total.set(name, _least_of(name, needed, pods))
        return total


def waits(pod: Pod) -> bool:
    """Return whether a pod has no node yet."""
    return not pod.spec.node_name and pod.status.phase in ("", "Pending")


class _Requests:
    """The requests of pods in a release, computed once per pod specification."""

    def __init__(self, how: Behaviours) -> None:
        # Read now: reads inside the cached function would not be recorded.
        self._sidecars, self._pod_requests = (
            how.sidecar_requests_counted,
            how.pod_level_requests_counted,
        )
        self._known: dict[int, tuple[PodSpec, Resource | None]] = {}

    def of(self, spec: PodSpec) -> Resource | None:
        """Return a pod's requests, without the resource ``pods``.

        None if one of them is not a quantity, which the rule ``quantity-malformed`` finds.
        """
        known = self._known.get(id(spec))
        if known is None:
            # With the specification itself: while it lives, no other object can have its id.
            known = self._known[id(spec)] = (spec, self._read(spec))
        return known[1]

    def _read(self, spec: PodSpec) -> Resource | None:
        try:
            request = pod_request(
                Pod(spec=_with_requests(spec)),
                sidecars=self._sidecars,
                pod_requests=self._pod_requests,
            )
        except ValueError:
            return None
        scalars = {
            name: amount
            for name, amount in (request.scalars or {}).items()
            if name not in RESOURCES_OF_A_POD
        }
        return Resource(request.cpu, request.memory, scalars)


def _with_requests(spec: PodSpec) -> PodSpec:
    """Return a pod as the API server stores it: a limit without a request is requested.

    Source: SetDefaults_Pod.
    """
    return msgspec.structs.replace(
        spec,
        containers=tuple(map(_requesting, spec.containers)),
        init_containers=tuple(map(_requesting, spec.init_containers)),
    )


def _requesting(container: Container) -> Container:
    has = container.resources
    if has.limits.keys() <= has.requests.keys():
        return container
    resources = msgspec.structs.replace(has, requests={**has.limits, **has.requests})
    return msgspec.structs.replace(container, resources=resources)


def _least_of(name: str, needed: int, pods: list[tuple[int, int, Resource]]) -> float:
    """Return how much of one resource ``needed`` of these pods request at least.

    :param pods: (how many are needed, how many exist, what one requests) by task.
    """
    minima = sum(least for least, _, _ in pods)
    # Below the sum of the minima these are ignored: see task-minima-ignored.
    must = [least if minima <= needed else 0 for least, _, _ in pods]
    amount = sum(
        count * request.get(name) for count, (_, _, request) in zip(must, pods, strict=True)
    )
    rest = needed - sum(must)
    # The cheapest pods come first: the job may run with them.
    spare = sorted(
        (request.get(name), replicas - count)
        for count, (_, replicas, request) in zip(must, pods, strict=True)
    )
    for each, count in spare:
        taken = max(min(rest, count), 0)
        amount += taken * each
        rest -= taken
    return amount


def _names(amounts: Resource) -> Iterator[str]:
    yield from ("cpu", "memory")
    yield from amounts.scalars or ()


def by_amounts(singles: tuple[SinglePod, ...]) -> Mapping[tuple[object, ...], list[SinglePod]]:
    """Return pods grouped by requests: most are alike."""
    groups: dict[tuple[object, ...], list[SinglePod]] = {}
    for single in singles:
        amounts = single.amounts
        key = (amounts.cpu, amounts.memory, *sorted((amounts.scalars or {}).items()))
        groups.setdefault(key, []).append(single)
    return groups
