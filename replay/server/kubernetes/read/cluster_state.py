"""The objects of a cluster at a moment: all that answers are made of."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from uuid import NAMESPACE_DNS, uuid5

import msgspec

from .....engine.events import Reference
from .....engine.kubernetes.resources import GroupKind
from .....engine.kubernetes.units import SECOND_US, format_time
from .....engine.state.clock import TimeSpan, span_at
from .....engine.state.facts import OtherFact
from .....engine.state.truth_fold import Entry
from ....coverage.coverage import reasons, unknown_at
from ....logs.log import Log
from ....moments.moment import Moment
from ....moments.times import is_one_time, span_text
from ....truth.truth import bound_document
from ...kept_answers import LastUsed
from ..wire.api_resources import CRD, NAMESPACE, SECRET, ApiResource, Catalog, HeldKind, catalog_of
from ..wire.event_groups import EVENTS, event_in_group, one_pair
from ..wire.shifted_times import NONE, Shift

Name = tuple[str, str]
"""Namespace and name."""

MOST_ENTRIES = 80_000
"""Entries that are kept for further answers."""

MOST_CATALOGS = 16

SECRETS = "the log never holds the content of Secrets: their data and annotations are missing"
NEVER_SEEN = "the log has no object of this kind, and no input that would show one"
_STALE = "{} of these may be outdated: a later write was accepted, but its result was not recorded"


def name_of(entry: Entry) -> Name:
    """Return what an object is found by, among those of its kind."""
    return entry.reference.namespace, entry.reference.name


def find_entry(entries: Sequence[Entry], name: Name) -> Entry | None:
    """Return the object with a name; None if there is none.

    :param entries: objects of a kind, by namespace and name.
    """
    place = bisect_left(entries, name, key=name_of)
    return next((entry for entry in entries[place : place + 1] if name_of(entry) == name), None)


class KeptStates:
    """Entries and catalogs of moments, for further answers; threads share it.

    :param most: the number of entries; those of one kind at one moment are kept even if they are
        more.
    """

    def __init__(self, most: int = MOST_ENTRIES) -> None:
        self.entries: LastUsed[Sequence[Entry]] = LastUsed(most, len)
        self.catalogs: LastUsed[Catalog] = LastUsed(MOST_CATALOGS, lambda _: 1)


class ClusterState:
    """The objects of a cluster at a moment, from its log.

    It is used in the thread of its log, and not for long.

    :param kept: what was read before, of any moment.
    :param shift: by how much times are moved where they are shown.
    """

    def __init__(self, log: Log, moment: Moment, kept: KeptStates, shift: Shift = NONE) -> None:
        self._log, self._kept = log, kept
        self.moment, self.shift = moment, shift
        self.label = moment.label

    @property
    def key(self) -> tuple[Moment, Shift]:
        """The moment, and the shift."""
        return self.moment, self.shift

    @property
    def revision(self) -> int:
        """The last revision that had happened."""
        moment = self.moment
        extent = self._log.store.extent(
            known=moment.known, cluster=moment.cluster, branch=moment.branch
        )
        last = extent.last_revision or 0
        # A moment may be given by a revision that is yet to come.
        return last if moment.revision is None else min(moment.revision, last)

    @property
    def when(self) -> TimeSpan:
        """Between which times the moment is, for ages."""
        if self.moment.time is not None:
            return span_at(self.moment.time)
        return self._log.truth(self.moment).when

    @property
    def catalog(self) -> Catalog:
        """The resources that the cluster had, as far as the log shows them."""
        return self._kept.catalogs.get(self.moment, self._catalog)

    def of(self, kind: GroupKind) -> Sequence[Entry]:
        """Return the objects of a kind; events are those of both of their groups."""
        return self._kept.entries.get((self.moment, kind), lambda: self._of(kind))

    def find(self, kind: GroupKind, name: Name) -> Entry | None:
        """Return an object, or None."""
        return find_entry(self.of(kind), name)

    def bodies(self, entries: Sequence[Entry], resource: ApiResource) -> list[bytes]:
        """Return objects as JSON: the bytes of the log, unless the log lacks something of them."""
        stored = [entry.position for entry in entries if entry.position]
        payloads = self._log.store.payloads(stored, self.moment.branch)
        return [
            self.shown(
                entry,
                payloads[entry.position] if entry.position else _derived_namespace(entry),
                resource,
            )
            for entry in entries
        ]

    def documents(self, entries: Sequence[Entry]) -> Iterator[dict[str, Any]]:
        """Yield objects as the log has them."""
        return self._log.documents(entries, branch=self.moment.branch)

    def shown(self, entry: Entry, body: bytes, resource: ApiResource) -> bytes:
        """Return an object of the log as a resource shows it."""
        if entry.node_bound:
            body = _bound(entry, body)
        if resource.pair in EVENTS:
            return event_in_group(body, resource.group)
        begin = b'{"apiVersion":"%s"' % resource.group_version.encode()
        if resource.is_custom and not body.startswith(begin):
            document = msgspec.json.decode(body)
            return msgspec.json.encode({**document, "apiVersion": resource.group_version})
        return body

    def doubts(self, kind: GroupKind, namespace: str) -> list[str]:
        """Return what the log does not know of a kind at the moment, and what may be outdated."""
        kind = one_pair(kind)
        remarks = []
        if kind in self._log.coverage(self.moment).kinds() or self._log.truth(self.moment).of(
            *kind
        ):
            remarks = reasons(unknown_at(self._log, self.moment, [kind], namespace or None))
        elif kind != NAMESPACE:
            remarks = [NEVER_SEEN]
        stale = sum(entry.stale and not entry.ending for entry in self.of(kind))
        if stale:
            remarks.append(_STALE.format(stale))
        if kind == SECRET:
            remarks.append(SECRETS)
        return remarks

    def at(self, revision: int) -> ClusterState:
        """Return the state at an earlier revision, with what is known at this moment.

        :raises PointTooEarly: the log begins later.
        """
        if revision >= self.revision:
            return self
        point = self._log.on_branch_of(self.moment).moment(
            f"rv:{revision}", as_known_at=f"@{self.moment.known}"
        )
        return ClusterState(self._log, point, self._kept, self.shift)

    def on(self, log: Log) -> ClusterState:
        """Return the same state, for the thread of another log."""
        return ClusterState(log, self.moment, self._kept, self.shift)

    def _of(self, kind: GroupKind) -> Sequence[Entry]:
        truth = self._log.truth(self.moment)
        if kind in EVENTS:
            return _merged([entry for pair in EVENTS for entry in truth.of(*pair)])
        entries: Sequence[Entry] = truth.of(*kind)
        # Logs rarely hold namespaces: those that objects are in are served all the same.
        if kind == NAMESPACE:
            known = {entry.reference.name for entry in entries}
            named = {record.reference.namespace for record in truth.records()}
            missing = sorted(named - known - {""})
            entries = _merged([*entries, *(_namespace_entry(name) for name in missing)])
        return entries

    def _held(self) -> Mapping[GroupKind, HeldKind]:
        truth = self._log.truth(self.moment)
        kinds = {}
        for kind in truth.kinds():
            # One object is enough to learn the version of a kind, and whether it has namespaces.
            first = next(iter(truth.of(*kind)))
            body = self._log.store.payloads([first.position], self.moment.branch)[first.position]
            version = msgspec.json.decode(body, type=_Versioned).api_version.rpartition("/")[2]
            kinds[kind] = HeldKind(version=version, namespaced=bool(first.reference.namespace))
        return kinds

    def _catalog(self) -> Catalog:
        crds = self._log.truth(self.moment).of(*CRD)
        documents = self._log.documents(crds, branch=self.moment.branch)
        return catalog_of(self._held(), list(documents))


View = Callable[[Log], ClusterState]
"""Returns a state, for the thread of a log."""


class _Versioned(msgspec.Struct, rename="camel"):
    api_version: str


def _merged(entries: Sequence[Entry]) -> Sequence[Entry]:
    """Return the newest object of each name, by namespace and name."""
    newest: dict[Name, Entry] = {}
    for entry in entries:
        known = newest.get(name_of(entry))
        if known is None or known.revision < entry.revision:
            newest[name_of(entry)] = entry
    return [newest[name] for name in sorted(newest)]


def _namespace_entry(name: str) -> Entry:
    """Return a namespace that only its objects show."""
    uid = str(uuid5(NAMESPACE_DNS, f"{name}.namespace.plinian"))
    return Entry(
        reference=Reference("", "Namespace", "", name, uid),
        position=0,
        revision=1,
        fact=OtherFact(labels={"kubernetes.io/metadata.name": name}),
    )


def _derived_namespace(entry: Entry) -> bytes:
    reference = entry.reference
    metadata = {
        "annotations": {"plinian/derived": "the log holds objects in it, but not itself"},
        "creationTimestamp": None,
        "labels": entry.fact.labels,
        "name": reference.name,
        "resourceVersion": entry.resource_version,
        "uid": reference.uid,
    }
    return msgspec.json.encode(namespace_of(metadata))


def namespace_of(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return a namespace that is in use."""
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": metadata,
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Active"},
    }


def _bound(entry: Entry, body: bytes) -> bytes:
    """Return a pod with a binding that no version shows.

    Its version is the next after the last one that is known: the log holds no other with it.
    """
    document = bound_document(body, entry.node_bound)
    metadata = {**document["metadata"], "resourceVersion": str(entry.revision + 1)}
    return msgspec.json.encode({**document, "metadata": metadata})


def shown_time(state: ClusterState) -> str:
    """Return the moment of a state for people, with its time to the second, or with its bounds."""
    when, label, time = state.when, state.label, state.when.estimate
    if time is None:
        return label
    text = format_time(time - time % SECOND_US) if is_one_time(when) else span_text(when)
    return text if text == label else f"{label} ({text})"


def in_parts(entries: Sequence[Entry], size: int) -> Iterator[Sequence[Entry]]:
    """Yield entries a few at a time."""
    for start in range(0, len(entries), size):
        yield entries[start : start + size]
