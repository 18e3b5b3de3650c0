"""Releases of Volcano from Python: which there are, what each does, where two differ."""

from __future__ import annotations

from collections.abc import Sequence

from ...engine.errors import UsageError
from ...engine.volcano.table import Part
from ..compare.releases import (
    BehaviourDiff,
    Held,
    ReleaseLine,
    Unproven,
    behaviours_of,
    release_lines,
    unproven_rows,
)
from ..compare.releases import release_diff as differences
from .options import Names, release_of, several


def releases() -> list[ReleaseLine]:
    """Return the releases that are known, oldest first, and what each changed."""
    return release_lines()


def behaviours(release: str, *, parts: Names = (), assume: bool = False) -> list[Held]:
    """Return how a release behaves, part by part, by name.

    :param parts: of ``session``, ``cache`` and ``controllers``; none are all.
    :param assume: take the nearest release for one that is not known.
    :raises UsageError: there is no such release or part.
    """
    return behaviours_of(release_of(release, assume=assume), _parts(parts))


def release_diff(
    one: str, other: str, *, parts: Names = (), assume: bool = False
) -> list[BehaviourDiff]:
    """Return the behaviours in which two releases differ; parameters as of :func:`behaviours`.

    :raises UsageError: there is no such release or part.
    """
    names = [release_of(name, assume=assume) for name in (one, other)]
    return differences(*names, parts=_parts(parts))


def unproven() -> list[Unproven]:
    """Return what is told of releases that no recorded decision proves, and why none does."""
    return unproven_rows()[1]


def _parts(names: Names) -> Sequence[Part]:
    wanted = several(names)
    known = {str(part): part for part in Part}
    for name in wanted:
        if name not in known:
            raise UsageError(
                f"Volcano has no part {name!r} here", now=f"choose: {', '.join(known)}"
            )
    return [part for part in Part if not wanted or str(part) in wanted]
