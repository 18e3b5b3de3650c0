"""``plinian history``: every version of an object, and who wrote it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from . import options
from .command import command
from .coverage_warnings import note_assumed, warn_unknown
from .shell import fail, note, style, write_lines

if TYPE_CHECKING:
    from ..histories.history import History
    from ..logs.log import Log
    from ..moments.moment import Moment
    from ..objects.kinds import ObjectName


@command("history")
@click.argument(
    "named", nargs=-1, required=True, metavar="KIND/NAME", help="The object; KIND NAME works too."
)
@options.log
@options.namespace
@options.at
@options.as_known_at
@options.strict
@options.ignore
@options.text_wide_or_json
@options.cluster
@options.branch
def history(
    named: tuple[str, ...],
    log: str,
    namespace: str | None,
    at: str,
    as_known_at: str | None,
    strict: bool,
    ignore: tuple[str, ...],
    output: str,
    cluster: str | None,
    branch: str,
) -> None:
    """Show all that is known about an object.

    In the order in which it happened: every version with its position, its time, who wrote it and
    which fields changed; bindings, refused writes, deletions, and complete lists that no longer
    held it. If several objects had the name one after the other, all of them are shown; for a job
    or a workload, also the objects that belong to it. Exits with 1 if the log holds no such object,
    and names the objects that may be meant.
    """
    import msgspec

    from ..histories.related_objects import belonging
    from ..logs.names import name_of
    from ..render import histories as forms
    from ..render.documents import json_text
    from ..render.related_objects import belonging_lines
    from .open_log import opened

    text = "/".join(named)
    with opened(log, read_only=True, branch=branch, cluster=cluster) as opened_log:
        target = opened_log.object(text)
        kind, place = (target.group, target.kind), target.place(namespace) or "default"
        moment = opened_log.moment(at, as_known_at=as_known_at)
        name = name_of(opened_log, kind, target.name, place, moment)
        target = target._replace(name=name)
        found = opened_log.history(target, namespace=place, at=moment, ignore=ignore)
        warn_unknown(found.not_known, strict=strict)
        note_assumed(opened_log, moment, [(target.group, target.kind)])
        _lead_on(opened_log, target, found, moment)
        owned = belonging(opened_log.store, found.object, found.uids, moment)
    if output == "json":
        document = forms.history_json(found)
        document["belonging"] = msgspec.to_builtins(owned)
        sys.stdout.write(json_text(document, indent=2) + "\n")
    else:
        write_lines(forms.history_lines(found, style=style()))
        write_lines(belonging_lines(owned))


def _lead_on(log: Log, target: ObjectName, found: History, moment: Moment) -> None:
    """Raise an error if the log holds no version of an object, but holds objects that may be meant.

    If there are none, log lines that name it are shown.
    """
    from ..render.not_found import never_held

    fault = never_held(log, target, found, moment)
    if fault is not None:
        fail(fault)
    if not found.uids:
        requested = any(one.requested for one in found.happenings)
        what = "these are requests about it" if requested else "these log lines name it"
        note(f"the log holds no version of it; {what}")
