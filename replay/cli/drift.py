"""``plinian drift``: where the scheduler's cache differs from the API server."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from . import options
from .assumption import ChosenReleases, chosen
from .command import command
from .coverage_warnings import warn_sessions
from .shell import note, shows_progress, style

if TYPE_CHECKING:
    from ..moments.drift import Drift


@command("drift")
@options.log
@options.at
@options.release
@options.table_json_or_yaml
@options.no_headers
@click.option("--exit-code", is_flag=True, help="Exit with 1 if anything differs.")
@options.assume
@options.as_known_at
@options.strict
@options.cluster
@options.branch
def drift(
    log: str,
    at: str,
    release: str,
    output: str,
    no_headers: bool,
    exit_code: bool,
    assume: bool,
    as_known_at: str | None,
    strict: bool,
    cluster: str | None,
    branch: str,
) -> None:
    """Show where the scheduler's cache differs from the API server.

    And since which event. Compared are nodes (resources and pods), PodGroups and the status of
    their pods, queues and priority classes. The scheduler is one of the release whose informers are
    never late, so every difference comes from its handlers alone.
    """
    from ...engine.volcano.session.history import resolve
    from ..moments.drift import drift_at
    from ..render.progress import counting
    from .open_log import opened
    from .store_beliefs import store_beliefs

    taken = chosen([release], assume=assume)
    behaviours = resolve(taken.names[0])
    with opened(log, read_only=True, branch=branch, cluster=cluster) as opened_log:
        moment = opened_log.moment(at, as_known_at=as_known_at)
        warn_sessions(opened_log, moment, strict=strict)
        store_beliefs(log, opened_log, moment, taken.names)
        with counting("compare", visible=shows_progress()) as progress:
            found = drift_at(opened_log.store, moment, behaviours, progress=progress)
    _write(found, output, taken, no_headers=no_headers)
    if exit_code and found.differences:
        sys.stdout.flush()
        raise SystemExit(1)


def _write(found: Drift, output: str, taken: ChosenReleases, *, no_headers: bool) -> None:
    from ..render.documents import json_text, write_yaml
    from ..render.drift import crash_texts, drift_document, drift_table
    from ..render.short_names import short
    from ..render.tables import write_table

    for text in crash_texts(found):
        note(text)
    if output == "json":
        sys.stdout.write(json_text(taken.marked(drift_document(found)), indent=2) + "\n")
    elif output == "yaml":
        write_yaml(sys.stdout, [taken.marked(drift_document(found))], single=True)
    elif found.differences:
        table = drift_table(found) if output == "wide" else short(drift_table(found))
        write_table(sys.stdout, table, no_headers=no_headers, style=style())
    else:
        note(f"The scheduler's cache matches the API server at {found.at}.")
