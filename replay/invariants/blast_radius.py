"""The invariant of blast radius: one queue does not stop the jobs of all others.

The session of a moment is run again without the limits of a queue whose limits contradict those
above it. If the jobs of other queues get something only then, that queue stopped them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...engine.invariants.invariant import (
    NODE,
    POD,
    PODGROUP,
    QUEUE,
    SESSION,
    Invariant,
    Needs,
    Severity,
    Violation,
)
from ...engine.invariants.texts import names_of
from ...engine.invariants.view import ClusterView
from ...engine.session.framework.session_outcome import SessionResult

ID = "I-14"

_ROOT = "root"


def blast_radius(tree: Invariant) -> Invariant:
    """Return the invariant.

    :param tree: the invariant that finds queues with contradicting limits.
    """

    def check(view: ClusterView, _: str) -> Iterable[Violation]:
        return _stopped_by(
            view, sorted({violation.name for violation in tree.check(view, "")} - {_ROOT})
        )

    return Invariant(
        id=ID,
        name="blast-radius",
        severity=Severity.CRITICAL,
        statement="No queue's limits keep a session from deciding for the jobs of other queues.",
        needs=Needs.SESSION,
        unit=SESSION,
        kinds=(NODE, QUEUE, PODGROUP, POD),
        settles=False,
        check=check,
    )


def _stopped_by(view: ClusterView, queues: Iterable[str]) -> Iterator[Violation]:
    """Yield the queues without whose limits the jobs of others get something.

    If a session decides anything for other queues, resources may be what they lack: no violation.
    """
    session = view.session
    if session is None or session.again is None:
        return
    for name in queues:
        if name not in view.cache.queues or _of_others(view, session.result, name):
            continue
        gained = _of_others(view, session.again.without_limits(name), name)
        if gained:
            message = (
                f"the session decides nothing for jobs of other queues; without its limits it "
                f"would go on with {names_of(gained, 'object')}"
            )
            yield Violation("Queue", name, message)


def _of_others(view: ClusterView, result: SessionResult, queue: str) -> list[str]:
    """Return what a session enqueues or places outside the queues above and below one."""
    placed = [key for key, _ in (*result.binds, *result.pipelined)]
    outside = {key for key in result.enqueued if _is_apart(view, view.queue_of_group(key), queue)}
    outside |= {key for key in placed if _is_apart(view, view.queue_of_pod(key), queue)}
    return sorted(outside)


def _is_apart(view: ClusterView, first: str, second: str) -> bool:
    """Return whether neither queue is above the other."""
    return bool(first) and first not in _line(view, second) and second not in _line(view, first)


def _line(view: ClusterView, name: str) -> list[str]:
    """Return a queue and those above it."""
    line = [name]
    while (info := view.cache.queues.get(line[-1])) is not None:
        if not info.parent or info.parent in line:
            break
        line.append(info.parent)
    return line
