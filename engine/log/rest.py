"""Verifies rows that no hash covers, though answers depend on them."""

# ruff: noqa: S608 -- SQL is put together from our own constants; values are always bound
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import LogCorrupt
from .branches import damaged
from .database import Database
from .log_ids import Names
from .store import MAIN

_PER_BRANCH = ("head", "event", "payload_block", "batch")


class RestCheck:
    """Checks for objects without events, removed branches, and rows without a branch.

    :param names: the names that events were verified with.
    """

    def __init__(self, database: Database, names: Names) -> None:
        self._database = database
        self._names = names
        self._seen = np.zeros(1024, np.bool_)

    def saw(self, objects: Sequence[int]) -> None:
        """Note the objects of some events."""
        if not objects:
            return
        numbers = np.array(objects, np.int64)
        last = int(numbers.max())
        # A damaged row may have any number; an unknown one is found by the header.
        if not self._names.has_objects_until(last) or int(numbers.min()) < 0:
            return
        if last >= len(self._seen):
            grown = np.zeros(max(last + 1, 2 * len(self._seen)), np.bool_)
            grown[: len(self._seen)] = self._seen
            self._seen = grown
        self._seen[numbers] = True

    def check(self, *, whole: bool) -> None:
        """Raise for the first fault.

        :param whole: all branches were verified.
        :raises LogCorrupt: naming the table.
        """
        self._check_branches()
        self._check_log_row()
        if whole:
            self._check_objects()

    def _check_branches(self) -> None:
        """Check that branches have the numbers from 1 on, and every row has a branch."""
        rows = self._database.rows("SELECT id, name, parent_id FROM branch ORDER BY id")
        numbers = [row[0] for row in rows]
        if numbers != list(range(1, len(rows) + 1)):
            missing = min(frozenset(range(1, len(rows) + 2)).difference(numbers))
            raise self._fault(f"the row of branch number {missing} is missing in table branch")
        roots = [name for _, name, parent in rows if parent is None]
        if roots != [MAIN]:
            raise self._fault(f"table branch has other roots than {MAIN!r}: {roots!r}")
        for table in _PER_BRANCH:
            # Branches are numbered without gaps, so it is enough to look at both bounds.
            bounds = self._database.rows(f"SELECT min(branch_id), max(branch_id) FROM {table}")[0]
            for number in bounds:
                if number is not None and number not in numbers:
                    raise self._fault(
                        f"table {table} has rows of branch number {number}, whose row is"
                        " missing in table branch"
                    )

    def _check_log_row(self) -> None:
        if self._database.rows("SELECT id FROM log") != [(1,)]:
            raise self._fault("table log has not the one row that a log has")

    def _check_objects(self) -> None:
        rows = self._database.rows(
            "SELECT count(*), max(id), count(DISTINCT cluster_id) FROM object"
        )
        count, last, clusters = rows[0]
        seen = int(self._seen.sum())
        if count != seen or (last or 0) != seen:
            raise self._fault(
                f"table object has {count} rows up to number {last or 0}, but events are about"
                f" {seen} objects"
            )
        there = self._database.rows("SELECT count(*) FROM cluster")[0][0]
        if there != clusters:
            raise self._fault(f"table cluster has {there} rows, but objects are of {clusters}")

    def _fault(self, what: str) -> LogCorrupt:
        return damaged(self._database, what, 0)
