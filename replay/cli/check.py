"""``plinian check``: which invariants are violated at a moment, or over a whole log."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from . import options
from .assumption import ChosenReleases, check_confs, chosen
from .command import command
from .coverage_warnings import first_of
from .reviews import REVIEWS, write_review
from .shell import note, shows_progress, style, write_lines

if TYPE_CHECKING:
    from ..invariants.check_task import CheckReport

FORMS = "table|wide|json|sarif|junit"


@command("check")
@options.log
@click.option(
    "--at",
    metavar="POINT",
    help="Check only this moment: @POSITION, rv:REVISION, a time, -5m or end. Without it, the "
    "whole log is checked.",
)
@click.option("--since", metavar="POINT", help="Leave out violations that had ended by then.")
@click.option("--until", metavar="POINT", help="Check up to this point; by default to the end.")
@options.release
@click.option(
    "--invariant",
    "invariants",
    multiple=True,
    metavar="ID",
    help="Only this invariant, as in I-04 or podgroup-reference; repeatable.",
)
@click.option(
    "--settle",
    default="5s",
    show_default=True,
    metavar="DURATION",
    help="How long invariants must be violated that components restore with a delay.",
)
@options.conf
@options.inputs
@click.option("--list", "listed", is_flag=True, help="List the invariants and check nothing.")
@options.output(FORMS, default="table")
@options.no_headers
@click.option("--exit-code", is_flag=True, help="Exit with 1 if an invariant is violated.")
@options.assume
@options.as_known_at
@options.strict
@options.cluster
@options.branch
def check(
    log: str,
    at: str | None,
    since: str | None,
    until: str | None,
    release: str,
    invariants: tuple[str, ...],
    settle: str,
    conf: Path | None,
    inputs: tuple[str, ...],
    listed: bool,
    output: str,
    no_headers: bool,
    exit_code: bool,
    assume: bool,
    as_known_at: str | None,
    strict: bool,
    cluster: str | None,
    branch: str,
) -> None:
    """Check invariants at a moment, or over a whole log.

    Invariants are sentences that hold of every sound cluster: about objects, the scheduler's cache,
    and sessions. The cache is that of the release, with informers that are never late. Over a log,
    sessions are run where the log records one; with --at, one session is run. Some invariants may
    be violated while components catch up: these violations count after --settle. An invariant whose
    kinds the log does not know is not checked, and a line says so. --list says which ones no log
    shows.
    """
    from ...engine.errors import UsageError
    from ...engine.volcano.session.history import resolve
    from ..coverage.coverage import SCHEDULING, refuse, unknown_at
    from ..invariants.check_task import CheckTask, chosen_invariants, settle_window
    from ..invariants.check_task import check as check_log
    from ..logs.given_confs import conf_file
    from ..render.progress import counting
    from .open_log import opened_or_read
    from .store_beliefs import store_beliefs

    if output not in FORMS.split("|"):
        raise UsageError(f"no output form {output!r}", now=f"choose one of {FORMS}")
    if listed:
        _write_list(output)
        return
    if at is not None and (since is not None or until is not None):
        raise UsageError("--at is one moment, --since and --until a range", now="leave one out")
    chosen_invariants(invariants)
    window = settle_window(settle)
    taken = chosen([release], assume=assume)
    given = None if conf is None else conf_file(conf)
    check_confs([given], taken.names, assume=assume)
    with opened_or_read(log, inputs, branch=branch, cluster=cluster) as opened_log:
        end = opened_log.moment(at or until or "end", as_known_at=as_known_at)
        if strict:
            refuse(unknown_at(opened_log, end, SCHEDULING))
        task = CheckTask(
            end=end,
            behaviours=resolve(taken.names[0]),
            single=at is not None,
            since=None if since is None else first_of(opened_log, since, strict=strict),
            ids=invariants,
            settle=window,
            conf=given,
        )
        if at is not None and not inputs:
            store_beliefs(log, opened_log, end, taken.names)
        with counting("check", visible=shows_progress()) as progress:
            report = check_log(opened_log, task, progress)
    _write(report, output, taken, no_headers=no_headers)
    if exit_code and report.violations:
        sys.stdout.flush()
        raise SystemExit(1)


def _write(report: CheckReport, output: str, taken: ChosenReleases, *, no_headers: bool) -> None:
    from ..render.check import check_document, check_notes, check_table
    from ..render.documents import json_text
    from ..render.short_names import short
    from ..render.tables import write_table

    if output == "json":
        sys.stdout.write(json_text(taken.marked(check_document(report)), indent=2) + "\n")
        return
    if output in REVIEWS:
        from ..review.check_review import check_review

        write_review(check_review(report), output)
        return
    if report.violations:
        wide = output == "wide"
        table = check_table(report, wide=wide)
        write_table(
            sys.stdout, table if wide else short(table), no_headers=no_headers, style=style()
        )
        sys.stdout.flush()
    for text in check_notes(report):
        note(text)


def _write_list(output: str) -> None:
    from ..invariants.check_task import ALL
    from ..render.check import invariant_document, invariant_lines
    from ..render.documents import json_text

    if output == "json":
        sys.stdout.write(json_text([invariant_document(one) for one in ALL], indent=2) + "\n")
    else:
        write_lines(invariant_lines(style=style()))
