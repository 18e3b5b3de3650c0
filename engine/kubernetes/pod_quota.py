"""What a pod counts for a ResourceQuota; Volcano's controllers make minResources of it.

What pods ask for as a whole, and what resized containers still have by their status, is not looked
at; Kubernetes looks at it since 1.34 and 1.33.

Source: k8s.io/kubernetes/pkg/quota/v1/evaluator/core/pods.go PodUsageFunc, podComputeUsageHelper;
k8s.io/component-helpers/resource/helpers.go PodRequests, PodLimits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .quantity_lists import ONE, Amount, Amounts, add, amounts, raise_to

_COMPUTE = ("cpu", "memory", "ephemeral-storage")
_REQUESTS, _LIMITS = "requests.", "limits."
_HUGE_PAGES = "hugepages-"
_ENDED = frozenset({"Succeeded", "Failed"})


def quota_usage(pod: Mapping[str, Any]) -> Amounts:
    """Return what a pod counts, with extended resources also under their own names.

    A pod that has ended counts as an object alone. One that takes longer to end than it may still
    counts as if it ran, as there is no clock here.

    :raises ValueError: an amount is no quantity.

    Source: pkg/controllers/util/util.go GetPodQuotaUsage.
    """
    usage: Amounts = {"count/pods": ONE}
    if (pod.get("status") or {}).get("phase") not in _ENDED:
        usage["pods"] = ONE
        requests, limits = asked(pod, "requests"), asked(pod, "limits")
        usage.update(_compute(requests, limits))
        usage.update(_other(requests))
    return usage


def _compute(requests: Amounts, limits: Amounts) -> Iterator[tuple[str, Amount]]:
    for name in _COMPUTE:
        if name in requests:
            yield name, requests[name]
            yield _REQUESTS + name, requests[name]
        if name in limits:
            yield _LIMITS + name, limits[name]


def _other(requests: Amounts) -> Iterator[tuple[str, Amount]]:
    """Yield huge pages and extended resources; others of Kubernetes do not count."""
    for name, asked in requests.items():
        extended = "/" in name and "kubernetes.io/" not in name and not name.startswith(_REQUESTS)
        if extended or name.startswith(_HUGE_PAGES):
            yield name, asked
            yield _REQUESTS + name, asked


def asked(pod: Mapping[str, Any], which: str) -> Amounts:
    """Return the requests or limits of a pod: at most what runs at once, with the overhead."""
    spec = pod["spec"]
    total: Amounts = {}
    for container in spec.get("containers") or ():
        add(total, _of(container, which))
    running: Amounts = {}
    starting: Amounts = {}
    for container in spec.get("initContainers") or ():
        own = _of(container, which)
        # A sidecar runs beside the containers, and beside what starts after it.
        if container.get("restartPolicy") == "Always":
            add(total, own)
            add(running, own)
            raise_to(starting, running)
        else:
            # Others run one after the other, each beside the sidecars that started before it.
            add(own, running)
            raise_to(starting, own)
    raise_to(total, starting)
    overhead = amounts(spec.get("overhead"))
    # Only what is limited gets the overhead: else it would become a limit by itself.
    if which == "limits":
        overhead = {name: more for name, more in overhead.items() if name in total}
    add(total, overhead)
    return total


def _of(container: Mapping[str, Any], which: str) -> Amounts:
    return amounts((container.get("resources") or {}).get(which))
