"""The page of releases: what each changed, the behaviours of one, and how two differ."""

from __future__ import annotations

from typing import Any

import msgspec

from ...compare.releases import BehaviourDiff, ReleaseBehaviour, ReleaseLine
from ...facade.documents import document
from ...facade.log import Log
from ...facade.releases import behaviours as held_by
from ...facade.releases import release_diff, releases
from .bounded import Some, number, some
from .look import Look
from .page import page

PARTS = ("session", "cache", "controllers")


class BehavioursPage(msgspec.Struct, frozen=True, kw_only=True):
    """Either what two releases do differently, or the behaviours of one.

    :param lines: of the releases. :param subject: the chosen one; empty is all.
    """

    release: str
    versus: str
    part: str
    subject: str
    name: str
    subjects: tuple[str, ...]
    releases: tuple[ReleaseLine, ...]
    differences: Some[BehaviourDiff]
    held: Some[ReleaseBehaviour]


def _json(found: BehavioursPage) -> Any:
    """Return what the commands ``release diff`` and ``release show`` print, and the releases."""
    return {
        "release": found.release,
        "vs_release": found.versus,
        "releases": document(list(found.releases)),
        "differences": document(list(found.differences.rows)),
        "behaviours": document(list(found.held.rows)),
        "skip": max(found.differences.skip, found.held.skip),
        "total": found.differences.total + found.held.total,
    }


@page(
    "behaviours",
    template="behaviours.html",
    title="Behaviours",
    nav="Behaviours",
    key="b",
    json=_json,
)
def behaviours(log: Log, look: Look) -> BehavioursPage:  # noqa: ARG001 -- releases are of no log
    """Return the behaviours of the release, or its differences from ``vs_release``.

    :raises UsageError: there is no such release, part or subject.
    """
    part, subject, versus = (look.get(name) for name in ("part_of", "subject", "vs_release"))
    parts, subjects = [part] if part else [], [subject] if subject else []
    differences: list[BehaviourDiff] = []
    held: list[ReleaseBehaviour] = []
    if versus:
        differences = release_diff(versus, look.release, parts=parts, subjects=subjects)
    else:
        held = held_by(look.release, parts=parts, subjects=subjects)
    text, skip = look.filter, number(look, "skip")
    return BehavioursPage(
        release=look.release,
        versus=versus,
        part=part,
        subject=subject,
        name=text,
        subjects=tuple(sorted({one.subject for one in held_by(look.release)})),
        releases=tuple(reversed(releases())),
        differences=some([one for one in differences if text in one.behaviour], skip),
        held=some([one for one in held if text in one.behaviour], skip),
    )


PAGES = (behaviours,)
