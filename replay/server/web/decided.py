"""Decisions that differ between sessions, as rows of a table."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ...compare.decisions import DifferingDecision

_OF_PODS = frozenset({"bind", "evict", "pipeline"})


class DecisionRow(msgspec.Struct, frozen=True, kw_only=True):
    """A decision that differs: a value for each session, None on one without it.

    :param object: as links name it; empty for a panic.
    """

    decision: str
    object: str
    values: tuple[str | None, ...]


def decision_rows(decisions: Iterable[DifferingDecision]) -> list[DecisionRow]:
    """Return decisions as rows."""
    return [
        DecisionRow(
            decision=one.kind,
            object=f"{'pod' if one.kind in _OF_PODS else 'podgroup'}/{one.about}"
            if one.about
            else "",
            values=tuple(one.values),
        )
        for one in decisions
    ]
