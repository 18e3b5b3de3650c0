"""The invariant of writers: no two components overwrite the same field in turns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from ..kubernetes.objects import PodGroup, Queue
from ..kubernetes.units import SECOND_US
from .invariant import PODGROUP, QUEUE, WRITES, Invariant, Needs, Severity, Violation, no_violations

WITHIN_US = 60 * SECOND_US
"""Writes that are further apart may be of components that followed each other."""

_COUNTS = ("unknown", "pending", "running", "inqueue", "completed")
_TURNS = 3
"""One writes, another writes, the first writes again: no restart or upgrade looks like that."""


class WrittenVersion(NamedTuple):
    """A version of an object. :param actor: who wrote it; empty if the log does not say.

    :param fields: what counts as one thing to write, as texts.
    """

    position: int
    time: int
    kind: str
    name: str
    uid: str
    actor: str
    fields: Mapping[str, str]


class _Turn(NamedTuple):
    """A change of a field."""

    write: WrittenVersion
    value: str


def fields_of(item: Queue | PodGroup) -> dict[str, str]:
    """Return what has one writer in a queue or a PodGroup."""
    status = item.status
    if isinstance(item, PodGroup):
        return {"phase": item.status.phase}
    assert isinstance(item, Queue)
    parts: dict[str, object] = {
        "state": item.status.state,
        "allocated": item.status.allocated or None,
        "counts": [getattr(status, name) for name in _COUNTS],
    }
    return {
        name: msgspec.json.encode(part, order="sorted").decode() for name, part in parts.items()
    }


def contested(writes: Iterable[WrittenVersion]) -> Iterator[tuple[WrittenVersion, Violation]]:
    """Yield the writes with which a field came back to a writer, with another one in between.

    :param writes: in the order of revisions.
    """
    turns: dict[tuple[str, str], list[_Turn]] = {}
    reported: set[tuple[str, str]] = set()
    for write in writes:
        for name, value in write.fields.items():
            before = turns.setdefault((write.uid, name), [])
            # A write that leaves the value as it is takes no turn.
            if before and before[-1].value == value:
                continue
            before.append(_Turn(write, value))
            del before[:-_TURNS]
            if (write.uid, name) not in reported and _is_contest(before):
                reported.add((write.uid, name))
                first, second = before[0].write.actor, before[1].write.actor
                message = f"{first} and {second} write its {name} in turns"
                yield write, Violation(write.kind, write.name, message, name, 0)


def _is_contest(turns: list[_Turn]) -> bool:
    if len(turns) < _TURNS:
        return False
    actors = [turn.write.actor for turn in turns]
    soon = turns[-1].write.time - turns[0].write.time <= WITHIN_US
    return soon and all(actors) and actors[0] == actors[2] != actors[1]


INVARIANTS = (
    Invariant(
        id="I-23",
        name="single-writer",
        severity=Severity.MEDIUM,
        statement="Two components do not write the same field of a queue or PodGroup in turns.",
        needs=Needs.LOG,
        unit=WRITES,
        kinds=(QUEUE, PODGROUP),
        settles=False,
        check=no_violations,
        ranged=True,
    ),
)
"""The invariants of this module."""
