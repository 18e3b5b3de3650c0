"""What comes from outside in a stretch of a log: writes of users, nodes, and kinds without a maker.

No component of a live cluster makes these, so they come and go at their recorded times.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from ...engine.cache.projector import WATCHED
from ...engine.events import KINDS, Effect, Event, Recorded
from ...engine.kubernetes.api_server import (
    ADDED,
    DELETED,
    MODIFIED,
    Document,
    ObjectKey,
    controller_of,
    place_of,
)
from ...engine.kubernetes.resources import GroupKind, distinct_kind
from ...engine.log.store import Query
from ...engine.machine.live import Timed
from ...engine.machine.user import UserAct
from ..explore.version_writes import act_of, bare, clean, difference, is_ending, is_user
from ..logs.log import Log
from ..moments.actors import attributed
from ..moments.log_clock import clock_of
from ..moments.moment import Moment

MAKERS = frozenset({"Deployment", "ReplicaSet", "StatefulSet", "Job", "JobFlow", "JobTemplate"})
"""Kinds whose objects have a component here that makes and deletes what they own."""

_MADE_HERE: tuple[GroupKind, ...] = (
    *(("apps", "Deployment"), ("batch.volcano.sh", "Job"), ("bus.volcano.sh", "Command")),
    *(("flow.volcano.sh", "JobFlow"), ("flow.volcano.sh", "JobTemplate")),
)
CARRIED: tuple[GroupKind, ...] = (*WATCHED, *_MADE_HERE)
"""The kinds that a live cluster has."""

_WORKLOADS = frozenset({*MAKERS, "Pod", "PodGroup", "Queue", "Command"})
"""Kinds that components write, too. All others are taken as recorded."""

_VOLCANO = "volcano"
_KUBELETS = ("system:node:", "system:serviceaccount:kube-system:kwok-controller")


class Arrivals(NamedTuple):
    """What comes from outside.

    :param writes: by time. :param unknown: of so many of them the log does not say who wrote.
    :param foreign: kinds of owners that no component here has, whose pods come as recorded.
    """

    writes: tuple[Timed, ...]
    unknown: int = 0
    foreign: tuple[str, ...] = ()


def arrivals(
    log: Log,
    moment: Moment,
    until: int,
    existing: Iterable[Document],
    schedulers: Collection[str],
) -> Arrivals:
    """Return what comes from outside after a moment until a time, as far as the log has it.

    :param until: microseconds since 1970. :param existing: the objects at the moment.
    :param schedulers: whose pods a live cluster binds; those of others come bound.
    """
    reader = _Reader({place_of(document): document for document in existing}, frozenset(schedulers))
    clock = clock_of(log.store, branch=moment.branch, cluster=moment.cluster)
    # A write is the difference of two versions, so they are read in the order of revisions.
    later = sorted(_later(log, moment), key=lambda recorded: recorded.event.revision or 0)
    events = list(attributed(log.store, clock, later, branch=moment.branch))
    # An attribution names the writer of a version in another event of the same revision.
    writers = {
        (attribution.event.revision, attribution.event.reference): attribution.actor
        for attribution in events
        if attribution.actor
    }
    writes = []
    for attributed_event in events:
        time, event = attributed_event.span.estimate, attributed_event.event
        if time is None or time > until:
            continue
        writer = writers.get((event.revision, event.reference), "")
        writes += [Timed(time, act) for act in reader.read(event, writer)]
    writes.sort(key=lambda timed: timed.at)
    return Arrivals(tuple(writes), reader.unknown, tuple(sorted(reader.foreign)))


def _later(log: Log, moment: Moment) -> Iterator[Recorded]:
    """Yield the events with a revision that happened after a moment."""
    query = Query(branch=moment.branch, cluster=moment.cluster, objects=CARRIED)
    if moment.revision is None:
        return
    for recorded in log.store.read(query):
        revision = recorded.event.revision
        if revision is not None and revision > moment.revision:
            yield recorded


class _Reader:
    """Reads events in the order of revisions, and says which of them come from outside."""

    def __init__(self, versions: dict[ObjectKey, Document], schedulers: frozenset[str]) -> None:
        self._versions = versions
        self._schedulers = schedulers
        self._unbound = {
            place
            for place, version in versions.items()
            if place.kind == "Pod" and not version["spec"].get("nodeName")
        }
        self.unknown = 0
        self.foreign: set[str] = set()

    def read(self, event: Event, writer: str) -> Iterator[UserAct]:
        """Yield the writes that an event shows."""
        effect, about = KINDS[event.kind].effect, event.reference
        if effect not in {Effect.VERSION, Effect.DELETED}:
            return
        kind = distinct_kind(f"{about.group}/v1" if about.group else "v1", about.kind)
        key = f"{about.namespace}/{about.name}" if about.namespace else about.name
        place = ObjectKey(kind, key)
        before = self._versions.pop(place, None)
        now = None if effect is Effect.DELETED else msgspec.json.decode(event.payload, type=dict)
        if now is not None:
            self._versions[place] = now
        act = self._act(place, before, now, writer)
        if act is not None:
            self.unknown += not writer and kind in _WORKLOADS
            yield act

    def _act(
        self, place: ObjectKey, before: Document | None, now: Document | None, writer: str
    ) -> UserAct | None:
        if place.kind not in _WORKLOADS:
            return _recorded(before, now)
        document = before or now
        if document is None or (place.kind == "Command" and before and now):
            return None  # A command is carried out once.
        act = act_of(place, before, now)
        made_here = self._made_here(place.kind, document)
        if place.kind == "Pod" and not made_here:
            act = self._outside(place, now, act)
        if act is None:
            return None
        if act.verb == ADDED:
            return None if made_here else act
        if act.verb == DELETED and not made_here:
            return act if _may_end(writer) else None
        # Where no writer is known, what no component here makes counts as from outside.
        return act if (is_user(writer) if writer else not made_here) else None

    def _made_here(self, kind: str, document: Document) -> bool:
        """Say whether a component here makes an object."""
        owner = controller_of(document)
        if owner is None:
            return kind == "PodGroup" and bool(document["metadata"].get("ownerReferences"))
        name = distinct_kind(owner.get("apiVersion", ""), owner["kind"])
        if name in MAKERS or (kind == "PodGroup" and name == "Pod"):
            return True
        if kind == "Pod":
            self.foreign.add(name)
        return False

    def _outside(
        self, place: ObjectKey, now: Document | None, act: UserAct | None
    ) -> UserAct | None:
        """Return what is written of a pod that nothing here makes; bound if by somebody else."""
        if now is None:
            self._unbound.discard(place)
            return act
        if now["spec"].get("schedulerName", "default-scheduler") in self._schedulers:
            if act is None or act.verb != ADDED:
                return act
            # The scheduler that lives on binds it, whatever node it has in the record.
            return UserAct(ADDED, {**act.document, "spec": _without_node(act.document["spec"])})
        if act is not None and act.verb == ADDED:
            self._unbound.add(place)  # It comes when it has a node.
        if place in self._unbound and now["spec"].get("nodeName"):
            self._unbound.remove(place)
            return UserAct(ADDED, clean(now, uid=False))
        return None if act is None or act.verb == ADDED else act


def _recorded(before: Document | None, now: Document | None) -> UserAct | None:
    """Return a change as it was recorded: of a node, a volume, a priority class."""
    if now is None or (is_ending(now) and not (before and is_ending(before))):
        return UserAct(DELETED, bare(before)) if before else None
    if is_ending(now):
        return None
    if before is None or before["metadata"]["uid"] != now["metadata"]["uid"]:
        document = clean(now, uid=False)
        return UserAct(ADDED, document | ({"status": now["status"]} if "status" in now else {}))
    changed = difference(_content(before), _content(now))
    if not changed:
        return None
    patch = bare(now)
    metadata = {**patch["metadata"], **(changed.pop("metadata", None) or {})}
    return UserAct(MODIFIED, {**patch, **changed, "metadata": metadata})


def _content(document: Document) -> Mapping[str, Any]:
    """Return what a change may be of: all but what an API server fills in."""
    metadata = {name: document["metadata"].get(name) or {} for name in ("labels", "annotations")}
    rest = {name: value for name, value in document.items() if name not in {"metadata", "kind"}}
    return {**rest, "metadata": metadata}


def _without_node(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in spec.items() if name != "nodeName"}


def _may_end(writer: str) -> bool:
    """Say whether it may be from outside that an object ends: no scheduler or kubelet did it."""
    return _VOLCANO not in writer and not writer.startswith(_KUBELETS)
