"""``plinian upgrade-check``: what another release would have decided differently, and why."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import options
from .assumption import check_confs, chosen, note_rejected
from .knowledge import note_left_out, warn_sessions
from .shell import BROKEN, guarded, note, shows_progress, style

if TYPE_CHECKING:
    from ..compare.upgrade import Upgrade

_SAMPLE = 200
"""Moments that are asked where the log tells of no sessions."""


@guarded
def upgrade_check(
    one: Annotated[str, typer.Option("--from", metavar="R1", help="The release that runs now.")],
    other: Annotated[str, typer.Option("--to", metavar="R2", help="The one that is to run.")],
    log: options.Place = options.DEFAULT_LOG,
    at: options.At = "end",
    conf: Annotated[
        Path | None,
        typer.Option("--conf", metavar="FILE", help="A configuration in place of the log's."),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            "--sample",
            metavar="N",
            min=0,
            help="Ask at so many moments, evenly spread; 0 is all. By default all sessions that "
            f"the log tells of, else {_SAMPLE} of the moments at which something changed.",
        ),
    ] = None,
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs", "-j", metavar="N", min=0, help="Processes; 0 is one for each processor."
        ),
    ] = 0,
    exit_code: Annotated[
        bool,
        typer.Option(
            "--exit-code", help="Exit with 1 if anything differs that anybody would notice."
        ),
    ] = False,
    unfold: Annotated[
        bool,
        typer.Option(
            "--all", help="Take texts, and plans for pods that wait, for differences as well."
        ),
    ] = False,
    output: options.JsonOrText = "text",
    assume: options.Assume = False,
    as_known_at: options.AsKnownAt = None,
    strict: options.Strict = False,
    cluster: options.Cluster = None,
    branch: options.Branch = "main",
) -> None:
    """Show what another release would have decided differently.

    Runs the sessions of a whole log as two releases, and shows what differs and why.

    Sessions are those that the log tells of; if it tells of none, one after every change of a pod,
    PodGroup, node or queue. Each is run on what the log tells by then, as either release, whatever
    the sessions before it decided. What differs is put down to the behaviour that makes it go when
    it alone is set back, or to the smallest set that does.

    The first line is the verdict: crashes, placements, evictions or only phases change, or nothing;
    or that it is not known, where no session could be asked with all that it needs: complete lists
    of nodes, queues, PodGroups and pods. Other texts, and other plans for pods that have to wait,
    are counted in one line; --all shows them.

    Exits with 2 if the verdict is not known, with or without --exit-code. Else it exits with 0,
    whatever differs; with --exit-code, with 1 if the verdict names a change (with --all, if
    anything differs).
    """
    from ..compare.places import session_places
    from ..compare.upgrade import Question, upgrade_check
    from ..moments.scheduler_confs import conf_file
    from ..render.documents import json_text
    from ..render.progress import counting
    from ..render.upgrade import upgrade_document, upgrade_lines
    from .opening import opened

    taken = chosen([one, other], assume=assume)
    given = None if conf is None else conf_file(conf)
    check_confs([given], taken.names, assume=assume)
    question = Question(log, (taken.names[0], taken.names[1]), given)
    with opened(log, read_only=True, branch=branch, cluster=cluster) as opened_log:
        end = opened_log.moment(at, as_known_at=as_known_at)
        places = session_places(opened_log, end)
        lacks = (opened_log, end, places.not_known)
        warn_sessions(*lacks, unconfigured=given is None, strict=strict)
        note_left_out(opened_log, end, places.left_out)
        if given is None:
            note_rejected(opened_log, end, taken.names)
    if sample is None:
        sample = 0 if places.logged else _SAMPLE
    with counting("sessions", visible=shows_progress()) as progress:
        found = upgrade_check(
            places, question, sample=sample, jobs=jobs or os.cpu_count() or 1, progress=progress
        )
    if output == "json":
        sys.stdout.write(json_text(taken.told(upgrade_document(found)), indent=2) + "\n")
    else:
        sys.stdout.writelines(upgrade_lines(found, unfold=unfold, style=style()))
        _note_others(*found.releases)
    code = _code(found, unfold=unfold)
    if code and (exit_code or code == BROKEN):
        sys.stdout.flush()
        raise SystemExit(code)


def _code(found: Upgrade, *, unfold: bool) -> int:
    from ..compare.verdict import UNKNOWN, verdict_of

    judged = verdict_of(found)
    if judged.level == UNKNOWN:
        return BROKEN
    return int(bool(found) if unfold else judged.felt)


def _note_others(one: str, other: str) -> None:
    """Say what else differs between releases, which sessions do not show."""
    from ...engine.volcano.table import Part
    from ..compare.releases import release_diff

    count = len(release_diff(one, other, parts=(Part.CACHE, Part.CONTROLLERS)))
    if count:
        note(
            f"{count} behaviours of the cache and the controllers differ too, which sessions do "
            f"not show: plinian release diff {one} {other} --part cache --part controllers"
        )
