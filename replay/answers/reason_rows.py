"""Reasons and events as rows of tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from ..moments.times import is_uncertain
from ..tabular.record_columns import AmountColumns, TimeColumn
from .dated import Dated
from .records import Account, Evidence, NodeReason, QueuePath, Reason
from .stages import Stage

_OF_A_MISS = ("missing", "free", "allocatable")


class ReasonRow(msgspec.Struct, frozen=True, kw_only=True):
    """A reason. :param blocks: it keeps the object waiting."""

    reason: str
    text: str
    blocks: bool


class AccountRow(Account, frozen=True, kw_only=True):
    """A queue in a check, with a column for each amount."""

    action: str
    point: str
    plugin: str
    permits: bool
    limit: AmountColumns
    capability: AmountColumns
    deserved: AmountColumns
    guarantee: AmountColumns
    allocated: AmountColumns
    inqueue: AmountColumns
    elastic: AmountColumns
    wanted: AmountColumns
    left: AmountColumns


class MissRow(msgspec.Struct, frozen=True, kw_only=True):
    """A node that does not take the pod. :param missing: None if the node is not near."""

    node: str
    reasons: tuple[str, ...]
    text: str
    final: bool
    missing: AmountColumns = {}
    free: AmountColumns = {}
    allocatable: AmountColumns = {}


class StageRow(msgspec.Struct, frozen=True, kw_only=True):
    """An answer, and since when. :param estimated: the time is an estimate."""

    cause: str
    sentence: str
    at: str
    time: TimeColumn | None
    estimated: bool


class EventRow(msgspec.Struct, frozen=True, kw_only=True):
    """An event. :param estimated: the time is an estimate."""

    position: int
    revision: int | None
    time: TimeColumn | None
    estimated: bool
    kind: str
    about: str
    by: str


def event_columns(event: Evidence) -> dict[str, Any]:
    """Return the columns of an event that name no object."""
    return {
        "position": event.position,
        "revision": event.revision,
        **_time_columns(event),
        "kind": event.kind,
    }


def _time_columns(record: Dated) -> dict[str, Any]:
    return {"time": record.estimate, "estimated": is_uncertain(record.span)}


def reason_row(link: Reason) -> ReasonRow:
    """Return a reason as a row."""
    tag = str(link.__struct_config__.tag)
    return ReasonRow(reason=tag, text=link.text, blocks=link.blocks)


def account_rows(path: QueuePath) -> Iterator[AccountRow]:
    """Yield a row for each queue of a check."""
    how = {name: getattr(path, name) for name in ("action", "point", "plugin", "permits")}
    yield from (AccountRow(**how, **msgspec.structs.asdict(account)) for account in path.accounts)


def miss_rows(group: NodeReason) -> Iterator[MissRow]:
    """Yield a row for each node; only the nearest have amounts."""
    near = {miss.node: miss for miss in group.nearest}
    for node in group.nodes:
        miss = near.get(node)
        amounts = {} if miss is None else {name: getattr(miss, name) for name in _OF_A_MISS}
        yield MissRow(
            node=node, reasons=group.reasons, text=group.text, final=group.final, **amounts
        )


def stage_row(stage: Stage) -> StageRow:
    """Return an answer as a row."""
    since = stage.since
    return StageRow(cause=stage.cause, sentence=stage.sentence, at=since.at, **_time_columns(since))


def event_row(event: Evidence) -> EventRow:
    """Return an event as a row."""
    return EventRow(about=event.about, by=event.by, **event_columns(event))
