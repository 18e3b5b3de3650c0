"""What came of a step of a session, in words."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...engine.kubernetes.counts import counted
from ...engine.session.framework.trace import StepOutcome, TraceStep

_WORDS: Mapping[StepOutcome, str] = MappingProxyType(
    {
        StepOutcome.OVERUSED: "overused: skipped",
        StepOutcome.NOT_OVERUSED: "not overused",
        StepOutcome.ENQUEUED: "Inqueue",
        StepOutcome.STAYS_PENDING: "stays Pending",
    }
)


def outcome_text(step: TraceStep) -> str:
    """Return what came of a step in words."""
    match step.outcome:
        case StepOutcome.NODE | StepOutcome.REASON:
            return step.named
        case StepOutcome.PASSING:
            return f"{step.many} of {counted(step.of, 'node')}"
        case StepOutcome.SCORED:
            return f"best of {counted(step.of, 'node')}"
        case StepOutcome.VICTIMS:
            return f"{step.many} victims"
        case StepOutcome.TAKEN_BACK:
            return f"{step.many} operations"
    return _WORDS.get(step.outcome, step.outcome.value)
