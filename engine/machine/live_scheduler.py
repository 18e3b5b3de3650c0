"""A scheduler that lives on: its process remembers, time passes, and idle sessions are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..cache.projector import Projector
from ..controllers.component import Client
from ..kubernetes.api_server import Document
from ..session.framework.process_parts import ProcessState
from ..session.framework.session_outcome import ClosedQueueStatus, SessionResult
from .scheduler import SESSION, SchedulerComponent, SchedulerSettings


class LiveScheduler(SchedulerComponent):
    """One scheduler process that is never taken back.

    :param clock: returns the current time, in microseconds since 1970.
    :param projector: drives its cache, which may hold something already.
    :param process: what it keeps between sessions.
    :ivar idle: the next session would decide what the last one did, and change nothing. That is so
        if a session changed nothing (or wrote what the one before it wrote), remembers nothing else
        than before, did not ask for the time, and nothing reached the cache since: it is a function
        of nothing else.
    :ivar result: of the last session.
    """

    def __init__(
        self,
        settings: SchedulerSettings,
        clock: Callable[[], int],
        projector: Projector | None = None,
        process: ProcessState | None = None,
    ) -> None:
        super().__init__(settings)
        self._projector = projector
        self._clock = clock
        self._lives_as = process or ProcessState()
        self._remembered: dict[type[Any], object] = {}
        self._wrote: dict[str, ClosedQueueStatus] = {}
        """What the last session wrote of queues, if nothing reached the cache since."""
        self.idle = False
        self.result: SessionResult | None = None

    def deliver(self, verb: str, kind: str, key: str, document: Document, client: Client) -> None:
        """Let an informer deliver a change.

        :raises Panic: the process ends.
        """
        self.idle = False
        self._wrote = {}
        super().deliver(verb, kind, key, document, client)

    def step(self, name: str, client: Client) -> None:
        """Do one of :meth:`steps`.

        :raises Panic: the process ends.
        """
        self.idle = False
        if name == SESSION:
            self._remembered = self._lives_as.memory.copied()
        else:
            self._wrote = {}
        super().step(name, client)
        if name == SESSION:
            self.idle = self._changed_nothing()

    def _changed_nothing(self) -> bool:
        result = self.result
        assert result is not None, "a session was run"
        acted = result.binds or result.evictions or self._binding
        before, self._wrote = (
            self._wrote,
            {name: queue for name, queue in result.queues.items() if queue.written},
        )
        wrote_again = not self._wrote or self._wrote == before
        same = not result.asked_time and self._lives_as.memory.equal(self._remembered)
        # One step that is left is the session itself; any other is work that would reach the cache.
        return same and not acted and wrote_again and len(self.steps()) == 1

    def _present(self) -> int:
        return self._clock()

    def _process(self) -> ProcessState:
        return self._lives_as

    def _ended(self, result: SessionResult) -> None:
        self.result = result
