"""Which names of resources the scheduler counts."""

from __future__ import annotations

import re
from functools import lru_cache

PODS = "pods"
"""Counted in units; all other scalars are counted in milli."""

ATTACHABLE = "attachable-volumes-"
"""The prefix of resources for volumes that a node can attach."""

_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_QUALIFIED = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")


@lru_cache(maxsize=4096)
def is_scalar_name(name: str) -> bool:
    """Return whether Kubernetes counts a resource as a scalar: extended, huge pages, volumes.

    Source: k8s.io/kubernetes/pkg/scheduler/util IsScalarResourceName;
    pkg/scheduler/api/resource_info.go IsCountQuota.
    """
    if name.startswith("count/"):
        return False
    if name.startswith(("hugepages-", ATTACHABLE)) or "kubernetes.io/" in name:
        return True
    if "/" not in name or name.startswith("requests."):
        return False
    prefix, _, qualified = f"requests.{name}".partition("/")
    return (
        len(prefix) <= 253
        and len(qualified) <= 63
        and _SUBDOMAIN.fullmatch(prefix) is not None
        and _QUALIFIED.fullmatch(qualified) is not None
    )
