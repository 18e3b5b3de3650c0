"""``plinian status``: what a log holds."""

from __future__ import annotations

from itertools import chain
from typing import Annotated

from . import options
from .answers import write_answer
from .command import command
from .shell import style


@command("status")
def status(
    *,
    log: options.LogPlace = options.DEFAULT_LOG,
    output: Annotated[str, options.form("table|wide|json|yaml")] = "table",
    as_known_at: options.AsKnownAt = None,
    cluster: options.Cluster = None,
    branch: options.Branch = options.MAIN,
) -> None:
    """Show what a log holds and lacks.

    Its inputs, releases and configurations, the range it covers, and how exactly it knows times.
    For each kind (and namespace): from which revision to which all objects are known, and the gaps
    between. If the log holds several clusters, each is shown.
    """
    from ..logs.log_status import status_of
    from ..render.figures import status_lines
    from .open_log import opened

    with opened(log, read_only=True, branch=branch, cluster=cluster) as opened_log:
        names: list[str | None] = [*opened_log.store.clusters()] or [None]
        if cluster:
            names = [cluster]
        statuses = []
        for name in names:
            opened_log.cluster = name
            statuses.append(status_of(opened_log, opened_log.moment(as_known_at=as_known_at)))
    lines = (
        line
        for number, cluster_status in enumerate(statuses)
        for line in chain("\n" * bool(number), status_lines(cluster_status, style=style()))
    )
    write_answer({"clusters": statuses}, lines, output, indent=2)
