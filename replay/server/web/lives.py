"""The life of one object: its versions in order, with phases and with what each changed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from ....engine.errors import ObjectNotFound
from ....engine.kubernetes.resources import CLUSTER_SCOPED
from ...facade.log import Log
from ...moments.changes import Change
from ...moments.clock import StoreKey
from ...moments.history import history
from ...moments.kinds import ObjectName
from ...moments.moment import Moment
from ...moments.truth import bound_document

MOST_VERSIONS = 5000
"""The versions of an object that are read; of longer lives the last ones."""


class Version(NamedTuple):
    """One event of a life.

    :param time: microseconds since 1970; None if it is not known. :param phase: after it; empty
        if it deletes the object, None if it is not a version.
    :param payload: whether the event holds the whole object.
    """

    position: int
    time: int | None
    kind: str
    uid: str
    actor: str
    note: str
    changes: tuple[Change, ...]
    phase: str | None
    payload: bool


class Life(NamedTuple):
    """All events of one object, in the order in which they happened.

    :param name: as in ``pod/ml/train-0``. :param group: and ``kind``: of the object.
    """

    name: str
    group: str
    kind: str
    versions: tuple[Version, ...]

    def by(self, position: int) -> list[Version]:
        """Return the events that are known by a position."""
        return [one for one in self.versions if one.position <= position]

    def last(self, position: int) -> Version | None:
        """Return the last version by a position, also one that deletes the object."""
        found = [one for one in self.versions if one.position <= position and one.payload]
        return found[-1] if found else None


def life_of(log: Log, text: str) -> Life:
    """Return the life of an object, as in ``pod/ml/train-0``.

    :raises UsageError: it does not name an object.
    :raises ObjectNotFound: the log never held it.
    """
    moment = log.moment()
    found = _life(StoreKey(log.store), log.object(text, moment), moment)
    if not found.versions:
        raise ObjectNotFound(
            f"the log holds no {text}", now="choose an object from the events or a table"
        )
    return found._replace(name=text)


@lru_cache(maxsize=24)
def _life(opened: StoreKey, named: ObjectName, moment: Moment) -> Life:
    pair = (named.group, named.kind)
    place = "" if pair in CLUSTER_SCOPED else named.namespace or "default"
    found = history(opened.store, named, namespace=place, moment=moment)
    some = found.happenings[-MOST_VERSIONS:]
    held = [one.position for one in some if one.revision is not None and not one.note]
    payloads = opened.store.payloads(held, moment.branch)
    versions = []
    for one in some:
        payload = payloads.get(one.position)
        deleted = one.kind.endswith(".deleted") or one.note.startswith("absent")
        phase = "" if deleted else None if payload is None else _phase(pair, payload)
        versions.append(
            Version(
                one.position,
                one.time,
                one.kind,
                one.uid,
                one.actor,
                one.note,
                tuple(one.changes),
                phase,
                payload is not None,
            )
        )
    return Life("", *pair, tuple(versions))


def document_at(log: Log, version: Version) -> dict[str, Any]:
    """Return the object as a version has it."""
    moment = log.moment()
    return bound_document(
        log.store.payloads([version.position], moment.branch)[version.position], ""
    )


def set_by(life: Life, version: Version) -> dict[str, int]:
    """Return by path which event set a field last, for the object of a version.

    A field that is not in it has its value from the object's first version.
    """
    found: dict[str, int] = {}
    for one in life.by(version.position):
        if one.uid != version.uid:
            continue
        if not found and one.payload:
            found[""] = one.position
        for change in one.changes:
            found[change.path] = one.position
    return found


def setter(places: dict[str, int], path: str) -> int:
    """Return the event that set the field at a path: itself, what holds it, or the whole."""
    return max((at for name, at in places.items() if _holds(name, path)), default=0)


def _holds(name: str, path: str) -> bool:
    return not name or path == name or path.startswith((f"{name}.", f"{name}["))


def _phase(pair: tuple[str, str], payload: bytes) -> str:
    """Return the phase of an object in one word."""
    document: dict[str, Any] = msgspec.json.decode(payload)
    if (document.get("metadata") or {}).get("deletionTimestamp"):
        return "Terminating"
    spec, status = document.get("spec") or {}, document.get("status") or {}
    if pair == ("", "Node"):
        return _node_phase(spec, status.get("conditions") or [])
    if pair == ("", "Pod"):
        phase = str(status.get("phase") or "Pending")
        return "Bound" if phase == "Pending" and spec.get("nodeName") else phase
    state = status.get("state")
    if isinstance(state, dict):
        return str(state.get("phase") or "Pending")
    return str(status.get("phase") or state or "Exists")


def _node_phase(spec: dict[str, Any], conditions: Sequence[dict[str, Any]]) -> str:
    ready = next((one.get("status") for one in conditions if one.get("type") == "Ready"), "True")
    if ready != "True":
        return "NotReady"
    return "Cordoned" if spec.get("unschedulable") else "Ready"
