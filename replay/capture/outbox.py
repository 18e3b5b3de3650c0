"""Between the threads that read streams and the one that writes: events that wait to be stored.

Memory is bounded in bytes, over all streams. A thread that has no room waits, so it stops reading,
and nothing is dropped.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import NamedTuple

from ...engine.events import Event
from ...engine.ingest.watch.grown_spans import Placed, joined_spans

_OVERHEAD = 900
"""Bytes of an event in memory besides its payload."""


class Room:
    """Bytes that may wait to be stored; threads share it."""

    def __init__(self, size: int) -> None:
        self._size, self._used = size, 0
        self._changed = threading.Condition()
        self._closed = False

    @property
    def used(self) -> int:
        """How many bytes wait."""
        return self._used

    @property
    def presses(self) -> bool:
        """Whether more than half of it is used, so that readers may soon have to wait."""
        return 2 * self._used > self._size

    def has(self, size: int) -> bool:
        """Return whether so many bytes fit twice without waiting."""
        return self._used + 2 * size <= self._size

    def take(self, size: int) -> None:
        """Wait until there is room, and take it; what is larger than all of it waits for none."""
        with self._changed:
            while self._used and self._used + size > self._size and not self._closed:
                self._changed.wait()
            self._used += size

    def give(self, size: int) -> None:
        """Give room back."""
        with self._changed:
            self._used -= size
            self._changed.notify_all()

    def close(self) -> None:
        """Let no thread wait any more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()


class StreamDelivery(NamedTuple):
    """What one stream delivered.

    :param events: in the order of the stream. :param aside: what was found out about the past.
    :param placed: what it covers now; true once the events are stored.
    :param size: bytes, about. :param stored: set when all of it is in the log.
    """

    events: Sequence[Event]
    aside: Sequence[Event]
    placed: Sequence[Placed]
    size: int
    stored: Sequence[threading.Event] = ()


class Outbox:
    """What one stream has read, until the writer takes it."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._lock = threading.Lock()
        self._events: list[Event] = []
        self._aside: list[Event] = []
        self._placed: list[Placed] = []
        self._size = 0
        self._marks: list[threading.Event] = []

    def add(self, event: Event, *, aside: bool = False) -> None:
        """Add an event; waits while there is no room."""
        size = len(event.payload) + _OVERHEAD
        self._room.take(size)
        with self._lock:
            (self._aside if aside else self._events).append(event)
            self._size += size

    def cover(self, placed: Sequence[Placed]) -> None:
        """Add what the stream covers with the events so far."""
        with self._lock:
            self._placed += placed

    def mark(self) -> threading.Event:
        """Return what is set when all that was added so far is in the log."""
        stored = threading.Event()
        with self._lock:
            self._marks.append(stored)
        return stored

    def take(self) -> StreamDelivery | None:
        """Return all that is there, and keep nothing; None if nothing is there."""
        with self._lock:
            if not (self._events or self._aside or self._placed or self._marks):
                return None
            taken = self._events, self._aside, self._placed, self._size, self._marks
            self._events, self._aside, self._placed, self._size, self._marks = [], [], [], 0, []
        events, aside, placed, size, marks = taken
        return StreamDelivery(events, aside, list(joined_spans(placed)), size, marks)
