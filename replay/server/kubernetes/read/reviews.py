"""Questions about permissions, answered truthfully: all can be read, and only a branch written.

Source: k8s.io/api authorization/v1 and authentication/v1, generated.proto.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ..wire.api_resources import READ, SUBRESOURCES, ApiResource
from ..wire.api_status import StatusError
from ..wire.protobuf_fields import MAGIC, fields, text, unwrapped

USER = "plinian:reader"

_GROUPS = ("system:authenticated",)
_WHY = "this is the past: it can be read, and not changed"


class _Resource(msgspec.Struct):
    namespace: str = ""
    verb: str = ""
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    name: str = ""


class _Other(msgspec.Struct):
    path: str = ""
    verb: str = ""


class _Spec(msgspec.Struct, rename="camel"):
    resource_attributes: _Resource | None = None
    non_resource_attributes: _Other | None = None
    namespace: str = ""


class _Review(msgspec.Struct):
    spec: _Spec = msgspec.field(default_factory=_Spec)


def reviewed(resource: ApiResource, body: bytes, verbs: Sequence[str]) -> dict[str, Any]:
    """Return the answer to a review.

    :param verbs: what can be done with every resource.
    :raises StatusError: the body is no such review.
    """
    spec = _read(resource.kind, body).spec
    answer: dict[str, Any]
    match resource.kind:
        case "SelfSubjectAccessReview":
            answer = {"spec": msgspec.to_builtins(spec), "status": _access(spec, verbs)}
        case "SelfSubjectRulesReview":
            answer = {"spec": {"namespace": spec.namespace}, "status": _rules(verbs)}
        case _:
            answer = {"status": {"userInfo": {"username": USER, "groups": list(_GROUPS)}}}
    return {
        "kind": resource.kind,
        "apiVersion": resource.group_version,
        "metadata": {"creationTimestamp": None},
        **answer,
    }


def _access(spec: _Spec, verbs: Sequence[str]) -> Mapping[str, Any]:
    allowed = False
    if spec.resource_attributes is not None:
        asked = spec.resource_attributes
        below = {"", "status"} if tuple(verbs) == READ else {"", *SUBRESOURCES}
        allowed = asked.verb in verbs and asked.subresource in below
    elif spec.non_resource_attributes is not None:
        allowed = spec.non_resource_attributes.verb in {"get", "head"}
    return {"allowed": allowed} if allowed else {"allowed": False, "reason": _WHY}


def _rules(verbs: Sequence[str]) -> Mapping[str, Any]:
    return {
        "resourceRules": [{"verbs": list(verbs), "apiGroups": ["*"], "resources": ["*"]}],
        "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": ["*"]}],
        "incomplete": False,
    }


def _read(kind: str, body: bytes) -> _Review:
    if not body.startswith(MAGIC):
        try:
            return msgspec.json.decode(body, type=_Review)
        except msgspec.MsgspecError as fault:
            raise StatusError(400, f"the body is no review: {fault}") from fault
    *_, message = unwrapped(body)
    spec = fields(fields(message).get(2, b""))
    if kind == "SelfSubjectRulesReview":
        return _Review(_Spec(namespace=text(spec, 1)))
    return _Review(
        _Spec(
            _Resource(*(text(fields(spec[1]), number) for number in range(1, 8)))
            if 1 in spec
            else None,
            _Other(*(text(fields(spec[2]), number) for number in (1, 2))) if 2 in spec else None,
        )
    )
