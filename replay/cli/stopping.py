"""How a command that never ends by itself is stopped: it stores what it has, and leaves."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..capture.recorder import StreamRecorder


@contextmanager
def stopped_by_signals(recorder: StreamRecorder, seconds: float | None = None) -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and the end of the time stop a recorder; it stores what it has."""
    timer = None if seconds is None else threading.Timer(seconds, recorder.stop)
    signals = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda *_: recorder.stop()) for number in signals]
    if timer is not None:
        timer.daemon = True
        timer.start()
    try:
        yield
    finally:
        for number, handler in zip(signals, before, strict=True):
            signal.signal(number, handler)
        if timer is not None:
            timer.cancel()
