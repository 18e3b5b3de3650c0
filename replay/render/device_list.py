"""Races for the list of ignored devices, as tables of lanes and as documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ...engine.machine.device_list_memory import LENGTH, POINTER, WRITER, Memory, ReaderOutcome
from ...engine.machine.device_race import DeviceAnomaly, Explored, RaceStep, ReaderFault
from .blocks import Section, Sentence, block_lines
from .simulation import spans
from .tables import NONE, PLAIN, Style, Table

SEES: Mapping[ReaderOutcome, str] = MappingProxyType(
    {
        ReaderOutcome.IGNORED: "ignored",
        ReaderOutcome.COUNTED: "not on the list",
        ReaderOutcome.BEYOND: "beyond the array",
    }
)


def explored_lines(explored: Explored, style: Style = PLAIN) -> Iterator[str]:
    """Yield what a search found: each anomaly with its lanes, and how much was searched."""
    readers, count = explored.race.readers, len(explored.anomalies)
    anomalies = f"{count or 'no'} anomal{'y' if count == 1 else 'ies'}"
    seen = "all states seen" if explored.complete else "stopped early"
    summary = (
        f"{explored.release} ({explored.form}): {anomalies}; "
        f"{explored.states} states, {explored.steps} steps, {seen}"
    )
    parts = [
        Section([Sentence(anomaly.sentence), lanes_table(anomaly, readers)])
        for anomaly in explored.anomalies
    ]
    return block_lines([*parts, Section([summary])], style=style)


def lanes_table(anomaly: DeviceAnomaly, readers: Sequence[str]) -> Table:
    """Return a row for each step: a column for each goroutine, and the list's words after it."""
    lanes = (WRITER, *readers)
    headers = ["STEP", *map(str.upper, lanes), "POINTER TO", "LENGTH", "CAPACITY"]
    rows = []
    for number, moment in enumerate(anomaly.moments, start=1):
        # One step is one goroutine's: the other lanes of its row stay empty.
        does = {moment.actor: _did(moment, readers)}
        memory = moment.memory
        words = (_pointed(memory, memory.header.pointer), *map(str, memory.header[1:]))
        rows.append((str(number), *(does.get(lane, "") for lane in lanes), *words))
    return Table(headers, rows, keep=[*map(str.upper, lanes)])


def _did(moment: RaceStep, readers: Sequence[str]) -> str:
    """Return a step in words, with the value that was stored or loaded."""
    memory, word = moment.memory, moment.verb.rpartition(" ")[2]
    if moment.actor == WRITER:
        if word == POINTER:
            return f"{moment.verb} to {_pointed(memory, memory.header.pointer)}"
        value = getattr(memory.header, word, None)
        return moment.verb if value is None else f"{moment.verb} {value}"
    reader = memory.readers[readers.index(moment.actor)]
    said = moment.verb
    if word == POINTER:
        said += f" to {_pointed(memory, reader.pointer)}"
    elif word == LENGTH:
        said += f" {reader.length}"
    return said if reader.outcome is None else f"{said}: {SEES[reader.outcome]}"


def _pointed(memory: Memory, pointer: int) -> str:
    return f"array of {len(memory.arrays[pointer])}"


def explored_document(explored: Explored) -> dict[str, Any]:
    """Return what a search found, for programs."""
    return {
        "model": "device-list",
        "as_compiled": explored.race.as_compiled,
        "release": explored.release,
        "list": explored.form,
        "complete": explored.complete,
        "states": explored.states,
        "steps": explored.steps,
        "anomalies": [
            {
                "kind": str(anomaly.kind),
                "sentence": anomaly.sentence,
                "steps": [f"{moment.actor} {moment.verb}" for moment in anomaly.moments],
            }
            for anomaly in explored.anomalies
        ],
    }


def releases_table(found: Sequence[Explored]) -> Table:
    """Return how releases keep the list, and what was found in them; equal ones share a row."""
    headers = ["RELEASES", "LIST", "STATES", "STEPS", "COMPLETE", "TORN", "SILENT"]
    # Most releases keep the list alike: those share a row.
    by_row: dict[tuple[str, ...], list[str]] = {}
    for explored in found:
        by_row.setdefault(_row(explored), []).append(explored.release)
    return Table(headers, [(spans(names), *row) for row, names in by_row.items()])


def _row(found: Explored) -> tuple[str, ...]:
    kinds = [anomaly.kind for anomaly in found.anomalies]
    return (
        found.form,
        str(found.states),
        str(found.steps),
        "yes" if found.complete else "no",
        str(kinds.count(ReaderFault.TORN) or NONE),
        str(kinds.count(ReaderFault.SILENT) or NONE),
    )
