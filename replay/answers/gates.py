"""Scheduling gates, which keep pods waiting until somebody removes them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from .amounts import joined
from .answering_session import POD, Run
from .finding import Blocked
from .records import Note

GATED = "gated"


def gates_of(run: Run, pods: Sequence[str]) -> Blocked | None:
    """Return which scheduling gates keep some of the pods of a job; None if none has any."""
    gates = {gate for name in pods for gate in _names(run, name)}
    if not gates:
        return None
    named = f"scheduling {_what(gates)} {joined(sorted(gates))}"
    text = f"the {named} of its pods must be removed first"
    return _blocked(text, pods[:1])


def gated_pod(run: Run, pods: Sequence[str]) -> list[tuple[str, Blocked]]:
    """Return the first of some pods that has scheduling gates, with these as its reason."""
    for pod in pods:
        gates = _names(run, pod)
        if gates:
            named = f"scheduling {_what(gates)} {joined(gates)}"
            link = f"the {named} of pod {pod} must be removed first"
            blocked = _blocked(link, [pod])
            return [
                (
                    pod,
                    msgspec.structs.replace(blocked, because=f"its {named} must be removed first"),
                )
            ]
    return []


def _names(run: Run, key: str) -> list[str]:
    pod = run.pod(key)
    return [] if pod is None else [gate.name for gate in pod.spec.scheduling_gates]


def _what(gates: Sequence[str] | set[str]) -> str:
    return "gate" if len(gates) == 1 else "gates"


def _blocked(text: str, pods: Sequence[str]) -> Blocked:
    about = tuple((POD, name) for name in pods)
    return Blocked(text, GATED, (Note(text=text, blocks=True),), about)
