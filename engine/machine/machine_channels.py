"""Channels: what informers are still to deliver, as numbers of queues."""

from __future__ import annotations

from collections.abc import Iterable

from .value_numbers import ValueTable

Notices = tuple[int, ...]


class Channels:
    """Numbers for the contents of channels, and what they come to.

    :ivar empty: the number of a channel in which nothing waits.
    """

    def __init__(self) -> None:
        self._queues: ValueTable[Notices] = ValueTable()
        self.empty = self._queues.number(())
        self._popped: dict[int, tuple[int, int]] = {}
        self._pushed: dict[tuple[int, int], int] = {}

    def __getitem__(self, number: int) -> Notices:
        return self._queues[number]

    def number(self, notices: Notices) -> int:
        """Return the number of a content."""
        return self._queues.number(notices)

    def pop(self, queue: int) -> tuple[int, int]:
        """Return what is left without the first notice, and that notice."""
        assert queue != self.empty, "an informer delivers only what waits"
        known = self._popped.get(queue)
        if known is None:
            first, *rest = self._queues[queue]
            known = self._popped[queue] = (self._queues.number(tuple(rest)), first)
        return known

    def push(self, queue: int, notice: int) -> int:
        """Return the content with one more notice."""
        known = self._pushed.get((queue, notice))
        if known is None:
            known = self._queues.number((*self._queues[queue], notice))
            self._pushed[queue, notice] = known
        return known

    def extended(self, queue: int, notices: Iterable[int]) -> int:
        """Return the content with more notices."""
        return self._queues.number((*self._queues[queue], *notices))
