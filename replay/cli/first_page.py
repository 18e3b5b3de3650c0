"""``plinian`` alone: what the log holds and what to ask next, or how to begin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import options
from .command import command
from .shell import log_option, style, write_lines

if TYPE_CHECKING:
    from ..logs.log import Log
    from ..moments.moment import Moment
    from ..overview.problems import Overview

_SOON = 2_000
"""A cluster of so many objects is soon looked over."""

_OTHERS = 3


@command("first-page", hidden=True)
def first_page(
    *,
    log: options.LogPlace = options.DEFAULT_LOG,
    at: options.At = options.END,
    cluster: options.Cluster = None,
    branch: options.Branch = options.MAIN,
) -> None:
    """Say what the log holds and what to ask next; without a log, how to begin."""
    from ...engine.errors import LogNotFound
    from ..logs.log_summary import objects_at, summary_of
    from ..render.first_page import FirstPage, beginning_lines, summary_lines
    from .open_log import opened

    try:
        with opened(log, read_only=True, branch=branch, cluster=cluster) as opened_log:
            summary = summary_of(opened_log)
            objects: tuple[str, ...] = ()
            overview, then = None, ""
            if summary.cluster:
                moment = opened_log.moment(at)
                then = "" if moment.revision is None else moment.label
                objects = objects_at(opened_log, moment)
                overview = _overview(opened_log, moment)
            page = FirstPage(summary, objects, overview, then, log_option(log))
            write_lines(summary_lines(page, style()))
    except LogNotFound:
        if log != options.DEFAULT_LOG:
            raise
        write_lines(beginning_lines(log, _others(), style()))


def _others() -> list[str]:
    """Return files in this folder that may be logs."""
    from pathlib import Path

    return sorted(path.name for path in Path().glob("*.db") if path.is_file())[:_OTHERS]


def _overview(log: Log, moment: Moment) -> Overview | None:
    """Return what is wrong at a moment; None if it would take long to find out."""
    from ..questions.defaults import DEFAULT_RELEASE
    from ..questions.overview import OverviewQuestion
    from ..server.reach import is_out_of_reach

    if len(log.truth(moment)) > _SOON or is_out_of_reach(log, moment, DEFAULT_RELEASE):
        return None
    return OverviewQuestion(at=moment).ask(log)
