"""The resources that are served: those that every cluster has, Volcano's, and the log's own.

Sources: api/discovery/aggregated_v2.json of Kubernetes; the CustomResourceDefinitions in the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from .....engine.kubernetes.resources import (
    CLUSTER_SCOPED,
    RESOURCE_TYPES,
    VOLCANO_VERSIONS,
    GroupKind,
    kind_plural,
)

READ = ("get", "list", "watch")
READ_AND_WRITE = (*READ, "create", "update", "patch", "delete", "deletecollection")
SUBRESOURCES = ("status", "binding", "eviction", "scale")
"""What can be written below objects of some kinds."""

CRD: GroupKind = ("apiextensions.k8s.io", "CustomResourceDefinition")
EVENT: GroupKind = ("", "Event")
NEW_EVENT: GroupKind = ("events.k8s.io", "Event")
NAMESPACE: GroupKind = ("", "Namespace")
NODE: GroupKind = ("", "Node")
POD: GroupKind = ("", "Pod")
SECRET: GroupKind = ("", "Secret")
SERVICE: GroupKind = ("", "Service")

_VERSIONS: Mapping[str, str] = MappingProxyType({"": "v1", "autoscaling": "v2", **VOLCANO_VERSIONS})
"""The version of a group of which the log has no object; ``v1`` where it is not listed."""

_ORDER = (
    *("", "apiregistration.k8s.io", "apps", "events.k8s.io", "authentication.k8s.io"),
    *("authorization.k8s.io", "autoscaling", "batch", "certificates.k8s.io"),
    *("networking.k8s.io", "policy", "rbac.authorization.k8s.io", "storage.k8s.io"),
    *("admissionregistration.k8s.io", "apiextensions.k8s.io", "scheduling.k8s.io"),
    *("coordination.k8s.io", "node.k8s.io", "discovery.k8s.io", "resource.k8s.io"),
    "flowcontrol.apiserver.k8s.io",
)
"""The order of groups: of equal plurals, clients take that of the first group."""


def kinds_in(groups: Mapping[str, Sequence[str]]) -> frozenset[GroupKind]:
    """Return kinds that are listed by group."""
    return frozenset((group, kind) for group, kinds in groups.items() for kind in kinds)


_IN_ALL = kinds_in(
    {
        "": ("Pod", "ReplicationController", "Service"),
        "apps": ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"),
        "autoscaling": ("HorizontalPodAutoscaler",),
        "batch": ("CronJob", "Job"),
    }
)

_WITHOUT_STATUS = kinds_in(
    {
        "": (
            *("ConfigMap", "Secret", "ServiceAccount", "Event", "LimitRange", "PodTemplate"),
            "Endpoints",
        ),
        "admissionregistration.k8s.io": (
            *("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"),
            "ValidatingAdmissionPolicyBinding",
        ),
        "apps": ("ControllerRevision",),
        "bus.volcano.sh": ("Command",),
        "coordination.k8s.io": ("Lease",),
        "discovery.k8s.io": ("EndpointSlice",),
        "events.k8s.io": ("Event",),
        "networking.k8s.io": ("NetworkPolicy", "IngressClass"),
        "node.k8s.io": ("RuntimeClass",),
        "nodeinfo.volcano.sh": ("Numatopology",),
        "rbac.authorization.k8s.io": ("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"),
        "resource.k8s.io": ("ResourceClaimTemplate", "ResourceSlice", "DeviceClass"),
        "scheduling.k8s.io": ("PriorityClass",),
        "scheduling.volcano.sh": ("PodGroup",),
        "storage.k8s.io": ("StorageClass", "CSINode", "CSIDriver", "CSIStorageCapacity"),
    }
)
"""Kinds whose objects have no status, or one that is written like all else of them."""

_LEASES: GroupKind = ("coordination.k8s.io", "Lease")


class PrinterColumn(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A column that a CustomResourceDefinition asks for."""

    name: str
    type: str = "string"
    json_path: str = ""
    format: str = ""
    description: str = ""
    priority: int = 0


