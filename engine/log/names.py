"""Small integers for what repeats: texts, clusters and objects, both ways, with bounded caches.

Ids are given out in the append's own transaction, while it holds the log alone, and rows are never
changed or deleted: whatever a cache holds stays true. Ids of an append that fails are forgotten.
"""

# ruff: noqa: S608 -- SQL is put together from our own constants; values are always bound
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from ..errors import LogCorrupt
from ..events import Event, Reference
from .chain import name_key, object_key
from .database import Database, Row

_NEAR = 4
"""Ids of objects are looked up as a range if it holds at most so many for each that is wanted."""

CACHED = 131_072
"""Entries that a cache holds before it starts anew: some 50 MB of objects at worst."""


class Names:
    """The tables ``symbol``, ``cluster`` and ``object`` of one log."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._symbols: dict[str, int] = {}
        self._texts: dict[int, str] = {}
        self._clusters: dict[str, int] = {}
        self._objects: dict[tuple[str, Reference], int] = {}
        self._references: dict[int, tuple[str, Reference]] = {}
        self._undo: list[Callable[[], object]] = []

    def committed(self) -> None:
        """Keep the ids that were given out since the last commit."""
        self._undo.clear()

    def rolled_back(self) -> None:
        """Forget the ids that were given out since the last commit."""
        for forget in self._undo:
            forget()
        self._undo.clear()

    def symbol_ids(self, texts: Iterable[str]) -> dict[str, int]:
        """Return the ids of texts, giving out new ones; within an append only."""
        wanted = dict.fromkeys(texts)
        self._shrink(self._symbols)
        found = {text: self._symbols[text] for text in wanted if text in self._symbols}
        if len(found) < len(wanted):
            missing = sorted(text for text in wanted if text not in found)
            found |= self._database.ids_of("symbol", "text", missing)
        fresh = sorted(text for text in wanted if text not in found)
        if fresh:
            first = self._next_id("symbol")
            found |= {text: first + index for index, text in enumerate(fresh)}
            rows = [(found[text], text) for text in fresh]
            self._database.insert("symbol", ("id", "text"), rows)
            self._undo += [partial(self._symbols.pop, text, None) for text in fresh]
        self._symbols |= found
        return found

    def cluster_id(self, name: str) -> int:
        """Return the id of a cluster, giving out a new one; within an append only."""
        known = self.find_cluster(name)
        if known is not None:
            return known
        number = self._next_id("cluster")
        self._database.run("INSERT INTO cluster (id, name) VALUES (?, ?)", (number, name))
        self._clusters[name] = number
        self._undo.append(partial(self._clusters.pop, name, None))
        return number

    def find_cluster(self, name: str) -> int | None:
        """Return the id of a cluster, None if the log has no events of it."""
        if name not in self._clusters:
            self._clusters |= dict(self._database.rows("SELECT name, id FROM cluster"))
        return self._clusters.get(name)

    def cluster_count(self) -> int:
        """Return how many clusters the log has events of."""
        return int(self._database.rows("SELECT count(*) FROM cluster")[0][0])

    def object_ids(self, events: Sequence[Event]) -> list[int]:
        """Return the object id of each event, giving out new ones; within an append only."""
        self._shrink(self._objects)
        objects, find = self._objects, self._objects.get
        numbers = [find((event.cluster, event.reference)) for event in events]
        missing = dict.fromkeys(
            (event.cluster, event.reference)
            for event, number in zip(events, numbers, strict=True)
            if number is None
        )
        if missing:
            self._find_objects(missing)
            self._add_objects([key for key in missing if key not in objects])
        return [
            objects[event.cluster, event.reference] if number is None else number
            for event, number in zip(events, numbers, strict=True)
        ]

    def _find_objects(self, keys: Iterable[tuple[str, Reference]]) -> None:
        by_key = {object_key(*key): key for key in keys}
        for digest, number in self._database.ids_of("object", "key", list(by_key)).items():
            self._objects[by_key[digest]] = number

    def _add_objects(self, keys: Sequence[tuple[str, Reference]]) -> None:
        if not keys:
            return
        symbols = self.symbol_ids(
            text
            for _, reference in keys
            for text in (reference.group, reference.kind, reference.namespace)
        )
        first = self._next_id("object")
        self._database.insert(
            "object",
            ("id", "cluster_id", "group_id", "kind_id", "namespace_id", "key", "name", "uid"),
            [
                (
                    first + index,
                    self.cluster_id(cluster),
                    symbols[reference.group],
                    symbols[reference.kind],
                    symbols[reference.namespace],
                    object_key(cluster, reference),
                    reference.name,
                    reference.uid,
                )
                for index, (cluster, reference) in enumerate(keys)
            ],
        )
        for index, key in enumerate(keys):
            self._objects[key] = first + index
            self._undo.append(partial(self._objects.pop, key, None))

    def texts(self, numbers: Iterable[int]) -> dict[int, str]:
        """Return the texts of symbol ids; ids that stand for nothing are left out."""
        wanted = dict.fromkeys(numbers)
        found = {n: self._texts[n] for n in wanted if n in self._texts}
        missing = sorted(n for n in wanted if n not in found)
        for start in range(0, len(missing), 10_000):
            found |= dict(
                self._database.rows(
                    f"SELECT id, text FROM symbol WHERE {self._database.any_of('id')}",
                    (self._database.listed(missing[start : start + 10_000]),),
                )
            )
        self._shrink(self._texts)
        self._texts |= found
        return found

    def objects(self, numbers: Iterable[int]) -> dict[int, tuple[str, Reference]]:
        """Return (cluster, reference) of object ids; ids that stand for nothing are left out."""
        wanted = dict.fromkeys(numbers)
        found = {n: self._references[n] for n in wanted if n in self._references}
        missing = sorted(n for n in wanted if n not in found)
        for start in range(0, len(missing), 10_000):
            rows = self._object_rows(missing[start : start + 10_000])
            texts = self.texts(number for row in rows for number in row[2:5])
            names = self._names_of_clusters()
            for number, cluster, group, kind, namespace, name, uid in rows:
                try:
                    found[number] = (
                        names[cluster],
                        Reference(texts[group], texts[kind], texts[namespace], name, uid),
                    )
                except KeyError:
                    continue
        self._shrink(self._references)
        self._references |= found
        return found

    def _object_rows(self, numbers: Sequence[int]) -> list[Row]:
        """Return the rows of some objects, given by rising id."""
        columns = "SELECT id, cluster_id, group_id, kind_id, namespace_id, name, uid FROM object"
        first, last = numbers[0], numbers[-1]
        # Ids are in the order of first use: what is missing together mostly lies together, and one
        # walk along the table is cheaper than a search for each.
        if last - first < _NEAR * len(numbers):
            wanted = frozenset(numbers)
            rows = self._database.rows(f"{columns} WHERE id BETWEEN ? AND ?", (first, last))
            return [row for row in rows if row[0] in wanted]
        return self._database.rows(
            f"{columns} WHERE {self._database.any_of('id')}", (self._database.listed(numbers),)
        )

    def references(self, numbers: Iterable[int]) -> dict[int, Reference]:
        """Return what object ids stand for.

        :raises LogCorrupt: one of them stands for nothing.
        """
        wanted = list(numbers)
        found = self.objects(wanted)
        for number in wanted:
            if number not in found:
                raise LogCorrupt(
                    f"object {number} stands for nothing",
                    position=0,
                    where=self._database.location.shown,
                    now="run plinian verify to learn which events are hit",
                )
        return {number: reference for number, (_, reference) in found.items()}

    def symbols_of(self, text: str) -> list[int]:
        """Return the id of a text, as a list of one or none."""
        return [
            row[0] for row in self._database.rows("SELECT id FROM symbol WHERE text = ?", (text,))
        ]

    def symbols_ending(self, component: str) -> list[int]:
        """Return the ids of texts that are ``component`` or end in it as a path component."""
        rows = self._database.rows(
            "SELECT id, text FROM symbol WHERE substr(text, length(text) - ? + 1) = ?",
            (len(component), component),
        )
        return [
            number
            for number, text in rows
            if text == component or text[: -len(component)].endswith(("/", "!", "\\"))
        ]

    @staticmethod
    def range_of_name(name: str) -> tuple[bytes, bytes]:
        """Return between which keys the objects of a name lie, both inclusive."""
        prefix = name_key(name)
        return prefix + bytes(12), prefix + b"\xff" * 12

    def _names_of_clusters(self) -> dict[int, str]:
        return dict(self._database.rows("SELECT id, name FROM cluster"))

    def _next_id(self, table: str) -> int:
        return int(self._database.rows(f"SELECT coalesce(max(id), 0) + 1 FROM {table}")[0][0])

    @staticmethod
    def _shrink(cache: dict[Any, Any]) -> None:
        if len(cache) > CACHED:
            cache.clear()
