"""A moment of a log: a resolved point."""

from __future__ import annotations

import msgspec

from ...engine.log.store import NO_REVISION, FoldWindow
from ...engine.state.clock import Unsure


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """A point, resolved in one log.

    :param known: only events up to this position count.
    :param revision: the last revision that had happened; None is the end.
    :param time: the time in microseconds, if the point is one.
    :param unsure: changes that may have happened before or after that time.
    :param label: how to print it. :param note: how it was understood, if that is not plain.
    """

    branch: str
    cluster: str
    known: int
    revision: int | None
    time: int | None
    label: str
    unsure: Unsure | None = None
    note: str = ""

    def is_before(self, other: Moment) -> bool:
        """Return whether it is certainly before another moment: both are of one sort."""
        if self.revision is not None and other.revision is not None:
            return self.revision < other.revision
        return self.revision is None and other.revision is None and self.known < other.known

    def window(self, after: int = NO_REVISION) -> FoldWindow:
        """Return the part of the log that had happened by then, after a revision."""
        return FoldWindow(
            branch=self.branch,
            cluster=self.cluster,
            known=self.known,
            after=after,
            until=self.revision,
        )


def remarks_on(moment: Moment) -> list[str]:
    """Return remarks on a moment, one per line."""
    remarks = [moment.note] if moment.note else []
    unsure = moment.unsure
    if unsure is not None:
        where = f"rv:{unsure.first}"
        if unsure.count > 1:
            where += f" … rv:{unsure.last}"
        changes = "1 change" if unsure.count == 1 else f"{unsure.count} changes"
        remarks.append(
            f"{moment.label}: {changes} ({where}) may have happened before or after this moment"
        )
    return remarks
