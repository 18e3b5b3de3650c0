"""Queues over time: what each has of one resource, what it deserves, and its limits."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import msgspec

from ...engine.errors import ObjectNotFound, UsageError
from ...engine.state.extract import extract_use
from ...engine.state.facts import NodeFact, PodFact, PodGroupFact, QueueFact
from ..logs.log import Log, Progress
from .changes_in_order import StateChange, changes
from .incidents import Incident, QueueIncidents, scheduler_incidents
from .period import Period, ShownPeriod, Track
from .queue_totals import Tree

MOST_QUEUES = 8
"""Queues in one picture; those with the most allocated are kept."""

_FINISHED = frozenset({"Succeeded", "Failed"})
Values = tuple[float | None, ...]


class QueueShare(msgspec.Struct, frozen=True, kw_only=True):
    """One queue; of each part of the period the highest value.

    :param children: how many queues are below it; their pods count.
    :param allocated: requests of pods that have a node and have not finished; None while the queue
        does not exist. In Volcano's unit: thousandths, or bytes.
    :param deserved: as the queue's spec says it, None without; likewise the others.
    """

    queue: str
    parent: str
    depth: int
    children: int
    allocated: Values
    deserved: Values
    capability: Values
    guarantee: Values


class QueueShares(msgspec.Struct, frozen=True, kw_only=True):
    """All queues of a log, parents before their children.

    :param left_out: how many queues are not shown, as there are too many.
    """

    period: Period
    resource: str
    queues: tuple[QueueShare, ...]
    incidents: tuple[Incident, ...]
    left_out: int


def queue_shares(
    log: Log,
    span: ShownPeriod,
    resource: str = "cpu",
    *,
    names: Collection[str] = (),
    progress: Progress | None = None,
) -> QueueShares:
    """Return the shares of queues.

    :param names: only these. :param progress: called with (position, last position).
    :raises UsageError: the log has no such queue, or no such resource.
    """
    follow = _Follow(span.period, resource)
    for change in changes(log, span.end, progress, extract=extract_use):
        follow.take(change)
    shares = follow.shares()
    missing = sorted(set(names) - {share.queue for share in shares})
    if missing:
        known = ", ".join(share.queue for share in shares) or "none"
        raise ObjectNotFound(f"no queue {missing[0]!r} in this period", now=f"queues: {known}")
    if shares and resource not in follow.resources:
        raise UsageError(
            f"no queue, node or pod has {resource!r}",
            now=f"resources: {', '.join(sorted(follow.resources)) or 'none'}",
        )
    chosen = [share for share in shares if not names or share.queue in names]
    largest = _kept(chosen)
    shown = {"", *(share.queue for share in largest)}
    incidents = [*follow.incidents.ended(), *scheduler_incidents(log, span)]
    return QueueShares(
        period=span.period,
        resource=resource,
        queues=tuple(largest),
        incidents=tuple(sorted(incident for incident in incidents if incident.queue in shown)),
        left_out=len(chosen) - len(largest),
    )


def _kept(shares: list[QueueShare]) -> list[QueueShare]:
    most = sorted(shares, key=lambda share: (-highest_of(share.allocated), share.queue))[
        :MOST_QUEUES
    ]
    # In the order of the tree again: children stand below their parents.
    return [share for share in shares if share in most]


def highest_of(values: Values) -> float:
    """Return the highest of some values; 0 if there is none."""
    return max((value for value in values if value is not None), default=0.0)


def _limits(queue: QueueFact) -> tuple[object, ...]:
    """Return what a queue's place in the tree and its lines depend on."""
    return queue.parent, queue.capability, queue.deserved, queue.guarantee


class _Tracks:
    """The numbers of one queue over time."""

    def __init__(self, period: Period) -> None:
        self.allocated = Track(period)
        self.limits = {
            name: Track(period, last=True) for name in ("deserved", "capability", "guarantee")
        }


