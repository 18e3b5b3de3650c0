"""A session's answer as text: decisions first, then why pods are pending."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...engine.kubernetes.amount_texts import exact_amount
from ...engine.session.framework.session_outcome import ClosedPodGroupStatus, SessionResult
from ...engine.session.framework.trace import TraceStep
from ..sessions.session_answer import SessionAnswer
from ..sessions.step_words import compared_in, outcome_text, stop_text
from .blocks import object_ref
from .short_names import short, short_all
from .tables import NONE, PLAIN, Style, Table, lines_of, paragraph

KEPT = ("OBJECT", "NODE", "REASON", "PHASE", "ALLOCATED", "MESSAGE", "PENDING REASON", "CONDITION")
"""Columns of what a session decided that even a narrow terminal shows."""


def session_lines(
    answer: SessionAnswer, *, style: Style = PLAIN, wide: bool = False
) -> Iterator[str]:
    """Yield an answer's lines: decisions, PodGroups, queues, and why pods are pending.

    :param wide: print full names of PodGroups.
    """
    result = answer.result
    if result.panic is not None:
        yield style.removed(f"The scheduler panics: {result.panic.message}\n")
        yield from panic_place_lines(" < ".join(result.panic.place), result.panic.during)
        yield "\n"
    if result.stopped is not None:
        why = f"{stop_text(result.stopped)}: {result.stopped.error}"
        yield style.removed(f"Scheduling stops in every queue: {why}\n\n")
    decisions, *others = session_tables(result, wide=wide)
    if decisions.rows:
        yield from lines_of(decisions, style=style)
    else:
        yield "No decision.\n"
    for one in answer.refused:
        sentence = one.sentence(answer.release)
        yield from paragraph(f"{sentence[0].upper()}{sentence[1:]}.", style)
    for table in others:
        if table.rows:
            yield "\n"
            yield from lines_of(table, style=style)


def panic_lines(results: Iterable[tuple[str, SessionResult]]) -> Iterator[str]:
    """Yield which of some sessions panic, by their names."""
    for name, result in results:
        if result.panic is not None:
            yield f"{name}: {result.panic.sentence}\n"


def panic_place_lines(place: str, during: str) -> Iterator[str]:
    """Yield where a scheduler panics, and while it does what; nothing that is not known."""
    if place:
        yield f"  at {place}\n"
    if during:
        yield f"  while {during}\n"


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


def trace_lines(
    steps: list[TraceStep], *, style: Style = PLAIN, wide: bool = False
) -> Iterator[str]:
    """Yield the steps of a trace as a table.

    :param wide: print full names of PodGroups.
    """
    rows = [
        (
            *(step.action, step.what, " ".join(step.about) or NONE, step.by),
            *(outcome_text(step), _numbers(compared_in(step.by, step.numbers))),
        )
        for step in steps
    ]
    table = step_table(rows)
    yield from lines_of(table if wide else short(table), style=style)


def step_table(rows: Sequence[Sequence[str]]) -> Table:
    """Return the steps of a session as a table."""
    headers = ("ACTION", "STEP", "OBJECT", "BY", "OUTCOME", "NUMBERS")
    return Table(headers, rows, keep=("STEP", "OBJECT", "OUTCOME", "NUMBERS"))


def _decisions(result: SessionResult) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [
        ("enqueue", object_ref(f"podgroup/{key}", key), "", "") for key in result.enqueued
    ]
    rows += [_placed("bind", *one) for one in result.binds]
    rows += [("evict", object_ref(f"pod/{pod}", pod), "", why) for pod, why in result.evictions]
    rows += [_placed("pipeline", *one) for one in result.pipelined]
    return rows


def _placed(decision: str, pod: str, node: str) -> tuple[str, ...]:
    return decision, object_ref(f"pod/{pod}", pod), object_ref(f"node/{node}", node), ""


def _groups(result: SessionResult) -> list[tuple[str, ...]]:
    return [(key, *_group(status)) for key, status in sorted(result.pod_groups.items())]


def _group(status: ClosedPodGroupStatus) -> tuple[str, ...]:
    numbers = (status.running, status.succeeded, status.failed)
    return (status.phase, *map(str, numbers), "yes" if status.written else "no")


def _queues(result: SessionResult) -> list[tuple[str, ...]]:
    return [
        (name, _amounts(status.allocated), "yes" if status.written else "no")
        for name, status in sorted(result.queues.items())
    ]


def _waiting(result: SessionResult) -> list[tuple[str, str]]:
    """Return why pods are pending: no node fits them, or the message of their new condition."""
    messages = {key: condition.message for key, condition in result.pod_conditions.items()}
    messages.update((key, text) for key, text in result.fit_errors.items() if text)
    placed = {pod for pod, _ in (*result.binds, *result.pipelined)}
    some = sorted((key, text) for key, text in messages.items() if key not in placed)
    return [(object_ref(f"pod/{key}", key), text) for key, text in some]


def _amounts(amounts: Mapping[str, str]) -> str:
    some = [f"{name}={amount}" for name, amount in sorted(amounts.items()) if amount != "0"]
    return ",".join(some) or NONE


def _numbers(numbers: Mapping[str, object]) -> str:
    return " ".join(f"{name}={number_text(value)}" for name, value in numbers.items())


def number_text(value: object) -> str:
    """Return a number, a list, or amounts of resources in Kubernetes notation, as one line."""
    if isinstance(value, Mapping):
        amounts = (f"{name}={exact_amount(name, amount)}" for name, amount in value.items())
        return f"({','.join(amounts)})"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else f"{value:.9g}"
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return str(value)
