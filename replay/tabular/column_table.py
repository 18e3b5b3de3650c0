"""A table: columns of equal length, which pandas and Arrow can take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ...engine.errors import UsageError
from .record_columns import CellType, Column, cell, columns_of, quantity, unit_of

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_LIBRARY_TYPES = MappingProxyType(
    {
        CellType.TEXT: ("string", "string"),
        CellType.NESTED: ("string", "string"),
        CellType.WHOLE: ("Int64", "int64"),
        CellType.NUMBER: ("float64", "float64"),
        CellType.TRUTH: ("boolean", "bool_"),
        CellType.NAMES: ("object", ""),
    }
)
"""What pandas and Arrow call the types of cells; times, and lists in Arrow, are made."""


@dataclass(frozen=True, slots=True)
class ColumnTable:
    """Columns, and the cells of each: None, texts, numbers, truths, lists, times as microseconds.

    :param count: the number of rows.
    """

    columns: tuple[Column, ...]
    cells: tuple[list[Any], ...]
    count: int

    def rows(self, most: int | None = None) -> Iterator[tuple[Any, ...]]:
        """Yield the rows, or the first of them."""
        yield from zip(*(cells[:most] for cells in self.cells), strict=True)

    def to_pandas(self) -> pd.DataFrame:
        """Return the table as a DataFrame.

        Times are in UTC. ``attrs["units"]`` has the unit of each column that has one.

        :raises UsageError: pandas is not installed.
        """
        pandas = _extra("pandas")
        series = {
            column.name: _series(pandas, column.kind, cells)
            for column, cells in zip(self.columns, self.cells, strict=True)
        }
        frame = pandas.DataFrame(series, index=pandas.RangeIndex(self.count))
        frame.attrs["units"] = {column.name: column.unit for column in self.columns if column.unit}
        return frame

    def to_arrow(self) -> pa.Table:
        """Return the table for Arrow; the metadata of a field has its ``unit``, if it has one.

        :raises UsageError: pyarrow is not installed.
        """
        arrow = _extra("pyarrow")
        return arrow.table(list(self.cells), schema=arrow_schema(self.columns))


def table_of(shape: type, rows: Iterable[Any]) -> ColumnTable:
    """Return a table of records.

    :param shape: the type of the records, which has the columns.
    """
    records = list(rows)
    columns: list[Column] = []
    cells: list[list[Any]] = []
    for column in columns_of(shape):
        values = [getattr(row, column.name) for row in records]
        # Which resources there are depends on the rows, not on the type of the record.
        if column.kind is CellType.AMOUNTS:
            for each, amounts in _by_resource(column.name, values):
                columns.append(each)
                cells.append(amounts)
        else:
            columns.append(column)
            cells.append([cell(column.kind, value) for value in values])
    return ColumnTable(tuple(columns), tuple(cells), len(records))


def _by_resource(
    name: str, values: Sequence[dict[str, str]]
) -> Iterator[tuple[Column, list[float | None]]]:
    """Yield a column for each resource of some amounts."""
    for resource in sorted({each for value in values for each in value}):
        column = Column(f"{name}.{resource}", CellType.NUMBER, unit_of(resource))
        texts = [value.get(resource) for value in values]
        yield column, [None if text is None else quantity(text) for text in texts]


def texts(heads: Sequence[str], rows: Iterable[Sequence[str | None]]) -> ColumnTable:
    """Return a table of texts, whose columns depend on what was asked.

    A head that occurs again gets a number.
    """
    records = list(rows)
    columns = tuple(
        Column(
            f"{head} ({number})" if (number := heads[: at + 1].count(head)) > 1 else head,
            CellType.TEXT,
        )
        for at, head in enumerate(heads)
    )
    cells = tuple([cell(CellType.TEXT, row[at]) for row in records] for at in range(len(heads)))
    return ColumnTable(columns, cells, len(records))


def arrow_schema(columns: Iterable[Column]) -> pa.Schema:
    """Return the types of columns for Arrow.

    :raises UsageError: pyarrow is not installed.
    """
    arrow = _extra("pyarrow")
    return arrow.schema(
        [
            arrow.field(
                column.name,
                _arrow_type(column.kind),
                metadata={"unit": column.unit} if column.unit else None,
            )
            for column in columns
        ]
    )


def _arrow_type(kind: CellType) -> Any:
    arrow = _extra("pyarrow")
    if kind is CellType.TIME:
        return arrow.timestamp("us", tz="UTC")
    if kind is CellType.NAMES:
        return arrow.list_(arrow.string())
    return getattr(arrow, _LIBRARY_TYPES[kind][1])()


def _series(pandas: Any, kind: CellType, cells: list[Any]) -> Any:
    if kind is CellType.TIME:
        # Int64 has room for missing values, which int64 has not.
        whole = pandas.Series(cells, dtype="Int64")
        return pandas.to_datetime(whole, unit="us", utc=True).astype("datetime64[us, UTC]")
    return pandas.Series(cells, dtype=_LIBRARY_TYPES[kind][0])


def _extra(name: str) -> Any:
    """Return a library that is installed only if it is wanted.

    :raises UsageError: it is not installed.
    """
    try:
        return import_module(name)
    except ImportError as fault:
        raise UsageError(
            f"this needs {name}, which is not installed", now="pip install 'plinian[notebook]'"
        ) from fault
