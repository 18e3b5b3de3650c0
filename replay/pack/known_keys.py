"""The keys and the names of resources that everybody knows, one by one.

A known domain is no sign of a known key: people write custom keys below ``volcano.sh`` and
``kubernetes.io``, and custom subdomains of these.
"""

from __future__ import annotations

import re

from ...engine.kubernetes.resources import RESOURCE_TYPES

_KUBERNETES = (
    *("kubernetes.io/hostname", "kubernetes.io/os", "kubernetes.io/arch", "kubernetes.io/role"),
    *("kubernetes.io/metadata.name", "kubernetes.io/no-provisioner", "kubernetes.io/change-cause"),
    *("beta.kubernetes.io/os", "beta.kubernetes.io/arch", "beta.kubernetes.io/instance-type"),
    *("topology.kubernetes.io/zone", "topology.kubernetes.io/region"),
    *("failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"),
    *("node.kubernetes.io/unschedulable", "node.kubernetes.io/not-ready"),
    *("node.kubernetes.io/unreachable", "node.kubernetes.io/memory-pressure"),
    *("node.kubernetes.io/disk-pressure", "node.kubernetes.io/pid-pressure"),
    *("node.kubernetes.io/network-unavailable", "node.kubernetes.io/out-of-service"),
    *(
        "node.kubernetes.io/instance-type",
        "node.kubernetes.io/exclude-from-external-load-balancers",
    ),
    *("node.cloudprovider.kubernetes.io/uninitialized", "node.alpha.kubernetes.io/ttl"),
    *(
        "node.cloudprovider.kubernetes.io/shutdown",
        "volumes.kubernetes.io/controller-managed-attach-detach",
    ),
    *("app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/component"),
    *("app.kubernetes.io/part-of", "app.kubernetes.io/managed-by", "app.kubernetes.io/version"),
    *("apps.kubernetes.io/pod-index", "statefulset.kubernetes.io/pod-name"),
    *("deployment.kubernetes.io/revision", "batch.kubernetes.io/controller-uid"),
    *("batch.kubernetes.io/job-name", "batch.kubernetes.io/job-completion-index"),
    *("controller.kubernetes.io/pod-deletion-cost", "service.kubernetes.io/headless"),
    *("volume.kubernetes.io/selected-node", "volume.beta.kubernetes.io/storage-class"),
    *("volume.kubernetes.io/storage-provisioner", "volume.beta.kubernetes.io/storage-provisioner"),
    *("pv.kubernetes.io/bind-completed", "pv.kubernetes.io/bound-by-controller"),
    *("pv.kubernetes.io/provisioned-by", "csi.storage.k8s.io/csi-driver-name"),
    *("storageclass.kubernetes.io/is-default-class", "scheduling.k8s.io/group-name"),
    *("resource.kubernetes.io/pod-claim-name", "kwok.x-k8s.io/node"),
    *("pod-complete.stage.kwok.x-k8s.io/delay", "pod-complete.stage.kwok.x-k8s.io/jitter-delay"),
    *("pod-fail.stage.kwok.x-k8s.io/delay", "pod-fail.stage.kwok.x-k8s.io/jitter-delay"),
)
_OF_VOLCANO = (
    *("queue-name", "task-spec", "task-index", "task-instance", "task-priority", "job-name"),
    *("job-namespace", "job-version", "job-retry-count", "job-spec", "job-allocated-hypernode"),
    *("template-uid", "preemptable", "cooldown-time", "revocable-zone", "numa-topology-policy"),
    *(
        "jdb-min-available",
        "jdb-max-unavailable",
        "hierarchy",
        "hierarchy-weights",
        "task-topology",
    ),
    *("task-topology-affinity", "task-topology-anti-affinity", "task-topology-task-order"),
    *("topology-decision", "sla-waiting-time", "nodegroup-name", "network-topology-mode"),
    *("network-topology-highest-tier", "partition-id", "closed-by-parent", "createdByJobTemplate"),
    *("createdByJobFlow", "controller-out-of-sync", "bind-time", "bind-phase", "predicate-time"),
    *("resource-strategy-weight", "resource-strategy-scoring-type", "devices-to-allocate"),
    *("oversubscription", "oversubscription-cpu", "oversubscription-memory"),
    *("offline-job-evicting", "vgpu-time", "vgpu-node", "vgpu-ids-new", "vgpu-podgroup-policy"),
    *("vgpu-mode", "node-vgpu-register", "node-vgpu-handshake", "gpu-unhealthy-ids", "gpu-index"),
)
_DEVICES = (
    *("vgpu-number", "vgpu-memory", "vgpu-memory-percentage", "vgpu-cores"),
    *("gpu-number", "gpu-memory"),
)
_VENDORS = (
    *("nvidia.com/gpu", "nvidia.com/gpu.shared", "nvidia.com/gpumem", "nvidia.com/gpucores"),
    *("amd.com/gpu", "gpu.intel.com/i915", "gpu.intel.com/xe", "huawei.com/Ascend910"),
    *("huawei.com/Ascend310", "huawei.com/Ascend310P", "huawei.com/Ascend910A"),
    *("huawei.com/Ascend910B", "cambricon.com/mlu", "cambricon.com/vmlu", "iluvatar.ai/gpu"),
    *("enflame.com/gcu", "mthreads.com/vgpu", "metax-tech.com/gpu"),
)
KEYS = frozenset(
    {
        *_KUBERNETES,
        *(f"volcano.sh/{name}" for name in (*_OF_VOLCANO, *_DEVICES)),
        *("scheduling.volcano.sh/queue-name", "scheduling.volcano.sh/group-name"),
        *("scheduling.volcano.sh/group-min-member", "nvidia.com/use-gputype"),
        "nvidia.com/nouse-gputype",
    }
)
"""The keys of labels, annotations, taints and topologies."""

