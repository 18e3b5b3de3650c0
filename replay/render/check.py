"""Violations of invariants, as a table and as documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...engine.events import Event
from ...engine.invariants.invariant import Invariant, Severity
from ...engine.invariants.violation_timeline import Breach
from ...engine.kubernetes.units import SECOND_US
from ..coverage.coverage import unknown_text
from ..invariants.check_report import CheckReport, beginning, severity_of
from ..invariants.check_task import ALL
from .blocks import Marked, Ref, Words, here_ref, joined, moment_ref, object_ref
from .tables import NONE, PLAIN, Style, Table, TextColumn, lines_of, table_of


def check_table(
    report: CheckReport, *, wide: bool = False, violations: Sequence[Breach] | None = None
) -> Table:
    """Return a row for each violation; wide adds its end, how long it lasted, and its events.

    :param violations: only these.
    """
    headers = ["SEVERITY", "INVARIANT", "OBJECT", "SINCE"]
    headers += ["UNTIL", "LASTED", "EVENTS", "MESSAGE"] if wide else ["MESSAGE"]
    shown = report.violations if violations is None else violations
    return Table(
        headers,
        [_row(breach, report, wide=wide) for breach in shown],
        keep=("INVARIANT", "OBJECT", "MESSAGE"),
        title="Violations",
        pages="violations",
    )


def _row(breach: Breach, report: CheckReport, *, wide: bool) -> tuple[str, ...]:
    violation, severity = breach.violation, severity_of(breach)
    kind, name = violation.kind, violation.name
    invariant, since = breach.invariant, moment_ref(breach.since.position)
    subject = f"{kind} {name}"
    first = (
        Marked(severity.value, "warn" if severity is Severity.MEDIUM else "bad"),
        here_ref(f"{invariant.id} {invariant.name}", invariant=invariant.id, violations=None),
        object_ref(f"{kind.lower()}/{name}", subject) if kind in _WITH_PAGE and name else subject,
        Words("before ", since) if breach.before else since,
    )
    if not wide:
        return (*first, f"{violation.message}{_ended(breach)}")
    until = NONE if breach.until is None else moment_ref(breach.until.position)
    lasted = NONE if breach.lasted is None else f"{breach.lasted / SECOND_US:.1f}s"
    named = [(at, report.events[at].event) for at in beginning(breach) if at in report.events]
    events = Words(*joined(_event_ref(at, event) for at, event in named))
    return (*first, until, lasted, events or NONE, violation.message)


_WITH_PAGE = frozenset({"Pod", "Node", "Queue", "PodGroup", "Job", "PriorityClass", "HyperNode"})


def _event_ref(at: int, event: Event) -> Ref:
    """Return an event and its object; they lead to its moment."""
    return Ref(f"{event.kind} {event.reference.name}".strip(), at=at, look="at")


def _ended(breach: Breach) -> str:
    """Return where a violation had ended, in parentheses; empty if it still holds."""
    if breach.until is None or breach.until == breach.since:
        return ""
    return f" (until @{breach.until.position})"


def check_notes(report: CheckReport) -> Iterator[str]:
    """Yield one line each: what was found, what was left out, not checked and not known."""
    yield _summary(report)
    if report.unsettled:
        count = len(report.unsettled)
        violations = "1 violation" if count == 1 else f"{count} violations"
        yield (
            f"left out: {violations} that lasted less than {_seconds(report.settle)}, or for a "
            f"time that is not known; --settle 0s shows them"
        )
    for reason, ids in _by_reason(report).items():
        yield f"not checked: {', '.join(ids)}: {reason}"
    if report.not_known:
        yield f"not known: {unknown_text(report.not_known)}"


def _summary(report: CheckReport) -> str:
    count, short = len(report.violations), len(report.unsettled)
    said = "no violations" if not count else "1 violation" if count == 1 else f"{count} violations"
    if short:
        # To say that there are none would be wrong: shorter ones are left out.
        said += "" if count else f" known to have lasted {_seconds(report.settle)}"
        said += f", and {short} that {'is' if short == 1 else 'are'} left out,"
    ran = "1 session" if report.sessions == 1 else f"{report.sessions} sessions"
    invariants = "1 invariant" if len(report.checked) == 1 else f"{len(report.checked)} invariants"
    return f"{said} of {invariants} by {report.at}; {ran} run as {report.release}"


def _by_reason(report: CheckReport) -> dict[str, list[str]]:
    by_reason: dict[str, list[str]] = {}
    for unchecked in report.not_checked:
        by_reason.setdefault(unchecked.reason, []).append(unchecked.invariant.id)
    return by_reason


def _seconds(micros: int) -> str:
    return f"{micros / SECOND_US:g}s"


_INVARIANTS: Sequence[TextColumn[Invariant]] = (
    TextColumn("INVARIANT", lambda invariant: invariant.id),
    TextColumn("NAME", lambda invariant: invariant.name, keep=True),
    TextColumn("SEVERITY", lambda invariant: invariant.severity.value),
    TextColumn("NEEDS", lambda invariant: invariant.needs.value),
    TextColumn("STATEMENT", lambda invariant: invariant.statement, keep=True),
)


def invariant_lines(*, style: Style = PLAIN) -> Iterator[str]:
    """Yield the lines of a table of all invariants, and of remarks on some of them."""
    named = ", ".join(invariant.id for invariant in ALL if invariant.named)
    yield from lines_of(table_of(_INVARIANTS, ALL), style=style)
    if named:
        yield f"\nchecked only if named with --invariant: {named}\n"
    for invariant in ALL:
        if invariant.unseen:
            yield f"never checked, as no log shows it: {invariant.id}: {invariant.unseen}\n"
