"""What an API server says beside objects: a ``Status`` if it does not do what was asked, warnings.

Source: k8s.io/apimachinery/pkg/api/errors/errors.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec
from starlette.responses import Response

from .....engine.errors import PlinianError
from ... import fault_answers as faults
from .api_resources import ApiResource

JSON = "application/json"

_MOST_CAUSES, _LONGEST_PATH = 20, 200
"""Fields that an answer names, and the characters of a path."""

_WARNING_BYTES, _MOST_WARNINGS = 1500, 20

_REASONS: Mapping[int, str] = MappingProxyType(
    {
        400: "BadRequest",
        404: "NotFound",
        405: "MethodNotAllowed",
        409: "Conflict",
        410: "Expired",
        413: "RequestEntityTooLarge",
        415: "UnsupportedMediaType",
        422: "Invalid",
        503: "ServiceUnavailable",
        504: "Timeout",
    }
)


class StatusError(Exception):
    """A request that is answered with a Status.

    :param details: what it is about. :param allow: the methods that are allowed instead.
    """

    def __init__(
        self,
        code: int,
        message: str,
        *,
        reason: str = "",
        details: Mapping[str, Any] | None = None,
        allow: str = "",
    ) -> None:
        super().__init__(message)
        self.code = code
        self.allow = allow
        self.document: dict[str, Any] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": message,
            "reason": reason or _REASONS.get(code, "InternalError"),
            **({} if details is None else {"details": dict(details)}),
            "code": code,
        }

    def response(self) -> Response:
        """Return it as the answer to a request."""
        headers = {"Allow": self.allow} if self.allow else {}
        seconds = self.document.get("details", {}).get("retryAfterSeconds")
        if seconds is not None:  # Clients of Kubernetes try again by themselves.
            headers["Retry-After"] = str(seconds)
        body = msgspec.json.encode(self.document)
        return Response(body, status_code=self.code, media_type=JSON, headers=headers)


def not_found(resource: ApiResource, name: str) -> StatusError:
    """Return the answer for an object that does not exist."""
    return StatusError(404, f'{_named(resource)} "{name}" not found', details=_of(resource, name))


def already_exists(resource: ApiResource, name: str) -> StatusError:
    """Return the answer to a request that would create an object that exists."""
    return StatusError(
        409,
        f'{_named(resource)} "{name}" already exists',
        reason="AlreadyExists",
        details=_of(resource, name),
    )


def conflict(resource: ApiResource, name: str, why: str) -> StatusError:
    """Return the answer to a write that does not fit the object as it is now."""
    said = f'Operation cannot be fulfilled on {_named(resource)} "{name}": {why}'
    return StatusError(409, said, details=_of(resource, name))


def invalid(message: str) -> StatusError:
    """Return the answer to a write that no object can become."""
    return StatusError(422, message)


def of_wrong_types(
    resource: ApiResource, name: str, wrong: Sequence[tuple[str, str]]
) -> StatusError:
    """Return the answer to a write with fields of a wrong type.

    :param wrong: the path of each, with what is wrong.
    """
    named = [(path[:_LONGEST_PATH], fault) for path, fault in wrong[:_MOST_CAUSES]]
    said = [f"{path}: Invalid value: {fault}" for path, fault in named]
    faults = said[0] if len(said) == 1 else f"[{', '.join(said)}]"
    kind = resource.kind + (f".{resource.group}" if resource.group else "")
    causes = [
        {"reason": "FieldValueTypeInvalid", "message": f"Invalid value: {fault}", "field": path}
        for path, fault in named
    ]
    details = {**_of(resource, name), "kind": resource.kind, "causes": causes}
    return StatusError(422, f'{kind} "{name}" is invalid: {faults}', details=details)


def success(resource: ApiResource, name: str, uid: str = "") -> dict[str, Any]:
    """Return the answer to a write that has no object to show."""
    details = {**_of(resource, name), **({"uid": uid} if uid else {})}
    head = {"kind": "Status", "apiVersion": "v1", "metadata": {}}
    return {**head, "status": "Success", "details": details}


def _named(resource: ApiResource) -> str:
    return resource.plural + (f".{resource.group}" if resource.group else "")


def _of(resource: ApiResource, name: str) -> dict[str, str]:
    details = {"name": name, "group": resource.group, "kind": resource.plural}
    return {field: value for field, value in details.items() if value}


def too_large(asked: int, now: int) -> StatusError:
    """Return the answer for a resourceVersion of the future: clients then forget it."""
    return StatusError(
        504,
        f"Too large resource version: {asked}, current: {now}",
        details={
            "causes": [
                {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
            ],
            "retryAfterSeconds": 1,
        },
    )


def expired(message: str) -> StatusError:
    """Return the answer for a resourceVersion that cannot be continued from."""
    return StatusError(410, message)


def refusal(method: str, label: str) -> StatusError:
    """Return the answer to a write.

    :param label: the moment that is served.
    """
    way = (
        "see what it would change with kubectl diff, or what would follow with plinian what-if, "
        "or write to a branch: plinian branch create NAME, then serve --branch NAME --writable"
    )
    return StatusError(
        405,
        f"{method} is refused: this is the past, at {label}, and cannot be changed; {way}",
        allow="GET",
    )


def of_fault(fault: PlinianError) -> StatusError:
    """Return an error of ours as a Status, without what is only for the terminal of the server."""
    said = faults.told_to_client(fault)
    parts = [said["what"], *([said["now"]] if said["now"] else [])]
    later = {"retryAfterSeconds": 1} if faults.is_passing(fault) else None
    return StatusError(faults.status_in_path(fault), "; ".join(parts), details=later)


def warnings(texts: Sequence[str]) -> str:
    """Return several warnings as a header; clients show each in a separate line."""
    return ", ".join(warning([text]) for text in texts[:_MOST_WARNINGS])


def warning(doubts: Sequence[str]) -> str:
    """Return sentences as a header that clients show to people."""
    # A header is ASCII, and a line break in it would begin another one.
    text = "; ".join(doubts).encode("ascii", "replace").decode()
    text = "".join(character if character.isprintable() else "?" for character in text)
    text = text[:_WARNING_BYTES].replace("\\", "\\\\").replace('"', '\\"')
    return f'299 plinian "{text}"'
