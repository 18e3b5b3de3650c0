"""``plinian fidelity``: recorded sessions run again, and compared with the record."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...engine.kubernetes.counts import counted
from ..questions.defaults import DEFAULT_RELEASE
from ..sessions.remarks import UNNAMED
from . import options
from .assumption import check_confs, chosen, note_rejected
from .command import command
from .coverage_warnings import warn_sessions
from .reviews import REVIEWS, write_review
from .shell import BROKEN, note, shows_progress, style, write_lines

if TYPE_CHECKING:
    from ..fidelity.report import Fidelity


@command("fidelity")
@options.log
@click.option("--at", metavar="POINT", help="Only the last session opened by this moment.")
@click.option(
    "--since", metavar="POINT", help="Only sessions from this point on: rv:7, a time, session:3."
)
@click.option("--until", metavar="POINT", help="Only sessions up to this point.")
@click.option(
    "--release",
    metavar="RELEASE",
    help=f"The release of Volcano that ran; by default {DEFAULT_RELEASE}.",
)
@options.conf
@options.jobs
@click.option("--exit-code", is_flag=True, help="Exit with 1 if a difference is not explained.")
@click.option(
    "--all", "unfold", is_flag=True, help="List all differences, also those with a known cause."
)
@options.plot
@options.text_wide_json_or_review
@options.assume
@options.as_known_at
@options.strict
@options.cluster
@options.branch
def fidelity(
    log: str,
    at: str | None,
    since: str | None,
    until: str | None,
    release: str | None,
    conf: Path | None,
    jobs: int,
    exit_code: bool,
    unfold: bool,
    plot: bool,
    output: str,
    assume: bool,
    as_known_at: str | None,
    strict: bool,
    cluster: str | None,
    branch: str,
) -> None:
    """Run recorded sessions again, and compare them with the record.

    Every session that the log records is run again on the scheduler's cache at that moment. Its
    bindings, evictions, and the phases and conditions that it wrote to PodGroups are compared.

    A log does not say when an informer delivered a change, and in which order the scheduler went
    through Go's maps. Where a session differs at the moment that the times of writes give, the
    nearest deliveries are searched at which it comes out as recorded: first of all informers
    together, then of each kind alone. Each difference has a cause: a tie between equal nodes, the
    order of a map, a change not yet delivered, sampling of nodes, missing input, or unexplained.

    Exits with 2 if there is nothing to compare. Otherwise exits with 0; with --exit-code, with 1 if
    a difference is unexplained, or input is missing.
    """
    from ..fidelity.fidelity_run import fidelity as run
    from ..fidelity.fidelity_scope import question_in
    from ..fidelity.report import fidelity_document
    from ..logs.given_confs import conf_file
    from ..render.documents import json_text
    from ..render.fidelity import fidelity_lines
    from ..render.progress import counting
    from .open_log import opened
    from .pictures import check_plot, write_answer_plot

    check_plot(output, plot=plot)
    taken = chosen([release or DEFAULT_RELEASE], assume=assume)
    given = None if conf is None else conf_file(conf)
    check_confs([given], taken.names, assume=assume)
    with opened(log, read_only=True, branch=branch, cluster=cluster) as opened_log:
        end = opened_log.moment(as_known_at=as_known_at)
        bounds = {
            name: opened_log.moment(point, as_known_at=as_known_at)
            for name, point in (("at", at), ("since", since), ("until", until))
            if point is not None
        }
        warn_sessions(opened_log, end, unconfigured=given is None, strict=strict)
        if given is None:
            note_rejected(opened_log, end, taken.names)
        question = question_in(opened_log, log, end, taken.names[0], conf=given, **bounds)
        with counting("sessions", visible=shows_progress()) as progress:
            found = run(opened_log, question, jobs=jobs or os.cpu_count() or 1, progress=progress)
    _note_basis(found, named=release is not None)
    if output == "json":
        document = taken.marked(fidelity_document(found))
        sys.stdout.write(json_text(document, indent=2) + "\n")
    elif output in REVIEWS:
        from ..review.fidelity_review import fidelity_review

        write_review(fidelity_review(found, unfold=unfold), output)
    else:
        write_lines(fidelity_lines(found, unfold=unfold, style=style()))
    if plot:
        write_answer_plot(opened_log, log, found)
    _end(found, exit_code=exit_code)


def _note_basis(found: Fidelity, *, named: bool) -> None:
    """Note on standard error what the sessions were run as."""
    release = found.release if named else f"{found.release} ({UNNAMED})"
    note(f"sessions as {release}, configuration {found.conf}")
    if found.left_out and found.sessions:
        note(
            f"{counted(found.left_out, 'session is', 'sessions are')} left out: there are no "
            "complete lists of what sessions need before them"
        )
    if found.requested and found.recorded:
        note(
            f"{counted(found.requested, 'session of a scenario is', 'sessions of a scenario are')} "
            "left out: nothing is recorded of the decisions"
        )
    inferred = sum(one.how != "logged" for one in found.sessions)
    if inferred:
        note(
            f"{counted(inferred, 'session is', 'sessions are')} inferred from what was written: "
            "evictions, and sessions that wrote nothing, are not known"
        )


def _end(found: Fidelity, *, exit_code: bool) -> None:
    code = BROKEN if not found.sessions else int(exit_code and not found.exact)
    if code:
        sys.stdout.flush()
        raise SystemExit(code)
