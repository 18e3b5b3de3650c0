"""Pairs of a change that lifts what keeps an object waiting, and one of what does so after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec

from ...engine.errors import PlinianError
from ..answers.why import finding_of
from .pairs import joined
from .suggestion import LIMIT, MOVE, OPEN, RELEASE, RESTORE, SWITCH, Suggestion, WaitingObject
from .suggestions import suggestions_for
from .trial import ChangeTrial, TriedChange

_FIRST = (OPEN, RESTORE, LIMIT, MOVE, SWITCH)
"""The kinds of changes with which an object may meet another obstacle."""

_FOLLOWED = 3
"""After so many changes it is asked what keeps the object waiting then."""

_EACH = 12
"""So many pairs are tried with each of them."""


def next_pairs(
    trial: ChangeTrial,
    asked: WaitingObject,
    tried: Sequence[TriedChange],
    go_on: Callable[[], bool],
) -> list[Suggestion]:
    """Return pairs to try: a change that does not suffice, and one for what it uncovers.

    :param tried: single changes, of which none helps.
    """
    firsts = [one.suggestion for one in tried if one.nearer and one.suggestion.kind in _FIRST]
    firsts.sort(key=lambda one: (_FIRST.index(one.kind), one.size))
    found: dict[str, Suggestion] = {}
    for first in firsts[:_FOLLOWED]:
        if go_on():
            for pair in _after(trial, asked, first):
                found.setdefault(pair.text, pair)
    return list(found.values())


def _after(trial: ChangeTrial, asked: WaitingObject, first: Suggestion) -> Iterator[Suggestion]:
    """Yield pairs of a change with those that the answer after it suggests."""
    try:
        run = trial.sessions.followed(first.variant, trial.target)
    except PlinianError:
        return
    finding = finding_of(run, trial.target)
    if finding is None or finding.cause == asked.why.cause:
        return
    why = msgspec.structs.replace(asked.why, cause=finding.cause, chain=finding.chain)
    placed = {**run.binds, **run.pipelined}
    then = asked._replace(why=why, cache=run.cache, placed=placed)
    left_out = {RELEASE, first.kind} - {LIMIT}
    others = [one for one in suggestions_for(then) if one.kind not in left_out]
    for rank, other in enumerate(others[:_EACH]):
        if other.text != first.text:
            yield joined(first, other, rank)
