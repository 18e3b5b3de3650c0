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
from .blocks import object_ref
from .session import number_text, panic_lines, trace_lines
from .short_names import short
from .tables import NONE, PLAIN, Style, Table, lines_of


def comparison_lines(
    found: Comparison, *, style: Style = PLAIN, trace: bool = False, wide: bool = False
) -> Iterator[str]:
    """Yield a comparison's lines.

    :param trace: print all decisions, and at the end all steps of each side.
    :param wide: print full names of PodGroups.
    """
    labels = [side.label for side in found.sides]
    panics = list(panic_lines((side.label, side.answer.result) for side in found.sides))
    yield from panics
    if panics:
        yield "\n"
    if found.decisions:
        shown = None if trace else DECISIONS_SHOWN
        yield from decision_lines(found.decisions, labels, style=style, shown=shown, wide=wide)
    elif found.not_known:
        yield f"All decide the same with what is in the log, but {unknown_text(found.not_known)}.\n"
    else:
        yield "All decide the same.\n"
    for parting in found.first_differences:
        yield "\n"
        yield from first_difference_lines(parting, labels, style=style, wide=wide)
    if found.compared and not found.first_differences:
        steps = counted(found.compared, "step is", "steps are")
        yield f"\nThe first {steps} the same, and so are all decisions.\n"
    if found.behaviours:
        yield "\n"
        yield from _behaviours(found, style)
    for side in found.sides if trace else ():
        yield "\n"
        yield style.bold(f"{side.label}\n")
        yield from trace_lines(side.answer.result.trace, style=style, wide=wide)


def decision_lines(
    decisions: Sequence[DifferingDecision],
    labels: Sequence[str],
    *,
    style: Style = PLAIN,
    shown: int | None = None,
    wide: bool = False,
) -> Iterator[str]:
    """Yield the decisions that differ, with a column for each side.

    :param shown: so many at most; None is all. :param wide: print full names of PodGroups.
    """
    table = decision_table(decisions[:shown], labels)
    yield from lines_of(table if wide else short(table), style=style)
    if len(table.rows) < len(decisions):
        yield f"({len(decisions) - len(table.rows)} more: -o json)\n"


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


def _behaviours(found: Comparison, style: Style) -> Iterator[str]:
    """Yield the behaviours checked at the first difference, and others that may have an effect."""
    releases = [side.answer.release for side in found.sides]
    there = [each for each in found.consulted if each.decides]
    there = there or [each for each in found.consulted if each.decides is None]
    if there:
        yield from consulted_lines(there, style=style)
        yield "\n"
    shown = {each.behaviour for each in there}
    others = [row for row in found.behaviours if row.behaviour in {*found.asked} - shown]
    if others:
        yield "Other behaviours that differ, and that these sessions checked:\n"
        yield from behaviour_lines(others, releases, style=style)
    rest = len(found.behaviours) - len(shown) - len(others)
    if rest:
        names = " ".join(dict.fromkeys(releases))
        command = f"plinian release diff {names} --part session"
        changes = "change" if rest == 1 else "changes"
        yield f"{rest} other {changes} had no effect: {command}\n"


def consulted_lines(found: Sequence[CheckedBehaviour], *, style: Style = PLAIN) -> Iterator[str]:
    """Yield the behaviours that were checked where two sessions first differ, causes first."""
    yield from lines_of(consulted_table(found), style=style)


def consulted_table(found: Sequence[CheckedBehaviour]) -> Table:
    """Return the behaviours that were checked where two sessions first differ."""
    said = {True: "yes", False: "no", None: "not tried"}
    rows = [(each.behaviour, *each.values, said[each.decides], each.why) for each in found]
    headers = ("CHECKED", *found[0].releases, "CAUSE", "WHAT CHANGES")
    return Table(headers, rows, keep=headers, title="Behaviours at the first difference")


def value_text(value: str | None) -> str:
    """Return the text of a decision on one side."""
    return NONE if value is None else value or "<empty>"


def first_difference_lines(
    parting: FirstDifference, labels: Sequence[str], *, style: Style = PLAIN, wide: bool = False
) -> Iterator[str]:
    """Yield the first difference of traces: steps before it, each side's steps, what they compared.

    :param wide: print full names of PodGroups.
    """
    what = "Numbers first differ:" if parting.what == "numbers" else "First difference:"
    yield f"{what} step {parting.number + 1}\n"
    rows = [("all", *_step(step)) for step in parting.before]
    for label, side in zip(labels, parting.steps, strict=True):
        rows += [(label, *_step(step)) for step in side] or [(label, *("",) * 5)]
    headers = ("SESSION", "ACTION", "STEP", "OBJECT", "BY", "OUTCOME")
    table = Table(headers, rows, keep=("STEP", "OBJECT", "OUTCOME"))
    yield from lines_of(table if wide else short(table), style=style)
    numbers = numbers_of(parting.alike)
    if numbers:
        step = parting.alike[0]
        yield "\n"
        head = f"{step.what} {' '.join(step.about)} {step.by}".strip()
        yield from lines_of(
            Table((f"NUMBERS OF {head}", *labels), numbers, keep=labels), style=style
        )


def numbers_of(steps: Sequence[TraceStep]) -> list[tuple[str, ...]]:
    """Return the numbers that steps compared: names and values; ``*`` marks those that differ."""
    flat = [dict(_flat(compared_in(step.by, step.numbers))) for step in steps]
    names = dict.fromkeys(name for one in flat for name in one)
    rows = []
    for name in names:
        values = tuple(one.get(name, NONE) for one in flat)
        rows.append((f"{name} *" if len(set(values)) > 1 else name, *values))
    return rows


def behaviour_lines(
    behaviours: Sequence[BehaviourDiff], releases: Sequence[str], *, style: Style = PLAIN
) -> Iterator[str]:
    """Yield behaviours with a column for each release."""
    yield from lines_of(behaviour_table(behaviours, releases), style=style)


def behaviour_table(behaviours: Sequence[BehaviourDiff], releases: Sequence[str]) -> Table:
    """Return behaviours with a column for each release."""
    columns = list(dict.fromkeys(releases))
    rows = []
    for one in behaviours:
        values = dict(zip(releases, one.values, strict=True))
        rows.append((one.behaviour, *(values[name] for name in columns), one.why))
    headers = ("BEHAVIOUR", *columns, "WHAT CHANGES")
    return Table(headers, rows, keep=headers, title="Behaviours that differ")


def cause_text(causes: Sequence[Cause]) -> str:
    """Return causes: ``a``; ``a or b`` if either suffices; or that no single behaviour does."""
    if not causes:
        return "not found: no behaviour explains it, alone or with others"
    several = any(len(cause) > 1 for cause in causes)
    together = "no single behaviour, but together " if several else ""
    return together + " or ".join(" and ".join(cause) for cause in causes)


def step_lines(steps: Sequence[TraceStep], *, style: Style = PLAIN) -> Iterator[str]:
    """Yield the last steps of an object, each followed by all its numbers."""
    left_out = len(steps) - STEPS_SHOWN
    if left_out > 0:
        yield f"  ({counted(left_out, 'earlier step')}: -o json)\n"
    for step in steps[-STEPS_SHOWN:]:
        yield f"  {style.bold(' '.join(filter(None, _step(step))))}\n"
        for name, value in _flat(compared_in(step.by, step.numbers)):
            yield f"    {name} = {value}\n"


DECISIONS_SHOWN = 20
"""Decisions that the text shows; few, so that what follows is visible without scrolling."""

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
