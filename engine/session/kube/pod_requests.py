"""The requests of a pod, as kube-scheduler sums them for scores.

It differs from Volcano's sum: fractions are rounded once for the whole pod, overhead also
counts while init containers run, and containers without requests may count with default
amounts.

Source: k8s.io/component-helpers/resource/helpers.go PodRequests (in-place resizing and requests of
whole pods are off by default in Kubernetes 1.32);
pkg/scheduler/framework/types.go calculateResource.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from ...kubernetes.objects import Container, Pod, ResourceList
from ...kubernetes.quantity import Quantity, parse

CPU = "cpu"
MEMORY = "memory"
GPU = "nvidia.com/gpu"
_COUNTED = (CPU, MEMORY, GPU)

_NANO = -9
_NOTHING: Mapping[str, Quantity] = MappingProxyType({})
_LEAST: Mapping[str, Quantity] = MappingProxyType(
    {CPU: Quantity(100, -3, False), MEMORY: Quantity(200 * 1024 * 1024, 0, False)}
)
"""The default request of a container (``DefaultMilliCPURequest``, and for memory)."""


class PodRequests(NamedTuple):
    """Amounts as int64: cpu in milli, memory in bytes, cards by number.

    The last two include default amounts for containers without requests.
    """

    cpu: int
    memory: int
    gpu: int
    nonzero_cpu: int
    nonzero_memory: int


def pod_requests(
    pod: Pod, *, sidecars: bool = True, overhead_in_cores: bool = False
) -> PodRequests:
    """Return the requests of a pod.

    :param sidecars: whether sidecars count with the containers.
    :param overhead_in_cores: use the overhead's cpu in whole cores, rounded up, as this many
        thousandths, as Kubernetes did before 1.26.

    :raises ValueError: an amount is not a quantity.
    """
    overhead = _parsed(pod.spec.overhead)
    if overhead_in_cores and CPU in overhead:
        overhead[CPU] = Quantity(overhead[CPU].value(), -3, big=False)
    asked = _aggregate(pod, _NOTHING, overhead, sidecars=sidecars)
    counted = _aggregate(pod, _LEAST, overhead, sidecars=sidecars)
    return PodRequests(
        _amount(asked, CPU),
        _amount(asked, MEMORY),
        _amount(asked, GPU),
        _amount(counted, CPU),
        _amount(counted, MEMORY),
    )


def requests_on_nodes(pod: Pod, asked: PodRequests, *, sidecars: bool) -> PodRequests:
    """Return what a pod on a node counts up to Kubernetes 1.31, if that differs from its requests.

    For the default amounts of containers without requests, a sidecar
    is treated as an init container that ends: it counts only as far as it exceeds the containers.

    :param asked: :func:`pod_requests` of the pod. :param sidecars: as there.

    Source: pkg/scheduler/framework/types.go calculateResource, of v1.31.
    """
    total: Sums = {}
    for container in pod.spec.containers:
        _add(total, _asked(container, _LEAST))
    running: Sums = {}
    while_starting: Sums = {}
    for container in pod.spec.init_containers:
        own = _parsed(container.resources.requests)
        if sidecars and container.restart_policy == "Always":
            _add(running, own)
            own = running
        else:
            _add(own, running)
        _raise(while_starting, {**_LEAST, **own})
    _raise(total, while_starting)
    _add(total, _parsed(pod.spec.overhead))
    return asked._replace(nonzero_cpu=_amount(total, CPU), nonzero_memory=_amount(total, MEMORY))


def kube_amount(resources: ResourceList, name: str) -> int:
    """Return one amount of a resource list as int64: cpu in milli, all else in units.

    Source: pkg/scheduler/framework/types.go Resource.Add.
    """
    text = resources.get(name)
    if text is None:
        return 0
    quantity = parse(text)
    return quantity.milli_value() if name == CPU else quantity.value()


Sums = dict[str, Quantity]


def _aggregate(pod: Pod, least: Mapping[str, Quantity], overhead: Sums, *, sidecars: bool) -> Sums:
    total: Sums = {}
    for container in pod.spec.containers:
        _add(total, _asked(container, least))
    running: Sums = {}
    while_starting: Sums = {}
    for container in pod.spec.init_containers:
        asked = _asked(container, least)
        # A sidecar does not end: it adds to the containers, and to each init container after it.
        if sidecars and container.restart_policy == "Always":
            _add(total, asked)
            _add(running, asked)
            _raise(while_starting, running)
        else:
            _add(asked, running)
            _raise(while_starting, asked)
    _raise(total, while_starting)
    _add(total, overhead)
    return total


def _asked(container: Container, least: Mapping[str, Quantity]) -> Sums:
    return {**least, **_parsed(container.resources.requests)}


def _parsed(resources: ResourceList) -> Sums:
    return {name: parse(resources[name]) for name in _COUNTED if name in resources}


def _add(sums: Sums, more: Sums) -> None:
    for name, quantity in more.items():
        mine = sums.get(name)
        if mine is None or not mine.number:
            sums[name] = quantity
        elif quantity.number:
            sums[name] = Quantity(_nano(mine) + _nano(quantity), _NANO, big=True)


def _raise(sums: Sums, least: Sums) -> None:
    for name, quantity in least.items():
        mine = sums.get(name)
        if mine is None or _nano(quantity) > _nano(mine):
            sums[name] = quantity


def _nano(quantity: Quantity) -> int:
    """Return an exact amount in billionths: no quantity is finer."""
    return quantity.number * int(10 ** (quantity.power - _NANO))


def _amount(sums: Sums, name: str) -> int:
    quantity = sums.get(name)
    if quantity is None:
        return 0
    return quantity.milli_value() if name == CPU else quantity.value()
