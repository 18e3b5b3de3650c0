"""What is stored of an object: here it is decided, whatever format told of it.

A log is kept long and passed around, so the content of a Secret never gets in. Of a Secret is kept
what is named here, and nothing else: what Kubernetes may add to it one day stays out too. A Secret
may stand where none is expected (in a dump, in kubectl's copy of an object, in a log's line), so
every event passes :func:`stored` on its way into a log.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from ...events import KINDS, Effect, Event, canonical_json

LEFT_OUT = "[the content of a Secret is left out]"
"""Stands in a text where a Secret was."""

_KEPT = frozenset(
    {
        *("apiVersion", "kind", "metadata", "type", "immutable"),
        # Of the options of a delete, which is a body too.
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
"""Fields of which a reference to an object has none."""

_TYPES = ("kubernetes.io/", "bootstrap.kubernetes.io/", "helm.sh/release")
"""How the types of Secrets begin that Kubernetes and Helm make."""

_HINT = re.compile(rb"Secret")
"""Looked for in every payload, for which an expression is quicker than ``in``."""

_NAMED = re.compile(
    rb'Secret(?:List)? ?\\*["{]|stringData|(?:Invalid|Unsupported|Duplicate) value: '
)
_DUMPED = re.compile(r'\bSecret(?:List)?\{|"kind\\*" ?: ?\\*"Secret(?:List)?\\*"')
_REFUSED = re.compile(r"\bSecret\b")
_VALUE = re.compile(r"\b(?:Invalid|Unsupported|Duplicate) value: ")

_DECODE = msgspec.json.Decoder().decode


def is_secret_resource(resource: str) -> bool:
    """Say whether a plural in a URL is that of Secrets, of whatever group."""
    return resource == _PLURAL


def is_secret(kind: Any) -> bool:
    """Say whether a kind is that of Secrets, of whatever group."""
    return isinstance(kind, str) and kind.casefold() == _SECRET


def conceal(document: dict[str, Any]) -> bool:
    """Take the content out of an object if it is a Secret, or holds what only Secrets hold.

    :returns: whether anything was taken out.
    """
    if is_secret(document.get("kind")):
        return conceal_secret(document)
    if _ONLY_THEIRS not in document and not _has_type_of_secret(document):
        return False
    changed = [document.pop(field) for field in _CONTENT if field in document]
    metadata = document.get("metadata")
    if isinstance(metadata, dict) and metadata.pop("annotations", None) is not None:
        return True
    return bool(changed)


def _has_type_of_secret(document: dict[str, Any]) -> bool:
    of = document.get("type")
    return isinstance(of, str) and of.startswith(_TYPES)


def conceal_secret(document: dict[str, Any]) -> bool:
    """Leave of a Secret (or of a body that is written to one) what may be stored.

    That is its place, its type, its labels, owners and finalizers; no annotations, as kubectl puts
    a copy of the content there.

    :returns: whether anything was taken out.
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

    Costs next to nothing where no Secret is named.
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
    """Take out of a payload about a Secret what quotes it; say whether there was anything."""
    if KINDS[event.kind].effect in {Effect.VERSION, Effect.DELETED}:
        options = payload.get("deleteOptions")
        if isinstance(options, dict) and len(payload) == 1:
            return conceal_secret(options)
        return conceal_secret(payload)
    changed = False
    for field in ("message", "body", "options"):
        found = payload.get(field)
        if isinstance(found, dict):
            changed |= conceal_secret(found)
        elif found:
            payload[field] = "" if isinstance(found, str) else None
            changed = True
    return changed


def conceal_inside(value: Any) -> bool:
    """Take the content out of every Secret anywhere inside a JSON value, and of texts with one.

    :returns: whether there was any.
    """
    waiting, changed = [value], False
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            if not one.keys().isdisjoint(_OF_OBJECTS):  # Else it may be a reference to a Secret.
                changed |= conceal(one)
            if _is_list_of_secrets(one):
                for item in one["items"]:
                    changed |= isinstance(item, dict) and conceal_secret(item)
        places = one.items() if isinstance(one, dict) else enumerate(one)
        for place, inner in list(places):
            if isinstance(inner, dict | list):
                waiting.append(inner)
            elif isinstance(inner, str) and (text := without_secrets(inner)) is not inner:
                one[place] = text
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
    dumped = _DUMPED.search(text)
    if dumped is not None:
        text = f"{text[: dumped.start()]}{LEFT_OUT}"
    return without_values(text) if _REFUSED.search(text) else text


def without_values(text: str) -> str:
    """Return the message of a refusal up to the first value that it quotes."""
    found = _VALUE.search(text)
    return text if found is None else f"{text[: found.end()]}[left out]"
