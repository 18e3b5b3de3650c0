"""How Ctrl-C ends a command: it unwinds once, prints one line, and exits with 130.

Python can raise KeyboardInterrupt between any two instructions: in a callback or a destructor,
where it is printed and lost; in a library that reports it as its own error; a second time during
the cleanup after the first; and while the interpreter shuts down. So only the first interrupt is
raised, all later ones are ignored, and nothing but that one line is written to standard error
afterwards.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False

if TYPE_CHECKING:
    import signal
    from collections.abc import Callable
    from types import FrameType
    from typing import NoReturn
else:  # The C module below ``signal``, which loads other modules; interrupts do not wait for them.
    import _signal as signal

INTERRUPTED = 130

PATIENCE = 3
"""After this many interrupts the process stops waiting; the log is intact at any moment."""

_AGAIN = 0.005
"""Seconds after which an interrupt that a callback lost is raised again."""

_STUCK = 0.2
"""Seconds after which it is looked whether an interrupt left a lock of Python's own locked."""

_LOCKING = (
    ("<frozen importlib._bootstrap>", frozenset({"acquire", "release"})),
    ("/concurrent/futures/thread.py", frozenset({"submit", "shutdown"})),
)
"""Where Python waits for a lock that a signal can leave locked: of an import, of an executor."""

_SHOW_CURSOR = b"\x1b[?25h\n"
"""A progress bar hides the cursor; after an interrupt its own output no longer shows it again."""


class Interruption:
    """Handles the interrupts of a process while a command runs.

    A process that was started with interrupts ignored, as by ``nohup``, keeps ignoring them.
    """

    def __init__(self) -> None:
        self.happened = False
        self._passing = False
        self._was_lost = False
        self._count = 0

    def run(self, command: Callable[[], None]) -> None:
        """Run a command; if it was interrupted, exit with 130, however it ended."""
        try:
            try:
                self._install()
                command()
            finally:
                self._passing = True
        except BaseException as fault:
            if isinstance(fault, KeyboardInterrupt) and not self.happened:
                _print_interrupted()  # It was raised by the code itself; there was no signal.
                self.happened = True
            if self.happened:
                self._leave()
            raise
        if self.happened:
            self._leave()

    def _install(self) -> None:
        if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
            return
        try:
            signal.signal(signal.SIGALRM, self._raise_again)
        except ValueError:  # Not the main thread; only that one receives interrupts.
            return
        sys.unraisablehook = self._lost
        signal.signal(signal.SIGINT, self._take)

    def _take(self, _number: int, _frame: FrameType | None) -> None:
        self._count += 1
        if self.happened and self._count > PATIENCE:
            os._exit(INTERRUPTED)
        # An interrupt unwinds the command already, or the command has ended.
        if self._passing:
            return
        self.happened = self._passing = True
        _print_interrupted()
        # Raises it again if a callback of a library loses it, or if it waits for a lock.
        signal.setitimer(signal.ITIMER_REAL, _STUCK, _STUCK)
        raise KeyboardInterrupt

    def _raise_again(self, _number: int, frame: FrameType | None) -> None:
        """Raise an interrupt that was lost, or that waits for a lock that it left locked."""
        if not self.happened:
            return
        was_lost, self._was_lost = self._was_lost, False
        if was_lost or (frame is not None and _waits_for_lock(frame)):
            raise KeyboardInterrupt

    def _lost(self, lost: sys.UnraisableHookArgs) -> None:
        """Raise an interrupt again that could not be caught; otherwise do as Python does."""
        if issubclass(lost.exc_type, KeyboardInterrupt):
            self._was_lost = True
            signal.setitimer(signal.ITIMER_REAL, _AGAIN, _STUCK)
        else:
            sys.__unraisablehook__(lost)

    def _leave(self) -> NoReturn:
        """End the process without the interpreter's shutdown, which waits for all threads.

        Worker processes are cleaned up as at any exit.
        """
        signal.setitimer(signal.ITIMER_REAL, 0)
        end_workers()
        if "multiprocessing.util" in sys.modules:
            # Releases semaphores; otherwise another process would report them on our terminal.
            sys.modules["multiprocessing.util"]._exit_function()  # noqa: SLF001
        os._exit(INTERRUPTED)


def _waits_for_lock(frame: FrameType) -> bool:
    code = frame.f_code
    return any(code.co_filename.endswith(end) and code.co_name in names for end, names in _LOCKING)


def end_workers() -> None:
    """End the processes that this one started; none of them writes to a log."""
    if "multiprocessing" in sys.modules:
        for worker in sys.modules["multiprocessing"].active_children():
            worker.kill()


def _print_interrupted() -> None:
    """Write the line to standard error, and suppress all later output there."""
    line = b"plinian: interrupted\n"
    try:
        os.write(2, _SHOW_CURSOR + line if os.isatty(2) else line)
        # Threads and libraries that fail as the process ends would write there as well.
        if not os.environ.get("PLINIAN_TRACEBACK"):
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, 2)
            os.close(nothing)
    except OSError:  # Standard error is closed.
        return
