"""``plinian diff``: what differs between two moments."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from . import options
from .shell import guarded, style


@guarded
def diff(
    before: Annotated[str, typer.Argument(metavar="A", help="A point, as for --at.")],
    after: Annotated[str, typer.Argument(metavar="[B]", help="Another; by default the end.")] = (
        "end"
    ),
    log: options.Place = options.DEFAULT_LOG,
    kind: Annotated[
        list[str],
        typer.Option("--kind", metavar="KIND", help="Only these kinds of objects; repeatable."),
    ] = [],  # noqa: B006 -- typer copies it
    namespace: options.Namespace = None,
    ignore: options.Ignore = [],  # noqa: B006
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 if anything differs.")
    ] = False,
    output: options.JsonOrText = "text",
    as_known_at: options.AsKnownAt = None,
    cluster: options.Cluster = None,
    branch: options.Branch = "main",
) -> None:
    """Show what differs between two moments.

    Objects that came, went and changed, by field, and what nodes and queues hold before and after.
    A and B are points: @1042, rv:7, 2026-01-02T03:04:05Z, -5m, end, what-if@1042. All namespaces
    are compared unless -n narrows it; totals of nodes and queues are always over everything.
    """
    from ..log import opened
    from ..render import differences as forms
    from ..render.documents import json_text

    with opened(log, read_only=True, branch=branch, cluster=cluster) as opened_log:
        found = opened_log.diff(
            opened_log.moment(before, as_known_at=as_known_at),
            opened_log.moment(after, as_known_at=as_known_at),
            kinds=[name for text in kind for name in text.split(",") if name],
            namespace=namespace,
            ignore=ignore,
        )
    if output == "json":
        sys.stdout.write(json_text(forms.diff_json(found), indent=2) + "\n")
    else:
        sys.stdout.writelines(forms.diff_lines(found, style=style(), events=bool(kind)))
    if exit_code and found:
        sys.stdout.flush()
        raise SystemExit(1)
