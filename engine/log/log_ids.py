"""Ids of texts, clusters and objects, and what they stand for, with bounded caches.

An append creates ids in its transaction, while it locks the log. Rows are never changed or deleted,
so a cached id stays valid. The ids of an append that fails are removed from the caches.
"""

# ruff: noqa: S608 -- SQL is put together from our own constants; values are always bound
from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, cast

import msgspec

from ..errors import LogCorrupt, UsageError
from ..events import Reference
from ..events.storable import fault_of_name, fault_of_text
from .chain import name_key, object_key, packed_fields, packed_object
from .database import Database, Row

_Told = tuple[str, str, str, str, str, str]
"""Cluster, group, kind, namespace, name and uid of an object."""

_NEAR = 4
"""A range of ids is read at once if it has at most so many ids for each needed one."""

CACHED = 131_072
"""Entries at which a cache is cleared: some 50 MB of objects at most."""

READ = 32_768
"""The same for objects that are read, of which a server holds them for long: some 12 MB."""


def _hold(fault: str, text: str) -> None:
    if fault:
        raise UsageError(
            f"an event cannot be appended: it has a text {fault} ({text[:40]!r})",
            now="leave the event out, or shorten the text",
        )


class Names:
    """The tables ``symbol``, ``cluster`` and ``object`` of one log.

    :param check_keys: treat an object as missing if its key does not match its fields.
    """

    def __init__(self, database: Database, *, check_keys: bool = False) -> None:
        self._database = database
        self._check_keys = check_keys
        self.forget()

    def forget(self) -> None:
        """Clear all caches: an append failed, and the ids that it created do not exist."""
        self._symbols: dict[str, int] = {}
        self._texts: dict[int, str] = {}
        self._clusters: dict[str, int] = {}
        self._clusters_by_id: dict[int, str] = {}
        self._objects: dict[tuple[str, Reference], int] = {}
        self._references: dict[int, tuple[str, Reference]] = {}
        self._packed: dict[int, msgspec.Raw] = {}
        self._all_objects = 0
        self._last_object = 0

    def symbol_ids(self, texts: Iterable[str]) -> dict[str, int]:
        """Return the ids of texts, creating new ones; within an append only."""
        wanted = dict.fromkeys(texts)
        self._shrink(self._symbols)
        ids = {text: self._symbols[text] for text in wanted if text in self._symbols}
        if len(ids) < len(wanted):
            missing = sorted(text for text in wanted if text not in ids)
            for text in missing:
                _hold(fault_of_text(text), text)
            ids |= self._database.ids_of("symbol", "text", missing)
        fresh = sorted(text for text in wanted if text not in ids)
        if fresh:
            first = self._next_id("symbol")
            ids |= {text: first + index for index, text in enumerate(fresh)}
            self._database.insert("symbol", [(ids[text], text) for text in fresh])
        self._symbols |= ids
        return ids

    def cluster_id(self, name: str) -> int:
        """Return the id of a cluster, creating a new one; within an append only."""
        known = self.find_cluster(name)
        if known is not None:
            return known
        _hold(fault_of_text(name), name)
        number = self._next_id("cluster")
        self._database.run("INSERT INTO cluster (id, name) VALUES (?, ?)", (number, name))
        self._clusters[name] = number
        return number

    def find_cluster(self, name: str) -> int | None:
        """Return the id of a cluster, None if the log has no events of it."""
        if name not in self._clusters:
            # Another process may have added some since.
            self._clusters |= dict(self._database.rows("SELECT name, id FROM cluster"))
        return self._clusters.get(name)

    def cluster_count(self) -> int:
        """Return how many clusters the log has events of."""
        return int(self._database.rows("SELECT count(*) FROM cluster")[0][0])

    def object_ids(self, keys: Sequence[tuple[str, Reference]]) -> list[int]:
        """Return the ids of (cluster, object), creating new ones; within an append only."""
        if len(self._objects) > CACHED:
            self._objects.clear()
            # What was cleared is no longer known to be all objects.
            self._all_objects = 0
        numbers = list(map(self._objects.get, keys))
        # Hashing a key costs most of this, so each known key is looked up once.
        missing = [row for row, number in enumerate(numbers) if number is None]
        if missing:
            self._find_objects(list(dict.fromkeys(keys[row] for row in missing)))
            for row in missing:
                numbers[row] = self._objects[keys[row]]
        return cast("list[int]", numbers)

    def _find_objects(self, keys: Sequence[tuple[str, Reference]]) -> None:
        """Return the ids of some objects; create those that are missing."""
        self._shrink(self._packed)
        for cluster, reference in keys:
            for text in (reference.name, reference.uid):
                _hold(fault_of_name(text), text)
            for text in (cluster, reference.group, reference.kind, reference.namespace):
                _hold(fault_of_text(text), text)
        packs = [packed_object(*key) for key in keys]
        digests = [object_key(key[1].name, pack) for key, pack in zip(keys, packs, strict=True)]
        first = self._next_id("object")
        # If only this process wrote the log, and began with an empty one, it knows all objects.
        every = self._all_objects == first - 1
        ids = {} if every else self._database.ids_of("object", "key", digests)
        fresh = [row for row, digest in enumerate(digests) if digest not in ids]
        ids.update(zip((digests[row] for row in fresh), count(first)))
        if fresh:
            self._add_objects({digests[row]: keys[row] for row in fresh}, ids)
        if every:
            self._all_objects += len(fresh)
        for key, packed, digest in zip(keys, packs, digests, strict=True):
            number = ids[digest]
            self._objects[key] = number
            self._packed[number] = packed

    def _add_objects(
        self, keys: Mapping[bytes, tuple[str, Reference]], numbers: Mapping[bytes, int]
    ) -> None:
        symbols = self.symbol_ids(
            text
            for _, reference in keys.values()
            for text in (reference.group, reference.kind, reference.namespace)
        )
        clusters = {name: self.cluster_id(name) for name, _ in keys.values()}
        self._database.insert(
            "object",
            [
                (
                    numbers[digest],
                    clusters[cluster],
                    symbols[reference.group],
                    symbols[reference.kind],
                    symbols[reference.namespace],
                    digest,
                    reference.name,
                    reference.uid,
                )
                for digest, (cluster, reference) in keys.items()
            ],
        )

    def packed(self, numbers: Iterable[int]) -> Mapping[int, msgspec.Raw]:
        """Return these objects as headers have them, packed; others may be among them.

        Ids that are not in the log are left out.
        """
        self._shrink(self._packed)
        missing = frozenset(numbers).difference(self._packed)
        if missing:
            self._packed |= (
                self._checked(sorted(missing))
                if self._check_keys
                else {n: packed_fields(fields) for n, fields in self._fields(sorted(missing))}
            )
        return self._packed

    def _checked(self, numbers: Sequence[int]) -> dict[int, msgspec.Raw]:
        """Return objects, packed, whose stored keys match their fields."""
        keys: dict[int, bytes] = {}
        packs: dict[int, msgspec.Raw] = {}
        for number, fields in self._fields(numbers, keys):
            packed = packed_fields(fields)
            if object_key(fields[4], packed) == keys[number]:
                packs[number] = packed
        return packs

    def has_objects_until(self, number: int) -> bool:
        """Say whether an object has this id, or a greater one."""
        if number > self._last_object:
            self._last_object = self._next_id("object") - 1
        return number <= self._last_object

    def texts(self, numbers: Iterable[int]) -> dict[int, str]:
        """Return the texts of symbol ids; ids that are not in the log are left out."""
        wanted = dict.fromkeys(numbers)
        texts = {n: text for n in wanted if (text := self._texts.get(n)) is not None}
        # A damaged row may have none.
        missing = sorted(n for n in wanted if n not in texts and isinstance(n, int))
        for start in range(0, len(missing), 10_000):
            texts |= dict(
                self._database.rows(
                    f"SELECT id, text FROM symbol WHERE {self._database.any_of('id')}",
                    (self._database.listed(missing[start : start + 10_000]),),
                )
            )
        self._shrink(self._texts)
        self._texts |= texts
        return texts

    def objects(self, numbers: Iterable[int]) -> dict[int, tuple[str, Reference]]:
        """Return (cluster, reference) of object ids; ids that are not in the log are left out."""
        wanted = dict.fromkeys(numbers)
        references = {n: named for n in wanted if (named := self._references.get(n)) is not None}
        references |= self._looked_up(sorted(n for n in wanted if n not in references))
        if len(self._references) > READ:
            self._references.clear()
        self._references |= references
        return references

    def _looked_up(self, numbers: Sequence[int]) -> dict[int, tuple[str, Reference]]:
        """Return (cluster, reference) of some objects, with their ids in rising order."""
        return {
            number: (cluster, Reference(*named))
            for number, (cluster, *named) in self._fields(numbers)
        }

    def _fields(
        self, numbers: Sequence[int], keys: dict[int, bytes] | None = None
    ) -> Iterator[tuple[int, _Told]]:
        """Yield (id, fields) of some objects, with their ids in rising order.

        :param keys: gets the stored keys, by id.
        """
        for start in range(0, len(numbers), 10_000):
            rows = self._object_rows(numbers[start : start + 10_000])
            places = self._places(frozenset(row[1:5] for row in rows))
            if keys is not None:
                keys |= {row[0]: row[7] for row in rows}
            for row in rows:
                place = places.get(row[1:5])
                if place is not None:
                    yield row[0], (*place, row[5], row[6])

    def _places(
        self, numbers: Collection[tuple[int, int, int, int]]
    ) -> dict[tuple[int, int, int, int], tuple[str, str, str, str]]:
        """Return (cluster, group, kind, namespace) by their ids; many objects share them."""
        texts = self.texts(number for place in numbers for number in place[1:])
        clusters = self._names_of_clusters(place[0] for place in numbers)
        return {
            place: (clusters[place[0]], texts[place[1]], texts[place[2]], texts[place[3]])
            for place in numbers
            if place[0] in clusters and all(number in texts for number in place[1:])
        }

    def _object_rows(self, numbers: Sequence[int]) -> list[Row]:
        """Return the rows of some objects, with their ids in rising order."""
        columns = (
            "SELECT id, cluster_id, group_id, kind_id, namespace_id, name, uid, key FROM object"
        )
        first, last = numbers[0], numbers[-1]
        # Ids are in the order of first use, so ids that are needed together are mostly neighbours.
        # Then one scan of a range is cheaper than a search for each.
        if last - first < _NEAR * len(numbers):
            wanted = frozenset(numbers)
            rows = self._database.rows(f"{columns} WHERE id BETWEEN ? AND ?", (first, last))
            return [row for row in rows if row[0] in wanted]
        return self._database.rows(
            f"{columns} WHERE {self._database.any_of('id')}", (self._database.listed(numbers),)
        )

    def references(self, numbers: Iterable[int]) -> dict[int, Reference]:
        """Return what object ids stand for.

        :raises LogCorrupt: one of them is not in the log.
        """
        wanted = list(numbers)
        objects = self.objects(wanted)
        for number in wanted:
            if number not in objects:
                raise LogCorrupt(
                    f"object {number} is not in the log",
                    position=0,
                    where=self._database.location.shown,
                    now="run plinian verify to see which events are affected",
                )
        return {number: reference for number, (_, reference) in objects.items()}

    def objects_of(self, cluster: str, group: str, kind: str) -> list[Reference]:
        """Return every object of a kind that the log knows, by namespace, name and uid."""
        rows = self._database.rows(
            "SELECT n.text, o.name, o.uid FROM object o "
            "JOIN cluster c ON c.id = o.cluster_id JOIN symbol g ON g.id = o.group_id "
            "JOIN symbol k ON k.id = o.kind_id JOIN symbol n ON n.id = o.namespace_id "
            "WHERE c.name = ? AND g.text = ? AND k.text = ?",
            (cluster, group, kind),
        )
        return sorted(Reference(group, kind, *row) for row in rows)

    def symbols_of(self, text: str) -> list[int]:
        """Return the id of a text, as a list of one or none."""
        return [
            row[0] for row in self._database.rows("SELECT id FROM symbol WHERE text = ?", (text,))
        ]

    def symbols_with(self, part: str) -> list[int]:
        """Return the ids of texts that have a part, in small or large letters."""
        rows = self._database.rows("SELECT id, text FROM symbol")
        return [number for number, text in rows if part.lower() in text.lower()]

    def symbols_ending(self, component: str) -> list[int]:
        """Return the ids of texts that are ``component`` or end in it as a path component."""
        rows = self._database.rows(
            "SELECT id, text FROM symbol WHERE substr(text, length(text) - ? + 1) = ?",
            (len(component), component),
        )
        # A component follows a slash of a folder, or the mark after the name of an archive.
        return [
            number
            for number, text in rows
            if text == component or text[: -len(component)].endswith(("/", "!", "\\"))
        ]

    @staticmethod
    def range_of_name(name: str) -> tuple[bytes, bytes]:
        """Return the first and last possible key of objects with a name, both inclusive."""
        prefix = name_key(name)
        return prefix + bytes(12), prefix + b"\xff" * 12

    def _names_of_clusters(self, numbers: Iterable[int]) -> Mapping[int, str]:
        if any(number not in self._clusters_by_id for number in numbers):
            self._clusters_by_id = dict(self._database.rows("SELECT id, name FROM cluster"))
        return self._clusters_by_id

    def _next_id(self, table: str) -> int:
        return int(self._database.rows(f"SELECT coalesce(max(id), 0) + 1 FROM {table}")[0][0])

    @staticmethod
    def _shrink(cache: dict[Any, Any]) -> None:
        if len(cache) > CACHED:
            cache.clear()
