"""``plinian ingest``: read inputs and append their events to the log."""

from __future__ import annotations

import sys

import click

from . import options
from .command import command
from .shell import shows_progress, style, write_lines


@command("ingest")
@click.argument(
    "paths",
    nargs=-1,
    metavar="PATH...",
    help="Files, folders, archives (.gz .xz .zst .tar.gz .zip), or -.",
)
@options.log
@click.option(
    "--cluster",
    default="default",
    show_default=True,
    metavar="NAME",
    help="The cluster that the inputs come from.",
)
@options.branch
@click.option("--skip-malformed", is_flag=True, help="Skip and count malformed records.")
@click.option(
    "--partial-lists",
    is_flag=True,
    help="Lists are incomplete: an object that is not in a list may still exist.",
)
@click.option(
    "--complete",
    is_flag=True,
    help="The inputs hold all objects of each kind that they hold any of: a backup, a must-gather.",
)
@click.option("--year", type=int, metavar="YEAR", help="The year of logs whose lines have none.")
@click.option(
    "--taken-at",
    metavar="TIME[/TIME]",
    help="When the inputs were fetched, for lists and dumps that do not say: a time, or "
    "the times of request and answer.",
)
@click.option(
    "--redact",
    is_flag=True,
    help="Leave out values that often hold secrets: of environment variables, "
    "ConfigMaps, commands, log lines. docs/secrets.md lists them.",
)
@click.option(
    "--no-checkpoint", is_flag=True, help="Do not index what was added; later commands are slower."
)
@click.option(
    "--explain",
    metavar="FILE:LINE",
    help="Store nothing: show what one line of an input becomes, or why it is skipped.",
)
@options.text_wide_or_json
def ingest(
    paths: tuple[str, ...],
    log: str,
    cluster: str,
    branch: str,
    skip_malformed: bool,
    partial_lists: bool,
    complete: bool,
    year: int | None,
    taken_at: str | None,
    redact: bool,
    no_checkpoint: bool,
    explain: str | None,
    output: str,
) -> None:
    """Append files, folders and archives to a log.

    Each input is recognised by its content: lists and dumps of kubectl, watch streams, audit logs,
    logs and dumps of Volcano's scheduler and controllers, scheduler configurations, scenarios.
    Inputs given together are merged into one order, whatever their order on the command line. What
    the log already holds is counted and not added again. The log is created if it does not exist.
    The contents of a Secret are never stored.
    """
    from ...engine.errors import UsageError

    if explain is not None:
        _explain(explain, paths, year, output)
        return
    if not paths:
        raise UsageError(
            "no inputs are named", now="name files, folders or archives, or - for standard input"
        )
    import msgspec

    from ..ingest.fetched import fetched
    from ..ingest.ingest_run import IngestOptions, ingest_at
    from ..logs.log import opened
    from ..moments.log_clock import clock_remarks
    from ..render.documents import json_text
    from ..render.progress import counting, phases
    from ..render.summary import summary_lines
    from ..truth.truth import build_index

    chosen = IngestOptions(
        cluster=cluster,
        branch=branch,
        skip_malformed=skip_malformed,
        partial_lists=partial_lists,
        complete=complete,
        taken_at=None if taken_at is None else fetched(taken_at, option="--taken-at"),
        year=year,
        redact=redact,
    )
    with phases(visible=shows_progress()) as progress:
        summary = ingest_at(log, paths, chosen, progress)
    if not no_checkpoint:
        with opened(log) as opened_log, counting("index", visible=shows_progress()) as count:
            build_index(opened_log.store, branch=branch, cluster=cluster, progress=count)
            summary.notes += clock_remarks(opened_log.store, branch=branch, cluster=cluster)
    if output == "json":
        sys.stdout.write(json_text(msgspec.to_builtins(summary)) + "\n")
    else:
        write_lines(summary_lines(summary, style=style()))


def _explain(place: str, paths: tuple[str, ...], year: int | None, output: str) -> None:
    """Print what one line of an input becomes."""
    import msgspec

    from ...engine.errors import UsageError
    from ..ingest.explain import explain
    from ..render.documents import json_text
    from ..render.explanation import explanation_lines

    if paths:
        raise UsageError("--explain stores nothing, so it takes no paths", now="leave them out")
    found = explain(place, year=year)
    if output == "json":
        sys.stdout.write(json_text(msgspec.to_builtins(found)) + "\n")
    else:
        write_lines(explanation_lines(found, style=style()))
