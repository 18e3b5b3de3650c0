"""What came of a step of a session, in words."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...engine.kubernetes.counts import counted
from ...engine.session.framework.trace import Outcome, TraceStep

_WORDS: Mapping[Outcome, str] = MappingProxyType(
    {
        Outcome.OVERUSED: "overused: skipped",
        Outcome.NOT_OVERUSED: "not overused",
        Outcome.ENQUEUED: "Inqueue",
        Outcome.STAYS_PENDING: "stays Pending",
    }
)


def outcome_text(step: TraceStep) -> str:
    """Return what came of a step in words."""
    match step.outcome:
        case Outcome.NODE | Outcome.REASON:
            return step.named
        case Outcome.PASSING:
            return f"{step.many} of {counted(step.of, 'node')}"
        case Outcome.SCORED:
            return f"best of {counted(step.of, 'node')}"
        case Outcome.VICTIMS:
            return f"{step.many} victims"
        case Outcome.TAKEN_BACK:
            return f"{step.many} operations"
    return _WORDS.get(step.outcome, step.outcome.value)
