"""A quick look at the names in a log, for completion, which must not load a database library.

An SQLite log is read by Python's own module; another log is opened as for any command. On any error
nothing is found: completion must not print errors.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple, Protocol
from urllib.parse import unquote

from ...engine.sqlite_side_files import opened_to_read

GroupKind = tuple[str, str]

_OBJECTS = (
    "SELECT DISTINCT {wanted} FROM object o JOIN symbol g ON g.id = o.group_id "
    "JOIN symbol k ON k.id = o.kind_id JOIN symbol n ON n.id = o.namespace_id WHERE {limits}"
)
_EVERYDAY: tuple[GroupKind, ...] = (
    ("", "Pod"),
    ("scheduling.volcano.sh", "PodGroup"),
    ("batch.volcano.sh", "Job"),
)


class LogNames(Protocol):
    """The queries that completion needs."""

    def namespaces(self) -> list[str]:
        """Return the namespaces of objects."""

    def kinds(self) -> list[GroupKind]:
        """Return the (group, kind) pairs of objects."""

    def names(self, kind: GroupKind, namespace: str | None, begin: str) -> list[tuple[str, str]]:
        """Return (namespace, name) of objects of a kind whose names have a prefix.

        :param namespace: None is all. :param begin: the prefix.
        """

    def clusters(self) -> list[str]:
        """Return the names of clusters."""

    def branches(self) -> list[str]:
        """Return the names of branches."""


class _Sqlite(NamedTuple):
    connection: sqlite3.Connection
    most: int

    def _texts(self, sql: str, parameters: Sequence[object] = ()) -> list[str]:
        return sorted(str(row[0]) for row in self.connection.execute(sql, tuple(parameters)))

    def namespaces(self) -> list[str]:
        """Return the namespaces of objects."""
        return self._texts(_OBJECTS.format(wanted="n.text", limits="n.text != ''"))

    def kinds(self) -> list[GroupKind]:
        """Return the (group, kind) pairs of objects."""
        sql = _OBJECTS.format(wanted="g.text, k.text", limits="k.text != ''")
        return sorted((str(group), str(kind)) for group, kind in self.connection.execute(sql))

    def names(self, kind: GroupKind, namespace: str | None, begin: str) -> list[tuple[str, str]]:
        """Return (namespace, name) of objects of a kind, at most as many as are useful."""
        # Without a uid it is a name that only requests or lines of logs have.
        limits = "g.text = ? AND k.text = ? AND o.uid != '' AND substr(o.name, 1, ?) = ?"
        values: list[object] = [*kind, len(begin), begin]
        if namespace is not None:
            # Kinds without namespaces have the empty one, whichever is chosen.
            limits += " AND n.text IN (?, '')"
            values.append(namespace)
        sql = f"{_OBJECTS.format(wanted='n.text, o.name', limits=limits)} LIMIT ?"
        rows = self.connection.execute(sql, (*values, self.most))
        return sorted((str(place), str(name)) for place, name in rows)

    def clusters(self) -> list[str]:
        """Return the names of clusters."""
        return self._texts("SELECT name FROM cluster")

    def branches(self) -> list[str]:
        """Return the names of branches."""
        return self._texts("SELECT name FROM branch")


class _Opened:
    """The same queries for a log in another database."""

    def __init__(self, place: str, most: int) -> None:
        from .log import opened  # noqa: PLC0415 -- only needed here

        self._log = opened(place, read_only=True)
        self._most = most

    def namespaces(self) -> list[str]:
        """Return the namespaces of the most common kinds."""
        return sorted({place for kind in _EVERYDAY for place, _ in self.names(kind, None, "")})

    def kinds(self) -> list[GroupKind]:
        """Return no kinds: the built-in ones are enough."""
        return []

    def names(self, kind: GroupKind, namespace: str | None, begin: str) -> list[tuple[str, str]]:
        """Return (namespace, name) of objects of a kind, at most as many as are useful."""
        found = {
            (reference.namespace, reference.name)
            for cluster in self._log.store.clusters()
            for reference in self._log.store.objects_of(*kind, cluster=cluster)
            if reference.uid
            and (namespace is None or reference.namespace in {namespace, ""})
            and reference.name.startswith(begin)
        }
        return sorted(found)[: self._most]

    def clusters(self) -> list[str]:
        """Return the names of clusters."""
        return list(self._log.store.clusters())

    def branches(self) -> list[str]:
        """Return the names of branches."""
        return [branch.name for branch in self._log.store.branches()]

    def close(self) -> None:
        """Release the log."""
        self._log.close()


@contextmanager
def open_names(place: str, *, most: int = 500) -> Iterator[LogNames]:
    """Open a log for completion.

    :param place: a path, or a URL.
    :param most: the largest useful number of names.
    :raises OSError: there is no such log. :raises sqlite3.Error: the file is not a log.
    """
    scheme, found, rest = place.partition("://")
    if found and scheme != "sqlite":
        with closing(_Opened(place, most)) as log:
            yield log
        return
    path = Path(unquote(rest[1:]) if found else place)
    if not path.is_file():
        raise FileNotFoundError(path)
    with opened_to_read(path.resolve()) as connection:
        yield _Sqlite(connection, most)
