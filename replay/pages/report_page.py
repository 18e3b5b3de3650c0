"""A report as one page, with all that it needs in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from markupsafe import Markup

from ...engine.session.framework.session_outcome import SessionResult
from ..render.blocks import Block, CommandLine, Folded, Section, Sentence
from ..render.session import session_tables
from ..render.sessions import session_table
from ..report.report_records import Bounded, Later, MomentReport
from .blocks import blocks_html
from .change import change_part
from .drawing import drawing_of
from .templates import rendered, style_hash, style_sheet
from .why_sections import why_part

MOST_ROWS = 60
"""Rows of a table of the session."""


def report_page(report: MomentReport) -> str:
    """Return the page of a report: HTML that needs nothing else, and no script."""
    later, decided, state = report.decided.later, report.decided, report.state.tables
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
        decisions="" if decided.doubt else _html(_decisions(decided.answer.result)),
        later=_html(_later(later)),
        state=_html(block for one in state for block in _bounded(one)),
    )
    return str(page)


def _html(blocks: Iterable[Block]) -> Markup:
    return blocks_html([Section(list(blocks))], most=MOST_ROWS)


def _decisions(result: SessionResult) -> Iterator[Block]:
    """Yield what the session decides, and the statuses after it."""
    tables = session_tables(result)
    titles = ("Decisions", *_STATUSES, "Events of the session", "Pods that are not placed, and why")
    titled = (one._replace(title=title) for one, title in zip(tables, titles, strict=True))
    decisions, groups, queues, events, pending = titled
    nothing = Sentence("No pod is bound or evicted, and no PodGroup is enqueued.")
    yield decisions if decisions.rows else nothing
    yield from (table for table in (pending, events) if table.rows)
    yield Folded("Statuses after the session", [groups, queues])


_STATUSES = ("PodGroups after the session", "Queues after the session")


def _later(later: Later) -> Iterator[Block]:
    """Yield what the cluster's scheduler did next."""
    if later.sessions:
        title, total = "Sessions that the log records from this moment on", later.more
        total += len(later.sessions)
        yield session_table(later.sessions)._replace(title=title, total=total)
    else:
        yield Sentence("The log records no session from this moment on.")
    yield CommandLine(later.command)
    if later.number:
        yield later.decided.table
        yield CommandLine(later.decided.command, "Run it again, and compare:")


def _bounded(one: Bounded) -> Iterator[Block]:
    yield one.table
    if one.order:
        yield Sentence(f"Shown are {one.order}.", "cut")
    yield CommandLine(one.command)
