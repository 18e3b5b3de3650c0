"""``plinian why``: why a pod, a job, a queue or a node waits."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from ..questions.defaults import DEFAULT_RELEASE
from . import options
from .assumption import check_confs, chosen, named_release
from .command import command
from .coverage_warnings import warn_sessions
from .shell import note, shows_progress, style, write_lines

if TYPE_CHECKING:
    from ..answers.answer import Why
    from ..logs.log import Log
    from ..logs.scheduler_confs import ConfText
    from ..moments.moment import Moment
    from ..objects.kinds import ObjectName
    from ..what_if.help import WouldHelp


@command("why")
@click.argument(
    "named",
    nargs=-1,
    required=True,
    metavar="KIND/NAME",
    help="A pod, job, podgroup, queue or node; KIND NAME works too.",
)
@options.log
@options.namespace
@options.at
@click.option(
    "--release",
    metavar="RELEASE",
    help="The release of Volcano; by default that of the image of the scheduler's pods, if the log "
    "has them, else v1.12.1.",
)
@options.conf_with("A volcano-scheduler.conf instead of the log's at the moment.")
@options.inputs
@click.option(
    "--verbose",
    "-v",
    count=True,
    help="Also print all numbers, and the changes that do not help; twice: also the steps of the "
    "session about the object.",
)
@click.option(
    "--what-would-help",
    is_flag=True,
    help="Also find changes with which it starts, by running the session with each; pairs of them "
    "if none helps alone.",
)
@click.option(
    "--budget",
    default="30s",
    show_default=True,
    metavar="DURATION",
    help="Stop to try changes after this time.",
)
@options.plot
@options.text_wide_json_or_yaml
@options.assume
@options.as_known_at
@options.strict
@options.cluster
@options.branch
def why(
    named: tuple[str, ...],
    log: str,
    namespace: str | None,
    at: str,
    release: str | None,
    conf: Path | None,
    inputs: tuple[str, ...],
    verbose: int,
    what_would_help: bool,
    budget: str,
    plot: bool,
    output: str,
    assume: bool,
    as_known_at: str | None,
    strict: bool,
    cluster: str | None,
    branch: str,
) -> None:
    """Say why an object waits.

    Prints one sentence, then the reasons in the order in which the scheduler comes to them: the
    PodGroup, the queue and those above it, the gang, the nodes, evictions. And since when it waits,
    and which events changed the reason. All numbers are those that the session compares, which is
    run again on the scheduler's cache at that moment. Exits with 1 if there is no such object.

    With --plot the answer has a picture: of a queue its shares, of a node its use; of a pod, a job
    or a PodGroup the queue that is full, if that is the answer, and else its gang.
    """
    from ..answers.why import assumed_of, why_at
    from ..budget import within
    from ..logs.given_confs import conf_file
    from .open_log import opened_or_read
    from .pictures import check_plot, write_answer_plot
    from .store_beliefs import store_beliefs

    check_plot(output, plot=plot)
    given = None if conf is None else conf_file(conf)
    with opened_or_read(log, inputs, branch=branch, cluster=cluster) as opened_log:
        moment = opened_log.moment(at, as_known_at=as_known_at)
        asked = named_release(release, opened_log, moment)
        taken = chosen([asked or DEFAULT_RELEASE], assume=assume)
        check_confs([given], taken.names, assume=assume)
        warn_sessions(opened_log, moment, unconfigured=conf is None, strict=strict)
        if not inputs:
            store_beliefs(log, opened_log, moment, taken.names)
        target = opened_log.object("/".join(named), moment)
        go_on = within(budget)
        found = why_at(
            opened_log,
            target,
            moment,
            namespace=namespace,
            release=taken.names[0],
            conf=given,
            assumed=assumed_of(asked, taken.names[0]),
        )
        question = _Question(opened_log, target, moment, namespace, given)
        instead, helps = "", None
        if what_would_help:
            instead, helps = _helps(question, found, go_on)
        _write(found, helps, output, verbose)
        if instead:
            _write_instead(instead, output)
        if plot:
            write_answer_plot(opened_log, ", ".join(inputs) or log, found, moment)


class _Question(NamedTuple):
    log: Log
    named: ObjectName
    moment: Moment
    namespace: str | None
    conf: ConfText | None


def _helps(
    question: _Question, found: Why, go_on: Callable[[], bool]
) -> tuple[str, WouldHelp | None]:
    """Try changes; none if the object does not wait. Of a queue or a node, say what to ask."""
    from ..render.progress import counting
    from ..what_if.help import instead, startable, what_would_help

    if said := instead(found):
        return said, None
    log, moment = question.log, question.moment
    target = startable(log, question.named, question.namespace, moment)
    if not found.waits:
        return "", None
    with counting("changes", visible=shows_progress()) as progress:
        return "", what_would_help(
            log,
            moment,
            target,
            found,
            conf=question.conf,
            go_on=go_on,
            progress=progress,
        )


def _write(found: Why, helps: WouldHelp | None, output: str, depth: int) -> None:
    from ..answers.why import why_document
    from ..render.documents import json_text, plain, write_yaml
    from ..render.why import help_lines, why_lines
    from ..what_if.help import would_help_document

    asked = found.asked
    for line in asked.assumed:
        note(f"assumed: {line}")
    note(f"session at {asked.at} as {asked.release}, configuration {asked.conf}")
    document = why_document(found)
    if helps is not None:
        document["would_help"] = would_help_document(helps)
    if output == "json":
        sys.stdout.write(json_text(document, indent=2) + "\n")
    elif output == "yaml":
        write_yaml(sys.stdout, [plain(document)], single=True)
    else:
        write_lines(why_lines(found, depth=depth, style=style()))
        if helps is not None:
            write_lines(help_lines(helps, depth=depth, style=style()))


def _write_instead(said: str, output: str) -> None:
    """Write what to ask instead of what would help."""
    from ..render.tables import paragraph

    if output in {"json", "yaml"}:
        note(said)
    else:
        write_lines(("\n", *paragraph(f"{said[:1].upper()}{said[1:]}.", style())))
