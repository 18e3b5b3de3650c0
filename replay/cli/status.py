"""``plinian status``: what a log holds."""

from __future__ import annotations

import sys
from typing import Annotated

from . import options
from .command import command
from .shell import style, write_lines


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
    from ..render.documents import json_text, plain, write_yaml
    from ..render.figures import status_lines
    from .open_log import opened

    with opened(log, read_only=True, branch=branch, cluster=cluster) as opened_log:
        names: list[str | None] = [*opened_log.store.clusters()] or [None]
        if cluster:
            names = [cluster]
        found = []
        for name in names:
            opened_log.cluster = name
            found.append(status_of(opened_log, opened_log.moment(as_known_at=as_known_at)))
    if output in {"table", "wide"}:
        for number, one in enumerate(found):
            sys.stdout.write("\n" if number else "")
            write_lines(status_lines(one, style=style()))
        return
    document = {"clusters": found}
    if output == "json":
        sys.stdout.write(json_text(document, indent=2) + "\n")
    else:
        write_yaml(sys.stdout, [plain(document)], single=True)
