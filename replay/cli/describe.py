"""``plinian describe``: objects in full."""

from __future__ import annotations

import sys

import click

from . import options
from .command import command
from .object_arguments import ObjectQuery, look_for, wanted_of, warn_of_kinds
from .shell import fail, note, say, style, write_lines


@command("describe")
@click.argument(
    "named",
    nargs=-1,
    required=True,
    metavar="KIND/NAME...",
    help="Objects; KIND NAME... works too, and KIND alone is all objects of the kind. "
    "The beginning of a name is enough.",
)
@options.log
@options.at
@options.as_known_at
@options.strict
@options.namespace
@options.all_namespaces
@options.selector
@options.field_selector
@options.cluster
@options.branch
def describe(
    named: tuple[str, ...],
    log: str,
    at: str,
    as_known_at: str | None,
    strict: bool,
    namespace: str | None,
    all_namespaces: bool,
    selector: str,
    field_selector: str,
    cluster: str | None,
    branch: str,
) -> None:
    """Describe objects as they were at a moment.

    For each object: what it requests and has, its conditions, the objects that belong to it (a
    queue's podgroups, a podgroup's pods, a node's pods), its last versions and who wrote them, and
    the Kubernetes events about it. Exits with 1 if a named object does not exist at that moment.
    """
    from ..coverage.computed_kinds import IN_DESCRIPTIONS
    from ..render.description import description_lines
    from .open_log import opened

    with opened(log, read_only=True, branch=branch, cluster=cluster) as opened_log:
        moment = opened_log.moment(at, as_known_at=as_known_at)
        place = None if all_namespaces else namespace or "default"
        look = ObjectQuery(opened_log, moment, place, selector, field_selector, beginnings=True)
        wanted = wanted_of(named, look)
        warn_of_kinds(look, wanted, IN_DESCRIPTIONS, strict=strict)
        found, missing = look_for(look, wanted)
        separator = ""
        for _, entries in found:
            for entry in entries:
                sys.stdout.write(separator)
                write_lines(description_lines(opened_log, moment, entry, style=style()))
                separator = "\n\n"
        if missing:
            for fault in missing[:-1]:
                say(fault)
            fail(missing[-1])
        if not separator:
            note("No resources found.")
