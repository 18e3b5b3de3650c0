"""A moment of a log: what a point names, resolved."""

from __future__ import annotations

import msgspec

from ...engine.state.clock import Unsure


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """A point, resolved in one log.

    :param known: only what had been appended by this position counts.
    :param revision: the last revision that had happened; None is the end.
    :param time: the time looked at in microseconds, if the point is one.
    :param unsure: changes that may have come before or after that time.
    :param label: how to print it. :param note: what else to say of how it was understood.
    """

    branch: str
    cluster: str
    known: int
    revision: int | None
    time: int | None
    label: str
    unsure: Unsure | None = None
    note: str = ""


def remarks_on(moment: Moment) -> list[str]:
    """Return what to know of a moment besides its label, a line each."""
    found = [moment.note] if moment.note else []
    unsure = moment.unsure
    if unsure is not None:
        where = f"rv:{unsure.first}"
        if unsure.count > 1:
            where += f" … rv:{unsure.last}"
        changes = "1 change" if unsure.count == 1 else f"{unsure.count} changes"
        found.append(
            f"{moment.label}: {changes} ({where}) may have come before or after this moment"
        )
    return found
