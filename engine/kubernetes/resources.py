"""Kubernetes kinds by the plural that stands in URLs and audit records."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType


def _kinds(group: str, text: str) -> dict[tuple[str, str], str]:
    return {(group, kind_plural(kind)): kind for kind in text.split()}


def kind_plural(kind: str) -> str:
    """Return the plural of a kind by the rules that Kubernetes itself names resources by."""
    lower = kind.lower()
    if lower.endswith(("s", "x", "ch")):
        return f"{lower}es"
    if lower.endswith("y") and lower[-2] not in "aeiou":
        return f"{lower[:-1]}ies"
    return f"{lower}s"


KINDS_BY_RESOURCE: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        **_kinds(
            "",
            "Pod Node Namespace Service ConfigMap Secret ServiceAccount Event ResourceQuota"
            " LimitRange PersistentVolume PersistentVolumeClaim ReplicationController PodTemplate",
        ),
        ("", "endpoints"): "Endpoints",
        **_kinds("apps", "Deployment ReplicaSet StatefulSet DaemonSet ControllerRevision"),
        **_kinds("batch", "Job CronJob"),
        **_kinds("events.k8s.io", "Event"),
        **_kinds("policy", "PodDisruptionBudget"),
        **_kinds("autoscaling", "HorizontalPodAutoscaler"),
        **_kinds("scheduling.k8s.io", "PriorityClass"),
        **_kinds(
            "storage.k8s.io", "StorageClass CSINode CSIDriver VolumeAttachment CSIStorageCapacity"
        ),
        **_kinds("node.k8s.io", "RuntimeClass"),
        **_kinds("discovery.k8s.io", "EndpointSlice"),
        **_kinds("networking.k8s.io", "NetworkPolicy Ingress IngressClass"),
        **_kinds(
            "resource.k8s.io", "ResourceClaim ResourceClaimTemplate ResourceSlice DeviceClass"
        ),
        **_kinds("rbac.authorization.k8s.io", "Role RoleBinding ClusterRole ClusterRoleBinding"),
        **_kinds(
            "admissionregistration.k8s.io",
            "MutatingWebhookConfiguration ValidatingWebhookConfiguration"
            " ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding",
        ),
        **_kinds("apiextensions.k8s.io", "CustomResourceDefinition"),
        **_kinds("apiregistration.k8s.io", "APIService"),
        **_kinds("certificates.k8s.io", "CertificateSigningRequest"),
        **_kinds("flowcontrol.apiserver.k8s.io", "FlowSchema PriorityLevelConfiguration"),
        **_kinds("batch.volcano.sh", "Job CronJob"),
        **_kinds("bus.volcano.sh", "Command"),
        **_kinds("flow.volcano.sh", "JobFlow JobTemplate"),
        **_kinds("scheduling.volcano.sh", "PodGroup Queue"),
        **_kinds("topology.volcano.sh", "HyperNode"),
        ("nodeinfo.volcano.sh", "numatopologies"): "Numatopology",
    }
)
"""(API group, plural) to kind, for the kinds of Kubernetes and of Volcano."""

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
    """Say whether a resource is a question (a review) or a heartbeat (a lease), and no state."""
    return resource in _FLEETING.get(group, ())
