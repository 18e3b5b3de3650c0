"""Questions about permissions, answered truthfully: all can be read, and only a branch written.

Source: k8s.io/api authorization/v1 and authentication/v1, generated.proto.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ..wire.api_resources import READ, SUBRESOURCES
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


def reviewed(plural: str, group: str, body: bytes, verbs: Sequence[str] = READ) -> dict[str, Any]:
    """Return the answer to a review.

    :param verbs: what can be done with every resource.
    :raises StatusError: the body is no such review.
    """
    review = _read(plural, body)
    head = {"apiVersion": f"{group}/v1", "metadata": {"creationTimestamp": None}}
    match plural:
        case "selfsubjectaccessreviews":
            return {
                "kind": "SelfSubjectAccessReview",
                **head,
                "spec": msgspec.to_builtins(review.spec),
                "status": _access(review.spec, verbs),
            }
        case "selfsubjectrulesreviews":
            return {
                "kind": "SelfSubjectRulesReview",
                **head,
                "spec": {"namespace": review.spec.namespace},
                "status": _rules(verbs),
            }
        case _:
            user = {"username": USER, "groups": list(_GROUPS)}
            return {"kind": "SelfSubjectReview", **head, "status": {"userInfo": user}}


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


def _read(plural: str, body: bytes) -> _Review:
    if not body.startswith(MAGIC):
        try:
            return msgspec.json.decode(body, type=_Review)
        except msgspec.MsgspecError as fault:
            raise StatusError(400, f"the body is no review: {fault}") from fault
    _, message = unwrapped(body)
    spec = fields(fields(message).get(2, b""))
    if plural == "selfsubjectrulesreviews":
        return _Review(_Spec(namespace=text(spec, 1)))
    resource, other = spec.get(1), spec.get(2)
    return _Review(
        _Spec(
            resource_attributes=None if resource is None else _resource(fields(resource)),
            non_resource_attributes=None if other is None else _other(fields(other)),
        )
    )


def _resource(message: dict[int, bytes]) -> _Resource:
    return _Resource(*(text(message, number) for number in range(1, 8)))


def _other(message: dict[int, bytes]) -> _Other:
    return _Other(text(message, 1), text(message, 2))
