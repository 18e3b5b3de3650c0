"""By when each revision existed, from the times at which sources saw it or a later one."""

from __future__ import annotations

from array import array


class KnownBy:
    """Takes the revisions that sources saw and when, and says by when each existed.

    An object that a late list shows may be old: when it was seen says little about when it was
    written. But revisions are given out one after the other, so one existed at the latest when
    a source saw any that follows it. Memory: 16 bytes for each revision that says something new.
    """

    def __init__(self) -> None:
        self._revisions = array("q")
        self._times = array("q")
        self._begin = 0
        self._next = 0

    def begin_source(self) -> None:
        """Begin another source; the revisions of one mostly rise."""
        self._begin = len(self._revisions)

    def add(self, revision: int, time: int) -> None:
        """Take a revision that existed at a time; microseconds since 1970.

        What the source's revision before says as well is not kept.
        """
        revisions, times = self._revisions, self._times
        if len(revisions) > self._begin and revisions[-1] >= revision and times[-1] <= time:
            return
        # This one follows them, so they existed by its time as well: they say nothing new.
        while len(revisions) > self._begin and revisions[-1] <= revision and times[-1] >= time:
            revisions.pop()
            times.pop()
        revisions.append(revision)
        times.append(time)

    def close(self) -> None:
        """Take no more; from now on ask for times."""
        steps = sorted(zip(self._revisions, self._times, strict=True))
        self._revisions, self._times = array("q"), array("q")
        soonest = None
        # From the end: a revision says something only if it was seen before all that follow it.
        for revision, time in reversed(steps):
            if soonest is None or time < soonest:
                self._revisions.append(revision)
                self._times.append(time)
                soonest = time
        self._revisions.reverse()
        self._times.reverse()

    def time(self, revision: int) -> int | None:
        """Return by when a revision existed; None if no source saw it or a later one at a time.

        :param revision: at least the one that was asked for before.
        """
        while self._next < len(self._revisions) and self._revisions[self._next] < revision:
            self._next += 1
        return self._times[self._next] if self._next < len(self._times) else None
