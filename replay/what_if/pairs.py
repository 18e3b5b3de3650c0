"""Pairs of changes for an object that no single change makes start.

Most pairs cannot help, so only the most promising single changes are joined: those with which the
session says something else of the object come first, and each kind gives only a few.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from .changed_sessions import Variant
from .cluster_changes import AddNodes
from .suggestion import (
    GANG,
    GONE,
    KINDS,
    LIMIT,
    MORE,
    MOVE,
    PAIR,
    PODS,
    RELEASE,
    SWITCH,
    UNCORDON,
    UNTAINT,
    VICTIMS,
    Suggestion,
)

MOST_PAIRS = 32
"""So many pairs are tried."""

_EACH = 3
"""So many changes of one kind are joined with others."""

_WITH_ITSELF = frozenset({GONE, MORE, LIMIT, UNCORDON, UNTAINT, VICTIMS})
"""The kinds of which two changes are joined: two nodes, two jobs, the limits of two queues."""


_SWITCHED = frozenset({LIMIT, VICTIMS, PODS, GANG, MOVE})
"""The kinds of changes with which a switch may have an effect that it has not alone."""


class Single(NamedTuple):
    """A change that was tried alone and does not help.

    :param nearer: with it, the session says something else of the object.
    """

    suggestion: Suggestion
    nearer: bool


def pairs_of(tried: Sequence[Single]) -> list[Suggestion]:
    """Return the pairs to try of changes that do not help alone, the most promising first."""
    chosen = list(_chosen(tried))
    pairs = [pair for pair in combinations(chosen, 2) if _may_join(*pair)]
    # Two nodes of one shape: no other change has more effect when it is made twice.
    pairs += [(single, single) for single in chosen if single.suggestion.kind == MORE]
    pairs.sort(key=_rank)
    return [
        joined(first.suggestion, second.suggestion, rank)
        for rank, (first, second) in enumerate(pairs[:MOST_PAIRS])
    ]


def _rank(pair: tuple[Single, Single]) -> tuple[int, int, int]:
    """Return what comes first: changes with an effect that shows, few of them, and easy ones."""
    changes = sum(len(single.suggestion.variant.changes) for single in pair)
    kinds = sum(KINDS.index(single.suggestion.kind) for single in pair)
    return -sum(single.nearer for single in pair), changes, kinds


def distinct(pairs: Iterable[Suggestion]) -> list[Suggestion]:
    """Return pairs without those that make the same changes as one before, in any order."""
    by_content: dict[object, Suggestion] = {}
    for pair in pairs:
        texts = sorted(change.text for change in pair.variant.changes)
        by_content.setdefault((tuple(texts), pair.variant.conf), pair)
    return list(by_content.values())


def contains(suggestion: Suggestion, other: Suggestion) -> bool:
    """Return whether a pair makes all the changes of another one, and more."""
    if other.variant.conf not in {None, suggestion.variant.conf}:
        return False
    rest = list(suggestion.variant.changes)
    for change in other.variant.changes:
        # A pair may make one change twice, as with two new nodes.
        if change not in rest:
            return False
        rest.remove(change)
    return True


def _chosen(tried: Sequence[Single]) -> Iterator[Single]:
    """Yield a few changes of each kind: those that bring the object nearer, then the others."""
    for kind in KINDS:
        of_kind = [
            single for single in tried if single.suggestion.kind == kind not in {RELEASE, PAIR}
        ]
        yield from sorted(of_kind, key=lambda single: not single.nearer)[:_EACH]


def _may_join(first: Single, second: Single) -> bool:
    """Return whether two changes may help together: they are of other objects, or other fields.

    A switch without an effect that shows may have one only with what it is about.
    """
    suggestion, second_suggestion = first.suggestion, second.suggestion
    if suggestion.kind == second_suggestion.kind and suggestion.kind not in _WITH_ITSELF:
        return False
    silent = [single for single in (first, second) if not single.nearer]
    kinds = {suggestion.kind, second_suggestion.kind}
    if SWITCH in {single.suggestion.kind for single in silent} and kinds.isdisjoint(_SWITCHED):
        return False
    changed = {change.text for change in suggestion.variant.changes}
    return changed.isdisjoint(change.text for change in second_suggestion.variant.changes)


def joined(suggestion: Suggestion, other: Suggestion, rank: int) -> Suggestion:
    """Return a pair of two changes, made one after the other."""
    text = f"{suggestion.text}, and {other.text}"
    first = suggestion.variant.changes[0] if suggestion is other else None
    if isinstance(first, AddNodes):
        text = f"two more nodes like {first.like}"
    variant = Variant(
        text,
        (*suggestion.variant.changes, *other.variant.changes),
        suggestion.variant.conf or other.variant.conf,
    )
    return Suggestion(PAIR, rank, text, variant)
