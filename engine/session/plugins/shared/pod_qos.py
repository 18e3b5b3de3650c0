"""The quality-of-service class of a pod.

Source: k8s.io/kubernetes/pkg/apis/core/v1/helper/qos/qos.go ComputePodQOS.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from ....kubernetes.objects import Pod
from ....kubernetes.quantity import parse

GUARANTEED = "Guaranteed"
BURSTABLE = "Burstable"
BEST_EFFORT = "BestEffort"

_COUNTED = ("cpu", "memory")


def pod_qos(pod: Pod) -> str:
    """Return the class that the requests and limits of cpu and memory make.

    Guaranteed: every container limits both, and asks for all that it may use.
    """
    containers = (*pod.spec.containers, *pod.spec.init_containers)
    requests = _totals(container.resources.requests for container in containers)
    limits = _totals(container.resources.limits for container in containers)
    if not requests and not limits:
        return BEST_EFFORT
    bounded = all(
        len(_totals([container.resources.limits])) == len(_COUNTED) for container in containers
    )
    return GUARANTEED if bounded and requests == limits else BURSTABLE


def _totals(lists: Iterable[Mapping[str, str | float]]) -> Counter[str]:
    """Return the sums in billionths of what is above 0."""
    totals: Counter[str] = Counter()
    for amounts in lists:
        for name in _COUNTED:
            if name in amounts:
                quantity = parse(amounts[name])
                totals[name] += max(quantity.number * 10 ** (quantity.power + 9), 0)
    return +totals
