"""Steps of a session as answers show them, and what came of it and of them in words."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from ...engine.kubernetes.amount_texts import exact_amount
from ...engine.kubernetes.counts import counted
from ...engine.session.framework.session_outcome import StoppedByQueues
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


def stop_text(stopped: StoppedByQueues) -> str:
    """Return which plugin refuses everything."""
    return f"plugin {stopped.plugin} refuses the tree of queues"


class SessionStep(msgspec.Struct, frozen=True, kw_only=True):
    """A step of a session's trace; amounts are texts as Kubernetes writes them."""

    action: str
    what: str
    about: str
    by: str
    outcome: str
    numbers: dict[str, Any]


def shown_step(step: TraceStep) -> SessionStep:
    """Return a step as answers show it."""
    return SessionStep(
        action=step.action,
        what=step.what,
        about=" ".join(step.about),
        by=step.by,
        outcome=outcome_text(step),
        numbers=shown_numbers(compared_in(step.by, step.numbers)),
    )


def shown_numbers(numbers: Mapping[str, object]) -> dict[str, Any]:
    """Return the numbers of a step with the amounts of resources as texts."""
    return {
        name: {resource: exact_amount(resource, amount) for resource, amount in value.items()}
        if isinstance(value, Mapping)
        else value
        for name, value in numbers.items()
    }


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
