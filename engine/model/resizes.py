"""Pods whose containers were resized while they ran: their status says what they have.

Source: pkg/scheduler/api/pod_info.go GetPodResourceRequest, determineContainerReqs; of Kubernetes,
component-helpers/resource/helpers.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

import msgspec

from ..kubernetes.objects import Container, ContainerStatus, Pod, ResourceList
from ..kubernetes.quantity import parse

RESIZE_PENDING = "PodResizePending"
INFEASIBLE = "Infeasible"


def as_resized(pod: Pod) -> Pod:
    """Return a pod whose requests are the maximum of the requested, current and allocated ones.

    A resize that its node can never grant does not count. A pod whose status equals its spec is
    returned unchanged.

    :raises ValueError: a quantity is malformed.
    """
    status, spec = pod.status, pod.spec
    if not status.container_statuses and not status.init_container_statuses:
        return pod
    infeasible = _infeasible(pod)
    containers = _all(spec.containers, status.container_statuses, infeasible=infeasible)
    init = _all(
        spec.init_containers, status.init_container_statuses, infeasible=infeasible, sidecars=True
    )
    if containers == spec.containers and init == spec.init_containers:
        return pod
    resized = msgspec.structs.replace(spec, containers=containers, init_containers=init)
    return msgspec.structs.replace(pod, spec=resized)


def _infeasible(pod: Pod) -> bool:
    """Return whether the pod waits for a resize that its node can never grant."""
    reasons = (
        condition.reason for condition in pod.status.conditions if condition.type == RESIZE_PENDING
    )
    return next(reasons, "") == INFEASIBLE


def _all(
    containers: Iterable[Container],
    statuses: Iterable[ContainerStatus],
    *,
    infeasible: bool,
    sidecars: bool = False,
) -> tuple[Container, ...]:
    by_name = {status.name: status for status in statuses}
    return tuple(
        container
        if sidecars and container.restart_policy != "Always"
        else _one(container, by_name.get(container.name), infeasible=infeasible)
        for container in containers
    )


def _one(container: Container, status: ContainerStatus | None, *, infeasible: bool) -> Container:
    wanted = container.resources.requests
    if status is None or status.resources is None:
        return container
    has, given = status.resources.requests, status.allocated_resources
    if wanted == has and (not given or given == has):
        return container
    requests = _most(*([] if infeasible else [wanted]), has, given)
    if requests == wanted:
        return container
    resources = msgspec.structs.replace(container.resources, requests=requests)
    return msgspec.structs.replace(container, resources=resources)


def _most(*lists: Mapping[str, str | float]) -> ResourceList:
    """Return the greatest amount of each resource, in its original notation."""
    most: ResourceList = {}
    for amounts in lists:
        for name, text in amounts.items():
            if name not in most or _exact(text) > _exact(most[name]):
                most[name] = text
    return most


def _exact(text: str | float) -> Fraction:
    quantity = parse(text)
    return quantity.number * Fraction(10) ** quantity.power
