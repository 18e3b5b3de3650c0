"""A report as one page, with all that it needs in it."""

from __future__ import annotations

from markupsafe import Markup

from ..render.session import session_tables
from ..render.sessions import session_table
from ..render.tables import Table
from ..report.records import Decided, Report
from .change import change_part
from .drawing import drawing_of
from .templates import rendered, style_hash, style_sheet
from .why import why_part

MOST_ROWS = 60
"""Rows of a table of the session."""

_DECISIONS = "Decisions"
_NONE = "No pod is bound or evicted, and no PodGroup is enqueued."
_GROUPS, _QUEUES = "PodGroups after the session", "Queues after the session"
_EVENTS, _PENDING = "Events of the session", "Pods that are not placed, and why"


def report_page(report: Report) -> str:
    """Return the page of a report: HTML that needs nothing else, and no script."""
    tables = _tables(report.decided)
    page = rendered(
        "report.html",
        report=report,
        style=Markup(style_sheet()),  # noqa: S704 -- our own file
        style_hash=style_hash(),
        drawing=None if report.timeline is None else drawing_of(report.timeline),
        answers=[
            (one, f"why-{number}", why_part(one.why, f"why-{number}"))
            for number, one in enumerate(report.answers.answers, start=1)
        ],
        change=None if report.change is None else change_part(report.change),
        decisions=[
            (_DECISIONS, _NONE, *tables[_DECISIONS]),
            *((title, "", *tables[title]) for title in (_PENDING, _EVENTS)),
        ],
        statuses=[(title, "", *tables[title]) for title in (_GROUPS, _QUEUES)],
        later=session_table(report.decided.later.sessions),
    )
    return str(page)


def _tables(decided: Decided) -> dict[str, tuple[Table, int]]:
    """Return the tables of the session by title, each with how many rows it has in all."""
    titles = (_DECISIONS, _GROUPS, _QUEUES, _EVENTS, _PENDING)
    return {
        title: (table.first(MOST_ROWS), len(table.rows))
        for title, table in zip(titles, session_tables(decided.answer.result), strict=True)
    }
