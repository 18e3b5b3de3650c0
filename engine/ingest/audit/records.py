"""Records of kube-apiserver's audit log as typed structs, and what one says by itself.

Source: k8s.io/apiserver/pkg/apis/audit/v1/types.go. Bodies stay raw until somebody wants them, so
that a record that is passed over costs little.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec

from ...kubernetes.resources import KINDS_BY_RESOURCE

NOTHING = msgspec.Raw()


class User(msgspec.Struct):
    """Who asked."""

    username: str = ""


class ObjectRef(msgspec.Struct, rename="camel"):
    """What was asked for, as far as URL and body say."""

    resource: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    api_group: str = ""
    api_version: str = ""
    subresource: str = ""


class Details(msgspec.Struct):
    """Which object a Status is about."""

    uid: str = ""


class Status(msgspec.Struct):
    """How it was answered."""

    code: int | None = None
    status: str = ""
    reason: str = ""
    message: str = ""
    details: Details | None = None


class Record(msgspec.Struct, rename="camel"):
    """One stage of one request."""

    kind: str = ""
    stage: str = ""
    level: str = ""
    verb: str = ""
    request_uri: str = msgspec.field(name="requestURI", default="")
    user: User = msgspec.field(default_factory=User)
    impersonated_user: User | None = None
    user_agent: str = ""
    object_ref: ObjectRef | None = None
    response_status: Status | None = None
    request_object: msgspec.Raw = NOTHING
    response_object: msgspec.Raw = NOTHING
    request_received_timestamp: str = ""
    stage_timestamp: str = ""
    items: msgspec.Raw = NOTHING

    @property
    def actor(self) -> str:
        """The user in whose name it was done."""
        return (self.impersonated_user or self.user).username

    def query(self) -> dict[str, str]:
        """Return the parameters of the request's URL."""
        return dict(parse_qsl(urlsplit(self.request_uri).query))

    def is_dry_run(self) -> bool:
        """Say whether nothing was to be written."""
        return "dryRun=" in self.request_uri and bool(self.query().get("dryRun"))


class ListMeta(msgspec.Struct, rename="camel"):
    """Where a list stands in history, and whether there is more of it."""

    resource_version: str = ""
    continues: str = msgspec.field(name="continue", default="")
    remaining_item_count: int | None = None


class ListBody(msgspec.Struct, rename="camel"):
    """A list in an answer; its items stay raw."""

    kind: str = ""
    api_version: str = ""
    metadata: ListMeta = msgspec.field(default_factory=ListMeta)
    items: msgspec.Raw = NOTHING


class ItemMeta(msgspec.Struct, rename="camel"):
    """Which version of which object an item is."""

    uid: str = ""
    resource_version: str = ""


class ListItem(msgspec.Struct):
    """As much of a list's item as says whether it is known already."""

    metadata: ItemMeta = msgspec.field(default_factory=ItemMeta)


WHOLE_SUBRESOURCES = frozenset(
    {"", "status", "finalize", "approval", "ephemeralcontainers", "resize"}
)
"""Subresources that are written with, and answered by, the whole object."""

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


def lives_on(document: dict[str, Any]) -> bool:
    """Say whether an object that was asked to go still exists in the store after the answer.

    It does while it has finalizers (a Namespace: also in its spec) or a grace period to run; with
    neither, the answer is the object as deleted.

    Source: k8s.io/apiserver/pkg/registry/generic/registry/store.go ShouldDeleteDuringUpdate,
    deletionFinalizersForGarbageCollection; rest/delete.go BeforeDelete.
    """
    metadata = document.get("metadata") or {}
    spec = document.get("spec")
    held = document.get("kind") == "Namespace" and isinstance(spec, dict) and spec.get("finalizers")
    return bool(metadata.get("finalizers") or metadata.get("deletionGracePeriodSeconds") or held)


def kind_of(reference: ObjectRef, body: dict[str, Any] | None) -> tuple[str, bool]:
    """Return the Kubernetes kind that a record is about, and whether it is really known.

    :param body: a body of the request that may name its kind.
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
