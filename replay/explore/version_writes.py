"""Versions of objects as writes: what changed from one to the next, and who can have written it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...engine.kubernetes.api_server import ADDED, DELETED, MODIFIED, Document, ObjectKey
from ...engine.machine.cluster_machine import COMPONENTS
from ...engine.machine.user import UserAct

_OF_THE_SERVER = ("resourceVersion", "generation", "managedFields", "selfLink")
_NO_USERS = ("system:kube-", "system:node:", "system:apiserver", "system:volume-")
_ACCOUNTS = "system:serviceaccount:"


def is_user(actor: str) -> bool:
    """Say whether an actor is a user, and no component that a machine has by itself.

    On a branch that :mod:`.written_branch` wrote, components have their names in the machine.
    """
    if actor.startswith(_ACCOUNTS):
        namespace, _, account = actor.removeprefix(_ACCOUNTS).partition(":")
        return namespace != "kube-system" and "volcano" not in f"{namespace}:{account}"
    return actor not in COMPONENTS and not actor.startswith(_NO_USERS)


def act_of(place: ObjectKey, before: Document | None, now: Document | None) -> UserAct | None:
    """Return a version as a write; None if it changes nothing that a user writes."""
    # The request to delete was written when the deletion began.
    if now is None:
        return UserAct(DELETED, bare(before)) if before and not is_ending(before) else None
    if before is None or before["metadata"]["uid"] != now["metadata"]["uid"]:
        return UserAct(ADDED, clean(now, uid=False))
    if is_ending(now):
        return None if is_ending(before) else UserAct(DELETED, bare(now))
    # What changes in the spec of a Pod is mostly its node, which no user writes.
    changed = {} if place.kind == "Pod" else difference(before["spec"], now["spec"])
    return UserAct(MODIFIED, {**bare(now), "spec": changed}) if changed else None


def difference(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """Return the merge patch from one spec to another."""
    patch: dict[str, Any] = {name: None for name in before if name not in now}
    for name, value in now.items():
        old = before.get(name)
        if isinstance(value, dict) and isinstance(old, dict):
            if inner := difference(old, value):
                patch[name] = inner
        elif value != old:
            patch[name] = value
    return patch


def is_ending(document: Document) -> bool:
    """Say whether an object is being deleted."""
    return "deletionTimestamp" in document["metadata"]


def bare(document: Document) -> Document:
    """Return what names an object, and nothing else of it."""
    metadata = document["metadata"]
    named = {name: metadata[name] for name in ("name", "namespace") if metadata.get(name)}
    return {
        "apiVersion": document["apiVersion"],
        "kind": document["kind"],
        "metadata": named,
    }


def clean(document: Document, *, uid: bool = True) -> Document:
    """Return an object without what an API server fills in; a new one also without a status."""
    dropped = {*_OF_THE_SERVER, *(() if uid else ("uid", "creationTimestamp"))}
    metadata = {name: value for name, value in document["metadata"].items() if name not in dropped}
    cleaned = {**document, "metadata": metadata}
    if not uid:
        cleaned.pop("status", None)
    return cleaned
