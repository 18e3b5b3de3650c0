"""The status of an object in the words that kubectl prints: one for every table, page and lane."""

from __future__ import annotations

from .facts import Fact, JobFact, NodeFact, PodFact, PodGroupFact, QueueFact


def status_of(fact: Fact) -> str:
    """Return the STATUS of an object as ``get`` prints it; empty if it has none.

    Source: k8s.io/kubernetes/pkg/printers/internalversion/printers.go printPod, printNode; the
    printer columns of Volcano's kinds.
    """
    if isinstance(fact, PodFact):
        return fact.status
    if isinstance(fact, NodeFact):
        return node_status(fact)
    if isinstance(fact, QueueFact):
        return fact.state
    return fact.phase if isinstance(fact, PodGroupFact | JobFact) else ""


def node_status(fact: NodeFact) -> str:
    """Return kubectl's STATUS of a node."""
    words = {"True": "Ready", "": "Unknown"}
    status = words.get(fact.ready, "NotReady")
    return f"{status},SchedulingDisabled" if fact.unschedulable else status
