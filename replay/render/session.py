"""A session's answer as text, decisions first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ...engine.kubernetes.amount_texts import exact_amount
from ...engine.session.framework.session_outcome import SessionResult
from ...engine.session.framework.trace import TraceStep
from ..sessions.session_answer import SessionAnswer
from ..sessions.step_words import SessionStep, shown_step, stop_text
from .amounts import quantity_list
from .blocks import Section, Sentence, TerminalLine, block_lines, object_ref
from .short_names import short, short_all
from .tables import NONE, PLAIN, Style, Table

KEPT = ("OBJECT", "NODE", "REASON", "PHASE", "ALLOCATED", "MESSAGE", "PENDING REASON", "CONDITION")
"""Columns of what a session decided that even a narrow terminal shows."""


def session_lines(
    answer: SessionAnswer, *, style: Style = PLAIN, trace: bool = False
) -> Iterator[str]:
    """Yield an answer's lines: decisions, PodGroups, queues, why pods are pending, and errors.

    :param trace: and all steps.
    """
    result = answer.result
    parts: list[Section] = []
    if result.panic is not None:
        said = TerminalLine(f"The scheduler panics: {result.panic.message}", "removed")
        where = panic_place_texts(" < ".join(result.panic.place), result.panic.during)
        parts.append(Section([said, *where]))
    if result.stopped is not None:
        why = f"{stop_text(result.stopped)}: {result.stopped.error}"
        parts.append(Section([TerminalLine(f"Scheduling stops in every queue: {why}", "removed")]))
    decisions, *others = session_tables(result, wide=style.wide)
    refused = (bind.sentence(answer.release) for bind in answer.refused)
    sentences = (Sentence(f"{text[0].upper()}{text[1:]}.") for text in refused)
    parts.append(Section([decisions if decisions.rows else "No decision.", *sentences]))
    errors = [(line,) for line in dict.fromkeys(result.errors)]
    others.append(Table(("SCHEDULER LOG",), errors, keep=("SCHEDULER LOG",)))
    parts += [Section([table]) for table in others if table.rows]
    if trace:
        parts.append(Section([trace_table(result.trace, wide=style.wide)]))
    return block_lines(parts, style=style)


def panic_texts(results: Iterable[tuple[str, SessionResult]]) -> Iterator[str]:
    """Yield which of some sessions panic, by their names."""
    for name, result in results:
        if result.panic is not None:
            yield f"{name}: {result.panic.sentence}"


def panic_place_texts(place: str, during: str) -> Iterator[str]:
    """Yield where a scheduler panics, and while it does what; nothing that is not known."""
    if place:
        yield f"  at {place}"
    if during:
        yield f"  while {during}"


def session_tables(result: SessionResult, *, wide: bool = False) -> list[Table]:
    """Return decisions, PodGroups, queues, events and why pods are pending; some may be empty.

    :param wide: with full names of PodGroups.
    """
    pods = "Pods that are not placed"
    tables = [
        Table(
            ("DECISION", "OBJECT", "NODE", "REASON"),
            _decisions(result),
            title="Decisions",
            pages="decisions",
        ),
        Table(("PODGROUP", "PHASE", "RUNNING", "SUCCEEDED", "FAILED", "WRITTEN"), _groups(result)),
        Table(("QUEUE", "ALLOCATED", "WRITTEN"), _queues(result)),
        Table(("PODGROUP", "EVENT", "MESSAGE"), sorted(set(result.events))),
        Table(("POD", "PENDING REASON"), _waiting(result), title=pods, pages="pods"),
    ]
    tables = [table._replace(keep=KEPT) for table in tables]
    return tables if wide else short_all(tables)


def trace_table(steps: Iterable[TraceStep], *, wide: bool = False) -> Table:
    """Return the steps of a trace as a table. :param wide: print full names of PodGroups."""
    table = step_table(map(shown_step, steps), blank=NONE)
    return table if wide else short(table)


def step_table(steps: Iterable[SessionStep], blank: str = "") -> Table:
    """Return steps of a session as a table. :param blank: stands for an object that is none."""
    headers = ("ACTION", "STEP", "OBJECT", "BY", "OUTCOME", "NUMBERS")
    rows = [
        (step.action, step.what, step.about or blank, step.by, step.outcome, _numbers(step.numbers))
        for step in steps
    ]
    return Table(headers, rows, keep=("STEP", "OBJECT", "OUTCOME", "NUMBERS"))


def _numbers(numbers: Mapping[str, object]) -> str:
    return " ".join(f"{name}={number_text(value)}" for name, value in numbers.items())


def _decisions(result: SessionResult) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [
        ("enqueue", object_ref(f"podgroup/{key}", key), "", "") for key in result.enqueued
    ]
    rows += [_placed("bind", *bind) for bind in result.binds]
    rows += [("evict", object_ref(f"pod/{pod}", pod), "", why) for pod, why in result.evictions]
    rows += [_placed("pipeline", *planned) for planned in result.pipelined]
    return rows


def _placed(decision: str, pod: str, node: str) -> tuple[str, ...]:
    return decision, object_ref(f"pod/{pod}", pod), object_ref(f"node/{node}", node), ""


def _groups(result: SessionResult) -> list[tuple[str, ...]]:
    return [
        (
            *(key, group.phase, str(group.running), str(group.succeeded), str(group.failed)),
            "yes" if group.written else "no",
        )
        for key, group in sorted(result.pod_groups.items())
    ]


def _queues(result: SessionResult) -> list[tuple[str, ...]]:
    return [
        (name, quantity_list(status.allocated), "yes" if status.written else "no")
        for name, status in sorted(result.queues.items())
    ]


def _waiting(result: SessionResult) -> list[tuple[str, str]]:
    """Return why pods are pending: no node fits them, or the message of their new condition."""
    messages = {key: condition.message for key, condition in result.pod_conditions.items()}
    # Why no node fits says more than the condition, which may be that of the gang.
    messages.update((key, text) for key, text in result.fit_errors.items() if text)
    placed = {pod for pod, _ in (*result.binds, *result.pipelined)}
    pending = sorted((key, text) for key, text in messages.items() if key not in placed)
    return [(object_ref(f"pod/{key}", key), text) for key, text in pending]


def number_text(value: object) -> str:
    """Return a number, a list, or amounts of resources in Kubernetes notation, as one line."""
    if isinstance(value, Mapping):
        texts = (
            f"{name}={amount if isinstance(amount, str) else exact_amount(name, amount)}"
            for name, amount in value.items()
        )
        return f"({','.join(texts)})"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else f"{value:.9g}"
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return str(value)
