"""Traces with a limit: for sessions that are compared or run again."""

from __future__ import annotations

from collections.abc import Sequence

from ...engine.session.framework.trace import Trace, TraceStep


class FirstSteps(Trace):
    """A trace of the first steps of a session.

    :param count: how many are kept.
    """

    def __init__(self, count: int) -> None:
        super().__init__(scores=False)
        self._count = count

    def keep(self, step: TraceStep) -> None:
        """Keep a step, unless enough are kept."""
        super().keep(step)
        if len(self.steps) >= self._count:
            self.filled()

    # Only the first steps count here, so that the session itself goes on without keeping more.
    def filled(self) -> None:
        """Stop keeping steps."""
        self.on = False


class ComparedTrace(FirstSteps):
    """A trace that is compared with another while it grows, and stops soon after they differ.

    :param other: the steps of the other session.
    :param count: how many steps are kept at most.
    :param beyond: how many steps are kept from the first difference on.
    """

    def __init__(self, other: Sequence[TraceStep], count: int, beyond: int) -> None:
        super().__init__(count)
        self._other, self._beyond = other, beyond
        self._parted = False

    def keep(self, step: TraceStep) -> None:
        """Keep a step, and compare it with the other session's."""
        super().keep(step)
        place = len(self.steps) - 1
        if not self._parted:
            # Without the numbers: only another outcome ends the trace soon.
            self._parted = place >= len(self._other) or step[:-1] != self._other[place][:-1]
        if self._parted:
            self._beyond -= 1
            self.on = self.on and self._beyond > 0


class TraceComplete(Exception):
    """The needed step was recorded; the session can stop."""


class EndingTrace(FirstSteps):
    """A trace that ends its session after a number of steps.

    :raises Enough: out of the session, at the last of them.
    """

    def filled(self) -> None:
        """End the session."""
        raise TraceComplete
