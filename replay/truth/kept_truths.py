"""The last few truths of an open log: bounded, because those of large clusters are large."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

from ...engine.state.truth import Truth
from ..moments.moment import Moment

MOST_TRUTHS = 4
MOST_OBJECTS = 50_000
"""Objects in all truths that are kept, about; a truth of 40,000 takes some 60 MB."""

LARGE = 10_000
"""A truth of so many objects is dropped before a scheduler's cache is read, which takes more."""

Make = Callable[[Moment, Truth | None], Truth]
"""Makes the truth of a moment; from what it has in common with another one, if that is given."""


class KeptTruths:
    """Truths by moment, the last used last; threads may share it.

    :param make: makes those that are not kept.
    """

    def __init__(self, make: Make) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._kept: OrderedDict[Moment, Truth] = OrderedDict()

    def has(self, moment: Moment) -> bool:
        """Return whether the truth of a moment is kept."""
        with self._lock:
            return moment in self._kept

    def of(self, moment: Moment) -> Truth:
        """Return the truth of a moment."""
        with self._lock:
            found = self._kept.get(moment)
            if found is not None:
                self._kept.move_to_end(moment)
                return found
            before = self._last_on(moment.branch)
        made = self._make(moment, before)
        with self._lock:
            self._kept[moment] = made
            while self._is_too_much():
                self._kept.popitem(last=False)
        return made

    def forget(self) -> None:
        """Keep none."""
        with self._lock:
            self._kept.clear()

    def forget_large(self) -> None:
        """Keep none that is large; one that is in use lives on until that ends."""
        with self._lock:
            for moment in [one for one, kept in self._kept.items() if len(kept) >= LARGE]:
                del self._kept[moment]

    def _last_on(self, branch: str) -> Truth | None:
        some = (kept for moment, kept in reversed(self._kept.items()) if moment.branch == branch)
        return next(some, None)

    def _is_too_much(self) -> bool:
        if len(self._kept) < 2:
            return False
        return len(self._kept) > MOST_TRUTHS or sum(map(len, self._kept.values())) > MOST_OBJECTS
