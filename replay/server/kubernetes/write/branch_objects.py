"""The objects of a branch as a value: each write makes a new one, and requests keep the old one."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from .....engine.kubernetes.resources import GroupKind
from .....engine.state.clock import TimeSpan, span_at
from .....engine.state.truth_fold import Entry
from ....coverage.coverage import unknown_at
from ....logs.log import Log
from ....moments.moment import Moment
from ..read.cluster_state import SECRETS, ClusterState, KeptStates, Name, find_entry, name_of
from ..watch.resource_changes import ResourceChange
from ..wire.api_resources import NAMESPACE, SECRET, ApiResource, Catalog
from ..wire.event_groups import one_pair


class Tables(NamedTuple):
    """All objects of a branch at one position.

    :param moment: the end of the branch. :param revision: the last one that was given out.
    :param when: between which times the last write was.
    :param kinds: the objects of each kind, by namespace and name.
    """

    moment: Moment
    revision: int
    when: TimeSpan
    kinds: Mapping[GroupKind, Sequence[Entry]]
    catalog: Catalog

    def of(self, kind: GroupKind) -> Sequence[Entry]:
        """Return the objects of a kind, by namespace and name."""
        return self.kinds.get(one_pair(kind), ())

    def find(self, kind: GroupKind, name: Name) -> Entry | None:
        """Return an object, or None."""
        return find_entry(self.of(kind), name)

    def after(self, moment: Moment, time: int, changes: Iterable[ResourceChange]) -> Tables:
        """Return the objects after some changes."""
        kinds = dict(self.kinds)
        copied: dict[GroupKind, list[Entry]] = {}
        revision = self.revision
        for change in changes:
            pair = one_pair(change.pair)
            # Copied once for all changes: requests may still read the list of before.
            if pair not in copied:
                kinds[pair] = copied[pair] = list(kinds.get(pair, ()))
            _apply(copied[pair], change)
            revision = max(revision, change.revision)
        when = span_at(max(self.when.estimate or time, time))
        return Tables(moment, revision, when, kinds, self.catalog)


def _apply(entries: list[Entry], change: ResourceChange) -> None:
    place = bisect_left(entries, change.name, key=name_of)
    there = place < len(entries) and name_of(entries[place]) == change.name
    entries[place : place + there] = [] if change.after is None else [change.after]


class BranchState(ClusterState):
    """The objects of a branch, for the thread of a log.

    :param kept: for states at earlier revisions, which are read from the log.
    """

    def __init__(self, log: Log, tables: Tables, kept: KeptStates) -> None:
        super().__init__(log, tables.moment, kept)
        self._tables = tables

    @property
    def revision(self) -> int:
        """The last revision that was given out."""
        return self._tables.revision

    @property
    def when(self) -> TimeSpan:
        """Between which times the last write was."""
        return self._tables.when

    @property
    def catalog(self) -> Catalog:
        """The resources."""
        return self._tables.catalog

    def of(self, kind: GroupKind) -> Sequence[Entry]:
        """Return the objects of a kind."""
        return self._tables.of(kind)

    @property
    def kinds(self) -> Sequence[GroupKind]:
        """The kinds that have objects."""
        return tuple(self._tables.kinds)

    def stored(self, entries: Sequence[Entry]) -> list[bytes]:
        """Return objects as the log has them, which must have them."""
        positions = [entry.position for entry in entries]
        payloads = self._log.store.payloads(positions, self.moment.branch)
        return [payloads[position] for position in positions]

    def document(self, entry: Entry, resource: ApiResource | None = None) -> dict[str, Any]:
        """Return an object as a resource shows it; None is in the version in which it is stored."""
        reference = entry.reference
        shown_as = resource or self.catalog.of_kind(reference.group, reference.kind)
        (body,) = self.bodies([entry], shown_as)
        document: dict[str, Any] = msgspec.json.decode(body)
        return document

    def doubts(self, kind: GroupKind, namespace: str) -> list[str]:  # noqa: ARG002
        """Return what is not certain: on a branch, only what no log holds."""
        return [SECRETS] if kind == SECRET else []

    def uids_ever(self, kind: GroupKind) -> Iterable[str]:
        """Return the uids of the objects of a kind that the log has or had."""
        known = self._log.store.objects_of(*kind, cluster=self.moment.cluster)
        return (reference.uid for reference in known)

    def on(self, log: Log) -> BranchState:
        """Return the same state, for the thread of another log."""
        return BranchState(log, self._tables, self._kept)


def loaded(log: Log) -> Tables:
    """Return all objects at the end of the branch of a log."""
    moment = log.moment("end")
    state = ClusterState(log, moment, KeptStates(0))
    pairs = {one_pair(pair) for pair in log.truth(moment).kinds()} | {NAMESPACE}
    kinds = {pair: list(state.of(pair)) for pair in sorted(pairs)}
    # A binding that no version shows is served with the revision after the last version.
    shown = (
        entry.revision + bool(entry.node_bound) for entries in kinds.values() for entry in entries
    )
    revision = max(state.revision, *shown) if any(kinds.values()) else state.revision
    return Tables(moment, revision, state.when, kinds, state.catalog)


def known_kinds(log: Log, tables: Tables) -> frozenset[GroupKind]:
    """Return the kinds of which the log knows all objects where the branch ends.

    A watch that was recorded is summed up at its end. If the branch begins before that, only what
    it continues knows it.
    """
    info = {branch.name: branch for branch in log.store.branches()}[tables.moment.branch]
    asked = [(log, tables.moment)]
    if info.parent is not None and info.last == info.fork:
        parent = Log(log.store, branch=info.parent, cluster=tables.moment.cluster)
        asked.append((parent, parent.moment(f"rv:{tables.revision}")))
    return frozenset(
        pair
        for pair in tables.kinds
        if any(not unknown_at(source, moment, [pair]) for source, moment in asked)
    )
