"""``plinian bisect``: where, or with which release, the answer to a question flips."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import options
from .assumption import check_confs, chosen
from .knowledge import warn_sessions
from .shell import guarded, shows_progress, style

if TYPE_CHECKING:
    from ...engine.volcano.releases import Release
    from ..comparison.bisection import Bisection
    from ..comparison.questions import Question
    from ..log import Log
    from ..session import ConfText


def _about(name: str, what: str, metavar: str = "NS/NAME") -> object:
    return typer.Option(name, metavar=metavar, help=f"Ask: {what}?")


@guarded
def bisect(
    case: Annotated[
        Path | None,
        typer.Argument(
            metavar="[CASE]",
            help="A scenario file (.case.json) in place of a log.",
            show_default=False,
        ),
    ] = None,
    log: options.Place = options.DEFAULT_LOG,
    bound: Annotated[str | None, _about("--bound", "does the pod have a node")] = None,
    pending: Annotated[str | None, _about("--pending", "is the pod there without a node")] = None,
    enqueued: Annotated[
        str | None, _about("--enqueued", "is the PodGroup no longer Pending")
    ] = None,
    phase: Annotated[
        str | None, _about("--phase", "does the PodGroup have this phase", "NS/NAME=PHASE")
    ] = None,
    panic: Annotated[bool, typer.Option("--panic", help="Ask: does the scheduler die?")] = False,
    releases: Annotated[
        str | None,
        typer.Option(
            "--releases",
            metavar="R1..R2",
            help="Find the first release with another answer, and which behaviour makes it.",
        ),
    ] = None,
    at: options.At = "end",
    step: Annotated[
        int | None,
        typer.Option(
            "--step", metavar="N", min=1, help="Of a scenario: the last step; by default all."
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="POINT",
            help="Where to begin; by default the first revision. A position (@7) makes it go by "
            "positions: by what was known, not by what had happened.",
        ),
    ] = None,
    to: Annotated[str, typer.Option("--to", metavar="POINT", help="Where to end.")] = "end",
    release: options.Release = options.DEFAULT_RELEASE,
    conf: Annotated[
        Path | None,
        typer.Option("--conf", metavar="FILE", help="A configuration in place of the log's."),
    ] = None,
    linear: Annotated[
        bool,
        typer.Option(
            "--linear",
            help="Ask at every session instead of halving: for answers that come and go.",
        ),
    ] = False,
    assume: options.Assume = False,
    output: options.JsonOrText = "text",
    strict: options.Strict = False,
    cluster: options.Cluster = None,
    branch: options.Branch = "main",
) -> None:
    """Find where a session begins to answer otherwise.

    At which moment of a log, or with which release.

    One question is asked of sessions: --bound, --pending, --enqueued, --phase or --panic. Without
    --releases, places between --from and --to are halved until two neighbours answer differently,
    which is right if the answer changes once. With --releases, the session at --at is run as one
    release after the other; then each behaviour in which the two neighbours differ is set back by
    itself, to name the one that matters, or the smallest set.

    Exits with 1 if the answer is the same everywhere.
    """
    from ..comparison.bisection import releases_between
    from ..comparison.questions import question_of
    from ..render.bisection import bisection_document, bisection_lines
    from ..render.documents import json_text
    from ..session import conf_file
    from .opening import opened

    question = question_of(
        panic=panic, bound=bound, pending=pending, enqueued=enqueued, phase=phase
    )
    _refuse_idle(
        releases is not None,
        case is not None,
        {"--step": step, "--from": start, "--conf": conf, "--linear": linear or None},
    )
    taken = chosen([release] if releases is None else _ends(releases), assume=assume)
    asked = None if releases is None else releases_between("..".join(taken.names))
    (release, *_) = taken.names
    if case is not None:
        found = _in_case(case, step, question, asked, release)
    else:
        given = None if conf is None else conf_file(conf)
        check_confs([given], list(map(str, asked)) if asked else [release], assume=assume)
        with opened(log, read_only=True, branch=branch, cluster=cluster) as opened_log:
            warn_sessions(opened_log, opened_log.moment(to if asked is None else at), strict=strict)
            if asked is not None:
                found = _over_releases(opened_log, at, given, question, asked)
            else:
                span = (start, to)
                found = _in_log(opened_log, span, question, release, given, linear=linear)
    if output == "json":
        sys.stdout.write(json_text(taken.told(bisection_document(found)), indent=2) + "\n")
    else:
        sys.stdout.writelines(bisection_lines(found, style=style()))
    if found.flip is None:
        sys.stdout.flush()
        raise SystemExit(1)


def _ends(span: str) -> list[str]:
    """Return the two releases of ``R1..R2``."""
    from ...engine.errors import UsageError

    ends = span.split("..")
    if len(ends) != 2:
        raise UsageError(f"--releases {span}: expected R1..R2", now="as in v1.11.0..v1.12.1")
    return ends


def _refuse_idle(of_releases: bool, of_case: bool, given: dict[str, object]) -> None:
    """Refuse options that would do nothing, so that nobody believes they did."""
    from ...engine.errors import UsageError

    idle = {"--from", "--conf", "--linear"} if of_case else {"--step"}
    if of_releases:
        idle |= {"--from", "--linear"}
    wrong = [name for name, value in given.items() if value is not None and name in idle]
    if wrong:
        of = "a scenario" if of_case else "one session of a log" if of_releases else "a log"
        raise UsageError(
            f"{', '.join(wrong)} means nothing to {of}",
            now="see what goes together: plinian bisect --help",
        )


def _in_case(
    path: Path,
    step: int | None,
    question: Question,
    releases: list[Release] | None,
    release: str,
) -> Bisection:
    from ..comparison.bisection import over_releases
    from ..comparison.log_bisection import over_case
    from ..comparison.subjects import case_subject
    from ..simulation.cases import read_case

    subject = case_subject(read_case(path).case, step)
    if releases is None:
        return over_case(subject, question, release)
    return over_releases(subject, question, releases)


def _over_releases(
    log: Log, at: str, conf: ConfText | None, question: Question, releases: list[Release]
) -> Bisection:
    from ..comparison.bisection import over_releases
    from ..comparison.named import named
    from ..comparison.subjects import LogSubject

    moment = log.moment(at)
    return over_releases(LogSubject(log, moment, conf), named(log, question, moment), releases)


def _in_log(
    log: Log,
    span: tuple[str | None, str],
    question: Question,
    release: str,
    conf: ConfText | None,
    *,
    linear: bool,
) -> Bisection:
    from ...engine.volcano.history import resolve
    from ..comparison.log_bisection import LogBisection, span_of
    from ..comparison.named import named
    from ..render.progress import counting

    question = named(log, question, log.moment(span[1]))
    with counting("sessions", visible=shows_progress()) as progress:
        bisection = LogBisection(
            log, span_of(log, *span), question, resolve(release), conf=conf, progress=progress
        )
        return bisection.scan() if linear else bisection.halve()
