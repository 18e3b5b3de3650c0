"""What a result needs to be a table: it names its tables, the rest is here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from ...engine.errors import UsageError
from .column_table import ColumnTable, table_of

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

T = TypeVar("T")


class Tabular:
    """A result that is one or several tables."""

    __slots__ = ()

    def tables(self) -> Mapping[str, ColumnTable]:
        """Return the tables by name, the main one first."""
        raise NotImplementedError

    @property
    def headline(self) -> str:
        """The result in one sentence; empty if the tables say all."""
        return ""

    def to_pandas(self, table: str = "") -> pd.DataFrame:
        """Return a table as a pandas DataFrame.

        Times are timestamps in UTC, quantities are numbers; ``attrs["units"]`` has their units.

        :param table: its name, a key of :meth:`tables`; by default the main one.
        :raises UsageError: there is no such table, or pandas is not installed.
        """
        return self._table(table).to_pandas()

    def to_arrow(self, table: str = "") -> pa.Table:
        """Return a table for Arrow, with the same columns.

        The metadata of a field has its ``unit``.

        :param table: its name, a key of :meth:`tables`; by default the main one.
        :raises UsageError: there is no such table, or pyarrow is not installed.
        """
        return self._table(table).to_arrow()

    def _table(self, name: str) -> ColumnTable:
        known = self.tables()
        if name and name not in known:
            raise UsageError(f"no table {name!r}", now=f"choose from: {', '.join(known)}")
        return known[name or next(iter(known))]

    def _repr_html_(self) -> str:
        from .html import html_of  # noqa: PLC0415 -- only notebooks need it

        return html_of(self.headline, self.tables())


class Records(list[T], Tabular):
    """A list of records that is also a table.

    :param name: of the table. :param shape: the type of its rows.
    :param row: makes a row of a record; by default the record is one.
    """

    def __init__(
        self,
        records: Iterable[T],
        name: str,
        shape: type,
        row: Callable[[T], Any] | None = None,
    ) -> None:
        super().__init__(records)
        self._name, self._shape, self._row = name, shape, row

    def tables(self) -> Mapping[str, ColumnTable]:
        """Return the one table."""
        rows: Iterable[Any] = self if self._row is None else map(self._row, self)
        return {self._name: table_of(self._shape, rows)}
