"""``plinian ingest``: read inputs and append their events to the log."""

from __future__ import annotations

from typing import Annotated

from ..questions.fields import Field
from . import options
from .answers import write_answer
from .command import command
from .following import follow_files, refuse_with_follow
from .shell import shows_progress, style


@command("ingest")
def ingest(
    paths: Annotated[
        tuple[str, ...],
        Field("Files, folders, archives (.gz .xz .zst .tar.gz .zip), or -.", "PATH..."),
    ] = (),
    *,
    log: options.LogPlace = options.DEFAULT_LOG,
    cluster: Annotated[str, Field("The cluster that the inputs come from.", "NAME")] = "default",
    branch: options.Branch = options.MAIN,
    skip_malformed: Annotated[bool, Field("Skip and count malformed records.")] = False,
    partial_lists: Annotated[
        bool, Field("Lists are incomplete: an object that is not in a list may still exist.")
    ] = False,
    complete: Annotated[
        bool,
        Field(
            "The inputs hold all objects of each kind that they hold any of: a backup, a "
            "must-gather."
        ),
    ] = False,
    year: Annotated[int | None, Field("The year of logs whose lines have none.", "YEAR")] = None,
    taken_at: Annotated[
        str | None,
        Field(
            "When the inputs were fetched, for lists and dumps that do not say: a time, or "
            "the times of request and answer.",
            "TIME[/TIME]",
        ),
    ] = None,
    redact: Annotated[
        bool,
        Field(
            "Leave out values that often hold secrets: of environment variables, "
            "ConfigMaps, commands, log lines. docs/secrets.md lists them."
        ),
    ] = False,
    no_checkpoint: Annotated[
        bool, Field("Do not index what was added; later commands are slower.")
    ] = False,
    follow: Annotated[
        bool,
        Field(
            "Keep reading audit logs, logs of components and recorded watches while they grow, "
            "across rotations, until interrupted."
        ),
    ] = False,
    explain: Annotated[
        str | None,
        Field(
            "Store nothing: show what one line of an input becomes, or why it is skipped.",
            "FILE:LINE",
        ),
    ] = None,
    output: options.TextWideOrJson = "text",
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
    if follow:
        refuse_with_follow(
            {"--year": year, "--taken-at": taken_at},
            {"--complete": complete, "--partial-lists": partial_lists},
        )
        follow_files(log, paths, cluster=cluster, branch=branch, redact=redact, output=output)
        return
    from ..ingest.fetched import fetched
    from ..ingest.ingest_run import IngestOptions, ingest_at
    from ..logs.log import opened
    from ..moments.log_clock import clock_remarks
    from ..render.figures import summary_lines
    from ..render.progress import counting, phases
    from ..truth.truth import build_index
    from .open_log import read_zone

    chosen = IngestOptions(
        cluster=cluster,
        branch=branch,
        skip_malformed=skip_malformed,
        partial_lists=partial_lists,
        complete=complete,
        taken_at=None
        if taken_at is None
        else fetched(taken_at, option="--taken-at", zone=read_zone()),
        year=year,
        redact=redact,
    )
    with phases(visible=shows_progress()) as progress:
        summary = ingest_at(log, paths, chosen, progress)
    if not no_checkpoint:
        with opened(log) as opened_log, counting("index", visible=shows_progress()) as count:
            build_index(opened_log.store, branch=branch, cluster=cluster, progress=count)
            summary.notes += clock_remarks(opened_log.store, branch=branch, cluster=cluster)
    write_answer(summary, summary_lines(summary, style=style()), output)


def _explain(place: str, paths: tuple[str, ...], year: int | None, output: str) -> None:
    """Print what one line of an input becomes."""
    from ...engine.errors import UsageError
    from ..ingest.explain import explain
    from ..render.figures import explanation_lines

    if paths:
        raise UsageError("--explain stores nothing, so it takes no paths", now="leave them out")
    explanation = explain(place, year=year)
    write_answer(explanation, explanation_lines(explanation, style=style()), output)
