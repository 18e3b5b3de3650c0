"""Sessions side by side as text: decisions, the first difference of their traces, behaviours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...engine.kubernetes.amount_texts import exact_amount
from ...engine.kubernetes.counts import counted
from ...engine.session.framework.trace import TraceStep
from ..compare.causes import Cause
from ..compare.checked_behaviours import CheckedBehaviour
from ..compare.compared_sessions import Comparison
from ..compare.decisions import CONTEXT, DifferingDecision, FirstDifference
from ..compare.releases import BehaviourDiff
from ..coverage.coverage import unknown_text
from ..sessions.step_words import compared_in, outcome_text
from ..what_if.changed_sessions import WhatIf
from .blocks import Block, Section, TerminalLine, block_lines, first_rows, object_ref
from .session import number_text, panic_texts, trace_table
from .short_names import short
from .tables import NONE, PLAIN, Style, Table


def comparison_lines(
    comparison: Comparison, *, style: Style = PLAIN, trace: bool = False
) -> Iterator[str]:
    """Yield a comparison's lines.

    :param trace: print all decisions, and at the end all steps of each side.
    """
    labels = [side.label for side in comparison.sides]
    parts: list[Section] = []
    if panics := list(panic_texts((side.label, side.answer.result) for side in comparison.sides)):
        parts.append(Section(panics))
    if comparison.decisions:
        shown = None if trace else DECISIONS_SHOWN
        parts.append(Section(decision_blocks(comparison.decisions, labels, shown, wide=style.wide)))
    elif comparison.not_known:
        lacking = unknown_text(comparison.not_known)
        parts.append(Section([f"All decide the same with what is in the log, but {lacking}."]))
    else:
        parts.append(Section(["All decide the same."]))
    for parting in comparison.first_differences:
        parts += first_difference_sections(parting, labels, wide=style.wide)
    if comparison.compared and not comparison.first_differences:
        steps = counted(comparison.compared, "step is", "steps are")
        parts.append(Section([f"The first {steps} the same, and so are all decisions."]))
    if comparison.behaviours:
        parts += _behaviours(comparison)
    for side in comparison.sides if trace else ():
        table = trace_table(side.answer.result.trace, wide=style.wide)
        parts.append(Section([TerminalLine(side.label), table]))
    return block_lines(parts, style=style)


def what_if_lines(found: WhatIf, *, style: Style = PLAIN) -> Iterator[str]:
    """Yield what is changed in a session, and the decisions that are not the same."""
    blocks: list[list[Block]] = [
        [
            *(
                f"{style.bold(side.name)}: {'; '.join(side.texts)}"
                for side in found.sides[1:]
                if side.texts != (side.name,)
            ),
            *panic_texts((side.name, side.answer.result) for side in found.sides),
        ]
    ]
    same = [
        side.name
        for place, side in enumerate(found.sides)
        if place and all(row.values[place] == row.values[0] for row in found.decisions)
    ]
    if found.decisions:
        labels = [side.name for side in found.sides]
        shown = None if style.wide else _CHANGES_SHOWN
        blocks.append(decision_blocks(found.decisions, labels, shown, wide=style.wide))
    if same:
        known = f", with what is in the log, but {unknown_text(found.not_known)}"
        about = "" if len(found.sides) == 2 else f" with {', '.join(same)}"
        text = f"The session decides the same{about}{known if found.not_known else ''}."
        blocks[-1].append(text)
    return block_lines(map(Section, blocks), style=style)


def decision_blocks(
    decisions: Sequence[DifferingDecision],
    labels: Sequence[str],
    shown: int | None = None,
    *,
    wide: bool = False,
) -> list[Block]:
    """Return the decisions that differ, with a column for each side.

    :param shown: so many at most; None is all. :param wide: print full names of PodGroups.
    """
    table, *more = first_rows(decision_table(decisions, labels), shown)
    return [table if wide else short(table), *more]


def decision_table(decisions: Sequence[DifferingDecision], labels: Sequence[str]) -> Table:
    """Return the decisions that differ, with a column for each side."""
    rows = [(row.kind, _object(row), *map(value_text, row.values)) for row in decisions]
    return Table(
        ("DECISION", "OBJECT", *labels),
        rows,
        keep=("OBJECT", *labels),
        title="Decisions that differ",
        pages="decisions",
    )


def _object(row: DifferingDecision) -> str:
    """Return the object of a decision; a panic has none."""
    kind = "pod" if row.kind in _OF_PODS else "podgroup"
    return object_ref(f"{kind}/{row.about}", row.about) if row.about else NONE


_OF_PODS = frozenset({"bind", "evict", "pipeline"})


def _behaviours(comparison: Comparison) -> Iterator[Section]:
    """Yield the behaviours checked at the first difference, and others that may have an effect."""
    releases = [side.answer.release for side in comparison.sides]
    # Those that were tried alone and make the difference say more than those that were not tried.
    there = [each for each in comparison.consulted if each.decides]
    there = there or [each for each in comparison.consulted if each.decides is None]
    if there:
        yield Section([consulted_table(there)])
    shown = {each.behaviour for each in there}
    others = [row for row in comparison.behaviours if row.behaviour in {*comparison.asked} - shown]
    blocks: list[Block] = []
    if others:
        blocks.append("Other behaviours that differ, and that these sessions checked:")
        blocks.append(behaviour_table(others, releases))
    rest = len(comparison.behaviours) - len(shown) - len(others)
    if rest:
        names = " ".join(dict.fromkeys(releases))
        command = f"plinian release diff {names} --part session"
        changes = "change" if rest == 1 else "changes"
        blocks.append(f"{rest} other {changes} had no effect: {command}")
    if there or blocks:
        yield Section(blocks)


def consulted_table(behaviours: Sequence[CheckedBehaviour]) -> Table:
    """Return the behaviours that were checked where two sessions first differ."""
    said = {True: "yes", False: "no", None: "not tried"}
    rows = [(each.behaviour, *each.values, said[each.decides], each.why) for each in behaviours]
    headers = ("CHECKED", *behaviours[0].releases, "CAUSE", "WHAT CHANGES")
    return Table(headers, rows, keep=headers, title="Behaviours at the first difference")


def value_text(value: str | None) -> str:
    """Return the text of a decision on one side."""
    return NONE if value is None else value or "<empty>"


def first_difference_sections(
    parting: FirstDifference, labels: Sequence[str], *, wide: bool = False
) -> Iterator[Section]:
    """Yield the first difference of traces: steps before it, each side's steps, what they compared.

    :param wide: print full names of PodGroups.
    """
    title = "Numbers first differ:" if parting.what == "numbers" else "First difference:"
    rows = [("all", *_step(step)) for step in parting.before]
    for label, side in zip(labels, parting.steps, strict=True):
        # The trace of one side may end here.
        rows += [(label, *_step(step)) for step in side] or [(label, *("",) * 5)]
    headers = ("SESSION", "ACTION", "STEP", "OBJECT", "BY", "OUTCOME")
    table = Table(headers, rows, keep=("STEP", "OBJECT", "OUTCOME"))
    yield Section([f"{title} step {parting.number + 1}", table if wide else short(table)])
    numbers = numbers_of(parting.alike)
    if numbers:
        step = parting.alike[0]
        head = f"{step.what} {' '.join(step.about)} {step.by}".strip()
        yield Section([Table((f"NUMBERS OF {head}", *labels), numbers, keep=labels)])


def numbers_of(steps: Sequence[TraceStep]) -> list[tuple[str, ...]]:
    """Return the numbers that steps compared: names and values; ``*`` marks those that differ."""
    flat = [dict(_flat(compared_in(step.by, step.numbers))) for step in steps]
    names = dict.fromkeys(name for side in flat for name in side)
    rows = []
    for name in names:
        values = tuple(side.get(name, NONE) for side in flat)
        rows.append((f"{name} *" if len(set(values)) > 1 else name, *values))
    return rows


def behaviour_table(behaviours: Sequence[BehaviourDiff], releases: Sequence[str]) -> Table:
    """Return behaviours with a column for each release."""
    columns = list(dict.fromkeys(releases))
    rows = []
    for behaviour in behaviours:
        values = dict(zip(releases, behaviour.values, strict=True))
        rows.append((behaviour.behaviour, *(values[name] for name in columns), behaviour.why))
    headers = ("BEHAVIOUR", *columns, "WHAT CHANGES")
    return Table(headers, rows, keep=headers, title="Behaviours that differ")


def cause_text(causes: Sequence[Cause]) -> str:
    """Return causes: ``a``; ``a or b`` if either suffices; or that no single behaviour does."""
    if not causes:
        return "not found: no behaviour explains it, alone or with others"
    several = any(len(cause) > 1 for cause in causes)
    together = "no single behaviour, but together " if several else ""
    return together + " or ".join(" and ".join(cause) for cause in causes)


def step_texts(steps: Sequence[TraceStep], style: Style) -> Iterator[str]:
    """Yield the last steps of an object, each followed by all its numbers."""
    left_out = len(steps) - STEPS_SHOWN
    if left_out > 0:
        yield f"  ({counted(left_out, 'earlier step')}: -o json)"
    for step in steps[-STEPS_SHOWN:]:
        yield f"  {style.bold(' '.join(filter(None, _step(step))))}"
        for name, value in _flat(compared_in(step.by, step.numbers)):
            yield f"    {name} = {value}"


DECISIONS_SHOWN = 20
"""Decisions that the text shows; few, so that what follows is visible without scrolling."""

_CHANGES_SHOWN = 40

STEPS_SHOWN = 4 * CONTEXT
"""Steps of one object that the text shows; JSON has all."""


def _step(step: TraceStep) -> tuple[str, str, str, str, str]:
    return step.action, step.what, " ".join(step.about) or NONE, step.by, outcome_text(step)


def _flat(numbers: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield numbers by name; amounts of resources one by one, as Kubernetes writes them."""
    for name, value in numbers.items():
        if isinstance(value, Mapping):
            for resource, amount in value.items():
                yield f"{name}.{resource}", exact_amount(resource, amount)
        else:
            yield name, number_text(value)
