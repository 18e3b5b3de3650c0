"""``plinian blame``: which events make up a number."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from . import options
from .command import command
from .coverage_warnings import note_assumed, warn_unknown
from .shell import style, write_lines

if TYPE_CHECKING:
    from ..answers.blamed import Blame


@command("blame")
@click.argument("named", metavar="KIND/NAME", help="A pod, job, podgroup, queue or node.")
@click.argument(
    "number",
    metavar="NUMBER",
    help="As in allocated.cpu, inqueue.memory or pods of a queue; used.cpu, idle.cpu or "
    "releasing.cpu of a node; allocated.cpu or members.Running of a job or PodGroup; or a field: "
    "capability.cpu, spec.minMember.",
)
@options.log
@options.namespace
@options.at
@options.text_wide_json_or_yaml
@options.as_known_at
@options.strict
@options.cluster
@options.branch
def blame(
    named: str,
    number: str,
    log: str,
    namespace: str | None,
    at: str,
    output: str,
    as_known_at: str | None,
    strict: bool,
    cluster: str | None,
    branch: str,
) -> None:
    """Show which events make up a number.

    Of a sum: the pods or PodGroups that it counts, each with the event since which it does; of a
    field: its values, with the events that set them. And the event that changed the number last,
    also if it took something away.
    """
    from ..answers.blame import blame_at
    from .open_log import opened

    with opened(log, read_only=True, branch=branch, cluster=cluster) as opened_log:
        moment = opened_log.moment(at, as_known_at=as_known_at)
        target = opened_log.object(named, moment)
        found = blame_at(opened_log, target, number, moment, namespace=namespace)
        warn_unknown(found.not_known, strict=strict)
        note_assumed(opened_log, moment)
    _write(found, output)


def _write(found: Blame, output: str) -> None:
    from ..answers.blame import blame_document
    from ..render.blame import blame_lines
    from ..render.documents import json_text, plain, write_yaml

    if output == "json":
        sys.stdout.write(json_text(blame_document(found), indent=2) + "\n")
    elif output == "yaml":
        write_yaml(sys.stdout, [plain(blame_document(found))], single=True)
    else:
        write_lines(blame_lines(found, style=style()))
