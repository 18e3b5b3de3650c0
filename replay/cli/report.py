"""``plinian report``: all answers about one moment, as one page."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from . import options
from .assumption import check_confs, chosen
from .command import command
from .coverage_warnings import warn_sessions
from .shell import note, shows_progress


@command("report")
@options.log
@options.at
@click.option(
    "--why",
    "named",
    multiple=True,
    metavar="KIND/NAME",
    help="Say why this pod, job, podgroup, queue or node waits; repeatable. By default, the "
    "three jobs or PodGroups that wait longest.",
)
@click.option(
    "--from",
    "before",
    metavar="POINT",
    help="Compare with this earlier moment; by default two minutes before.",
)
@click.option(
    "--out",
    "-o",
    default="report.html",
    show_default=True,
    metavar="FILE",
    help="The file to write; - is standard output.",
)
@options.namespace
@click.option(
    "--release",
    metavar="RELEASE",
    help="The release of Volcano; by default v1.12.1.",
)
@options.conf
@options.assume
@options.as_known_at
@options.strict
@options.cluster
@options.branch
def report(
    log: str,
    at: str,
    named: tuple[str, ...],
    before: str | None,
    out: str,
    namespace: str | None,
    release: str | None,
    conf: Path | None,
    assume: bool,
    as_known_at: str | None,
    strict: bool,
    cluster: str | None,
    branch: str,
) -> None:
    """Write all answers about one moment as one HTML page.

    The page has why objects wait, a timeline around the moment, what the session decides, the state
    of queues, jobs, PodGroups and nodes, what changed before, what is not known, and the command
    for each part. It needs no network and no script, opens from a disk, and can be printed. The
    same log and the same question give the same bytes.
    """
    from ...engine.errors import UsageError
    from .. import export as writers
    from ..answers.why import assumed_of
    from ..moments.scheduler_confs import conf_file
    from ..pages.report import report_page
    from ..render.progress import phases
    from ..report.collect import report_of
    from ..report.question import Question, earlier
    from .open_log import opened
    from .store_beliefs import store_beliefs

    if Path(out).is_dir():
        raise UsageError("this is a folder", where=out, now="name a file in it, as in report.html")
    taken = chosen([release or options.DEFAULT_RELEASE], assume=assume)
    given = None if conf is None else conf_file(conf)
    check_confs([given], taken.names, assume=assume)
    with opened(log, read_only=True, branch=branch, cluster=cluster) as opened_log:
        moment = opened_log.moment(at, as_known_at=as_known_at)
        warn_sessions(opened_log, moment, unconfigured=conf is None, strict=strict)
        store_beliefs(log, opened_log, moment, taken.names)
        earliest, remarks = earlier(opened_log, moment, before)
        question = Question(
            log=opened_log,
            place=log,
            moment=moment,
            named=[opened_log.object(text, moment) for text in named],
            namespace=namespace,
            before=earliest,
            remarks=remarks,
            release=taken.names[0],
            conf=given,
            assumed=assumed_of(release, taken.names[0]),
        )
        with phases(visible=shows_progress()) as progress:
            page = report_page(report_of(question, progress)).encode("utf-8", "backslashreplace")
    if out == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(page)
        sys.stdout.buffer.flush()
    else:
        writers.write_file(Path(out), lambda file: file.write(page))
        note(f"{len(page):,} bytes written to {out}")
