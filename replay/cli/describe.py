"""``plinian describe``: objects in full."""

from __future__ import annotations

import sys
from typing import Annotated

from ..questions.fields import Field
from . import options
from .command import command
from .object_arguments import ObjectQuery, look_for, wanted_of, warn_of_kinds
from .shell import fail, note, style, write_lines


@command("describe")
def describe(
    named: Annotated[
        tuple[str, ...],
        Field(
            "Objects; KIND NAME... works too, and KIND alone is all objects of the kind. "
            "The beginning of a name is enough.",
            "KIND/NAME...",
        ),
    ],
    *,
    log: options.LogPlace = options.DEFAULT_LOG,
    at: options.At = options.END,
    as_known_at: options.AsKnownAt = None,
    strict: options.Strict = False,
    namespace: options.Namespace = None,
    all_namespaces: options.AllNamespaces = False,
    selector: options.Selector = "",
    field_selector: options.FieldSelector = "",
    cluster: options.Cluster = None,
    branch: options.Branch = options.MAIN,
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
        look = ObjectQuery(
            opened_log, moment, place, selector, field_selector, True, "plinian describe"
        )
        wanted = wanted_of(named, look)
        warn_of_kinds(look, wanted, IN_DESCRIPTIONS, strict=strict)
        objects, missing = look_for(look, wanted)
        separator = ""
        for _, entries in objects:
            for entry in entries:
                sys.stdout.write(separator)
                write_lines(description_lines(opened_log, moment, entry, style=style()))
                separator = "\n\n"
        if missing:
            fail(*missing)
        if not separator:
            note("No resources found.")