RESOURCES = frozenset(
    {
        *("cpu", "memory", "pods", "ephemeral-storage", "storage", "services", "secrets"),
        *("configmaps", "persistentvolumeclaims", "replicationcontrollers", "resourcequotas"),
        *("services.loadbalancers", "services.nodeports", "requests.storage"),
        *(f"volcano.sh/{name}" for name in _DEVICES),
        *_VENDORS,
    }
)
"""The names of resources, and of objects that quotas count."""

_FORM_OF_RESOURCE = re.compile(r"hugepages-[0-9]+[KMGT]i|nvidia\.com/mig-[0-9]g\.[0-9]{1,3}gb")

DOMAINS = frozenset(
    {
        *(key.rpartition("/")[0] for key in (*KEYS, *RESOURCES) if "/" in key),
        *(resource_type.group for resource_type in RESOURCE_TYPES if resource_type.group),
        *("kubernetes.io", "k8s.io", "x-k8s.io", "intel.com", "node-role.kubernetes.io"),
        *("node-restriction.kubernetes.io", "coordination.k8s.io", "storage.k8s.io"),
        *("kubectl.kubernetes.io", "authorization.k8s.io", "authentication.k8s.io"),
        *("metrics.k8s.io", "node-role.kubernetes.io", "storageclass.storage.k8s.io"),
    }
)
"""Domains that stay where a key below them has a new name."""

GROUPS = frozenset(
    {
        *(resource_type.group for resource_type in RESOURCE_TYPES),
        *("extensions", "coordination.k8s.io", "authorization.k8s.io", "authentication.k8s.io"),
        *("metrics.k8s.io", "audit.k8s.io", "meta.k8s.io"),
    }
)
"""The API groups of Kubernetes and of Volcano."""

KINDS_OF_GROUPS = frozenset(
    {
        *((resource_type.group, resource_type.kind) for resource_type in RESOURCE_TYPES),
        *(("coordination.k8s.io", "Lease"), ("extensions", "Ingress")),
    }
)
"""The kinds of their objects, with the group."""

PLURALS = frozenset(
    {(resource_type.plural, resource_type.group) for resource_type in RESOURCE_TYPES}
)
"""What quotas count, with the group."""

_VERSION = re.compile(r"v[0-9]{1,2}((alpha|beta)[0-9]{1,2})?")


def is_known_resource(name: str) -> bool:
    """Return whether everybody knows the name of a resource."""
    return name in RESOURCES or _FORM_OF_RESOURCE.fullmatch(name) is not None


def is_known_group(group: str) -> bool:
    """Return whether an API group, or one with its version, is of Kubernetes or Volcano."""
    name, slash, version = group.rpartition("/")
    if slash:
        # A version alone is a group, too: that of the core API.
        return name in GROUPS and _VERSION.fullmatch(version) is not None
    return group in GROUPS or _VERSION.fullmatch(group) is not None


def split_domain(domain: str) -> tuple[str, str]:
    """Return the part of a domain that somebody chose, and the known one behind it."""
    if domain in DOMAINS:
        return "", domain
    parts = domain.split(".")
    # The longest known end counts: it is found first.
    for start in range(1, len(parts)):
        rest = ".".join(parts[start:])
        if rest in DOMAINS:
            return ".".join(parts[:start]), rest
    return domain, ""
