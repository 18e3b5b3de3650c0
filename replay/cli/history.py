"""``plinian history``: every version of an object, and who made it."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from . import options
from .knowledge import warn
from .shell import fail, guarded, style


@guarded
def history(
    named: Annotated[
        list[str], typer.Argument(metavar="KIND/NAME", help="The object; KIND NAME does as well.")
    ],
    log: options.Place = options.DEFAULT_LOG,
    namespace: options.Namespace = None,
    at: options.At = "end",
    as_known_at: options.AsKnownAt = None,
    strict: options.Strict = False,
    ignore: options.Ignore = [],  # noqa: B006 -- typer copies it
    output: options.JsonOrText = "text",
    cluster: options.Cluster = None,
    branch: options.Branch = "main",
) -> None:
    """Show all that is known of an object.

    In the order in which it happened: every version with its position, its time, who made it and
    which fields changed; bindings, refused writes, deletions, and complete lists that no longer
    held it. Where several objects had the name one after the other, all of them. Exits with 1 if
    the log knows none.
    """
    from ...engine.errors import ObjectNotFound
    from ..kinds import plural_of
    from ..names import name_of, never_known
    from ..render import differences as forms
    from ..render.documents import json_text
    from .opening import opened

    text = "/".join(named)
    with opened(log, read_only=True, branch=branch, cluster=cluster) as opened_log:
        target = opened_log.object(text)
        kind, place = (target.group, target.kind), namespace or "default"
        moment = opened_log.moment(at, as_known_at=as_known_at)
        name = name_of(opened_log, kind, target.name, place, moment)
        target = target._replace(name=name)
        warn(opened_log, moment, [kind], place, strict=strict)
        found = opened_log.history(target, namespace=place, at=moment, ignore=ignore)
        near = "" if found.happenings else never_known(opened_log, kind, name, place)
    if not found.happenings:
        scope = f" in namespace {found.object.namespace}" if found.object.namespace else ""
        fail(
            ObjectNotFound(
                f'the log knows no {plural_of(target.group, target.kind)} "{target.name}"{scope}',
                now=near,
            )
        )
    if output == "json":
        sys.stdout.write(json_text(forms.history_json(found), indent=2) + "\n")
    else:
        sys.stdout.writelines(forms.history_lines(found, style=style()))
