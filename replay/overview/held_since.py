"""Since when the pods of a queue or a node hold together as much as they do now."""

from __future__ import annotations

from itertools import accumulate

import msgspec

from ...engine.kubernetes.units import resource_amount
from ...engine.state.clock import UNDATED, TimeSpan
from ..answers.blame import blame_at
from ..logs.log import Log
from ..moments.moment import Moment
from ..moments.times import exact_text, known_text
from ..objects.kind_names import ObjectName
from .problems import Problem

MOST_DATED = 8
"""Of how many objects of a kind the begin is looked for: their pods' events are read."""

MOST_BLAMED = 1_000
"""Pods: all versions of each are read to find since when it counts."""


def held_since(log: Log, moment: Moment, named: ObjectName, number: str, least: float) -> TimeSpan:
    """Return when the pods of today began to make up together at least so much of a number.

    Pods that are gone may have held as much before, so it may have begun earlier.

    :param number: ``allocated.cpu`` of a queue, or ``used.cpu`` of a node.
    """
    # Only parts matter, and what took something away takes much longer to find.
    blame = blame_at(log, named, number, moment, losses=False)
    resource = number.partition(".")[2]
    # Parts are in the order of happening: a sum up to one is what was held by then.
    sums = accumulate(resource_amount(resource, part.amount) for part in blame.parts)
    reached = zip(blame.parts, sums, strict=True)
    return next((part.event.span for part, total in reached if total >= least), UNDATED)


def with_since(problem: Problem, since: TimeSpan, *, at_least: bool = False) -> Problem:
    """Return a problem with the time since when it is so, or the bounds that are known of it."""
    exact = exact_text(since)
    between = "" if exact else known_text(since)
    return msgspec.structs.replace(
        problem, since=exact, between=between, at_least=at_least and bool(exact or between)
    )
