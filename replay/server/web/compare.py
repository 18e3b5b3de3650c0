"""The page of two sessions side by side: other releases, other configurations, other moments."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

import msgspec

from ....engine.kubernetes.counts import counted
from ...compare.compared_sessions import Comparison
from ...compare.decisions import CONTEXT
from ...facade.documents import document
from ...facade.log import Log
from ...moments.moment import Moment
from ...pages.templates import rendered
from ...render.blocks import Block, Drawn, Folded, Section, Sentence, Words, here_ref
from ...render.comparison import behaviour_table, consulted_table, decision_table
from ...render.session import panic_lines
from ..reach import reach_cache
from .blocks import answer
from .bounded import MOST_ROWS, Some, number, some
from .look import Look
from .notes import sentences
from .page import page
from .session import BUILT_IN, StepNames, StepShown, assumptions, chosen_conf, names_at, numbered

MOST_ALIGNED = 1500
"""So many steps of each side after the first difference are matched; further ones go in order."""

RELEASES, CONFS, MOMENTS = "releases", "confs", "moments"


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """A step of each side; None where a side has none.

    :param same: everything; ``numbers_differ``: nothing but what was compared differs.
    :param first: the first difference.
    """

    left: StepShown | None
    right: StepShown | None
    same: bool
    numbers_differ: bool
    first: bool


class SideBySide(msgspec.Struct, frozen=True, kw_only=True):
    """Two sessions.

    :param what: differs between them: releases, configurations or moments.
    :param pairs: of their steps; ``shown`` are those to show.
    """

    what: str
    versus: str
    pairs: tuple[Pair, ...]
    shown: tuple[Pair, ...]
    assumed: tuple[str, ...]
    not_known: tuple[str, ...]
    comparison: Comparison


def _json(found: SideBySide) -> Any:
    """Return the comparison as the command prints it."""
    return document(found.comparison)


def _shown(found: SideBySide, look: Look) -> Mapping[str, Any]:
    labels = _labels(found.comparison)
    return answer(look, " beside ".join(labels), _sections(found, look, labels))


def _labels(found: Comparison) -> tuple[str, str]:
    """Return what distinguishes the two sessions."""
    return found.sides[0].label, found.sides[-1].label


def _sections(found: SideBySide, look: Look, labels: tuple[str, str]) -> Iterator[Section]:
    """Yield the decisions that differ, the steps of both sides, and what makes the difference."""
    compared = found.comparison
    panics = panic_lines((one.label, one.answer.result) for one in compared.sides)
    known = ", with what is in the log" if found.not_known else ""
    same = Sentence(f"Both decide the same{known}.", "blank")
    decisions = decision_table(compared.decisions, labels) if compared.decisions else same
    texts = [Sentence(text.rstrip(), "panic") for text in panics]
    yield Section([*texts, decisions], "Decisions that differ")
    yield Section([*_said(found, labels), *_steps(found, look, labels)], "Steps")
    if compared.consulted:
        title = "Behaviours that were checked at the first difference"
        yield Section([consulted_table(compared.consulted)], title)
    here = {each.behaviour for each in compared.consulted}
    others = [one for one in compared.behaviours if one.behaviour in {*compared.asked} - here]
    if others:
        title = f"Other behaviours that differ, and that these sessions checked: {len(others)}"
        releases = [side.answer.release for side in compared.sides]
        yield Section([Folded(title, [behaviour_table(others, releases)])])
    rest = len(compared.behaviours) - len(here) - len(others)
    if found.what == RELEASES and rest > 0:
        yield Section([Sentence(f"{rest} other behaviours differ, and had no effect here.", "cut")])


def _said(found: SideBySide, labels: tuple[str, str]) -> Iterator[Sentence]:
    """Yield where the steps of both sides first differ, and what makes the difference there."""
    sides = found.comparison.sides
    steps, others = (len(one.answer.result.trace) for one in (sides[0], sides[-1]))
    first = _first(found.pairs)
    if first is None:
        do = "The only step does" if steps == 1 else f"All {steps} steps do"
        numbers = ", and no step compares other numbers" if len(found.shown) == 0 else ""
        yield Sentence(f"{do} the same{numbers}.")
        return
    step = here_ref(f"step {first + 1}", place="difference")
    of = f", of {counted(steps, 'step')} of {labels[0]} and {others} of {labels[1]}."
    kept = " Of two moments only the steps around it are kept." if found.what == MOMENTS else ""
    yield Sentence(Words("The first difference is ", step, f"{of}{kept}"))
    causes = " or ".join(
        f"{one.behaviour} ({one.values[0]} → {one.values[-1]})"
        for one in found.comparison.consulted
        if one.decides
    )
    if causes:
        yield Sentence(f"What makes the difference there: {causes}.")


def _first(pairs: Sequence[Pair]) -> int | None:
    """Return the place of the first difference; None if there is none."""
    return next((place for place, one in enumerate(pairs) if one.first), None)


def _steps(found: SideBySide, look: Look, labels: tuple[str, str]) -> Iterator[Block]:
    """Yield the steps side by side: a picture, in which those that differ stand out."""
    if not found.shown:
        return
    first = _first(found.shown)
    is_whole = len(found.shown) == len(found.pairs)
    begin = max(0, first - CONTEXT) if first is not None and is_whole else 0
    part = some(found.shown, number(look, "skip", begin))
    yield Drawn(rendered("pairs.html", look=look, labels=labels, pairs=part))
    following = _next_difference(found.shown, part)
    if following is not None:
        yield Sentence(here_ref("Next difference ▶", skip=str(following)))


@page(
    "compare",
    template="compare.html",
    title="Side by side",
    nav="Side by side",
    key="v",
    long=True,
    json=_json,
    show=_shown,
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
    only = look.get("only") == "differences"
    return SideBySide(
        what=what,
        versus=versus,
        pairs=tuple(pairs),
        shown=tuple(one for one in pairs if not (only and one.same)),
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


def _pairs(found: Comparison, names: StepNames) -> list[Pair]:
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


def _differ(one: StepShown, other: StepShown) -> bool:
    return _place(one) != _place(other) or one.outcome != other.outcome


def _place(step: StepShown) -> tuple[Hashable, ...]:
    """Return what a step does, whatever comes out."""
    return step.action, step.what, step.about, step.by


def _pair(one: StepShown | None, other: StepShown | None) -> Pair:
    if one is None or other is None or _differ(one, other):
        return Pair(left=one, right=other, same=False, numbers_differ=False, first=False)
    numbers = one.numbers != other.numbers
    return Pair(left=one, right=other, same=not numbers, numbers_differ=numbers, first=False)


def _matched(
    left: Sequence[StepShown], right: Sequence[StepShown]
) -> Iterator[tuple[StepShown | None, StepShown | None]]:
    """Yield the steps of two sides; those that do the same stand side by side."""
    one, other = left[:MOST_ALIGNED], right[:MOST_ALIGNED]
    found = SequenceMatcher(None, [*map(_place, one)], [*map(_place, other)], autojunk=False)
    for _, a, b, c, d in found.get_opcodes():
        yield from _beside(one[a:b], other[c:d])
    yield from _beside(left[MOST_ALIGNED:], right[MOST_ALIGNED:])


def _beside(
    left: Sequence[StepShown], right: Sequence[StepShown]
) -> Iterator[tuple[StepShown | None, StepShown | None]]:
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
