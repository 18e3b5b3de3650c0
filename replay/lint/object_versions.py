"""The ``apiVersion`` and the kind of objects of Volcano: those that exist, in any release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, NamedTuple

from ...engine.kubernetes.resources import RESOURCE_TYPES, VOLCANO_KINDS, VOLCANO_VERSIONS
from .objects import Manifest

_NAME = "volcano"
_REFUSED = "no API server accepts the object"
_KUBERNETES = frozenset(resource_type.group for resource_type in RESOURCE_TYPES) - frozenset(
    VOLCANO_VERSIONS
)
_SHARED = frozenset(
    resource_type.kind for resource_type in RESOURCE_TYPES if resource_type.group in _KUBERNETES
)
"""Kinds that Kubernetes has, and perhaps Volcano, too."""


class OddVersion(NamedTuple):
    """What does not exist. :param field: ``apiVersion`` or ``kind``."""

    field: str
    message: str
    now: str


def odd_version(manifest: Manifest) -> OddVersion | None:
    """Return why an object's kind does not exist; None if it does, or is none of Volcano's."""
    version, kind = (manifest.document.get(name) for name in ("apiVersion", "kind"))
    if not (isinstance(version, str) and isinstance(kind, str)):
        return None
    # A version without a slash is of the core group, unless it is a group whose slash was
    # forgotten.
    group = version.partition("/")[0] if "/" in version or _NAME in version else ""
    if group in VOLCANO_VERSIONS:
        return _of_volcano(group, version, kind)
    if _NAME in group:
        return _of_no_group(group, kind)
    if group in _KUBERNETES:
        return _of_kubernetes(version, kind, manifest)
    return None


def missing_field(field: str, document: Mapping[str, Any]) -> str:
    """Return what to write where an object has no ``apiVersion``, or no kind; empty if unknown."""
    version, kind = document.get("apiVersion"), document.get("kind")
    if field == "apiVersion" and isinstance(kind, str) and kind in VOLCANO_KINDS:
        ours = kind not in _SHARED or _has_tasks(document.get("spec"))
        return _write(kind) if ours else ""
    group = version.partition("/")[0] if isinstance(version, str) else ""
    kinds = [name for name, of in VOLCANO_KINDS.items() if of == group]
    return f"write its kind, such as {kinds[0]}" if field == "kind" and kinds else ""


def _of_volcano(group: str, version: str, kind: str) -> OddVersion | None:
    kinds = [name for name, of in VOLCANO_KINDS.items() if of == group]
    if kind not in kinds:
        if kind in VOLCANO_KINDS:
            message = f"{group} has no kind {kind}: {_REFUSED}"
            return OddVersion("apiVersion", message, _write(kind))
        like = _like(kind, kinds) or _like(kind, VOLCANO_KINDS)
        message = f"{group} has no kind {kind!r:.60}: {_REFUSED}"
        if not like:
            return OddVersion("kind", message, f"it has {', '.join(kinds)}")
        there = "" if like in kinds else f", and apiVersion: {_version(like)}"
        return OddVersion("kind", message, f"write kind: {like}{there}")
    if version == _version(kind):
        return None
    message = f"there is no apiVersion {version!r:.80} in any release: {_REFUSED}"
    return OddVersion("apiVersion", message, _write(kind))


def _of_no_group(group: str, kind: str) -> OddVersion | None:
    like = kind if kind in VOLCANO_KINDS else _like(kind, VOLCANO_KINDS)
    if not like:
        return None  # Perhaps of another project around Volcano.
    message = f"there is no group {group!r:.60} of Volcano: {_REFUSED}"
    return OddVersion("apiVersion", message, _write(like))


def _of_kubernetes(version: str, kind: str, manifest: Manifest) -> OddVersion | None:
    """Return what is odd about a kind of Volcano in a group that Kubernetes has."""
    if kind in VOLCANO_KINDS and kind not in _SHARED:
        message = f"Kubernetes has no kind {kind} in {version}: {_REFUSED}"
        return OddVersion("apiVersion", message, _write(kind))
    if kind in VOLCANO_KINDS and _has_tasks(manifest.document.get("spec")):
        message = f"a {kind} of {version} has no tasks: only that of Volcano has"
        return OddVersion("apiVersion", message, _write(kind))
    return None


def _has_tasks(spec: object) -> bool:
    """Return whether a specification of a Job, or of a CronJob, has tasks."""
    if not isinstance(spec, dict):
        return False
    template = spec.get("jobTemplate")
    inner = template.get("spec") if isinstance(template, dict) else None
    return any(isinstance(part, dict) and "tasks" in part for part in (spec, inner))


def _like(kind: str, kinds: Iterable[str]) -> str:
    by_lower = {name.lower(): name for name in kinds}
    near = get_close_matches(kind.lower(), by_lower, n=1, cutoff=0.75)
    return by_lower[near[0]] if near else ""


def _version(kind: str) -> str:
    group = VOLCANO_KINDS[kind]
    return f"{group}/{VOLCANO_VERSIONS[group]}"


def _write(kind: str) -> str:
    return f"write apiVersion: {_version(kind)}"
