"""Which versions of PodGroups sessions wrote: conditions name the session, other changes do not."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from ...engine.events import Recorded

ComparedStatus = tuple[str, int, int, int, tuple[tuple[str, str, str, str], ...]]
"""A PodGroup's phase; pods running, succeeded, failed; its conditions.

Of these type, status, reason and message.
"""

KINDS = ("podgroup.observed", "podgroup.created", "podgroup.updated")


class _Written(msgspec.Struct):
    """A version of a PodGroup, as far as it is read here."""

    status: Any = None


class GroupVersion(NamedTuple):
    """A version of a PodGroup.

    :param name: ``ns/name``. :param listed: a list had it; it may have been written long before.
    :param sessions: the ids of sessions in its conditions.
    """

    revision: int
    listed: bool
    position: int
    name: str
    status: ComparedStatus
    sessions: tuple[str, ...]


def versions_of(events: Iterable[Recorded]) -> Mapping[str, Sequence[GroupVersion]]:
    """Return the versions of every PodGroup by uid, in order of their revisions.

    Of the same version, the one that an update shows comes first.
    """
    by_uid: dict[str, list[GroupVersion]] = {}
    for recorded in events:
        event = recorded.event
        if event.revision is None:
            continue
        status = msgspec.json.decode(event.payload, type=_Written).status or {}
        conditions = status.get("conditions") or ()
        version = GroupVersion(
            event.revision,
            event.kind == "podgroup.observed",
            recorded.position,
            f"{event.reference.namespace}/{event.reference.name}",
            compared_status(status),
            tuple(
                condition["transitionID"]
                for condition in conditions
                if condition.get("transitionID")
            ),
        )
        by_uid.setdefault(event.reference.uid, []).append(version)
    # By revision first. Then False of ``listed`` is before True, so an update is before a list.
    return {uid: sorted(versions) for uid, versions in sorted(by_uid.items())}


def with_session(
    groups: Mapping[str, Sequence[GroupVersion]],
) -> Iterator[tuple[str, GroupVersion]]:
    """Yield the first version that has a session's id, with the id, for each PodGroup.

    If a list has the id before any update, the session that wrote it was before the log.
    """
    for versions in groups.values():
        known: set[str] = set()
        for version in versions:
            for uid in version.sessions:
                if uid not in known and not version.listed:
                    yield uid, version
                # Noted of a list, too: a later update with this id shows nothing that is new.
                known.add(uid)


def without_session(groups: Mapping[str, Sequence[GroupVersion]]) -> Iterator[GroupVersion]:
    """Yield updates that changed a PodGroup's status and have no new id of a session."""
    for versions in groups.values():
        for before, version in itertools.pairwise(versions):
            is_new = set(version.sessions) - set(before.sessions)
            if before.status != version.status and not version.listed and not is_new:
                yield version


def compared_status(status: Mapping[str, Any]) -> ComparedStatus:
    """Return the part of a PodGroup's status that sessions decide, without times and ids."""
    return (
        status.get("phase", ""),
        status.get("running", 0),
        status.get("succeeded", 0),
        status.get("failed", 0),
        tuple(
            (each["type"], each["status"], each.get("reason", ""), each.get("message", ""))
            for each in status.get("conditions") or ()
        ),
    )
