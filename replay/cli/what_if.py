"""``plinian what-if``: the session of a moment, with something changed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from . import options
from .assumption import check_confs, chosen
from .command import command
from .coverage_warnings import warn_sessions
from .shell import note, shows_progress, style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..what_if.run import WhatIf


@command("what-if")
@options.log
@options.namespace
@options.at
@click.option(
    "--set",
    "fields",
    multiple=True,
    metavar="KIND/NAME.FIELD=VALUE",
    help="Another value of a field, as in queue/x.spec.capability.cpu=40; null takes it away.",
)
@click.option(
    "--filename",
    "-f",
    "files",
    multiple=True,
    metavar="FILE",
    help="Manifests: objects that exist get these fields, others are created; - is standard input.",
)
@click.option(
    "--add-node",
    "nodes",
    multiple=True,
    metavar="like=NODE",
    help="An empty node like one that exists.",
)
@click.option(
    "--count",
    default=1,
    show_default=True,
    type=click.IntRange(1, 10_000),
    metavar="N",
    help="How many nodes each --add-node adds.",
)
@click.option("--cordon", multiple=True, metavar="NODE", help="The node takes no more pods.")
@click.option("--uncordon", multiple=True, metavar="NODE", help="The node takes pods again.")
@click.option(
    "--delete",
    multiple=True,
    metavar="KIND/NAME",
    help="The object does not exist; with a job or a PodGroup also its pods.",
)
@click.option(
    "--conf",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Another volcano-scheduler.conf.",
)
@click.option(
    "--release",
    multiple=True,
    metavar="RELEASE",
    help="The release of the session. Given twice, or as the only change, the last one is the "
    "release that is tried, and v1.12.1 or the first one that of the original.",
)
@click.option("--each", is_flag=True, help="Try each change alone, with a column for each.")
@options.table_json_or_yaml
@options.assume
@options.as_known_at
@options.strict
@options.cluster
@options.branch
def what_if(
    log: str,
    namespace: str | None,
    at: str,
    fields: tuple[str, ...],
    files: tuple[str, ...],
    nodes: tuple[str, ...],
    count: int,
    cordon: tuple[str, ...],
    uncordon: tuple[str, ...],
    delete: tuple[str, ...],
    conf: Path | None,
    release: tuple[str, ...],
    each: bool,
    output: str,
    assume: bool,
    as_known_at: str | None,
    strict: bool,
    cluster: str | None,
    branch: str,
) -> None:
    """Run the session of a moment with something changed.

    The objects, nodes, the configuration or the release are changed, and the session runs on what
    the scheduler would then hold. Prints the decisions that are not the same as without the
    changes. Nothing is written to the log.

    It is one session: what controllers, kubelets and later sessions would do does not happen.
    """
    from ..moments.scheduler_confs import conf_file
    from ..render.progress import counting
    from ..what_if.run import what_if as run
    from ..what_if.wanted import Wanted, variants_of
    from .open_log import opened
    from .store_beliefs import store_beliefs

    wanted = Wanted(fields, files, nodes, count, cordon, uncordon, delete, namespace)
    given = None if conf is None else conf_file(conf)
    taken = chosen(release or [options.DEFAULT_RELEASE], assume=assume).names
    alone = wanted == Wanted(how_many=count, namespace=namespace) and given is None
    original, tried = _releases(taken, alone=alone and bool(release))
    variants = variants_of(wanted, given, tried, each=each)
    check_confs([given], sorted({original, tried or original}), assume=assume)
    with opened(log, read_only=True, branch=branch, cluster=cluster) as opened_log:
        moment = opened_log.moment(at, as_known_at=as_known_at)
        warn_sessions(opened_log, moment, unconfigured=conf is None, strict=strict)
        store_beliefs(log, opened_log, moment, [original])
        with counting("sessions", visible=shows_progress() and len(variants) > 1) as progress:
            found = run(opened_log, moment, variants, release=original, progress=progress)
    _note(found, named=bool(release))
    _write(found, output)


def _releases(taken: Sequence[str], *, alone: bool) -> tuple[str, str | None]:
    """Return the release of the original, and the one that is tried, if there is one.

    :param alone: the release is the only change.
    :raises UsageError: there are more than two.
    """
    from ...engine.errors import UsageError

    if len(taken) > 2:
        raise UsageError("more than two releases", now="give that of the original, and one to try")
    if len(taken) == 2:
        return taken[0], taken[1]
    return (options.DEFAULT_RELEASE, taken[0]) if alone else (taken[0], None)


def _note(found: WhatIf, *, named: bool) -> None:
    answer = found.sides[0].answer
    assumed = "" if named else ", assumed because no release was named"
    note(f"original: session at {answer.at} as {answer.release}{assumed}, with {answer.conf}")


def _write(found: WhatIf, output: str) -> None:
    from ..render.documents import json_text, plain, write_yaml
    from ..render.what_if import what_if_lines
    from ..what_if.run import what_if_document

    if output == "json":
        sys.stdout.write(json_text(what_if_document(found), indent=2) + "\n")
    elif output == "yaml":
        write_yaml(sys.stdout, [plain(what_if_document(found))], single=True)
    else:
        sys.stdout.writelines(what_if_lines(found, style=style(), wide=output == "wide"))
