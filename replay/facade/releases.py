"""Releases of Volcano from Python: their list, their behaviours, and their differences."""

from __future__ import annotations

from collections.abc import Sequence

from ...engine.errors import UsageError
from ...engine.volcano.table import Part
from ..compare.releases import (
    BehaviourDiff,
    ReleaseBehaviour,
    ReleaseLine,
    Unproven,
    all_subjects,
    behaviours_of,
    release_lines,
    unproven_rows,
)
from ..compare.releases import release_diff as differences
from ..questions.fields import Names, several
from ..tabular.tabular import Records
from .options import release_of


def releases() -> Records[ReleaseLine]:
    """Return the known releases, oldest first, and what each changed."""
    return Records(release_lines(), "releases", ReleaseLine)


def behaviours(
    release: str, *, parts: Names = (), subjects: Names = (), assume: bool = False
) -> Records[ReleaseBehaviour]:
    """Return the behaviours of a release, part by part, by name.

    :param parts: of ``session``, ``cache`` and ``controllers``; without any, all.
    :param subjects: what they are about, as in ``preempt``; without any, all.
    :param assume: use the nearest release for an unknown one.
    :raises UsageError: there is no such release, part or subject.
    """
    name = release_of(release, assume=assume)
    return Records(
        behaviours_of(name, _parts(parts), _subjects(subjects)), "behaviours", ReleaseBehaviour
    )


def release_diff(
    one: str, other: str, *, parts: Names = (), subjects: Names = (), assume: bool = False
) -> Records[BehaviourDiff]:
    """Return the behaviours in which two releases differ; parameters as of :func:`behaviours`.

    :raises UsageError: there is no such release, part or subject.
    """
    names = [release_of(name, assume=assume, pre_releases=True) for name in (one, other)]
    found = differences(*names, parts=_parts(parts), subjects=_subjects(subjects))
    return Records(found, "behaviours", BehaviourDiff)


def unproven() -> Records[Unproven]:
    """Return the behaviours of releases that no recorded decision proves, and why."""
    return Records(unproven_rows()[1], "unproven", Unproven)


def _parts(names: Names) -> Sequence[Part]:
    wanted = _known("part", names, list(map(str, Part)))
    return [part for part in Part if not wanted or str(part) in wanted]


def _subjects(names: Names) -> Sequence[str]:
    return _known("subject", names, all_subjects())


def _known(what: str, names: Names, known: Sequence[str]) -> Sequence[str]:
    wanted = several(names)
    for name in wanted:
        if name not in known:
            raise UsageError(f"no {what} {name!r}", now=f"choose: {', '.join(known)}")
    return wanted
