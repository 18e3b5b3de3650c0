"""Lists without a revision that were made after a moment: they say nothing about it.

Such a list is younger than its revision, which is a lower bound. On a quiet cluster, lists made
hours apart have the same one. So a moment that is a time knows only the lists made by then, and one
that is a revision only the first list of each scope that has it as its bound.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...engine.log.store import LogStore
from .moment import Moment
from .read_coverage import DatedList, dated_lists


def later_lists(store: LogStore, moment: Moment) -> list[DatedList]:
    """Return the lists that are later than a moment and would count at its revision."""
    if moment.time is None and moment.revision is None:  # The end of the log.
        return []
    lists = dated_lists(store, branch=moment.branch, cluster=moment.cluster, known=moment.known)
    return [listed for listed in lists if _is_later(listed, moment, lists)]


def _is_later(listed: DatedList, moment: Moment, lists: Sequence[DatedList]) -> bool:
    time, revision = moment.time, moment.revision
    if time is not None:
        return listed.answered > time and (revision is None or listed.revision <= revision)
    if revision is None or listed.revision > revision:
        return False
    return any(
        earlier.revision == revision
        and earlier.scope == listed.scope
        and earlier.answered < listed.answered
        for earlier in lists
    )
