"""Tables with shortened names of PodGroups: uids fill a line and mean little to a person."""

from __future__ import annotations

from collections.abc import Sequence

from ..logs.given_names import shortened
from .tables import Table

NAMING = frozenset({"PODGROUP", "JOB", "OBJECT", "NAME"})
"""Columns that may name a PodGroup, alone or with other text."""


def short(table: Table) -> Table:
    """Return a table with shortened names in the naming columns."""
    return short_all([table])[0]


def short_all(tables: Sequence[Table]) -> list[Table]:
    """Return tables with shortened names in the naming columns, distinct across all tables."""
    places = [
        frozenset(place for place, header in enumerate(table.headers) if header in NAMING)
        for table in tables
    ]
    forms = shortened(
        name
        for table, naming in zip(tables, places, strict=True)
        for row in table.rows
        for place in naming
        for name in row[place].split(" ")
    )

    def cell(text: str) -> str:
        return " ".join(forms.get(name, name) for name in text.split(" "))

    return [
        table._replace(
            rows=[
                [cell(text) if place in naming else text for place, text in enumerate(row)]
                for row in table.rows
            ]
        )
        for table, naming in zip(tables, places, strict=True)
    ]
