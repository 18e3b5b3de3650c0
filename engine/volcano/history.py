"""Which release of Volcano behaves how: the one table in which changes are dated.

Rows are in the order in which they landed on the main line; of the rows of one behaviour the last
one that a release has reached holds.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from .behaviours import Behaviours, UnknownAction
from .history_first import ROWS_FIRST
from .history_hardened import ROWS_HARDENED
from .history_until_v1_10 import ROWS_UNTIL_V1_10
from .history_until_v1_12 import ROWS_UNTIL_V1_12
from .history_v1_8 import ROWS_V1_8
from .history_v1_13 import ROWS_V1_13
from .history_v1_14 import ROWS_V1_14
from .history_v1_15 import ROWS_V1_15
from .releases import FIRST, RELEASES, Release, Row, landed, parse_release

SUPPORTED: tuple[Release, ...] = RELEASES
"""Releases whose rows are complete, and their sessions can be run: all."""


_ROWS_SINCE: tuple[Row, ...] = (
    Row(
        "unknown_action",
        UnknownAction.REJECTS_AS_IGNORED,
        FIRST,
        source="util.go UnmarshalSchedulerConf",
        why="A misspelt action keeps the configuration of before in force; the log says otherwise.",
    ),
    Row(
        "gang_eviction_actions",
        False,
        FIRST,
        source="actions/factory.go",
        why="A configuration that names gangpreempt names an unknown action.",
    ),
    Row(
        "root_queue",
        False,
        FIRST,
        source="cache/cache.go newDefaultQueue",
        why="Queues have no parents.",
    ),
    Row(
        "root_queue",
        True,
        landed("v1.11.0"),
        source="cache/cache.go newDefaultAndRootQueue",
        why="Queues form a tree; its root exists from the start.",
        pull=3743,
    ),
    Row(
        "unknown_action",
        UnknownAction.IGNORED,
        landed("v1.12.0"),
        source="util.go UnmarshalSchedulerConf",
        why="A misspelt action is an error in the log, and the rest of the configuration works.",
        pull=3994,
    ),
    Row(
        "unknown_action",
        UnknownAction.REJECTS,
        landed("v1.14.0"),
        source="util.go UnmarshalSchedulerConf",
        why="A misspelt action keeps the configuration of before in force again.",
        pull=4661,
    ),
    Row(
        "gang_eviction_actions",
        True,
        landed("v1.15.0"),
        source="actions/factory.go",
        why="Whole gangs can be evicted by actions of their own.",
        pull=5250,
    ),
)


HISTORY: tuple[Row, ...] = tuple(
    sorted(
        (
            *(*ROWS_V1_8, *ROWS_FIRST, *ROWS_UNTIL_V1_10, *ROWS_UNTIL_V1_12, *_ROWS_SINCE),
            *(*ROWS_V1_13, *ROWS_V1_14, *ROWS_V1_15, *ROWS_HARDENED),
        ),
        key=lambda row: row.change.landed[-1],
    )
)
"""All rows, in the order in which they landed on the main line."""


def rows_of(release: Release) -> dict[str, Row]:
    """Return, by behaviour, the row that holds for a release."""
    return {row.behaviour: row for row in HISTORY if row.change.reached(release)}


def record(release: Release) -> Behaviours:
    """Return the record that the table gives for a release."""
    values = {name: row.value for name, row in rows_of(release).items()}
    return Behaviours(release=str(release), **values)


def resolve(name: str) -> Behaviours:
    """Return how the release of that name behaves.

    :raises UsageError: there is no such release.
    """
    return record(parse_release(name))


def behaviours(name: str, **changed: Any) -> Behaviours:
    """Return how a release behaves with some fields changed, to ask what they alone do.

    :raises UsageError: as :func:`resolve`.
    :raises TypeError: there is no such field.
    """
    return dataclasses.replace(resolve(name), **changed)
