"""``plinian session``: one session at a moment, or several side by side."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..questions.defaults import DEFAULT_RELEASE
from . import options
from .assumption import ChosenReleases, check_confs, chosen, named_release, note_session
from .command import group_command
from .coverage_warnings import refuse_own_panic, warn_sessions
from .session_list import list_sessions
from .shell import BROKEN, style, write_lines

if TYPE_CHECKING:
    from ..compare.sessions import Comparison
    from ..logs.scheduler_confs import ConfText
    from ..sessions.session import SessionAnswer


@group_command("session", list_sessions)
@options.log
@options.at
@click.option(
    "--release",
    multiple=True,
    metavar="RELEASE",
    help="The release of Volcano; by default v1.12.1. Repeatable, to compare.",
)
@options.conf_with(
    "A volcano-scheduler.conf instead of the log's at the moment. Repeatable, to compare.",
    several=True,
)
@options.inputs
@click.option(
    "--trace", is_flag=True, help="Also print every step, with the values that it compared."
)
@click.option(
    "--choose",
    default="least-name",
    show_default=True,
    metavar="least-name|recorded|SEED",
    help="How to choose among equal nodes, where the scheduler picks at random: the "
    "least name, the node that the log recorded, or at random with this seed.",
)
@click.option(
    "--sample-nodes",
    is_flag=True,
    help="If there are more than 100 nodes, look at some only, as the scheduler does.",
)
@click.option(
    "--exit-code",
    is_flag=True,
    help="Exit with 1 if the sessions decide differently; with 2 if they do not, but the "
    "log lacks what they need.",
)
@options.table_json_or_yaml
@options.assume
@options.as_known_at
@options.strict
@options.cluster
@options.branch
def session(
    log: str,
    at: str,
    release: tuple[str, ...],
    conf: tuple[Path, ...],
    inputs: tuple[str, ...],
    trace: bool,
    choose: str,
    sample_nodes: bool,
    exit_code: bool,
    output: str,
    assume: bool,
    as_known_at: str | None,
    strict: bool,
    cluster: str | None,
    branch: str,
) -> None:
    """Run one scheduling session at a moment.

    Prints what the session would decide on the state at that moment. The scheduler's cache is
    rebuilt from the log as the release builds it; nothing is written to a cluster. If the scheduler
    would crash, that is the answer.

    With several releases or configurations, every release is run with every configuration, and the
    differences are printed: decisions side by side, the first step that differs with the numbers of
    each, and the behaviours in which the releases differ.
    """
    from ...engine.errors import UsageError
    from ..compare.sessions import compare_variants
    from ..logs.given_confs import conf_files
    from ..sessions.session import session_at
    from ..sessions.tie_breaking import LEAST_NAME, chance_of
    from .open_log import opened_or_read
    from .store_beliefs import store_beliefs

    named = chosen(release, assume=assume) if release else None
    with opened_or_read(log, inputs, branch=branch, cluster=cluster) as opened_log:
        moment = opened_log.moment(at, as_known_at=as_known_at)
        known = None if named else named_release(None, opened_log, moment)
        taken = named or chosen([known or DEFAULT_RELEASE], assume=assume)
        releases = taken.names
        given: list[ConfText | None] = [*conf_files(conf)] or [None]
        check_confs(given, releases, assume=assume)
        unknown = warn_sessions(opened_log, moment, unconfigured=not conf, strict=strict)
        if not inputs:
            store_beliefs(log, opened_log, moment, releases)
        if len(releases) * len(given) == 1:
            chance = chance_of(opened_log, moment, choose, samples_nodes=sample_nodes)
            answer = session_at(
                opened_log, moment, release=releases[0], conf=given[0], trace=trace, chance=chance
            )
            refuse_own_panic([answer], unknown)
            note_session(answer, recorded=not conf, named=bool(release or known))
            _write(answer, output, taken, trace=trace)
            return
        if sample_nodes or choose != LEAST_NAME:
            raise UsageError(
                "--choose and --sample-nodes work for one session only",
                now="leave them out, or give one release and one configuration",
            )
        found = compare_variants(opened_log, moment, releases, given, trace=trace)
        refuse_own_panic([side.answer for side in found.sides], unknown)
    write_comparison(found, output, taken, trace=trace, recorded=not conf)
    if exit_code:
        end_compared(found)


def end_compared(found: Comparison) -> None:
    """Exit with 1 if sessions decide differently, with 2 if that is not known."""
    code = 1 if found else BROKEN if found.not_known else 0
    if code:
        sys.stdout.flush()
        raise SystemExit(code)


def write_comparison(
    found: Comparison,
    output: str,
    taken: ChosenReleases,
    *,
    trace: bool = False,
    recorded: bool = True,
) -> None:
    """Print a comparison of sessions; note on standard error what was compared.

    :param recorded: configurations are the log's.
    """
    from ..compare.sessions import comparison_document
    from ..render.comparison import comparison_lines
    from ..render.documents import json_text, plain, write_yaml

    for side in found.sides:
        note_session(side.answer, recorded=recorded)
    if output in {"json", "yaml"}:
        document = taken.marked(comparison_document(found, trace=trace))
        if output == "json":
            sys.stdout.write(json_text(document, indent=2) + "\n")
        else:
            write_yaml(sys.stdout, [plain(document)], single=True)
    else:
        wide = output == "wide"
        write_lines(comparison_lines(found, style=style(), trace=trace, wide=wide))


def _write(
    answer: SessionAnswer,
    output: str,
    taken: ChosenReleases,
    *,
    trace: bool,
) -> None:
    from ..render.documents import json_text, write_yaml
    from ..render.session import session_lines, trace_lines
    from ..sessions.session import answer_document

    document = answer_document(answer)
    if output == "json":
        sys.stdout.write(json_text(taken.marked(document), indent=2) + "\n")
    elif output == "yaml":
        write_yaml(sys.stdout, [taken.marked(document)], single=True)
    else:
        wide = output == "wide"
        write_lines(session_lines(answer, style=style(), wide=wide))
        if trace:
            sys.stdout.write("\n")
            write_lines(trace_lines(answer.result.trace, style=style(), wide=wide))
