"""``plinian session list``: the sessions that a scheduler ran."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from ...engine.kubernetes.counts import counted
from . import options
from .command import command
from .shell import note, style, write_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..recorded.session_list import ListedSession


@command("session list")
@options.log
@click.option("--at", metavar="POINT", help="Only the last session opened by this moment.")
@click.option(
    "--since", metavar="POINT", help="Only sessions from this point on: @7, rv:7, a time, -5m."
)
@click.option("--until", metavar="POINT", help="Only sessions up to this point.")
@options.plot
@options.table_json_or_yaml
@options.no_headers
@options.as_known_at
@options.cluster
@options.branch
def list_sessions(
    log: str,
    at: str | None,
    since: str | None,
    until: str | None,
    plot: bool,
    output: str,
    no_headers: bool,
    as_known_at: str | None,
    cluster: str | None,
    branch: str,
) -> None:
    """List the sessions that the scheduler ran, as far as the log shows them.

    They are numbered in the order in which they were opened; session:N is a moment for every
    command. The scheduler's log has all of its sessions. Without it, sessions are inferred from
    what they wrote: bindings, and PodGroups whose conditions name a session. A session that wrote
    nothing is then unknown. OPENED of an inferred session is the time of its first write.
    """
    from ...engine.errors import UsageError
    from ..plot.asked import SESSIONS, PlotRequest
    from ..recorded.session_list import listed_sessions, within
    from ..render.sessions import session_table
    from .open_log import opened
    from .pictures import check_plot, write_plot

    check_plot(output, plot=plot)
    if at is not None and (since is not None or until is not None):
        raise UsageError("--at is one moment, --since and --until are a range", now="choose one")
    with opened(log, read_only=True, branch=branch, cluster=cluster) as opened_log:
        end = opened_log.moment(as_known_at=as_known_at)
        known = listed_sessions(opened_log.store, end)
        bounds = {
            name: opened_log.moment(point, as_known_at=as_known_at)
            for name, point in (("at", at), ("since", since), ("until", until))
            if point is not None
        }
        found = within(known, **bounds)
        _note_what_is_known(known)
        if output in {"json", "yaml"}:
            document = {"apiVersion": "v1", "kind": "SessionList", "items": found}
            _write_document(document, output)
        else:
            table = session_table(found, wide=output == "wide")
            _write_table(table, no_headers=no_headers)
        if plot:
            last = bounds.get("until") or bounds.get("at") or end
            write_plot(opened_log, log, PlotRequest(SESSIONS, (), bounds.get("since"), last))


def _write_document(document: Mapping[str, object], output: str) -> None:
    from ..render.documents import json_text, plain, write_yaml

    if output == "json":
        sys.stdout.write(json_text(document, indent=2) + "\n")
    else:
        write_yaml(sys.stdout, [plain(document)], single=True)


def _write_table(table: object, *, no_headers: bool) -> None:
    from ..render.tables import Table, lines_of

    assert isinstance(table, Table), "sessions are shown as a table"
    write_lines(lines_of(table, no_headers=no_headers, style=style()))


def _note_what_is_known(known: Sequence[ListedSession]) -> None:
    """Note on standard error which sessions a reader may miss."""
    from ..recorded.recorded_sessions import HowKnown

    inferred = sum(one.how is HowKnown.INFERRED for one in known)
    if not known:
        note(
            "no sessions: the log has neither a scheduler's log, nor its bindings or PodGroups; "
            "ingest the scheduler's log (-v=3 or more) or the audit log"
        )
    elif inferred == len(known):
        note(
            "all sessions are inferred from what they wrote: those that wrote nothing are not "
            "known; ingest the scheduler's log (-v=3 or more) to know them all"
        )
    elif inferred:
        sessions = counted(inferred, "session is", "sessions are")
        note(f"{sessions} inferred from what was written, as no log names them")
