"""``plinian diff``: what differs between two moments."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from . import options
from .assumption import chosen
from .command import command
from .coverage_warnings import first_of, range_of, unknown_at_ends, warn_sessions
from .shell import BROKEN, note, style, write_lines

if TYPE_CHECKING:
    from ..histories.diff import Diff
    from ..histories.diff_actors import Who
    from ..logs.log import Log
    from ..moments.moment import Moment


@command("diff")
@click.argument("before", metavar="A", help="A point, as for --at.")
@click.argument(
    "after", required=False, default="end", metavar="[B]", help="Another point; by default the end."
)
@options.log
@click.option(
    "--kind", multiple=True, metavar="KIND", help="Only these kinds of objects; repeatable."
)
@options.namespace
@options.ignore
@click.option(
    "--release",
    multiple=True,
    metavar="RELEASE",
    help="Compare what sessions decide instead of objects: one release at A and at B; "
    "given twice, the first release at A and the second at B.",
)
@click.option(
    "--summary",
    is_flag=True,
    help="Print counts only: objects by kind, and how often each field changed.",
)
@click.option(
    "--who",
    is_flag=True,
    help="Show who made each difference, and which event of the log shows it.",
)
@click.option(
    "--exit-code",
    is_flag=True,
    help="Exit with 1 if anything differs; with 2 if no difference is seen but not all "
    "is known: objects are first seen, or there are none to compare.",
)
@options.text_wide_or_json
@options.assume
@options.as_known_at
@options.strict
@options.cluster
@options.branch
def diff(
    before: str,
    after: str,
    log: str,
    kind: tuple[str, ...],
    namespace: str | None,
    ignore: tuple[str, ...],
    release: tuple[str, ...],
    summary: bool,
    who: bool,
    exit_code: bool,
    output: str,
    assume: bool,
    as_known_at: str | None,
    strict: bool,
    cluster: str | None,
    branch: str,
) -> None:
    """Show what differs between two moments.

    Objects that were added, removed and changed, by field, and the resources of nodes and queues
    before and after. A and B are points: @1042, rv:7, 2026-01-02T03:04:05Z, -5m, end, what-if@1042.
    All namespaces are compared unless -n names one; totals of nodes and queues always cover all
    namespaces. Those of a queue count the pods of the queues below it as well.

    If the log does not know a kind at A, an object counts as added only if the log shows that it
    was created later; others are *first seen* (?). A kind that is known only from a later moment on
    is compared from there.

    With --who, each line says who made the difference and which event shows it; for a field, that
    is the last version that changed it. If it is not known who, the line says so. With --summary as
    well, objects are counted by actor.

    With --release, what sessions decide at A and at B is compared instead of objects.
    """
    from ...engine.kubernetes.resources import plural_of
    from .open_log import opened

    with opened(log, read_only=True, branch=branch, cluster=cluster) as opened_log:
        moments = (
            first_of(opened_log, before, as_known_at=as_known_at, strict=strict),
            opened_log.moment(after, as_known_at=as_known_at),
        )
        if release:
            _refuse_narrowing(kind, namespace, ignore, summary_or_who=summary or who)
            lacks = unknown_at_ends(opened_log, moments)
            warn_sessions(opened_log, moments[0], lacks, unconfigured=True, strict=strict)
            _diff_sessions(opened_log, moments, release, output, exit_code=exit_code, assume=assume)
            return
        kinds = [name for text in kind for name in text.split(",") if name]
        asked = [opened_log.kind(name) for name in kinds] or None
        moments = range_of(opened_log, moments, asked, namespace, strict=strict)
        found = opened_log.diff(
            *moments,
            kinds=kinds,
            namespace=namespace,
            ignore=ignore,
        )
        made = _made(opened_log, found, moments) if who else None
    for one in found.begun:
        kind_name = plural_of(one.group, one.kind)
        note(f"warning: {kind_name}: compared from {one.point} on, as nothing is known before")
    _write(found, made, output, summary=summary, events=bool(kind))
    blind = bool(found.not_known) and bool(found.first_seen or not found.summary.same)
    code = 1 if found else BROKEN if blind else 0
    if exit_code and code:
        sys.stdout.flush()
        raise SystemExit(code)


def _made(log: Log, found: Diff, moments: tuple[Moment, Moment]) -> Who:
    from ..histories.diff_actors import who_made

    return who_made(log.store, found, *moments)


def _write(found: Diff, who: Who | None, output: str, *, summary: bool, events: bool) -> None:
    from ..render import diff_views as views
    from ..render import differences as forms
    from ..render.documents import json_text

    if output == "json":
        if summary:
            document: Any = views.counts_json(found, who)
        else:
            document = found if who is None else views.who_json(found, who)
        sys.stdout.write(json_text(document, indent=2) + "\n")
    elif summary:
        write_lines(views.counts_lines(found, who, style=style()))
    else:
        made = None if who is None else views.made_by(who)
        write_lines(forms.diff_lines(found, style=style(), events=events, made=made))


def _refuse_narrowing(
    kind: Sequence[str], namespace: str | None, ignore: Sequence[str], *, summary_or_who: bool
) -> None:
    from ...engine.errors import UsageError

    if kind or namespace or ignore or summary_or_who:
        raise UsageError(
            "--release compares sessions; -n, --kind, --ignore, --summary and --who apply to "
            "objects only",
            now="leave them out",
        )


def _diff_sessions(
    log: Log,
    moments: tuple[Moment, Moment],
    releases: Sequence[str],
    output: str,
    *,
    exit_code: bool,
    assume: bool,
) -> None:
    from ...engine.errors import UsageError
    from ..compare.sessions import compare_moments
    from .session import end_compared, write_comparison

    if len(releases) > 2:
        raise UsageError(
            f"two moments, but {len(releases)} releases",
            now="to compare more releases at one moment: plinian session --at POINT",
        )
    taken = chosen(releases, assume=assume)
    found = compare_moments(log, moments, (taken.names[0], taken.names[-1]))
    write_comparison(found, output, taken)
    if exit_code:
        end_compared(found)