class ApiResource(msgspec.Struct, frozen=True, kw_only=True):
    """One resource of the API, in one version.

    :param columns: those of its CustomResourceDefinition; None if it has none that is known.
    :param schema: the OpenAPI schema of its CustomResourceDefinition, or None.
    :param selectable: the fields that field selectors may name, by its CustomResourceDefinition.
    :param has_status: its status is written by separate requests.
    """

    group: str
    version: str
    kind: str
    plural: str
    singular: str
    namespaced: bool
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    list_kind: str = ""
    columns: tuple[PrinterColumn, ...] | None = None
    schema: Mapping[str, Any] | None = None
    selectable: tuple[str, ...] = ()
    has_status: bool = True

    @property
    def pair(self) -> GroupKind:
        """The group and the kind."""
        return self.group, self.kind

    @property
    def full_kind(self) -> dict[str, str]:
        """The group, the version and the kind, as documents name them."""
        return {"group": self.group, "version": self.version, "kind": self.kind}

    @property
    def group_version(self) -> str:
        """As in ``apiVersion``."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def key(self) -> tuple[str, str, str]:
        """Its place in URLs."""
        return self.group, self.version, self.plural

    @property
    def is_custom(self) -> bool:
        """Whether a CustomResourceDefinition defines it."""
        return self.columns is not None or self.group not in _ORDER


class Catalog:
    """The resources at a moment.

    :param resources: in the order of discovery.
    """

    def __init__(self, resources: Iterable[ApiResource]) -> None:
        self.resources = tuple(sorted(resources, key=_order))
        self._by_name = {resource.key: resource for resource in self.resources}

    def find(self, group: str, version: str, plural: str) -> ApiResource | None:
        """Return a resource by its place in URLs, or None."""
        return self._by_name.get((group, version, plural))

    def of_kind(self, group: str, kind: str) -> ApiResource:
        """Return the resource of a kind that there are objects of."""
        return next(resource for resource in self.resources if resource.pair == (group, kind))

    def groups(self) -> dict[str, list[str]]:
        """Return the versions of each group, the preferred one first."""
        groups: dict[str, list[str]] = {}
        for resource in self.resources:
            versions = groups.setdefault(resource.group, [])
            if resource.version not in versions:
                versions.append(resource.version)
        for review in REVIEWS:
            groups.setdefault(review.group, [review.version])
        return groups

    def of(self, group: str, version: str) -> list[ApiResource]:
        """Return the resources of a group and version."""
        return [
            resource
            for resource in self.resources
            if (resource.group, resource.version) == (group, version)
        ]


def resource_of(
    group: str,
    kind: str,
    version: str = "v1",
    *,
    namespaced: bool,
    plural: str = "",
    short_names: tuple[str, ...] = (),
) -> ApiResource:
    """Return the resource of a kind that no CustomResourceDefinition defines."""
    return ApiResource(
        group=group,
        version=version,
        kind=kind,
        plural=plural or kind_plural(kind),
        singular=kind.lower(),
        namespaced=namespaced,
        short_names=short_names,
        categories=("all",) if (group, kind) in _IN_ALL else (),
        has_status=(group, kind) not in _WITHOUT_STATUS,
    )


REVIEWS = (
    resource_of("authentication.k8s.io", "SelfSubjectReview", namespaced=False),
    resource_of("authorization.k8s.io", "SelfSubjectAccessReview", namespaced=False),
    resource_of("authorization.k8s.io", "SelfSubjectRulesReview", namespaced=False),
)
"""Queries that are sent as objects; they can only be created."""


def _order(resource: ApiResource) -> tuple[int, str, str]:
    group = resource.group
    place = _ORDER.index(group) if group in _ORDER else len(_ORDER)
    return place, group, resource.plural


class HeldKind(msgspec.Struct, frozen=True, kw_only=True):
    """A kind that the log has objects of.

    :param version: of these objects. :param namespaced: whether they have namespaces.
    """

    version: str
    namespaced: bool


def catalog_of(
    held: Mapping[GroupKind, HeldKind], definitions: Sequence[Mapping[str, Any]]
) -> Catalog:
    """Return the resources of a cluster.

    :param held: the kinds that have objects.
    :param definitions: the CustomResourceDefinitions.
    """
    listed = [
        resource_of(
            *resource_type.group_kind,
            _version(resource_type.group_kind, held),
            namespaced=resource_type.namespaced,
            plural=resource_type.plural,
            short_names=resource_type.short_names,
        )
        for resource_type in RESOURCE_TYPES
    ]
    by_pair = {
        resource.pair: [resource] for resource in (*listed, resource_of(*_LEASES, namespaced=True))
    }
    for pair, kind in held.items():
        if pair not in by_pair:
            namespaced = kind.namespaced and pair not in CLUSTER_SCOPED
            by_pair[pair] = [resource_of(*pair, kind.version, namespaced=namespaced)]
    # What a cluster defines counts more than what every cluster has.
    for definition in definitions:
        defined = list(_defined(definition))
        if defined:
            by_pair[defined[0].pair] = defined
    return Catalog(resource for versions in by_pair.values() for resource in versions)


def _version(pair: GroupKind, held: Mapping[GroupKind, HeldKind]) -> str:
    """Return the version of a kind: that of its objects in the log."""
    default = _VERSIONS.get(pair[0], "v1")
    if pair in {EVENT, NEW_EVENT}:
        return default  # Both are made of the objects of either.
    kind = held.get(pair)
    return default if kind is None else kind.version


class _Names(msgspec.Struct, rename="camel"):
    kind: str
    plural: str
    singular: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    list_kind: str = ""


class _Selectable(msgspec.Struct, rename="camel"):
    json_path: str


class _Schema(msgspec.Struct):
    schema: dict[str, Any] | None = msgspec.field(default=None, name="openAPIV3Schema")


class _Subresources(msgspec.Struct):
    status: dict[str, Any] | None = None


class _Version(msgspec.Struct, rename="camel"):
    name: str
    served: bool = True
    storage: bool = False
    additional_printer_columns: tuple[PrinterColumn, ...] = ()
    selectable_fields: tuple[_Selectable, ...] = ()
    schema: _Schema = msgspec.field(default_factory=_Schema)
    subresources: _Subresources = msgspec.field(default_factory=_Subresources)


class _Spec(msgspec.Struct):
    group: str
    names: _Names
    scope: str
    versions: tuple[_Version, ...] = ()


class _Definition(msgspec.Struct):
    spec: _Spec


def _defined(definition: Mapping[str, Any]) -> Iterable[ApiResource]:
    """Yield the versions that a CustomResourceDefinition serves, the stored one first."""
    try:
        spec = msgspec.convert(definition, _Definition).spec
    except msgspec.ValidationError:
        return  # What an API server would not have accepted defines nothing.
    names = msgspec.structs.asdict(spec.names)
    for version in sorted(spec.versions, key=lambda version: not version.storage):
        if version.served:
            yield ApiResource(
                group=spec.group,
                version=version.name,
                **{**names, "singular": names["singular"] or names["kind"].lower()},
                namespaced=spec.scope == "Namespaced",
                columns=version.additional_printer_columns,
                schema=version.schema.schema,
                selectable=tuple(
                    field.json_path.lstrip(".") for field in version.selectable_fields
                ),
                has_status=version.subresources.status is not None,
            )
