"""``plinian upgrade-check``: what another release would have decided differently, and why."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from . import options
from .assumption import check_confs, chosen, note_rejected
from .command import command
from .coverage_warnings import note_left_out, warn_sessions
from .reviews import REVIEWS, write_review
from .shell import BROKEN, note, shows_progress, style, write_lines

if TYPE_CHECKING:
    from ..compare.upgrade import Upgrade

_SAMPLE = 200
"""The number of moments that are checked if the log records no sessions."""


@command("upgrade-check")
@click.option("--from", "one", required=True, metavar="R1", help="The release that runs now.")
@click.option("--to", "other", required=True, metavar="R2", help="The release to upgrade to.")
@options.log
@options.until
@options.conf
@click.option(
    "--sample",
    type=click.IntRange(min=0),
    metavar="N",
    help="Check this many moments, evenly spread; 0 is all. By default all sessions that "
    f"the log records, else {_SAMPLE} of the moments at which something changed.",
)
@options.jobs
@click.option("--exit-code", is_flag=True, help="Exit with 1 if the verdict names a change.")
@click.option(
    "--all",
    "unfold",
    is_flag=True,
    help="Also count other texts, and other plans for waiting pods, as differences.",
)
@options.text_wide_json_or_review
@options.assume
@options.as_known_at
@options.strict
@options.cluster
@options.branch
def upgrade_check(
    one: str,
    other: str,
    log: str,
    at: str,
    conf: Path | None,
    sample: int | None,
    jobs: int,
    exit_code: bool,
    unfold: bool,
    output: str,
    assume: bool,
    as_known_at: str | None,
    strict: bool,
    cluster: str | None,
    branch: str,
) -> None:
    """Show what another release would have decided differently.

    Runs the sessions of a whole log with two releases, and shows what differs and why.

    The sessions are those that the log records; if it records none, one after every change of a
    pod, PodGroup, node or queue, and one at each moment from which lists make them known. Each is
    run with both releases on the recorded state, whatever the
    earlier sessions decided. A difference is attributed to the behaviour that removes it when it
    alone is set back, or to the smallest such set.

    The first line is the verdict: crashes, a stop of all scheduling, placements, evictions or only
    phases change, or nothing does. It is "not known" if no session could be run with all that it
    needs: complete lists of nodes, queues, PodGroups and pods. Sessions in gaps, which lack them,
    are run too, and marked: gap. Other texts, and other plans for
    waiting pods, are counted in one line; --all shows them.

    Exits with 2 if the verdict is not known, with or without --exit-code. Otherwise exits with 0;
    with --exit-code, with 1 if the verdict names a change (with --all, if anything differs).
    """
    from ..compare.upgrade import UpgradeQuestion, upgrade_check
    from ..logs.given_confs import conf_file
    from ..render.documents import json_text
    from ..render.progress import counting
    from ..render.upgrade import upgrade_document, upgrade_lines
    from ..sessions.session_moments import session_places
    from .open_log import opened

    taken = chosen([one, other], assume=assume)
    given = None if conf is None else conf_file(conf)
    check_confs([given], taken.names, assume=assume)
    question = UpgradeQuestion(log, (taken.names[0], taken.names[1]), given)
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
        sys.stdout.write(json_text(taken.marked(upgrade_document(found)), indent=2) + "\n")
    elif output in REVIEWS:
        from ..review.upgrade import upgrade_review

        write_review(upgrade_review(found, unfold=unfold), output)
    else:
        write_lines(upgrade_lines(found, unfold=unfold, whole=at == options.END, style=style()))
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
    return int(bool(found) if unfold else judged.noticed)


def _note_others(one: str, other: str) -> None:
    """Note on standard error the differences between releases outside sessions."""
    from ...engine.volcano.table import Part
    from ..compare.releases import release_diff

    count = len(release_diff(one, other, parts=(Part.CACHE, Part.CONTROLLERS)))
    if count:
        note(
            f"{count} behaviours of the cache and the controllers also differ, which sessions do "
            f"not show: plinian release diff {one} {other} --part cache --part controllers"
        )
