"""What came of a session and of its steps, in words."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...engine.kubernetes.counts import counted
from ...engine.session.framework.session_outcome import Stopped
from ...engine.session.framework.trace import StepOutcome, TraceStep
from ...engine.session.framework.vote_details import REFUSED, PluginRefusal

_WORDS: Mapping[StepOutcome, str] = MappingProxyType(
    {
        StepOutcome.OVERUSED: "overused: skipped",
        StepOutcome.NOT_OVERUSED: "not overused",
        StepOutcome.ENQUEUED: "Inqueue",
        StepOutcome.STAYS_PENDING: "stays Pending",
    }
)


_REFUSALS: Mapping[tuple[str, PluginRefusal], str] = MappingProxyType(
    {
        ("proportion", PluginRefusal.NOT_OPEN): "the queue is not open",
        ("capacity", PluginRefusal.NOT_OPEN): "the queue is not Open",
        ("capacity", PluginRefusal.NOT_LEAF): "the queue has queues below it",
        ("capacity", PluginRefusal.UNSOUND): "the tree of queues is not sound",
    }
)


def compared_in(by: str, numbers: Mapping[str, object]) -> Mapping[str, object]:
    """Return what a plugin compared, with a refusal by a code in words, as its message."""
    refused = numbers.get(REFUSED)
    if not isinstance(refused, PluginRefusal):
        return numbers
    rest = {name: value for name, value in numbers.items() if name != REFUSED}
    return {"message": _REFUSALS[by, refused], **rest}


def stop_text(stopped: Stopped) -> str:
    """Return which plugin refuses everything."""
    return f"plugin {stopped.plugin} refuses the tree of queues"


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
