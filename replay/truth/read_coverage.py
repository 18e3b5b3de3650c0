"""What a log knows completely, read from its events about lists, watches and audit logs."""

from __future__ import annotations

from ...engine.log.store import LogStore, Query
from ...engine.state.coverage_events import coverage_of
from ...engine.state.log_coverage import COVERING, LogCoverage


def read_coverage(
    store: LogStore, *, branch: str, cluster: str, known: int | None = None
) -> LogCoverage:
    """Return what a log knows completely.

    :param known: considering only what had been appended by this position.
    """
    query = Query(branch=branch, cluster=cluster, until=known, kinds=COVERING, about_kinds=True)
    return coverage_of(recorded.event for recorded in store.read(query))
