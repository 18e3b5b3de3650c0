"""The answer to why something waits."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ..moments.unknown import Unknown
from ..sessions.step_words import SessionStep
from ..tabular.column_table import ColumnTable, table_of
from ..tabular.tabular import Tabular
from .reason_rows import (
    AccountRow,
    EventRow,
    MissRow,
    ReasonRow,
    StageRow,
    account_rows,
    event_row,
    miss_rows,
    reason_row,
    stage_row,
)
from .records import Asked, Evidence, Link, Nodes, QueuePath
from .stages import Stage


class Why(msgspec.Struct, Tabular, frozen=True, kw_only=True):
    """Why an object waits, or that it does not.

    :param sentence: the answer.
    :param waits: None if the data does not say.
    :param cause: a few words that stay the same as long as the answer does, such as
        ``queue-full test-root``.
    :param chain: the reasons, in the order in which the scheduler comes to them.
    :param began: since when the object waits: its creation, or that of its job.
    :param stages: the answers since then, oldest first; the last is the present one.
    :param made_by: the last events that made it so, in the order in which they happened.
    :param sessions: how many sessions were run to find them.
    :param events: the last versions of the objects that the answer rests on.
    :param steps: the steps of the session's trace about the object.
    :param not_known: what the log does not know and this answer needs.
    """

    asked: Asked
    sentence: str
    waits: bool | None
    cause: str
    chain: tuple[Link, ...]
    began: Evidence | None = None
    stages: tuple[Stage, ...] = ()
    made_by: tuple[Evidence, ...] = ()
    sessions: int = 1
    events: tuple[Evidence, ...] = ()
    steps: tuple[SessionStep, ...] = ()
    not_known: tuple[Unknown, ...] = ()

    @property
    def headline(self) -> str:
        """The answer."""
        return self.sentence

    def tables(self) -> Mapping[str, ColumnTable]:
        """Return the reasons, the queues and nodes with their numbers, and the answers so far."""
        paths = [link for link in self.chain if isinstance(link, QueuePath)]
        groups = [each for link in self.chain if isinstance(link, Nodes) for each in link.groups]
        return {
            "reasons": table_of(ReasonRow, map(reason_row, self.chain)),
            "queues": table_of(AccountRow, (row for path in paths for row in account_rows(path))),
            "nodes": table_of(MissRow, (row for group in groups for row in miss_rows(group))),
            "stages": table_of(StageRow, map(stage_row, self.stages)),
            "made_by": table_of(EventRow, map(event_row, self.made_by)),
        }
