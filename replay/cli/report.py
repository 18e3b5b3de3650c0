"""``plinian report``: all answers about one moment, as one page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, NamedTuple

from ..questions.defaults import DEFAULT_RELEASE
from ..questions.fields import Field
from . import options
from .command import command
from .coverage_warnings import warn_sessions
from .out_files import refuse_form, refuse_suffix
from .shell import note, shows_progress

_EXAMPLE = "plinian report -o report.html"


@command("report")
def report(
    *,
    log: options.LogPlace = options.DEFAULT_LOG,
    at: options.At = options.END,
    named: Annotated[
        tuple[str, ...],
        Field(
            "Say why this pod, job, podgroup, queue or node waits; repeatable. By default, the "
            "three jobs or PodGroups that wait longest.",
            "KIND/NAME",
            name="why",
        ),
    ] = (),
    before: Annotated[
        str | None,
        Field(
            "Compare with this earlier moment; by default two minutes before.", "POINT", name="from"
        ),
    ] = None,
    page: Annotated[
        str | None,
        Field(
            "Write this page of plinian serve instead: its name and query, as in queues or "
            "jobs?queue=gold, or its address.",
            "PAGE",
        ),
    ] = None,
    out: Annotated[
        str, Field("The file to write; - is standard output.", "FILE", short="o")
    ] = "report.html",
    namespace: options.Namespace = None,
    release: Annotated[
        str | None, Field("The release of Volcano; by default v1.12.1.", "RELEASE")
    ] = None,
    conf: options.Conf = None,
    assume: options.Assume = False,
    as_known_at: options.AsKnownAt = None,
    strict: options.Strict = False,
    cluster: options.Cluster = None,
    branch: options.Branch = options.MAIN,
) -> None:
    """Write all answers about one moment as one HTML page.

    The page has why objects wait, a timeline around the moment, what the session decides, the state
    of queues, jobs, PodGroups and nodes, what changed before, what is not known, and the command
    for each part. It needs no network and no script, opens from a disk, and can be printed. The
    same log and the same question give the same bytes.

    With --page it is a page of plinian serve, as one file that opens without a server.
    """
    from ...engine.errors import UsageError

    refuse_form(out, writes="an HTML page", example=_EXAMPLE)
    refuse_suffix(out, example=_EXAMPLE)
    if Path(out).is_dir():
        raise UsageError("this is a folder", where=out, now="name a file in it, as in report.html")
    if page is None:
        asked = _Asked(log, at, named, before, namespace, release, conf, as_known_at)
        text = _report(asked, assume=assume, strict=strict, cluster=cluster, branch=branch)
    else:
        given = {"--why": named, "--from": before, "--conf": conf, "--as-known-at": as_known_at}
        from ..server.web.files import web_page

        for option in (name for name, value in given.items() if value):
            raise UsageError(f"{option} is not of a page", now="leave it out, or leave out --page")
        used = release or DEFAULT_RELEASE
        text = web_page(log, page, at=at, release=used, branch=branch, cluster=cluster)
    # A name of a log may have half a character, which UTF-8 cannot hold.
    _write(text.encode("utf-8", "backslashreplace"), out)


class _Asked(NamedTuple):
    """What a report is about."""

    log: str
    at: str
    named: tuple[str, ...]
    before: str | None
    namespace: str | None
    release: str | None
    conf: Path | None
    as_known_at: str | None


def _report(asked: _Asked, *, assume: bool, strict: bool, cluster: str | None, branch: str) -> str:
    """Return the report on a moment."""
    from ..answers.why import assumed_of
    from ..logs.earlier_moments import earlier
    from ..logs.given_confs import conf_file
    from ..questions.question import running, taken
    from ..render.progress import phases
    from ..report.collect import report_page
    from ..report.question import ReportRequest
    from ..sessions.assumed import accepted_conf
    from .open_log import opened
    from .store_beliefs import store_beliefs

    given = None if asked.conf is None else conf_file(asked.conf)
    with opened(asked.log, read_only=True, branch=branch, cluster=cluster) as log:
        moment = log.moment(asked.at, as_known_at=asked.as_known_at)
        named = asked.release or running(log, moment, note)
        used = taken(named or DEFAULT_RELEASE, note, assume=assume)
        accepted_conf(given, [used], assume=assume, remark=note)
        warn_sessions(log, moment, unconfigured=asked.conf is None, strict=strict)
        store_beliefs(asked.log, log, moment, [used])
        earliest, remarks = earlier(log, moment, asked.before)
        question = ReportRequest(
            log=log,
            place=asked.log,
            moment=moment,
            named=[log.object(text, moment) for text in asked.named],
            namespace=asked.namespace,
            before=earliest,
            remarks=remarks,
            release=used,
            conf=given,
            assumed=assumed_of(named, used),
        )
        with phases(visible=shows_progress()) as progress:
            return report_page(question, progress)


def _write(page: bytes, out: str) -> None:
    from .. import export as writers

    if out == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(page)
        sys.stdout.buffer.flush()
    else:
        writers.write_file(Path(out), lambda file: file.write(page))
        note(f"{len(page):,} bytes written to {out}")
