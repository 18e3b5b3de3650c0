"""Records of kube-apiserver's audit log as typed structs.

Bodies are not decoded here, so that a skipped record costs little.

Source: k8s.io/apiserver/pkg/apis/audit/v1/types.go.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec

from ...kubernetes.resources import KINDS_BY_RESOURCE

NOTHING = msgspec.Raw()


class RequestUser(msgspec.Struct):
    """The user of a request."""

    username: str = ""


class ObjectRef(msgspec.Struct, rename="camel"):
    """The object of a request, as far as its URL and body name it."""

    resource: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    api_group: str = ""
    api_version: str = ""
    subresource: str = ""


class Details(msgspec.Struct):
    """The part of a Status that identifies its object."""

    uid: str = ""


class RequestStatus(msgspec.Struct):
    """The result of a request."""

    code: int | None = None
    status: str = ""
    reason: str = ""
    message: str = ""
    details: Details | None = None


class AuditRecord(msgspec.Struct, rename="camel"):
    """One stage of one request."""

    kind: str = ""
    stage: str = ""
    level: str = ""
    verb: str = ""
    request_uri: str = msgspec.field(name="requestURI", default="")
    user: RequestUser = msgspec.field(default_factory=RequestUser)
    impersonated_user: RequestUser | None = None
    user_agent: str = ""
    object_ref: ObjectRef | None = None
    response_status: RequestStatus | None = None
    request_object: msgspec.Raw = NOTHING
    response_object: msgspec.Raw = NOTHING
    request_received_timestamp: str = ""
    stage_timestamp: str = ""
    items: msgspec.Raw = NOTHING

    @property
    def actor(self) -> str:
        """The user; the impersonated one if there is one."""
        return (self.impersonated_user or self.user).username

    def query(self) -> dict[str, str]:
        """Return the parameters of the request's URL."""
        return dict(parse_qsl(urlsplit(self.request_uri).query))

    def is_dry_run(self) -> bool:
        """Say whether the request is a dry run, which stores nothing."""
        return "dryRun=" in self.request_uri and bool(self.query().get("dryRun"))


class ListMeta(msgspec.Struct, rename="camel"):
    """The revision of a list, and whether it continues on another page."""

    resource_version: str = ""
    continues: str = msgspec.field(name="continue", default="")
    remaining_item_count: int | None = None


class ListBody(msgspec.Struct, rename="camel"):
    """A list in an answer; its items are not decoded."""

    kind: str = ""
    api_version: str = ""
    metadata: ListMeta = msgspec.field(default_factory=ListMeta)
    items: msgspec.Raw = NOTHING

    @property
    def item_kind(self) -> str:
        """The kind of the items."""
        return self.kind.removesuffix("List")

    @property
    def has_whole_objects(self) -> bool:
        """Whether it is a list of objects, and not of excerpts such as the rows of a Table."""
        return self.item_kind not in (self.kind, "PartialObjectMetadata")


class ItemMeta(msgspec.Struct, rename="camel"):
    """The object and the version of an item."""

    uid: str = ""
    resource_version: str = ""


class ListItem(msgspec.Struct):
    """As much of an item as says whether its version is known."""

    metadata: ItemMeta = msgspec.field(default_factory=ItemMeta)


WHOLE_SUBRESOURCES = frozenset(
    {"", "status", "finalize", "approval", "ephemeralcontainers", "resize"}
)
"""Subresources whose requests and answers have the whole object."""

CONNECTING = frozenset({"token", "exec", "attach", "portforward", "proxy", "log"})
"""Subresources that write nothing to the store."""

_NOT_WHOLE = frozenset(
    {"Status", "Table", "PartialObjectMetadata", "PartialObjectMetadataList", "DeleteOptions"}
)


def is_whole(document: dict[str, Any], subresource: str) -> bool:
    """Say whether an answer is the object itself, and not a Status or an excerpt of it."""
    metadata = document.get("metadata")
    return (
        subresource in WHOLE_SUBRESOURCES
        and document.get("kind") not in _NOT_WHOLE
        and isinstance(metadata, dict)
        and bool(metadata.get("uid"))
        and bool(metadata.get("resourceVersion"))
    )


def still_exists(document: dict[str, Any]) -> bool:
    """Say whether an object with a requested deletion still exists after the answer.

    It exists while it has finalizers (a Namespace: also in its spec) or a grace period. With
    neither, the answer is the deleted object.

    Source: k8s.io/apiserver/pkg/registry/generic/registry/store.go ShouldDeleteDuringUpdate,
    deletionFinalizersForGarbageCollection; rest/delete.go BeforeDelete.
    """
    metadata = document.get("metadata") or {}
    spec = document.get("spec")
    in_spec = (
        document.get("kind") == "Namespace" and isinstance(spec, dict) and spec.get("finalizers")
    )
    return bool(metadata.get("finalizers") or metadata.get("deletionGracePeriodSeconds") or in_spec)


def kind_of(reference: ObjectRef, body: dict[str, Any] | None) -> tuple[str, bool]:
    """Return the Kubernetes kind of a record's object, and whether it is known.

    If it is not known, the plural of the resource stands for it.

    :param body: the body of the request, which may name its kind.
    """
    kind = KINDS_BY_RESOURCE.get((reference.api_group, reference.resource))
    if kind:
        return kind, True
    if body is not None and reference.subresource in WHOLE_SUBRESOURCES:
        named, version = body.get("kind"), body.get("apiVersion")
        if (
            isinstance(named, str)
            and isinstance(version, str)
            and named not in _NOT_WHOLE
            and version.rpartition("/")[0] == reference.api_group
        ):
            return named, True
    return reference.resource, False
