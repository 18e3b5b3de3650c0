"""What checks find at a moment: invariants, the scheduler's cache, and the rules of lint."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...engine.cache.cache import SchedulerCache
from ...engine.cache.drift.drift import CacheComparison
from ...engine.errors import PlinianError
from ...engine.volcano.session.history import resolve
from ..answers.answering_session import Run
from ..invariants.check_task import CheckTask, check
from ..lint.findings import FindingSeverity
from ..lint.known_background import background_at
from ..lint.lint_task import LintTask
from ..lint.lint_task import check as lint
from ..lint.objects import TYPES
from ..logs.log import Log
from ..logs.moment_commands import MomentCommands
from .overview_task import OverviewTask
from .problems import MOST_NAMED, Problem, ProblemKind

MOST_LINTED = 2_000
"""Objects: of more, lint would take longer than all else of an overview."""

FailedChecks = tuple[list[Problem], tuple[str, ...]]
"""Problems, and what was not checked, as sentences."""


def failed_checks(log: Log, task: OverviewTask, run: Run, commands: MomentCommands) -> FailedChecks:
    """Return what checks find at a moment, and what they could not look at.

    :param run: the session of the moment.
    """
    violations, not_checked = _violations(log, task, run, commands)
    problems = [*violations, *_drift(run.cache, task, commands)]
    count = sum(len(log.truth(task.moment).names(*kind)) for kind in TYPES)
    if count > MOST_LINTED:
        not_checked.append(f"lint of {count:,} objects: ask {_lint_command(task, commands)}")
        return problems, tuple(not_checked)
    # An object that lint cannot read must not hide what else is wrong.
    try:
        problems += _lint(log, task, commands)
    except PlinianError as fault:
        not_checked.append(f"lint: {fault}")
    return problems, tuple(not_checked)


def _violations(
    log: Log, task: OverviewTask, run: Run, commands: MomentCommands
) -> tuple[list[Problem], list[str]]:
    report = check(
        log,
        CheckTask(
            end=task.moment,
            behaviours=resolve(task.release),
            single=True,
            conf=task.conf,
            dated=False,
            session=run.answer.result,
        ),
    )
    problems = []
    for breach in report.violations:
        invariant, violation = breach.invariant, breach.violation
        text = f"{invariant.id} {invariant.name}: {violation.kind} {violation.name}: "
        problems.append(
            Problem(
                kind=ProblemKind.VIOLATION,
                text=f"{text}{violation.message}",
                objects=(f"{violation.kind.lower()}/{violation.name}",),
                count=1,
                command=commands.of_session("check", "--invariant", invariant.id),
            )
        )
    by_reason: dict[str, list[str]] = {}
    for left_out in report.not_checked:
        if not left_out.invariant.ranged:  # Those are about no moment.
            by_reason.setdefault(left_out.reason, []).append(left_out.invariant.id)
    return problems, [f"{', '.join(ids)}: {reason}" for reason, ids in by_reason.items()]


def _drift(
    cache: SchedulerCache, task: OverviewTask, commands: MomentCommands
) -> Iterator[Problem]:
    mismatches = sorted(
        CacheComparison(cache, cache.stores).all(), key=lambda mismatch: mismatch.place
    )
    names = list(dict.fromkeys(mismatch.object for mismatch in mismatches))
    if not names:
        return
    first = mismatches[0]
    yield Problem(
        kind=ProblemKind.DRIFT,
        text=(
            f"the scheduler's cache differs from the API server: {first.object} {first.field} is "
            f"{first.belief or 'not there'} in the cache and {first.truth or 'not there'} in truth"
        ),
        objects=tuple(names[:MOST_NAMED]),
        count=len(names),
        command=commands.of_moment("drift", "--release", task.release),
    )


def _lint(log: Log, task: OverviewTask, commands: MomentCommands) -> Iterable[Problem]:
    report = lint(LintTask(background=background_at(log, task.moment)), [task.release])
    for finding in report.findings:
        # Warnings say what may go wrong later; an overview says what is wrong now.
        if finding.severity is not FindingSeverity.ERROR:
            continue
        about = finding.document.object
        name = "/".join(filter(None, (about.kind.lower(), about.namespace, about.name)))
        yield Problem(
            kind=ProblemKind.LINT,
            text=f"{about.kind} {about.name}: {finding.message}",
            objects=(name,),
            count=1,
            command=_lint_command(task, commands),
        )


def _lint_command(task: OverviewTask, commands: MomentCommands) -> str:
    return commands.of_moment("lint", "--release", task.release)
