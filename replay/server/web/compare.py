"""The page of two sessions side by side: other releases, other configurations, other moments."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

import msgspec

from ...compare.checked_behaviours import CheckedBehaviour
from ...compare.decisions import CONTEXT
from ...compare.sessions import Comparison
from ...facade.documents import document
from ...facade.log import Log
from ...moments.moment import Moment
from ...render.session import panic_lines
from ..reach import reach_cache
from .bounded import MOST_ROWS, Some, number, some
from .decided import DecisionRow, decision_rows
from .look import Look
from .notes import sentences
from .page import page
from .session import BUILT_IN, Names, Step, assumptions, chosen_conf, names_at, numbered

MOST_ALIGNED = 1500
"""So many steps of each side after the first difference are matched; further ones go in order."""

RELEASES, CONFS, MOMENTS = "releases", "confs", "moments"


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """A step of each side; None where a side has none.

    :param same: everything; ``numbers_differ``: nothing but what was compared differs.
    :param first: the first difference.
    """

    left: Step | None
    right: Step | None
    same: bool
    numbers_differ: bool
    first: bool


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """A behaviour that was checked at the first difference. :param cause: yes, no or not tried."""

    behaviour: str
    values: tuple[str, ...]
    cause: str
    why: str


class SideBySide(msgspec.Struct, frozen=True, kw_only=True):
    """Two sessions.

    :param what: differs between them: releases, configurations or moments.
    :param labels: what distinguishes them.
    :param difference: the number of the pair with the first difference; None if there is none.
    :param next: what to skip for the next difference after the shown ones; None if there is none.
    :param panics: which of the two panic, in words.
    :param causes: of the behaviours that were checked there, those that alone make the difference.
    :param other_behaviours: behaviours that differ and that the sessions checked elsewhere.
    :param without_effect: how many more differ without any effect here.
    """

    what: str
    labels: tuple[str, str]
    panics: tuple[str, ...]
    versus: str
    decisions: Some[DecisionRow]
    pairs: Some[Pair]
    steps: tuple[int, int]
    difference: int | None
    next: int | None
    only_differences: bool
    causes: tuple[Checked, ...]
    checked: tuple[Checked, ...]
    other_behaviours: tuple[Checked, ...]
    without_effect: int
    assumed: tuple[str, ...]
    not_known: tuple[str, ...]
    comparison: Comparison


def _json(found: SideBySide) -> Any:
    """Return the comparison as the command prints it."""
    return document(found.comparison)


@page(
    "compare",
    template="compare.html",
    title="Side by side",
    nav="Side by side",
    key="v",
    long=True,
    json=_json,
)
def compare(log: Log, look: Look) -> SideBySide:
    """Run the session of the moment twice.

    ``vs`` of the query is another moment; ``vs_conf=built-in`` another configuration; else
    ``vs_release`` is another release, by default the one before.

    :raises UsageError: a release is not known.
    """
    moment = log.moment(look.at)
    what, versus = _versus(look)
    _reach(log, moment, look, what, versus)
    if what == MOMENTS:
        found = log.compare_moments(
            versus, moment, releases=[look.get("vs_release") or look.release, look.release]
        )
    elif what == CONFS:
        confs = [chosen_conf(own=True), None]
        found = log.compare(at=moment, releases=look.release, confs=confs, trace=True)
    else:
        found = log.compare(at=moment, releases=[versus, look.release], trace=True)
    pairs = _pairs(found, names_at(log, moment))
    difference = next((place for place, one in enumerate(pairs) if one.first), None)
    only = look.get("only") == "differences"
    shown = [one for one in pairs if not one.same] if only else pairs
    begin = 0 if only or difference is None else max(0, difference - CONTEXT)
    part = some(shown, number(look, "skip", begin))
    here = {each.row.behaviour for each in found.consulted}
    elsewhere = [one for one in found.behaviours if one.behaviour in {*found.asked} - here]
    return SideBySide(
        what=what,
        versus=versus,
        labels=(found.sides[0].label, found.sides[-1].label),
        panics=tuple(panic_lines((one.label, one.answer.result) for one in found.sides)),
        decisions=some(decision_rows(found.decisions), number(look, "decisions")),
        pairs=part,
        steps=(len(found.sides[0].answer.result.trace), len(found.sides[-1].answer.result.trace)),
        difference=difference,
        next=_next_difference(shown, part),
        only_differences=only,
        causes=tuple(_checked(one) for one in found.consulted if one.decides),
        checked=tuple(map(_checked, found.consulted)),
        other_behaviours=tuple(
            Checked(behaviour=one.behaviour, values=one.values, cause="", why=one.why)
            for one in elsewhere
        ),
        without_effect=len(found.behaviours) - len(here) - len(elsewhere),
        assumed=assumptions(log, moment, own=False, release=look.release),
        not_known=sentences(found.not_known),
        comparison=found,
    )


def _reach(log: Log, moment: Moment, look: Look, what: str, versus: str) -> None:
    """Make sure that the answer is soon found."""
    other = look.get("vs_release") or look.release
    releases = {RELEASES: [versus], MOMENTS: [other]}.get(what, [])
    reach_cache(log, moment, [look.release, *releases])
    if what == MOMENTS:
        reach_cache(log, log.moment(versus), [look.release, other])


def _versus(look: Look) -> tuple[str, str]:
    """Return what differs, and the other side of it."""
    if look.get("vs_conf") == BUILT_IN:
        return CONFS, BUILT_IN
    if look.get("with") == MOMENTS and look.versus is not None:
        return MOMENTS, f"@{look.versus}"
    return RELEASES, look.get("vs_release") or _before(look.release)


def _before(release: str) -> str:
    """Return the release before another in the list; the next one if it is the first."""
    from ....engine.volcano.releases import RELEASES as KNOWN  # noqa: PLC0415

    names = [str(one) for one in KNOWN if not one.ours]
    if release not in names:
        return names[-1]
    return names[names.index(release) - 1] if release != names[0] else names[1]


def _checked(one: CheckedBehaviour) -> Checked:
    said = {True: "yes", False: "no", None: "not tried"}
    row = one.row
    return Checked(behaviour=row.behaviour, values=row.values, cause=said[one.decides], why=row.why)


def _pairs(found: Comparison, names: Names) -> list[Pair]:
    """Return the steps of both sides, matched."""
    left, right = (
        numbered(side.answer.result.trace, names) for side in (found.sides[0], found.sides[-1])
    )
    alike = next(
        (place for place, pair in enumerate(zip(left, right, strict=False)) if _differ(*pair)),
        min(len(left), len(right)),
    )
    pairs = [_pair(one, other) for one, other in zip(left[:alike], right[:alike], strict=True)]
    rest = [_pair(*both) for both in _matched(left[alike:], right[alike:])]
    if rest:
        rest[0] = msgspec.structs.replace(rest[0], first=True)
    return pairs + rest


def _differ(one: Step, other: Step) -> bool:
    return _place(one) != _place(other) or one.outcome != other.outcome


def _place(step: Step) -> tuple[Hashable, ...]:
    """Return what a step does, whatever comes out."""
    return step.action, step.what, step.about, step.by


def _pair(one: Step | None, other: Step | None) -> Pair:
    if one is None or other is None or _differ(one, other):
        return Pair(left=one, right=other, same=False, numbers_differ=False, first=False)
    numbers = one.numbers != other.numbers
    return Pair(left=one, right=other, same=not numbers, numbers_differ=numbers, first=False)


def _matched(
    left: Sequence[Step], right: Sequence[Step]
) -> Iterator[tuple[Step | None, Step | None]]:
    """Yield the steps of two sides; those that do the same stand side by side."""
    one, other = left[:MOST_ALIGNED], right[:MOST_ALIGNED]
    found = SequenceMatcher(None, [*map(_place, one)], [*map(_place, other)], autojunk=False)
    for _, a, b, c, d in found.get_opcodes():
        yield from _beside(one[a:b], other[c:d])
    yield from _beside(left[MOST_ALIGNED:], right[MOST_ALIGNED:])


def _beside(
    left: Sequence[Step], right: Sequence[Step]
) -> Iterator[tuple[Step | None, Step | None]]:
    for place in range(max(len(left), len(right))):
        yield (
            left[place] if place < len(left) else None,
            right[place] if place < len(right) else None,
        )


def _next_difference(shown: Sequence[Pair], part: Some[Pair]) -> int | None:
    """Return what to skip to see the next difference after the rows that are shown."""
    for place in range(part.end, len(shown)):
        if not shown[place].same:
            return max(0, min(place - CONTEXT, len(shown) - MOST_ROWS))
    return None


PAGES = (compare,)
