"""An answer to ``why`` as a part of a page."""

from __future__ import annotations

from typing import NamedTuple

from markupsafe import Markup

from ..answers.answer import Why
from ..coverage.coverage import reasons
from ..render.tables import Table
from ..render.why import event_table, link_tables, since_lines
from .templates import rendered

MOST_ROWS = 40


class Reason(NamedTuple):
    """One reason: its sentence, whether it keeps the object waiting, and its numbers.

    :param tables: each with the number of rows that it has in all.
    """

    text: str
    blocks: bool
    tables: list[tuple[Table, int]]


def why_part(why: Why, name: str) -> Markup:
    """Return an answer as HTML.

    :param name: the id of the part in its page.
    """
    return rendered(
        "why.html",
        name=name,
        why=why,
        since=[line.strip() for line in since_lines(why) if line.strip()],
        reasons=reasons_of(why),
        events=event_table("RESTS ON", why.events),
        not_known=reasons(why.not_known),
    )


def reasons_of(why: Why) -> list[Reason]:
    """Return the reasons of an answer, with their tables cut to :data:`MOST_ROWS`."""
    return [
        Reason(
            link.text,
            link.blocks,
            [(table.first(MOST_ROWS), len(table.rows)) for table in link_tables(link)],
        )
        for link in why.chain
    ]
