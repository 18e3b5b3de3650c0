"""How a command that never ends by itself is stopped: it stores what it has, and leaves."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..capture.recorder import StreamRecorder


@contextmanager
def stopped_by_signals(
    recorder: StreamRecorder,
    seconds: float | None = None,
    *,
    also: Callable[[], None] = lambda: None,
) -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and the end of the time stop a recorder; it stores what it has.

    :param also: called then, too: what it stops ends while the recorder does.
    """

    def stop(*_: object) -> None:
        recorder.stop()
        also()

    timer = None if seconds is None else threading.Timer(seconds, stop)
    signals = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, stop) for number in signals]
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
