"""Circles of names that wait for each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence


def circles(waits: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """Yield ways from a name back to itself, the shortest of each; a name begins one at most.

    :param waits: for which others each name waits.
    """
    # A name in a circle that is known would find that circle again from another begin.
    in_circles: set[str] = set()
    for start in waits:
        circle = () if start in in_circles else _circle(start, waits)
        in_circles.update(circle)
        if circle:
            yield circle


def _circle(start: str, waits: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the shortest way from a name back to itself; empty if there is none."""
    paths: list[tuple[str, ...]] = [(start,)]
    seen: set[str] = set()
    # Breadth first, so the first way back is the shortest.
    while paths:
        path = paths.pop(0)
        for target in waits.get(path[-1], ()):
            if target == start:
                return (*path, target)
            if target not in seen:
                seen.add(target)
                paths.append((*path, target))
    return ()
