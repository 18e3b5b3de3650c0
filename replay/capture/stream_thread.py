"""A thread that reads something without an end, and how it ended."""

from __future__ import annotations

import threading
from abc import abstractmethod

from .hole_repair import EpochFell
from .outbox import Outbox
from .stream_state import StreamPhase, StreamState


class StreamThread(threading.Thread):
    """Reads until it is stopped; what it reads goes to its outbox.

    :ivar state: what it does now. :ivar fell: the revisions of the cluster fell, so it ended.
    :ivar crash: an error in Plinian, so it ended.
    """

    def __init__(self, name: str, state: StreamState, outbox: Outbox) -> None:
        super().__init__(name=name, daemon=True)
        self.state, self.outbox = state, outbox
        self.fell: EpochFell | None = None
        self.crash: BaseException | None = None

    def run(self) -> None:
        """Read, and note how it ended."""
        try:
            self.read()
        except EpochFell as fell:
            self.fell = fell
        except Exception as fault:  # noqa: BLE001 -- the recorder says it, and ends
            self.crash = fault
        self.state.phase = StreamPhase.STOPPED

    @abstractmethod
    def read(self) -> None:
        """Read until it is stopped, or cannot go on.

        :raises EpochFell: the revisions of the cluster fell.
        """
