"""``plinian belief``: the scheduler's cache as it was at a moment."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from . import options
from .assumption import ChosenReleases, chosen
from .command import command
from .coverage_warnings import warn_sessions
from .shell import note, shows_progress, style

if TYPE_CHECKING:
    from ...engine.cache.cache import SchedulerCache
    from ..moments.moment import Moment
    from ..render.belief import Document

_USUAL = ("nodes", "jobs", "queues")


@command("belief")
@click.argument(
    "parts",
    nargs=-1,
    metavar="[PART[,PART]] [NAME...]",
    help="nodes, jobs, tasks, queues, hypernodes, work (what the workers still have to "
    "do); after one part, names select rows. By default nodes,jobs,queues.",
)
@options.log
@options.at
@options.release
@options.table_json_or_yaml
@options.no_headers
@options.assume
@options.as_known_at
@options.strict
@options.cluster
@options.branch
def belief(
    parts: tuple[str, ...],
    log: str,
    at: str,
    release: str,
    output: str,
    no_headers: bool,
    assume: bool,
    as_known_at: str | None,
    strict: bool,
    cluster: str | None,
    branch: str,
) -> None:
    """Show the scheduler's cache at a moment.

    It is rebuilt as a release builds it: everything that had happened by then is delivered to the
    release's handlers in that order, and its workers run after each event. Decisions of a session
    that no event shows yet are missing. Exits with 1 if a name is not in the cache.

    The cache is stored in the log every few thousand events, so the next command is faster. A
    stored cache is dropped when later events make it wrong.
    """
    from ...engine.volcano.session.history import resolve
    from ..belief.belief import belief_at
    from ..render.belief import NAME_OF, documents_of
    from ..render.progress import counting
    from .open_log import opened
    from .store_beliefs import store_beliefs

    wanted, names = _wanted(parts)
    taken = chosen([release], assume=assume)
    behaviours = resolve(taken.names[0])
    with opened(log, read_only=True, branch=branch, cluster=cluster) as opened_log:
        moment = opened_log.moment(at, as_known_at=as_known_at)
        warn_sessions(opened_log, moment, strict=strict)
        store_beliefs(log, opened_log, moment, taken.names)
        with counting("deliver", visible=shows_progress()) as progress:
            cache = belief_at(opened_log.store, moment, behaviours, progress=progress)
    found = {part: documents_of(cache, part) for part in wanted}
    if names:
        known = {document[NAME_OF[wanted[0]]] for document in found[wanted[0]]}
        names = [_full(name, known, wanted[0], moment) for name in names]
        field = NAME_OF[wanted[0]]
        found = {
            part: [document for document in documents if document[field] in names]
            for part, documents in found.items()
        }
    _write(cache, found, output, taken, no_headers=no_headers)


def _full(text: str, known: set[str], part: str, moment: Moment) -> str:
    """Return the full name for a name, a shortened name, or the name of a PodGroup's job."""
    from ...engine.errors import ObjectNotFound
    from ..logs.given_names import matching, nearest, one_of, owned_by

    name = one_of(text, matching(text, known) or owned_by(text, known), part)
    if name is None:
        close = nearest(text, known)
        raise ObjectNotFound(
            f"the scheduler's cache has no {part.removesuffix('s')} {text!r} at {moment.label}",
            now=f"did you mean {' or '.join(close)}?" if close else f"see: plinian belief {part}",
        )
    return name


def _wanted(parts: Sequence[str]) -> tuple[list[str], list[str]]:
    from ...engine.errors import UsageError
    from ..render.belief import PARTS

    if not parts:
        return list(_USUAL), []
    wanted = [part for part in parts[0].split(",") if part]
    for part in wanted:
        if part not in PARTS:
            raise UsageError(f"a cache has no {part!r}", now=f"choose from: {', '.join(PARTS)}")
    if len(wanted) != 1 and parts[1:]:
        raise UsageError("names can follow one part only", now="as in: plinian belief nodes n1")
    return wanted, list(parts[1:])


def _write(
    cache: SchedulerCache,
    found: dict[str, list[Document]],
    output: str,
    taken: ChosenReleases,
    *,
    no_headers: bool,
) -> None:
    from ..render.belief import marked, table_of
    from ..render.documents import json_text, write_yaml
    from ..render.short_names import short
    from ..render.tables import write_table

    if cache.crash is not None:
        note(f"The scheduler of {cache.behaviours.release} panics here: {cache.crash}")
    if output == "json":
        sys.stdout.write(json_text(taken.marked(marked(found, cache)), indent=2) + "\n")
        return
    if output == "yaml":
        write_yaml(sys.stdout, [taken.marked(marked(found, cache))], single=True)
        return
    separator = ""
    for part, documents in found.items():
        if documents:
            sys.stdout.write(separator)
            table = table_of(cache, part, documents)
            table = table if output == "wide" else short(table)
            write_table(sys.stdout, table, no_headers=no_headers, style=style())
            separator = "\n"
    if not separator:
        note("Nothing.")
