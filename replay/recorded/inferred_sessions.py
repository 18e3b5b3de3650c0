"""Sessions that no log names, inferred from what a scheduler wrote: writes close together are one.

A session writes its binds while it runs, and its PodGroups when it ends. So writes without a long
pause belong to one session, and so do writes around the same id in the conditions of PodGroups.
A session that wrote nothing cannot be seen at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

PAUSE_US = 350_000
"""A longer time without a write ends a session.

In recordings, no group that this makes mixed the writes of two sessions; long sessions fall apart.
"""


@dataclass(frozen=True, slots=True)
class SchedulerWrite:
    """A write by a scheduler.

    :ivar time: the best estimate, microseconds. :ivar position: of the event that shows it.
    :ivar what: ``bind`` or ``group``. :ivar name: ``ns/name`` of the pod or PodGroup.
    :ivar uid: of the pod; or the session's id, which the PodGroup names.
    :ivar node: of a bind; empty if it is not known. :ivar revision: of the PodGroup's version.
    :ivar status: of the PodGroup. :ivar after: the time of the write before this one.
    """

    time: int
    position: int
    what: str
    name: str
    uid: str = ""
    node: str = ""
    revision: int | None = None
    status: tuple[str, int, int, int, tuple[tuple[str, str, str, str], ...]] | None = None
    after: int | None = None

    @property
    def session(self) -> str:
        """The id of its session; empty if it is not known."""
        return self.uid if self.what == "group" else ""


def grouped(writes: Sequence[SchedulerWrite]) -> Iterator[list[SchedulerWrite]]:
    """Yield the writes of one session after the other."""
    ordered = sorted(
        writes, key=lambda write: (write.time, write.name, write.revision or 0, write.position)
    )
    last = {write.session: write.time for write in ordered if write.session}
    group: list[SchedulerWrite] = []
    named = ""  # The id of the group's session, as soon as a write names one.
    for write in ordered:
        if group and _is_next(group[-1], named, write, last):
            before = group[-1].time
            yield group
            group, named = [replace(write, after=before)], ""
        else:
            group.append(write)
        named = named or write.session
    if group:
        yield group


def _is_next(
    before: SchedulerWrite, named: str, write: SchedulerWrite, last: dict[str, int]
) -> bool:
    """Return whether a write belongs to another session than the one before it.

    :param named: the id of that session; empty if no write of it names one.
    :param last: the time of the last write with the id of a session.
    """
    # Two ids decide, however close the writes are.
    if named and write.session:
        return named != write.session
    # The session writes again later, so it cannot have ended before this write.
    if named and write.time <= last[named]:
        return False
    return write.time - before.time > PAUSE_US
