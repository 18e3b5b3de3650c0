"""Invariants that no log shows: they are listed with the reason, and never checked."""

from __future__ import annotations

from .invariant import Invariant, Needs, Severity, no_violations


def _unseen(id_: str, name: str, severity: Severity, statement: str, why: str) -> Invariant:
    return Invariant(
        id=id_,
        name=name,
        severity=severity,
        statement=statement,
        needs=Needs.NOTHING,
        unit="",
        kinds=(),
        settles=False,
        check=no_violations,
        unseen=why,
    )


INVARIANTS = (
    _unseen(
        "I-02b",
        "controller-acts-on-owner",
        Severity.CRITICAL,
        "A pod's event changes only the Job with the uid of the pod's controller.",
        "the API server does not record which event a controller acted on",
    ),
    _unseen(
        "I-02c",
        "controller-pod-uid",
        Severity.CRITICAL,
        "The job controller's cache has every pod under its uid.",
        "no component prints the job controller's cache",
    ),
    _unseen(
        "I-09b",
        "ignored-devices-constant",
        Severity.HIGH,
        "The list of devices that sessions ignore does not change within a session.",
        "it changes in the scheduler's memory, between two reads without a lock",
    ),
    _unseen(
        "I-18",
        "snapshot-isolation",
        Severity.MEDIUM,
        "A session changes neither the scheduler's cache nor objects of the API server.",
        "what a process shares in its memory leaves no trace, and Plinian's own sessions work on "
        "copies",
    ),
)
"""The invariants of this module."""
