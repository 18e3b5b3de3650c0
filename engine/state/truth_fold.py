"""Truth at a moment: the objects that the API server held, with their facts."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

import msgspec

from ..events import Reference
from .clock import TimeSpan
from .event_columns import NO_ORIGIN, decode_fact
from .extract import extract_fact
from .facts import Fact, PodFact
from .fold import FoldRecord
from .shared_parts import share

FetchPayloads = Callable[[Sequence[int]], Mapping[int, bytes]]


_FEW = 8
"""Objects of a kind that are looked for one by one; for more, the facts of all are decoded."""


class Entry(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One object at the moment.

    :param position: of the event with this version.
    :param revision: of this version.
    :param fact: its fields for tables and totals.
    :param stale: a write came after this version whose result was not recorded.
    :param ending: position of such a write that deletes the object, 0 if none does.
    :param node_bound: the node of a binding that no version shows yet, else empty.
    :param bound_position: of that binding, else 0.
    """

    reference: Reference
    position: int
    revision: int
    fact: Fact
    stale: bool = False
    node_bound: str = ""
    bound_position: int = 0
    ending: int = 0

    @property
    def resource_version(self) -> str:
        """The version as Kubernetes writes it."""
        return str(self.revision) if self.revision >= 0 else ""


class Truth:
    """All objects at a moment, grouped by kind; facts of a kind are decoded on demand.

    :param when: between which times the moment is (for ages). If nothing says, it is after the
        newest creation among the objects.
    :param raw_facts: gives the encoded facts of records, None for those without a stored one.
    :param fetch: gives the payloads at positions, for the records without a stored fact.
    """

    def __init__(
        self,
        records: Iterable[FoldRecord],
        *,
        when: TimeSpan,
        raw_facts: Callable[[Sequence[FoldRecord]], Sequence[bytes | None]],
        fetch: FetchPayloads,
    ) -> None:
        self._when = when
        self._raw_facts = raw_facts
        self._fetch = fetch
        self._records: dict[tuple[str, str], list[FoldRecord]] = {}
        for record in records:
            reference = record.reference
            self._records.setdefault((reference.group, reference.kind), []).append(record)
        self._entries: dict[tuple[str, str], list[Entry]] = {}
        self._by_name: dict[tuple[str, str], dict[tuple[str, str], Entry]] = {}
        self._found: dict[tuple[str, str], int] = {}
        self._owns_records = False
        self._like: weakref.ref[Truth] | None = None

    def own_records(self, like: Truth | None) -> None:
        """Say that no one else changes or needs the records: their encoded facts need not stay.

        :param like: another truth of the same branch, whose entries are used again as long as it is
            in memory.
        """
        self._owns_records = True
        self._like = None if like is None else weakref.ref(like)

    @property
    def time(self) -> int | None:
        """The best estimate of when the moment is, microseconds; None if unknown."""
        return self.when.estimate

    @property
    def when(self) -> TimeSpan:
        """Between which times the moment is that ages are counted from."""
        if self._when.estimate is None:
            created = (entry.fact.created_at for entry in self.entries())
            newest = max((at for at in created if at is not None), default=None)
            self._when = TimeSpan(newest, None, newest)
        return self._when

    def __len__(self) -> int:
        return sum(len(records) for records in self._records.values())

    def kinds(self) -> list[tuple[str, str]]:
        """Return the (group, kind) pairs that have objects, sorted."""
        return sorted(self._records)

    def of(self, group: str, kind: str, namespace: str | None = None) -> list[Entry]:
        """Return the objects of a kind, sorted by namespace, name and uid.

        :param namespace: only objects in it; None for all.
        """
        entries = self._entries.get((group, kind))
        if entries is None:
            records = sorted(self._records.get((group, kind), ()), key=_reference_of)
            entries = self._shared(records, self._common(group, kind))
            if self._owns_records:
                _slim(records, entries)
            self._entries[group, kind] = entries
        if namespace is None:
            return list(entries)
        return [entry for entry in entries if entry.reference.namespace == namespace]

    def with_name_part(self, group: str, kind: str, part: str) -> list[Entry]:
        """Return the objects of a kind whose names contain a text, in the order of :meth:`of`.

        No fact of another object is decoded.
        """
        entries = self._entries.get((group, kind))
        if entries is not None:
            return [entry for entry in entries if part in entry.reference.name]
        records = self._records.get((group, kind), ())
        named = [record for record in records if part in record.reference.name]
        return self.entries_of(sorted(named, key=_reference_of))

    def _common(self, group: str, kind: str) -> Mapping[int, Entry]:
        """Return the entries of the other truth by the position of their version."""
        like = None if self._like is None else self._like()
        entries = () if like is None else like._entries.get((group, kind), ())  # noqa: SLF001
        # An entry with a binding has a node that its version lacks: it serves no other moment.
        return {entry.position: entry for entry in entries if not entry.bound_position}

    def _shared(self, records: Sequence[FoldRecord], known: Mapping[int, Entry]) -> list[Entry]:
        """Return records with their facts; those that are known are not decoded again."""
        entries = [known.get(record.position) for record in records]
        usable = [
            entry is not None
            and not record.bound
            and record.stale == entry.stale
            and record.ending == entry.ending
            for record, entry in zip(records, entries, strict=True)
        ]
        rest = [record for record, use in zip(records, usable, strict=True) if not use]
        decoded = self.entries_of(rest)
        assert len(decoded) == len(rest), "each record has one entry"
        others = iter(decoded)
        return [
            entry if use and entry is not None else next(others)
            for entry, use in zip(entries, usable, strict=True)
        ]

    def namespaces(self, group: str, kind: str) -> list[str]:
        """Return the namespaces with objects of a kind, sorted."""
        records = self._records.get((group, kind), ())
        return sorted({record.reference.namespace for record in records})

    def find(self, group: str, kind: str, namespace: str, name: str) -> Entry | None:
        """Return the one object of this name, or None."""
        by_name = self._by_name.get((group, kind))
        if by_name is None and (group, kind) not in self._entries:
            found = self._found[group, kind] = self._found.get((group, kind), 0) + 1
            if found <= _FEW:
                return self._sought(group, kind, namespace, name)
        if by_name is None:
            by_name = {}
            for entry in self.of(group, kind):
                by_name.setdefault((entry.reference.namespace, entry.reference.name), entry)
            self._by_name[group, kind] = by_name
        return by_name.get((namespace, name))

    def _sought(self, group: str, kind: str, namespace: str, name: str) -> Entry | None:
        """Return the first object of this name; no fact of another object is decoded."""
        records = self._records.get((group, kind), ())
        named = [
            record
            for record in records
            if record.reference.name == name and record.reference.namespace == namespace
        ]
        entries = self.entries_of(sorted(named, key=_reference_of)[:1])
        return entries[0] if entries else None

    def names(self, group: str, kind: str) -> frozenset[tuple[str, str]]:
        """Return namespace and name of the objects of a kind, without decoding a fact."""
        records = self._records.get((group, kind), ())
        return frozenset((record.reference.namespace, record.reference.name) for record in records)

    def entries(self) -> list[Entry]:
        """Return all objects, sorted by group, kind, namespace, name and uid."""
        return [entry for group, kind in self.kinds() for entry in self.of(group, kind)]

    def records(self) -> Iterator[FoldRecord]:
        """Yield all records in no order, without sorting them or decoding a fact."""
        return chain.from_iterable(self._records.values())

    def entries_of(self, records: Sequence[FoldRecord]) -> list[Entry]:
        """Return some records with their facts, in the order given."""
        raws = self._raw_facts(records)
        wanted = [record.position for record, raw in zip(records, raws, strict=True) if raw is None]
        wanted += [record.bound for record in records if record.bound]
        payloads = self._fetch(wanted) if wanted else {}
        entries = []
        for record, raw in zip(records, raws, strict=True):
            reference = record.reference
            fact = (
                extract_fact(reference.group, reference.kind, payloads[record.position])
                if raw is None
                else decode_fact(raw)
            )
            entries.append(_entry(record, fact, payloads))
        return entries


def _entry(record: FoldRecord, fact: Fact, payloads: Mapping[int, bytes]) -> Entry:
    share(record.reference, fact)
    node = ""
    if record.bound and isinstance(fact, PodFact) and not fact.node:
        node = msgspec.json.decode(payloads[record.bound]).get("node", "")
        if node:
            fact = msgspec.structs.replace(fact, node=node)
    return Entry(
        reference=record.reference,
        position=record.position,
        revision=record.revision,
        fact=fact,
        stale=record.stale,
        node_bound=node,
        bound_position=record.bound if node else 0,
        ending=record.ending,
    )


def _slim(records: Iterable[FoldRecord], entries: Iterable[Entry]) -> None:
    """Let records have no more than their entries lack."""
    for record, entry in zip(records, entries, strict=True):
        record.reference = entry.reference
        record.fact, record.origin = b"", NO_ORIGIN


def _reference_of(record: FoldRecord) -> Reference:
    return record.reference
