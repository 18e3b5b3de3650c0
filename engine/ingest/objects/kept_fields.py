"""Decides what is stored of an object, for every format.

A log is kept for long and passed around, so the content of a Secret is never stored. Only the
fields of a Secret that are named here are stored, so fields that Kubernetes adds later are left out
too. A Secret may be in unexpected places (a dump, kubectl's copy of an object, a line of a log), so
every event passes :func:`stored` before it is appended.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from ...events import KINDS, Effect, Event, canonical_json

LEFT_OUT = "[the content of a Secret is left out]"
"""Replaces a Secret in a text."""

_KEPT = frozenset(
    {
        *("apiVersion", "kind", "metadata", "type", "immutable"),
        # Fields of the options of a delete, which is a body too.
        *("gracePeriodSeconds", "preconditions", "propagationPolicy", "orphanDependents"),
        "dryRun",
    }
)
_KEPT_METADATA = frozenset(
    {
        *("name", "generateName", "namespace", "uid", "resourceVersion", "generation"),
        *("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"),
        *("labels", "ownerReferences", "finalizers"),
    }
)
_SECRET, _SECRETS, _PLURAL = "secret", "secretlist", "secrets"
_ONLY_THEIRS = "stringData"
"""A field that no other kind of object has."""

_CONTENT = ("data", _ONLY_THEIRS)
_OF_OBJECTS = frozenset({"metadata", *_CONTENT})
"""Fields that a reference to an object does not have."""

_TYPES = ("kubernetes.io/", "bootstrap.kubernetes.io/", "helm.sh/release")
"""Prefixes of the types of Secrets that Kubernetes and Helm create."""

_HINT = re.compile(rb"Secret")
"""Searched in every payload; one expression is quicker than several ``in``."""

_NAMED = re.compile(
    rb'Secret(?:List)?:? ?\\*["{]|stringData|(?:Invalid|Unsupported|Duplicate) value: '
)
_DUMPED = re.compile(r'\bSecret(?:List)?(?:: ?)?\{|"kind\\*" ?: ?\\*"Secret(?:List)?\\*"')
_REFUSED = re.compile(r"\bSecret\b")
_VALUE = re.compile(r"\b(?:Invalid|Unsupported|Duplicate) value: ")

_DECODE = msgspec.json.Decoder().decode


def is_secret_resource(resource: str) -> bool:
    """Say whether a plural in a URL is that of Secrets, of any group."""
    return resource == _PLURAL


def is_secret(kind: Any) -> bool:
    """Say whether a kind is that of Secrets, of any group."""
    return isinstance(kind, str) and kind.casefold() == _SECRET


def conceal(document: dict[str, Any]) -> bool:
    """Remove the content of an object if it is a Secret, or has fields that only Secrets have.

    :returns: whether anything was removed.
    """
    if is_secret(document.get("kind")):
        return conceal_secret(document)
    if _ONLY_THEIRS not in document and not _has_type_of_secret(document):
        return False
    removed = [document.pop(field) for field in _CONTENT if field in document]
    metadata = document.get("metadata")
    if isinstance(metadata, dict) and metadata.pop("annotations", None) is not None:
        return True
    return bool(removed)


def _has_type_of_secret(document: dict[str, Any]) -> bool:
    of = document.get("type")
    return isinstance(of, str) and of.startswith(_TYPES)


def conceal_secret(document: dict[str, Any]) -> bool:
    """Remove from a Secret (or from a body that is written to one) what may not be stored.

    Its place, its type, its labels, owners and finalizers remain. Annotations do not, because
    kubectl puts a copy of the content there.

    :returns: whether anything was removed.
    """
    metadata = document.get("metadata")
    fields = [field for field in document if field not in _KEPT]
    if metadata is not None and not isinstance(metadata, dict):
        fields.append("metadata")
    for field in fields:
        del document[field]
    if not isinstance(metadata, dict):
        return bool(fields)
    inner = [field for field in metadata if field not in _KEPT_METADATA]
    for field in inner:
        del metadata[field]
    return bool(fields or inner)


def stored(event: Event) -> Event:
    """Return an event as it may be stored: without the content of any Secret.

    Costs almost nothing if the payload names no Secret.
    """
    payload = event.payload
    secret = event.reference.kind == "Secret"
    if not secret and (_HINT.search(payload) is None or _NAMED.search(payload) is None):
        return event
    value = _DECODE(payload)
    changed = secret and isinstance(value, dict) and _of_secret(event, value)
    if not (conceal_inside(value) or changed):
        return event
    return msgspec.structs.replace(event, payload=canonical_json(value))


def _of_secret(event: Event, payload: dict[str, Any]) -> bool:
    """Remove quotations of a Secret from a payload about it; say whether there were any."""
    if KINDS[event.kind].effect in {Effect.VERSION, Effect.DELETED}:
        options = payload.get("deleteOptions")
        if isinstance(options, dict) and len(payload) == 1:
            return conceal_secret(options)
        return conceal_secret(payload)
    changed = False
    for field in ("message", "body", "options"):
        quoted = payload.get(field)
        if isinstance(quoted, dict):
            changed |= conceal_secret(quoted)
        elif quoted:
            payload[field] = "" if isinstance(quoted, str) else None
            changed = True
    return changed


def conceal_inside(value: Any) -> bool:
    """Remove the content of every Secret inside a JSON value, and of texts with one.

    :returns: whether there was any.
    """
    waiting, changed = [value], False
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if not part.keys().isdisjoint(_OF_OBJECTS):  # Else it may refer to a Secret.
                changed |= conceal(part)
            if _is_list_of_secrets(part):
                for item in part["items"]:
                    changed |= isinstance(item, dict) and conceal_secret(item)
        places = part.items() if isinstance(part, dict) else enumerate(part)
        for place, inner in list(places):
            if isinstance(inner, dict | list):
                waiting.append(inner)
            elif isinstance(inner, str) and (text := without_secrets(inner)) is not inner:
                part[place] = text
                changed = True
    return changed


def _is_list_of_secrets(value: dict[str, Any]) -> bool:
    kind = value.get("kind")
    return (
        isinstance(kind, str)
        and kind.casefold() == _SECRETS
        and isinstance(value.get("items"), list)
    )


def without_secrets(text: str) -> str:
    """Return a text without the Secrets in it: JSON, what Go prints of one, a refusal's message."""
    if "Secret" not in text and _ONLY_THEIRS not in text:
        return text
    if text.lstrip()[:1] in {"{", "["}:
        try:
            value = _DECODE(text)
        except (msgspec.DecodeError, RecursionError):
            pass
        else:
            return canonical_json(value).decode() if conceal_inside(value) else text
    # Where a printed Go value ends cannot be seen in a text, so all that follows goes too.
    dumped = _DUMPED.search(text)
    if dumped is not None:
        text = f"{text[: dumped.start()]}{LEFT_OUT}"
    return without_values(text) if _REFUSED.search(text) else text


def without_values(text: str) -> str:
    """Return the message of a refusal up to the first value that it quotes."""
    match = _VALUE.search(text)
    return text if match is None else f"{text[: match.end()]}[left out]"
