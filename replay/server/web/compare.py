"""The page of two sessions side by side: other releases, other configurations, other moments.

Their steps have a template: of steps that differ, each side has its own numbers.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import takewhile, zip_longest
from typing import NamedTuple

from ....engine.kubernetes.counts import counted
from ....engine.volcano.releases import RELEASES as KNOWN
from ...compare.compared_sessions import Comparison
from ...compare.decisions import CONTEXT
from ...facade.log import Log
from ...moments.moment import Moment
from ...render.blocks import Block, Folded, Ref, Section, Sentence, Words, here_ref, joined
from ...render.comparison import behaviour_table, consulted_table, decision_table
from ...render.session import panic_texts
from ..reach import reach_cache
from .blocks import BlockPage, drawn
from .bounded import MOST_ROWS, Some, number, some
from .forms import FormField, choices_of, form
from .look import Look
from .notes import sentences
from .page import NavGroup, page
from .session import BUILT_IN, StepNames, StepShown, assumptions, chosen_conf, names_at, step_of
from .site import releases

MOST_ALIGNED = 1500
"""So many steps of each side after the first difference are matched; further ones go in order."""

RELEASES, CONFS, MOMENTS = "releases", "confs", "moments"
SAME, NUMBERS, DIFFERENT = "same", "numbers-differ", "differs"


class Pair(NamedTuple):
    """A step of each side; None where a side has none.

    :param alike: whether it is the same, other numbers were compared, or more differs.
    :param first: it is the first difference.
    """

    left: StepShown | None
    right: StepShown | None
    alike: str
    first: bool = False


class SideBySide(NamedTuple):
    """Two sessions.

    :param what: differs between them: releases, configurations or moments. :param versus: the
        other side of it. :param labels: what distinguishes the sessions. :param pairs: of steps.
    """

    what: str
    versus: str
    labels: tuple[str, str]
    pairs: Sequence[Pair]
    comparison: Comparison


@page(
    "compare",
    "Side by side",
    nav="Side by side",
    group=NavGroup.SCHEDULER,
    key="v",
    long=True,
    takes=("vs_release", "vs_conf", "with", "only", "skip", "decisions", "sort_decisions"),
)
def compare(log: Log, look: Look) -> BlockPage:
    """Run the session of the moment twice.

    ``vs`` of the query is another moment; ``vs_conf=built-in`` another configuration; else
    ``vs_release`` is another release, by default the one before.

    :raises UsageError: a release is not known.
    """
    moment = log.moment(look.at)
    aspect, versus = _versus(look)
    _reach(log, moment, look, aspect, versus)
    if aspect == MOMENTS:
        comparison = log.compare_moments(
            versus, moment, releases=[look.get("vs_release") or look.release, look.release]
        )
    elif aspect == CONFS:
        confs = [chosen_conf(own=True), None]
        comparison = log.compare(at=moment, releases=look.release, confs=confs, trace=True)
    else:
        comparison = log.compare(at=moment, releases=[versus, look.release], trace=True)
    labels = (comparison.sides[0].label, comparison.sides[-1].label)
    sides = SideBySide(
        aspect, versus, labels, _pairs(comparison, names_at(log, moment)), comparison
    )
    return BlockPage(
        " beside ".join(labels),
        lambda: _sections(sides, look),
        comparison,
        assumed=assumptions(log, moment, own=False, release=look.release),
        not_known=sentences(comparison.not_known),
    )


def _sections(side_by_side: SideBySide, look: Look) -> Iterator[Section]:
    """Yield the decisions that differ, the steps of both sides, and what makes the difference."""
    compared, labels = side_by_side.comparison, side_by_side.labels
    panics = panic_texts(
        (session_side.label, session_side.answer.result) for session_side in compared.sides
    )
    known = ", with what is in the log" if compared.not_known else ""
    same = Sentence(f"Both decide the same{known}.", "blank")
    decisions = decision_table(compared.decisions, labels) if compared.decisions else same
    texts = [Sentence(text, "panic") for text in panics]
    yield Section([_form(side_by_side, look)])
    yield Section([*texts, decisions], "Decisions that differ")
    yield Section(list(_steps(side_by_side, look)), "Steps")
    if compared.consulted:
        title = "Behaviours that were checked at the first difference"
        yield Section([consulted_table(compared.consulted)], title)
    here = {each.behaviour for each in compared.consulted}
    others = [
        behaviour
        for behaviour in compared.behaviours
        if behaviour.behaviour in {*compared.asked} - here
    ]
    if others:
        title = f"Other behaviours that differ, and that these sessions checked: {len(others)}"
        names = [side.answer.release for side in compared.sides]
        yield Section([Folded(title, [behaviour_table(others, names)])])
    rest = len(compared.behaviours) - len(here) - len(others)
    if side_by_side.what == RELEASES and rest > 0:
        yield Section([Sentence(f"{rest} other behaviours differ, and had no effect here.", "cut")])


def _form(side_by_side: SideBySide, look: Look) -> Block:
    others = choices_of(release for release in releases() if release != look.release)
    ticked = {"checked": ""} if look.get("only") == "differences" else {}
    fields = [
        FormField("Beside", "vs_release", side_by_side.versus, others),
        FormField("only differences", "only", "differences", {}, {"type": "checkbox", **ticked}),
    ]
    text = "the built-in configuration"
    links = [here_ref(text, vs_conf=BUILT_IN, vs_release=None, with_=None, skip=None)]
    if look.versus is not None:
        text = f"the session at @{look.versus}"
        links.append(here_ref(text, vs_conf=None, with_=MOMENTS, skip=None))
    if side_by_side.what == RELEASES:
        links.append(Ref("how the releases differ", "behaviours", vs_release=side_by_side.versus))
    drops = ("vs_conf", "with", "decisions")
    return form(look, "Compare", fields, drops=drops, after=Words(*joined(links, " ")))


def _steps(side_by_side: SideBySide, look: Look) -> Iterator[Block]:
    """Yield where the steps of both sides first differ, why, and the steps side by side."""
    pairs, labels, sides = side_by_side.pairs, side_by_side.labels, side_by_side.comparison.sides
    if look.get("only") == "differences":
        pairs = [pair for pair in pairs if pair.alike != SAME]
    steps, others = (
        len(session_side.answer.result.trace) for session_side in (sides[0], sides[-1])
    )
    first = _first(side_by_side.pairs)
    if first is None:
        do = "The only step does" if steps == 1 else f"All {steps} steps do"
        numbers = "" if pairs else ", and no step compares other numbers"
        yield Sentence(f"{do} the same{numbers}.")
    else:
        step = here_ref(f"step {first + 1}", place="difference")
        of = f", of {counted(steps, 'step')} of {labels[0]} and {others} of {labels[1]}."
        note = (
            " Of two moments only the steps around it are kept."
            if side_by_side.what == MOMENTS
            else ""
        )
        yield Sentence(Words("The first difference is ", step, f"{of}{note}"))
        consulted = [
            behaviour for behaviour in side_by_side.comparison.consulted if behaviour.decides
        ]
        causes = (
            f"{behaviour.behaviour} ({behaviour.values[0]} → {behaviour.values[-1]})"
            for behaviour in consulted
        )
        if consulted:
            yield Sentence(f"What makes the difference there: {' or '.join(causes)}.")
    # The place of the first difference is one among all steps, not among those that differ.
    if pairs:
        is_whole = len(pairs) == len(side_by_side.pairs)
        begin = max(0, first - CONTEXT) if first is not None and is_whole else 0
        part = some(pairs, number(look, "skip", begin))
        yield drawn(look, "pairs.html", labels=labels, pairs=part)
        following = _next_difference(pairs, part)
        if following is not None:
            yield Sentence(here_ref("Next difference ▶", skip=str(following)))


def _first(pairs: Sequence[Pair]) -> int | None:
    """Return the place of the first difference; None if there is none."""
    return next((place for place, pair in enumerate(pairs) if pair.first), None)


def _reach(log: Log, moment: Moment, look: Look, aspect: str, versus: str) -> None:
    """Make sure that the answer is soon found."""
    other_release = look.get("vs_release") or look.release
    releases = {RELEASES: [versus], MOMENTS: [other_release]}.get(aspect, [])
    reach_cache(log, moment, [look.release, *releases])
    if aspect == MOMENTS:
        reach_cache(log, log.moment(versus), [look.release, other_release])


def _versus(look: Look) -> tuple[str, str]:
    """Return what differs, and the other side of it."""
    if look.get("vs_conf") == BUILT_IN:
        return CONFS, BUILT_IN
    if look.get("with") == MOMENTS and look.versus is not None:
        return MOMENTS, f"@{look.versus}"
    return RELEASES, look.get("vs_release") or _before(look.release)


def _before(release: str) -> str:
    """Return the release before another in the list; the next one if it is the first."""
    names = [str(known) for known in KNOWN if not known.ours]
    if release not in names:
        return names[-1]
    return names[names.index(release) - 1] if release != names[0] else names[1]


def _pairs(comparison: Comparison, names: StepNames) -> list[Pair]:
    """Return the steps of both sides, matched."""
    left, right = (
        [
            step_of(*numbered_step, names)
            for numbered_step in enumerate(side.answer.result.trace, start=1)
        ]
        for side in (comparison.sides[0], comparison.sides[-1])
    )
    # Only steps after the first difference are matched, as that takes long.
    both = zip(left, right, strict=False)
    alike = sum(1 for _ in takewhile(lambda pair: not _differ(*pair), both))
    pairs = [_pair(*both) for both in zip(left[:alike], right[:alike], strict=True)]
    rest = [_pair(*both) for both in _matched(left[alike:], right[alike:])]
    return [*pairs, *(pair._replace(first=not place) for place, pair in enumerate(rest))]


def _differ(left: StepShown, right: StepShown) -> bool:
    return _place(left) != _place(right) or left.outcome != right.outcome


def _place(step: StepShown) -> tuple[Hashable, ...]:
    """Return what a step does, whatever comes out."""
    return step.action, step.what, step.about, step.by


def _pair(left: StepShown | None, right: StepShown | None) -> Pair:
    if left is None or right is None or _differ(left, right):
        return Pair(left, right, DIFFERENT)
    return Pair(left, right, SAME if left.numbers == right.numbers else NUMBERS)


def _matched(
    left: Sequence[StepShown], right: Sequence[StepShown]
) -> Iterator[tuple[StepShown | None, StepShown | None]]:
    """Yield the steps of two sides; those that do the same stand side by side."""
    left_steps, right_steps = left[:MOST_ALIGNED], right[:MOST_ALIGNED]
    # With autojunk it would ignore steps that occur often, as those about nodes do.
    matcher = SequenceMatcher(
        None, [*map(_place, left_steps)], [*map(_place, right_steps)], autojunk=False
    )
    for _, a, b, c, d in matcher.get_opcodes():
        yield from zip_longest(left_steps[a:b], right_steps[c:d])
    yield from zip_longest(left[MOST_ALIGNED:], right[MOST_ALIGNED:])


def _next_difference(shown: Sequence[Pair], part: Some[Pair]) -> int | None:
    """Return what to skip to see the next difference after the rows that are shown."""
    for place in range(part.end, len(shown)):
        if shown[place].alike != SAME:
            return max(0, min(place - CONTEXT, len(shown) - MOST_ROWS))
    return None
