"""``plinian bisect``: the moment, or the release, at which the answer to a question changes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ..questions.defaults import DEFAULT_RELEASE
from ..sessions.remarks import UNNAMED
from . import options
from .assumption import check_confs, chosen
from .command import command
from .coverage_warnings import warn_sessions
from .shell import BROKEN, note, shows_progress, style, write_lines

if TYPE_CHECKING:
    from ...engine.volcano.releases import Release
    from ..compare.bisection import Bisection
    from ..compare.crashes import LoggedCrash, PanickingReleases
    from ..compare.log_bisection import LogQuestion, LogRange
    from ..compare.session_claims import SessionClaim
    from ..logs.log import Log
    from ..logs.scheduler_confs import ConfText
    from ..moments.moment import Moment


class _Result(NamedTuple):
    """What was found.

    :param crashes: those that the log records. :param panicking: why this release was chosen.
    """

    found: Bisection
    crashes: Sequence[LoggedCrash] = ()
    panicking: PanickingReleases | None = None


def _question(name: str, what: str, metavar: str = "NS/NAME") -> Callable[[Any], Any]:
    return click.option(name, metavar=metavar, help=f"Question: {what}?")


@command("bisect")
@click.argument(
    "case",
    required=False,
    type=click.Path(path_type=Path),
    metavar="[CASE]",
    help="A scenario file (.case.json) instead of a log.",
)
@options.log
@_question("--bound", "does the pod have a node")
@_question("--pending", "does the pod exist without a node")
@_question("--enqueued", "has the PodGroup left the phase Pending")
@_question("--phase", "does the PodGroup have this phase", "NS/NAME=PHASE")
@click.option("--panic", is_flag=True, help="Question: does the scheduler panic?")
@click.option(
    "--releases",
    metavar="R1..R2",
    help="Find the first release with another answer, and the behaviour that causes it.",
)
@options.at
@click.option(
    "--step",
    type=click.IntRange(min=1),
    metavar="N",
    help="Of a scenario: the last step to run; by default all.",
)
@click.option(
    "--from",
    "start",
    metavar="POINT",
    help="Where to begin; by default the first revision. A position (@7) makes the "
    "search go by positions: by what was known, not by what had happened.",
)
@click.option("--to", default="end", show_default=True, metavar="POINT", help="Where to end.")
@click.option(
    "--release",
    metavar="RELEASE",
    help=f"The release of Volcano. By default {DEFAULT_RELEASE}; with --panic on "
    f"a log that records crashes, the newest release that panics at a recorded crash.",
)
@options.conf
@click.option(
    "--halve",
    is_flag=True,
    help="Check few moments, by halving. Right only if the answer changes once.",
)
@click.option("--linear", is_flag=True, help="Check every session: the default.", hidden=True)
@options.jobs
@options.assume
@options.text_wide_or_json
@options.strict
@options.cluster
@options.branch
def bisect(
    case: Path | None,
    log: str,
    bound: str | None,
    pending: str | None,
    enqueued: str | None,
    phase: str | None,
    panic: bool,
    releases: str | None,
    at: str,
    step: int | None,
    start: str | None,
    to: str,
    release: str | None,
    conf: Path | None,
    halve: bool,
    linear: bool,
    jobs: int,
    assume: bool,
    output: str,
    strict: bool,
    cluster: str | None,
    branch: str,
) -> None:
    """Find the first moment or release with another answer.

    A session at a moment answers one question: --bound, --pending, --enqueued, --phase or --panic.

    Without --releases, both ends and every recorded session between --from and --to are checked (if
    the log records no sessions: the state after every change), until the answer differs. So the
    first change is found even if the answer changes several times. With --releases, the session at
    --at is run as one release after the other. Then each behaviour in which the two neighbouring
    releases differ is set back alone, to name the one that causes the change, or the smallest set.

    Moments before the first complete lists of what sessions need are left out and counted; --from
    includes them.

    Exits with 1 if the answer is the same everywhere or the log never held the object, and with 2
    if it lacks what sessions need at every moment.
    """
    from ..compare.bisection import bisection_document, releases_between
    from ..compare.log_bisection import LogQuestion, span_of
    from ..compare.session_claims import claim_of
    from ..logs.given_confs import conf_file
    from ..render.bisection import bisection_lines, left_out_text
    from ..render.documents import json_text
    from .open_log import opened

    question = claim_of(panic=panic, bound=bound, pending=pending, enqueued=enqueued, phase=phase)
    _refuse_idle(
        releases is not None,
        case is not None,
        {"--step": step, "--from": start, "--conf": conf},
        {"--linear": linear, "--halve": halve},
    )
    named = [release or DEFAULT_RELEASE] if releases is None else _ends(releases)
    taken = chosen(named, assume=assume)
    asked = None if releases is None else releases_between("..".join(taken.names))
    given = None if conf is None else conf_file(conf)
    if case is not None:
        result = _Result(_in_case(case, step, question, asked, taken.names[0]))
    else:
        with opened(log, read_only=True, branch=branch, cluster=cluster) as opened_log:
            if asked is not None:
                moment = opened_log.moment(at)
                warn_sessions(opened_log, moment, unconfigured=given is None, strict=strict)
                check_confs([given], list(map(str, asked)), assume=assume)
                result = _Result(_over_releases(opened_log, moment, given, question, asked))
            else:
                span = span_of(opened_log, start, to)
                _warn_along(opened_log, span, unconfigured=given is None, strict=strict)
                inquiry = LogQuestion(log, span, question, taken.names[0], given)
                result = _in_log(
                    *(opened_log, inquiry, halve, jobs), named=release is not None, assume=assume
                )
    left_out = left_out_text(result.found)
    if left_out:
        note(left_out)
    if output == "json":
        document = bisection_document(*result)
        sys.stdout.write(json_text(taken.marked(document), indent=2) + "\n")
    else:
        write_lines(bisection_lines(result.found, result.crashes, style=style()))
    if result.found.flip is None:
        sys.stdout.flush()
        raise SystemExit(1 if result.found.answered else BROKEN)


def _ends(span: str) -> list[str]:
    """Return the two releases of ``R1..R2``."""
    from ...engine.errors import UsageError

    ends = span.split("..")
    if len(ends) != 2:
        raise UsageError(f"--releases {span}: expected R1..R2", now="as in v1.11.0..v1.12.1")
    return ends


def _refuse_idle(
    of_releases: bool, of_case: bool, given: dict[str, object], flags: dict[str, bool]
) -> None:
    """Refuse options that would have no effect, so that a user does not rely on them."""
    from ...engine.errors import UsageError

    idle = {"--from", "--conf", "--linear", "--halve"} if of_case else {"--step"}
    if of_releases:
        idle |= {"--from", "--linear", "--halve"}
    if all(flags.values()):
        raise UsageError("--halve and --linear are opposites", now="leave one out")
    used = [name for name, value in given.items() if value is not None]
    used += [name for name, flag in flags.items() if flag]
    wrong = [name for name in used if name in idle]
    if wrong:
        of = "a scenario" if of_case else "one session of a log" if of_releases else "a log"
        raise UsageError(
            f"{', '.join(wrong)} has no effect on {of}",
            now="see which options go together: plinian bisect --help",
        )


def _in_case(
    path: Path,
    step: int | None,
    question: SessionClaim,
    releases: list[Release] | None,
    release: str,
) -> Bisection:
    from ..compare.bisection import over_releases
    from ..compare.log_bisection import over_case
    from ..compare.subjects import case_subject
    from ..simulate.scenario_cases import read_case

    subject = case_subject(read_case(path).case, step)
    if releases is None:
        return over_case(subject, question, release)
    return over_releases(subject, question, releases)


def _warn_along(log: Log, span: LogRange, *, unconfigured: bool, strict: bool) -> None:
    """Warn of what sessions need and the log lacks anywhere in a range of it."""
    from ..coverage.coverage import SCHEDULING, unknown_between

    first = None if span.by_position else span.first
    unknown = unknown_between(log, first, span.end, SCHEDULING)
    warn_sessions(log, span.end, unknown, unconfigured=unconfigured, strict=strict)


def _over_releases(
    log: Log, moment: Moment, conf: ConfText | None, question: SessionClaim, releases: list[Release]
) -> Bisection:
    from ..compare.bisection import over_releases
    from ..compare.complete_names import named
    from ..compare.subjects import LogSubject

    return over_releases(LogSubject(log, moment, conf), named(log, question, moment), releases)


def _in_log(
    log: Log, asked: LogQuestion, halve: bool, jobs: int, *, named: bool, assume: bool
) -> _Result:
    """Search a log.

    :param named: the release was named on the command line; otherwise it may be one that has a
    crash which the log records.
    """
    import os

    from ..compare.complete_names import named as resolved
    from ..compare.crashes import recorded_crashes
    from ..compare.log_bisection import LogBisection
    from ..compare.session_claims import PANIC
    from ..render.bisection import release_choice_text
    from ..render.progress import counting

    asked = asked._replace(question=resolved(log, asked.question, asked.span.end))
    crashes, panicking = [], None
    if asked.question.kind == PANIC:
        crashes = recorded_crashes(log, asked.span.end)
    if crashes and not named:
        panicking = _panicking(log, asked, crashes)
        asked = asked if panicking is None else asked._replace(release=str(panicking.releases[-1]))
        placed = any(crash.revision is not None for crash in crashes)
        note(release_choice_text(len(crashes), panicking, asked.release, placed=placed))
    elif not named:
        note(f"sessions as {asked.release} ({UNNAMED})")
    check_confs([asked.conf], [asked.release], assume=assume)
    with counting("sessions", visible=shows_progress()) as progress:
        bisection = LogBisection(log, asked, progress=progress)
        found = bisection.halve() if halve else bisection.scan(jobs=jobs or os.cpu_count() or 1)
    return _Result(found, crashes, panicking)


def _panicking(
    log: Log, asked: LogQuestion, crashes: list[LoggedCrash]
) -> PanickingReleases | None:
    """Return the releases that panic where the log records a crash."""
    from ...engine.volcano.releases import RELEASES
    from ..compare.crashes import panicking_at
    from ..render.progress import counting

    known = [release for release in RELEASES if not release.ours]
    with counting("releases", visible=shows_progress()) as progress:
        return panicking_at(log, asked.span.end, crashes, known, conf=asked.conf, progress=progress)
