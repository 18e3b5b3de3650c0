"""Which invariants a search checks in a state of a machine."""

from __future__ import annotations

from ...engine.machine.layout import API
from ...engine.machine.machine import Machine, State
from ...engine.machine.natural import Check, Violation

CHECKED = ("I-01", "I-01b", "I-02", "I-03", "I-04", "I-05", "I-19", "I-21")
"""The ids of what a search can find."""


def check_of(machine: Machine) -> Check:
    """Return what says what is wrong with a state in which a cluster is at rest."""

    def check(state: State) -> tuple[Violation, ...]:
        pods = machine.transitions.server(state[API]).list("Pod")
        return tuple(
            Violation("I-04", f"pod {pod['metadata']['name']} has no node, and nothing is left to do")
            for pod in pods
            if not pod["spec"].get("nodeName")
        )

    return check
