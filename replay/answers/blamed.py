"""What makes up a number, as records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ...engine.state.log_coverage import Pair
from ..coverage.coverage import unknown_at
from ..logs.log import Log
from ..moments.moment import Moment
from ..moments.unknown import Unknown
from ..objects.kind_names import plain_name
from ..tabular.column_table import ColumnTable, table_of
from ..tabular.record_columns import Quantity, TimeColumn, quantity
from ..tabular.tabular import Tabular
from .answering_session import POD
from .evidence import keys_of
from .reason_rows import event_columns
from .records import Evidence


class NumberPart(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a number is made of, or one change of a field.

    :param amount: what it adds; of a field: its new value.
    :param before: of a field: its value before.
    """

    amount: str
    about: str
    event: Evidence
    before: str = ""


class PartRow(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a number. :param amount: and ``before``: None if it is no quantity.

    :param estimated: the time is an estimate.
    """

    about: str
    amount: Quantity | None
    before: Quantity | None
    text: str
    position: int
    revision: int | None
    time: TimeColumn | None
    estimated: bool
    kind: str
    by: str


class Blame(msgspec.Struct, Tabular, frozen=True, kw_only=True):
    """What makes up a number.

    :param number: as it was named, such as ``allocated.cpu``.
    :param value: at the moment. :param how: what the number is a sum of.
    :param parts: in the order in which they happened.
    :param last: the event that changed it last; None if it is not known.
    :param changed: what that event added or took away.
    """

    about: str
    number: str
    at: str
    value: str
    how: str
    parts: tuple[NumberPart, ...]
    last: Evidence | None = None
    changed: str = ""
    not_known: tuple[Unknown, ...] = ()

    @property
    def headline(self) -> str:
        """The number, and what it is a sum of."""
        return f"{self.number} of {self.about} is {self.value or 'not set'}: {self.how}"

    def tables(self) -> Mapping[str, ColumnTable]:
        """Return what the number is made of."""
        return {"parts": table_of(PartRow, map(_row, self.parts))}


def _row(part: NumberPart) -> PartRow:
    return PartRow(
        about=part.about,
        amount=_quantity(part.amount),
        before=_quantity(part.before),
        text=part.amount,
        by=part.event.by,
        **event_columns(part.event),
    )


def _quantity(text: str) -> float | None:
    try:
        return quantity(text)
    except ValueError:
        return None


class NumberAsked(msgspec.Struct, frozen=True):
    """A question about a number.

    :param podgroup: of a pod or a job, ``namespace/name`` of its PodGroup.
    :param losses: look for the last event that took something away, too.
    """

    log: Log
    moment: Moment
    pair: Pair
    key: str
    number: str
    podgroup: str = ""
    losses: bool = True

    @property
    def about(self) -> str:
        """The object as it is printed."""
        return f"{plain_name(*self.pair)}/{self.key}"


def in_their_order(ask: NumberAsked, parts: Sequence[NumberPart]) -> list[NumberPart]:
    """Return parts in the order in which their events happened."""
    key_of = keys_of(ask.log, ask.moment, (part.event for part in parts))
    return sorted(parts, key=lambda part: (key_of(part.event), part.event.position))


def made_of(ask: NumberAsked, value: str, how: str, parts: Sequence[NumberPart]) -> Blame:
    """Return what makes up a number; the last part changed it last."""
    last = parts[-1] if parts else None
    return Blame(
        about=ask.about,
        number=ask.number,
        at=ask.moment.label,
        value=value,
        how=how,
        parts=tuple(parts),
        last=None if last is None else last.event,
        # A sum grows with its last part; callers replace this where it shrank or was set.
        changed="" if last is None else f"+{last.amount}",
        not_known=tuple(unknown_at(ask.log, ask.moment, [ask.pair, POD])),
    )
