"""Tables as HTML for notebooks: few rows, no script, and no colours but the notebook's.

Names in a cluster are chosen by others, so all text is escaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from ...engine.kubernetes.units import format_time
from .column_table import ColumnTable
from .record_columns import CellType, Column

ROWS = 20
"""The most rows of a table that are shown."""

_CHARACTERS = 120
_TEXT, _NUMBER = "text-align:left", "text-align:right"
_NUMBERS = frozenset({CellType.WHOLE, CellType.NUMBER})


def html_of(headline: str, tables: Mapping[str, ColumnTable]) -> str:
    """Return tables below a headline, each with its first rows; empty ones in one line.

    The text has the colour of the notebook, so it can be read on any background.
    """
    parts = [f"<p>{_safe(headline)}</p>"] if headline else []
    parts += ["".join(_table(name, table)) for name, table in tables.items() if table.count]
    empty = [name for name, table in tables.items() if not table.count]
    if empty:
        parts.append(f"<p>no rows: {_safe(', '.join(empty))}</p>")
    return f'<div style="color:inherit;background:transparent">{"".join(parts)}</div>'


def _table(name: str, table: ColumnTable) -> Iterator[str]:
    yield '<table style="border-collapse:collapse;color:inherit">'
    yield f'<caption style="text-align:left;color:inherit">{_safe(_caption(name, table))}</caption>'
    heads = (
        f'<th style="{_style(column)}">{_safe(_head(column))}</th>' for column in table.columns
    )
    yield f"<thead><tr>{''.join(heads)}</tr></thead><tbody>"
    for row in table.rows(ROWS):
        cells = (
            f'<td style="{_style(column)}">{_safe(_shown(column, value))}</td>'
            for column, value in zip(table.columns, row, strict=True)
        )
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table>"


def _caption(name: str, table: ColumnTable) -> str:
    if table.count <= ROWS:
        return name
    return f"{name}: the first {ROWS} of {table.count} rows; to_pandas({name!r}) has all"


def _head(column: Column) -> str:
    return f"{column.name} ({column.unit})" if column.unit else column.name


def _style(column: Column) -> str:
    return _NUMBER if column.kind in _NUMBERS else _TEXT


def _shown(column: Column, value: Any) -> str:
    if value is None:
        return ""
    if column.kind is CellType.TIME:
        return format_time(value)
    if column.kind is CellType.NUMBER:
        return f"{value:.12g}"
    text = ", ".join(value) if column.kind is CellType.NAMES else str(value)
    return text if len(text) <= _CHARACTERS else f"{text[:_CHARACTERS]}…"


def _safe(text: str) -> str:
    r"""Return text without markup, and with control characters as ``\u000a``."""
    return escape(
        "".join(
            character if character.isprintable() else f"\\u{ord(character):04x}"
            for character in text
        )
    )