class _Follow:
    """Follows changes, and keeps what queues have."""

    def __init__(self, period: Period, resource: str) -> None:
        self._period, self._resource = period, resource
        self._tree = Tree()
        self._tracks: dict[str, _Tracks] = {}
        self._groups: dict[tuple[str, str], str] = {}
        self._pods: dict[tuple[str, str], tuple[str, PodFact]] = {}
        self._members: dict[tuple[str, str], set[tuple[str, str]]] = {}
        self._last = 0
        self.resources: set[str] = set()
        self.incidents = QueueIncidents(period, resource)

    def take(self, change: StateChange) -> None:
        """Take the next change."""
        self._last = change.time
        fact = change.now or change.before
        touched: set[str] = set()
        if isinstance(fact, PodFact):
            touched = self._pod(change)
        elif isinstance(fact, PodGroupFact):
            touched = self._group(change)
        elif isinstance(fact, QueueFact):
            touched = self._queue(change)
        elif isinstance(fact, NodeFact):
            self.resources.update(fact.allocatable)
            if self.incidents.node(change):
                # What all nodes have is a limit of the queues directly below the root.
                touched = set(self._tree.specs)
        for queue in touched:
            if queue in self._tree.specs:
                self._note(queue, change.time)

    def _pod(self, change: StateChange) -> set[str]:
        reference = change.reference
        key = (reference.namespace, reference.name)
        pod = change.now
        if not isinstance(pod, PodFact) or not (pod.podgroup or pod.queue):
            return self._take_away(key)
        if self._is_as_before(key, pod):
            return set()
        self.resources.update(pod.requests)
        return self._take_away(key) | self._add(key, pod)

    def _is_as_before(self, key: tuple[str, str], pod: PodFact) -> bool:
        """Return whether a pod adds to a queue what it did before: most versions of pods do."""
        counted = self._pods.get(key)
        if counted is None:
            return False
        before = counted[1]
        return (
            pod.podgroup == before.podgroup
            and pod.queue == before.queue
            and pod.requests == before.requests
            and self._amount(pod) == self._amount(before)
        )

    def _add(self, key: tuple[str, str], pod: PodFact) -> set[str]:
        group = (key[0], pod.podgroup)
        queue = self._groups.get(group, pod.queue)
        self._pods[key] = queue, pod
        self._members.setdefault(group, set()).add(key)
        return self._tree.add(queue, self._amount(pod))

    def _take_away(self, key: tuple[str, str]) -> set[str]:
        if key not in self._pods:
            return set()
        queue, pod = self._pods.pop(key)
        group = (key[0], pod.podgroup)
        self._members[group].discard(key)
        if not self._members[group]:
            del self._members[group]
        return self._tree.add(queue, -self._amount(pod))

    def _amount(self, pod: PodFact) -> float:
        occupies = bool(pod.node) and pod.phase not in _FINISHED
        return pod.requests.get(self._resource, 0.0) if occupies else 0.0

    def _group(self, change: StateChange) -> set[str]:
        key = (change.reference.namespace, change.reference.name)
        now, before = change.now, self._groups.get(key)
        if isinstance(now, PodGroupFact):
            self._groups[key] = now.queue or "default"
        else:
            self._groups.pop(key, None)
        # Most versions of PodGroups change the status only.
        if self._groups.get(key) == before:
            return set()
        touched: set[str] = set()
        for pod in sorted(self._members.get(key, ())):
            fact = self._pods[pod][1]
            touched |= self._take_away(pod) | self._add(pod, fact)
        return touched

    def _queue(self, change: StateChange) -> set[str]:
        name, now = change.reference.name, change.now
        spec = now if isinstance(now, QueueFact) else None
        for fact in (spec,) if spec is not None else ():
            self.resources |= {*fact.capability, *fact.deserved, *fact.guarantee}
        self.incidents.queue(change)
        before = change.before
        if spec is not None and isinstance(before, QueueFact) and _limits(spec) == _limits(before):
            return set()
        touched = self._tree.put(name, spec)
        if spec is None and name in self._tracks:
            self._close(name, change.time)
        return touched

    def _close(self, name: str, time: int) -> None:
        tracks = self._tracks[name]
        for track in (tracks.allocated, *tracks.limits.values()):
            track.set(time, None)

    def _note(self, queue: str, time: int) -> None:
        tracks = self._tracks.get(queue)
        if tracks is None:
            tracks = self._tracks[queue] = _Tracks(self._period)
        spec, allocated = self._tree.specs[queue], self._tree.total(queue)
        tracks.allocated.set(time, allocated)
        for name, track in tracks.limits.items():
            track.set(time, getattr(spec, name).get(self._resource))
        self.incidents.amounts(time, queue, self._tree, allocated)

    def shares(self) -> list[QueueShare]:
        """Return what was found, parents before their children."""
        return list(self._shares())

    def _shares(self) -> Iterator[QueueShare]:
        for depth, name in self._tree.walk():
            tracks = self._tracks.get(name)
            if tracks is None:
                continue
            allocated = tracks.allocated.values()
            if any(value is not None for value in allocated):
                yield QueueShare(
                    queue=name,
                    parent=self._tree.parent_of(name),
                    depth=depth,
                    children=len(self._tree.children_of(name)),
                    allocated=allocated,
                    **{kind: track.values() for kind, track in tracks.limits.items()},
                )
