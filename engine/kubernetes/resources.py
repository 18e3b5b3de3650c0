"""The kinds of objects that Plinian knows: one table of their groups, names and scopes.

It is the one place for the names of kinds and their scope: for URLs in audit records, lists, the
API server's store, and names that people type.

Source: ``kubectl api-resources`` of Kubernetes; the CustomResourceDefinitions in config/crd of
Volcano.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

GroupKind = tuple[str, str]
"""API group (empty for the core group) and kind."""


class ResourceType(NamedTuple):
    """One kind of object as an API server serves it.

    :param plural: the name in URLs and audit records: ``pods``.
    :param short_names: other names that kubectl accepts: ``po``.
    :param namespaced: whether its objects have a namespace; else they belong to the cluster.
    """

    group: str
    kind: str
    plural: str
    short_names: tuple[str, ...]
    namespaced: bool

    @property
    def singular(self) -> str:
        """The name of one such object: ``pod``."""
        return self.kind.lower()

    @property
    def group_kind(self) -> GroupKind:
        """The group and the kind, which identify it."""
        return self.group, self.kind


def kind_plural(kind: str) -> str:
    """Return the plural of a kind by the rules of Kubernetes, where the table has no other."""
    lower = kind.lower()
    if lower.endswith(("s", "x", "ch")):
        return f"{lower}es"
    if lower.endswith("y") and lower[-2] not in "aeiou":
        return f"{lower[:-1]}ies"
    return f"{lower}s"


def _namespaced(group: str, kind: str, *short_names: str, plural: str = "") -> ResourceType:
    return ResourceType(group, kind, plural or kind_plural(kind), short_names, namespaced=True)


def _cluster(group: str, kind: str, *short_names: str, plural: str = "") -> ResourceType:
    return ResourceType(group, kind, plural or kind_plural(kind), short_names, namespaced=False)


_ADMISSION = "admissionregistration.k8s.io"
_STORAGE = "storage.k8s.io"
_RBAC = "rbac.authorization.k8s.io"
_DEVICES = "resource.k8s.io"
_FLOW_CONTROL = "flowcontrol.apiserver.k8s.io"

RESOURCE_TYPES = (
    _namespaced("", "Pod", "po"),
    _cluster("", "Node", "no"),
    _cluster("", "Namespace", "ns"),
    _namespaced("", "Service", "svc"),
    _namespaced("", "ConfigMap", "cm"),
    _namespaced("", "Secret"),
    _namespaced("", "ServiceAccount", "sa"),
    _namespaced("", "Event", "ev"),
    _namespaced("", "ResourceQuota", "quota"),
    _namespaced("", "LimitRange", "limits"),
    _cluster("", "PersistentVolume", "pv"),
    _namespaced("", "PersistentVolumeClaim", "pvc"),
    _namespaced("", "ReplicationController", "rc"),
    _namespaced("", "PodTemplate"),
    _namespaced("", "Endpoints", "ep", plural="endpoints"),
    _namespaced("apps", "Deployment", "deploy"),
    _namespaced("apps", "ReplicaSet", "rs"),
    _namespaced("apps", "StatefulSet", "sts"),
    _namespaced("apps", "DaemonSet", "ds"),
    _namespaced("apps", "ControllerRevision"),
    _namespaced("batch", "Job"),
    _namespaced("batch", "CronJob", "cj"),
    _namespaced("events.k8s.io", "Event"),
    _namespaced("policy", "PodDisruptionBudget", "pdb"),
    _namespaced("autoscaling", "HorizontalPodAutoscaler", "hpa"),
    _cluster("scheduling.k8s.io", "PriorityClass", "pc"),
    _cluster(_STORAGE, "StorageClass", "sc"),
    _cluster(_STORAGE, "CSINode"),
    _cluster(_STORAGE, "CSIDriver"),
    _cluster(_STORAGE, "VolumeAttachment"),
    _namespaced(_STORAGE, "CSIStorageCapacity"),
    _cluster("node.k8s.io", "RuntimeClass"),
    _namespaced("discovery.k8s.io", "EndpointSlice"),
    _namespaced("networking.k8s.io", "NetworkPolicy"),
    _namespaced("networking.k8s.io", "Ingress"),
    _cluster("networking.k8s.io", "IngressClass"),
    _namespaced(_DEVICES, "ResourceClaim"),
    _namespaced(_DEVICES, "ResourceClaimTemplate"),
    _cluster(_DEVICES, "ResourceSlice"),
    _cluster(_DEVICES, "DeviceClass"),
    _namespaced(_RBAC, "Role"),
    _namespaced(_RBAC, "RoleBinding"),
    _cluster(_RBAC, "ClusterRole"),
    _cluster(_RBAC, "ClusterRoleBinding"),
    _cluster(_ADMISSION, "MutatingWebhookConfiguration"),
    _cluster(_ADMISSION, "ValidatingWebhookConfiguration"),
    _cluster(_ADMISSION, "ValidatingAdmissionPolicy"),
    _cluster(_ADMISSION, "ValidatingAdmissionPolicyBinding"),
    _cluster("apiextensions.k8s.io", "CustomResourceDefinition", "crd"),
    _cluster("apiregistration.k8s.io", "APIService"),
    _cluster("certificates.k8s.io", "CertificateSigningRequest"),
    _cluster(_FLOW_CONTROL, "FlowSchema"),
    _cluster(_FLOW_CONTROL, "PriorityLevelConfiguration"),
    _namespaced("batch.volcano.sh", "Job", "vcjob", "vj"),
    _namespaced("batch.volcano.sh", "CronJob"),
    _namespaced("bus.volcano.sh", "Command"),
    _namespaced("flow.volcano.sh", "JobFlow", "jf"),
    _namespaced("flow.volcano.sh", "JobTemplate", "jt"),
    _namespaced("scheduling.volcano.sh", "PodGroup", "pg"),
    _cluster("scheduling.volcano.sh", "Queue", "q"),
    _cluster("topology.volcano.sh", "HyperNode", "hn"),
    _namespaced("config.volcano.sh", "ColocationConfiguration"),
    _cluster("shard.volcano.sh", "NodeShard", "nsh"),
    _cluster("nodeinfo.volcano.sh", "Numatopology", "numatopo", plural="numatopologies"),
)
"""The kinds of Kubernetes and of Volcano."""

KINDS_BY_RESOURCE: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        (resource_type.group, resource_type.plural): resource_type.kind
        for resource_type in RESOURCE_TYPES
    }
)
"""(API group, plural) to kind."""

CLUSTER_SCOPED: frozenset[GroupKind] = frozenset(
    resource_type.group_kind for resource_type in RESOURCE_TYPES if not resource_type.namespaced
)
"""The known kinds without a namespace; for kinds that are not in the table, their objects show."""

CLUSTER_SCOPED_KINDS = frozenset(
    resource_type.kind for resource_type in RESOURCE_TYPES if not resource_type.namespaced
)
"""The same without groups, for scenario files, whose objects may have a group left out."""

SHORT_NAMES: Mapping[str, GroupKind] = MappingProxyType(
    {
        short: resource_type.group_kind
        for resource_type in RESOURCE_TYPES
        for short in resource_type.short_names
    }
)
"""kubectl's and Volcano's short names."""

VOLCANO_VERSIONS: Mapping[str, str] = MappingProxyType(
    {
        "batch.volcano.sh": "v1alpha1",
        "bus.volcano.sh": "v1alpha1",
        "config.volcano.sh": "v1alpha1",
        "flow.volcano.sh": "v1alpha1",
        "nodeinfo.volcano.sh": "v1alpha1",
        "scheduling.volcano.sh": "v1beta1",
        "shard.volcano.sh": "v1alpha1",
        "topology.volcano.sh": "v1alpha1",
    }
)
"""The groups of Volcano, and the one version of each in every release since v1.8.0."""

_VOLCANO = tuple(
    resource_type for resource_type in RESOURCE_TYPES if resource_type.group in VOLCANO_VERSIONS
)

VOLCANO_KINDS: Mapping[str, str] = MappingProxyType(
    {resource_type.kind: resource_type.group for resource_type in _VOLCANO}
)
"""The kinds of Volcano, and the group of each: no two groups have a kind of one name."""

_BY_KIND_ALONE = MappingProxyType(
    {
        resource_type.kind: resource_type.group
        for resource_type in reversed((*_VOLCANO, *RESOURCE_TYPES))
    }
)
"""Which group has a kind that several have, when only the kind is named."""

_PLURALS = MappingProxyType(
    {resource_type.group_kind: resource_type.plural for resource_type in RESOURCE_TYPES}
)


def plural_of(group: str, kind: str) -> str:
    """Return the plural in URLs: ``pods``, ``priorityclasses``."""
    return _PLURALS.get((group, kind)) or kind_plural(kind)


def distinct_kind(api_version: str, kind: str) -> str:
    """Return a name for a kind that no kind of another group has.

    It is the kind alone where the table has the kind once. Of kinds that several groups have,
    Volcano's goes by the kind alone, or else the first in the table; others are written as kubectl
    accepts them: ``Job`` is Volcano's, ``Job.batch`` that of Kubernetes.

    :param api_version: ``batch/v1``; empty stands for the group that has the kind alone.
    """
    group = api_version.rpartition("/")[0]
    if not api_version or _BY_KIND_ALONE.get(kind, group) == group:
        return kind
    return f"{kind}.{group}" if group else kind


_FLEETING = MappingProxyType(
    {
        "authentication.k8s.io": frozenset({"tokenreviews", "selfsubjectreviews"}),
        "authorization.k8s.io": frozenset(
            {
                "subjectaccessreviews",
                "localsubjectaccessreviews",
                "selfsubjectaccessreviews",
                "selfsubjectrulesreviews",
            }
        ),
        "coordination.k8s.io": frozenset({"leases", "leasecandidates"}),
    }
)


def is_fleeting(group: str, resource: str) -> bool:
    """Return whether a resource is a review (a query) or a lease (a heartbeat), not state."""
    return resource in _FLEETING.get(group, ())
