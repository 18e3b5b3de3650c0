"""Keeps the index of a log up to date while it is recorded: clock, facts, stored states.

Without it every answer is the same, and slower: answers about the last seconds would read all that
came since. It has a separate connection, so the writer does not wait for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from ...engine.errors import LogError
from ...engine.log import open_log
from ..truth.truth import build_index

LEAST_WAIT = 5.0
"""Seconds between two builds."""

_SHARE = 3.0
"""So many times what a build took passes before the next: a part of it grows with the log."""

_PATIENCE = 2.0
"""Seconds that a build gets to end."""


class IndexBuilder(threading.Thread):
    """Builds the index now and then, until it is stopped.

    :param cluster: returns the cluster, or the epoch of it, that is recorded now.
    :param last: returns the last position of the branch. :param wait: seconds between two builds.
    :ivar built: up to which position the index was built.
    """

    def __init__(
        self,
        place: str,
        *,
        branch: str,
        cluster: Callable[[], str],
        last: Callable[[], int],
        wait: float = LEAST_WAIT,
    ) -> None:
        super().__init__(name="index", daemon=True)
        self._place, self._branch, self._cluster = place, branch, cluster
        self._last, self._wait = last, wait
        self._stop_soon = threading.Event()
        self.built = 0

    def stop(self) -> None:
        """End after the build that runs."""
        self._stop_soon.set()

    def run(self) -> None:
        """Build until it is stopped."""
        wait = self._wait
        while not self._stop_soon.wait(wait):
            begun = monotonic()
            if self._last() > self.built:
                self._build()
            wait = max(self._wait, _SHARE * (monotonic() - begun))

    def _build(self) -> None:
        try:
            with open_log(self._place) as store:
                last = store.last(self._branch)
                build_index(store, branch=self._branch, cluster=self._cluster())
                self.built = last
        except LogError:
            pass  # The index only saves time. The writer meets the same fault, and says it.


@contextmanager
def indexed(
    place: str,
    *,
    branch: str,
    cluster: Callable[[], str],
    last: Callable[[], int],
    wait: float = LEAST_WAIT,
) -> Iterator[IndexBuilder]:
    """Keep the index of a log up to date in the body; parameters as of :class:`IndexBuilder`."""
    builder = IndexBuilder(place, branch=branch, cluster=cluster, last=last, wait=wait)
    builder.start()
    try:
        yield builder
    finally:
        builder.stop()
        # A build of a large log may go on; what it did not finish, the next one does.
        builder.join(_PATIENCE)
