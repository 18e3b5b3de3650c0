"""Why a task does not fit a node: statuses with codes, interned so that columns can hold them.

Source: ``pkg/scheduler/api/types.go`` (``Status``, ``StatusSets``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .meanings import Meaning


class StatusCode(IntEnum):
    """Code of a status, as in kube-scheduler's framework."""

    SUCCESS = 0
    ERROR = 1
    UNSCHEDULABLE = 2
    UNSCHEDULABLE_AND_UNRESOLVABLE = 3
    WAIT = 4
    SKIP = 5


class NodeStatus(NamedTuple):
    """One reason of one filter."""

    code: StatusCode
    message: str


PASS = 0
"""Id of the verdict that has no status: the node takes the task."""

_FINAL = frozenset(
    {
        StatusCode.UNSCHEDULABLE_AND_UNRESOLVABLE,
        StatusCode.ERROR,
        StatusCode.SKIP,
        StatusCode.WAIT,
    }
)


class Reasons:
    """Assigns a small number to every distinct list of statuses, for int32 columns."""

    def __init__(self) -> None:
        self._ids: dict[tuple[NodeStatus, ...], int] = {(): PASS}
        self._statuses: list[tuple[NodeStatus, ...]] = [()]
        self._stops: list[bool] = [False]
        self._plain: dict[str, tuple[str, ...]] = {}
        self._meanings: dict[str, Meaning] = {}

    def intern(self, code: StatusCode, *messages: str) -> int:
        """Return the id of a verdict with one status of this code for each message."""
        return self.intern_all(tuple(NodeStatus(code, message) for message in messages))

    def intern_all(self, statuses: tuple[NodeStatus, ...]) -> int:
        """Return the id of a verdict with these statuses."""
        known = self._ids.get(statuses)
        if known is None:
            known = self._ids[statuses] = len(self._statuses)
            self._statuses.append(statuses)
            self._stops.append(any(status.code in _FINAL for status in statuses))
        return known

    def word(self, message: str, *plain: str) -> str:
        """Note what a message says without what a release puts around it; return the message.

        :param plain: the messages of the filters themselves.
        """
        if plain != (message,):
            self._plain[message] = tuple(self.of_filters(plain))
        return message

    def of_filters(self, messages: Iterable[str]) -> Iterator[str]:
        """Yield messages as the filters gave them, without what a release puts around them."""
        for message in messages:
            yield from self._plain.get(message, (message,))

    def mean(self, message: str, meaning: Meaning) -> str:
        """Note what a filter's message means; return the message."""
        self._meanings[message] = meaning
        return message

    def meanings(self, messages: Iterable[str]) -> dict[str, Meaning]:
        """Return what messages mean, of those with a known meaning.

        :param messages: as of :meth:`of_filters`.
        """
        known = self._meanings
        return {message: known[message] for message in messages if message in known}

    def statuses(self, verdict: int) -> tuple[NodeStatus, ...]:
        """Return the statuses of a verdict."""
        return self._statuses[verdict]

    def messages(self, verdict: int) -> tuple[str, ...]:
        """Return the messages of a verdict."""
        return tuple(status.message for status in self._statuses[verdict])

    def unresolvable(self, verdict: int) -> bool:
        """Return whether evicting pods from the node cannot help."""
        return any(
            status.code is StatusCode.UNSCHEDULABLE_AND_UNRESOLVABLE
            for status in self._statuses[verdict]
        )

    def stops_preemption(self, verdict: int) -> bool:
        """Return whether preempt and reclaim skip the node: every code except Unschedulable.

        Source: ``framework/session.go:PredicateForPreemptAction``.
        """
        return self._stops[verdict]

    def stop_preemption(self) -> NDArray[np.bool_]:
        """Return :meth:`stops_preemption` of all verdicts."""
        return np.array(self._stops)

    def __len__(self) -> int:
        return len(self._statuses)
