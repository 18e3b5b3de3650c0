"""Behaviours, each declared in one place: its effect, the type of its values, and its history.

A subject is a class of behaviours. A record of a part of Volcano extends all its subjects::

    @subject
    class ReclaimBehaviours:
        reclaim_unit: ReclaimUnit = behaviour(
            "For what ``reclaim`` evicts at once.",
            since(FIRST, ReclaimUnit.TASK).means("Pods are evicted even if ..."),
            since("v1.14.0", ReclaimUnit.JOB, pull=4794).means("No pod is evicted for ..."),
            source="actions/reclaim/reclaim.go",
        )

Type checkers read it as a field without a default, and find a value that is not of its type.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, Generic, TypeVar, dataclass_transform

import msgspec

from .row import DatedChange, Row, in_landing_order, landed

V = TypeVar("V")
V_co = TypeVar("V_co", covariant=True)


class Since(msgspec.Struct, Generic[V_co], frozen=True):
    """A value since a change; what it means follows by :meth:`means`."""

    change: DatedChange
    value: V_co
    pull: int | None
    why: str = ""
    source: str = ""
    fault: str = ""

    def means(self, why: str, *, source: str = "", fault: str = "") -> Since[V_co]:
        """Return it with what it means; all parameters are as in :class:`.row.Row`.

        :param source: if it is another one than the behaviour's.
        """
        return Since(self.change, self.value, self.pull, why, source, fault)


def since(change: str | DatedChange, value: V, pull: int | None = None) -> Since[V]:
    """Return the value of a behaviour since a change.

    :param change: the first release with it, if it is on the main line only.
    """
    return Since(landed(change) if isinstance(change, str) else change, value, pull)


class _Declared(msgspec.Struct, frozen=True):
    effect: str
    history: tuple[Since[Any], ...]
    source: str


def behaviour(effect: str, *history: Since[V], source: str = "") -> V:
    """Return the field of a behaviour.

    :param effect: what an operator can see; the kinds of values have a docstring each.
    :param history: its values, oldest first.
    :param source: that of all values that name no other one.
    """
    field: V = dataclasses.field(metadata={"declared": _Declared(effect, history, source)})
    return field


@dataclass_transform(frozen_default=True, field_specifiers=(behaviour,))
def subject(kind: type[V]) -> type[V]:
    """Make a class one of behaviours; its record has the methods."""
    return dataclasses.dataclass(frozen=True, init=False, repr=False, eq=False)(kind)


def effects_of(kind: type) -> dict[str, str]:
    """Return, by behaviour of a subject, its effect."""
    return {name: declared.effect for name, declared in _declared(kind)}


def history_of(record: type) -> tuple[Row, ...]:
    """Return the rows of all subjects of a record, in the order in which they landed."""
    return in_landing_order(*(row for kind in record.__bases__ for row in _rows(kind)))


def _rows(kind: type) -> Iterator[Row]:
    for name, declared in _declared(kind):
        for dated in declared.history:
            source = dated.source or declared.source
            yield Row(name, dated.value, dated.change, source, dated.why, dated.pull, dated.fault)


def _declared(kind: type) -> Iterator[tuple[str, _Declared]]:
    for field in dataclasses.fields(kind):
        yield field.name, field.metadata["declared"]
