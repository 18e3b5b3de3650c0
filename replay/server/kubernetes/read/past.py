"""The log of a server as a cluster: its state at the moment that is served, or at another."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ....moments.moment import Moment
from ...kept_answers import LastUsed
from ...readers import Readers
from ...settings import ServerSettings
from ..wire.shifted_times import NONE, Shift, shift_to
from .cluster_state import ClusterState, KeptStates, View

T = TypeVar("T")

MOST_BYTES = 80 << 20
"""Encoded parts of lists that are kept for the next client that asks for the same."""


class Past:
    """The states of a log.

    :param settings: what the server serves. :param readers: the threads that read the log.
    """

    def __init__(self, settings: ServerSettings, readers: Readers) -> None:
        self.settings, self._readers = settings, readers
        self.kept, self.parts = KeptStates(), LastUsed[bytes](MOST_BYTES, len)

    async def moment(self, point: str) -> Moment:
        """Return the moment that a point names.

        :raises PointUnknown: the log has no such moment.
        """
        return await self._readers.ask(lambda log: log.moment(point))

    async def ask(self, view: View, question: Callable[[ClusterState], T]) -> T:
        """Return what a question about a state answers."""
        return await self._readers.ask(lambda log: question(view(log)))

    def view(self, moment: Moment, shift: Shift = NONE) -> View:
        """Return what gives the state at a moment, for the thread of a log."""
        return lambda log: ClusterState(log, moment, self.kept, shift)

    async def shift(self, moment: Moment) -> Shift:
        """Return the shift that shows a moment at the time that the settings name."""
        target = self.settings.shift_to
        if target is None:
            return NONE
        return shift_to(target, await self.ask(self.view(moment), lambda state: state.time))
