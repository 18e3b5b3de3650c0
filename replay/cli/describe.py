"""``plinian describe``: one object in full."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from . import options
from .knowledge import warn
from .shell import guarded, style

VERSIONS_SHOWN = 10


@guarded
def describe(
    named: Annotated[
        list[str], typer.Argument(metavar="KIND/NAME", help="The object; KIND NAME does as well.")
    ],
    log: options.Place = options.DEFAULT_LOG,
    at: options.At = "end",
    as_known_at: options.AsKnownAt = None,
    strict: options.Strict = False,
    namespace: options.Namespace = None,
    cluster: options.Cluster = None,
    branch: options.Branch = "main",
) -> None:
    """Describe an object as it was at a moment.

    What it asks for and has, its conditions, what belongs to it (a queue's podgroups, a
    podgroup's pods, a node's pods), its last versions and who made them, and Kubernetes's events
    about it. Exits with 1 if it does not exist then.
    """
    from ..kinds import CLUSTER_SCOPED
    from ..log import not_found, opened
    from ..render.columns import Sight
    from ..render.description import Described, description_lines

    with opened(log, read_only=True, branch=branch, cluster=cluster) as opened_log:
        moment = opened_log.moment(at, as_known_at=as_known_at)
        target = opened_log.object("/".join(named), moment)
        kind = (target.group, target.kind)
        place = "" if kind in CLUSTER_SCOPED else namespace or "default"
        truth = opened_log.truth(moment)
        warn(opened_log, moment, [kind], place, strict=strict)
        entry = truth.find(*kind, place, target.name)
        if entry is None and not namespace:  # a kind that nobody told us has no namespace
            entry = truth.find(*kind, "", target.name)
        if entry is None:
            raise not_found(kind, target.name, place, moment)
        past = opened_log.history(target, namespace=entry.reference.namespace, at=moment)
        described = Described(
            sight=Sight(truth),
            entry=entry,
            document=next(opened_log.documents([entry], branch=moment.branch)),
            versions=past.happenings[-VERSIONS_SHOWN:],
            style=style(),
        )
        sys.stdout.writelines(description_lines(described))
