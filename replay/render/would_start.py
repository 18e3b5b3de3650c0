"""Whether manifests would start, for people."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ..would_start.lint_verdict import LintRemark
from ..would_start.start_records import LATER, NO, TriedObject, WouldStart
from ..would_start.start_words import span
from .blocks import (
    Block,
    ItemList,
    ListedItem,
    Section,
    Sentence,
    TerminalLine,
    block_lines,
    first_rows,
)
from .tables import NONE, PLAIN, Style, Table, whole_sentence
from .would_help import help_sections

_SHOWN = 20


def would_start_lines(found: WouldStart, *, style: Style = PLAIN) -> Iterator[str]:
    """Yield whether the objects start, and when; where their pods go, or why they wait.

    The wide style has all pods, and all that the times rest on.
    """
    return block_lines(would_start_sections(found, wide=style.wide), style=style)


def would_start_sections(found: WouldStart, *, wide: bool = False) -> Iterator[Section]:
    """Yield the answer, as a terminal and pages show it."""
    asked = found.asked
    when = asked.at if asked.time == asked.at else f"{asked.at} ({asked.time})"
    head = f"try at {when} as {asked.release}, configuration {asked.conf}"
    answer = Sentence(whole_sentence(found.sentence), "sentence")
    yield Section([Sentence(head), answer])
    if found.refused:
        yield _remarks("Refused", found.refused)
    if len(found.objects) > 1:
        yield _overview(found)
    for each in found.objects:
        yield from _of_object(each, wide=wide, alone=len(found.objects) == 1)
    if found.lint:
        yield _remarks("Found by lint", found.lint)
    if found.starts == LATER and not wide:
        yield Section([Sentence("Later times are a forecast: -o wide says what they rest on.")])
    if found.panics:
        yield _listed("Panics", found.panics)
    beside = [*_beside(found)]
    if beside:
        yield Section([*beside])
    if wide and not found.refused:
        yield _listed("What the times rest on", (*found.resting_on, *found.not_modelled))


def _beside(found: WouldStart) -> Iterator[Block]:
    if found.beside:
        yield Sentence(f"Created with them: {', '.join(found.beside)}.")
    if found.left_out:
        yield Sentence(f"Not looked at, as nothing here reads them: {', '.join(found.left_out)}.")


def _overview(found: WouldStart) -> Section:
    rows = [
        (
            each.object,
            each.queue,
            each.starts,
            NONE if each.after is None else span(each.after),
            f"{len(each.placements)} of {each.pods}",
        )
        for each in found.objects
    ]
    heads = ("OBJECT", "QUEUE", "STARTS", "AFTER", "PLACED")
    return Section([Table(heads, rows, keep=("OBJECT", "STARTS", "AFTER"))])


def _of_object(each: TriedObject, *, wide: bool, alone: bool) -> Iterator[Section]:
    blocks: list[Block] = [] if alone else [TerminalLine(each.object)]
    if each.enqueued_after is not None:
        blocks.append(
            Sentence(f"Enqueued after {span(each.enqueued_after)} in queue {each.queue}.")
        )
    if each.why is not None and not (alone and each.starts == NO):
        blocks.append(Sentence(f"At first: {each.why.sentence}."))
    if each.why_at_end is not None:
        blocks.append(Sentence(f"At the end: {each.why_at_end.sentence}."))
    if each.evicts:
        blocks.append(Sentence(f"Evicted for it: {', '.join(each.evicts)}."))
    if each.placements:
        rows = [(row.pod, row.node, span(row.after)) for row in each.placements]
        table = Table(("POD", "NODE", "AFTER"), rows, keep=("POD", "NODE"))
        blocks += first_rows(table, None if wide else _SHOWN, "-o wide")
    if each.waiting and each.placements:
        blocks.append(Sentence(f"Without a node: {', '.join(each.waiting[:_SHOWN])}."))
    if blocks:
        yield Section(blocks)
    if each.would_help is not msgspec.UNSET:
        yield from help_sections(each.would_help, ": --budget gives more", vain=wide)


def _remarks(title: str, remarks: tuple[LintRemark, ...]) -> Section:
    texts = [
        f"{each.object}: {each.message}{f' · {each.now}' if each.now else ''} ({each.rule})"
        for each in remarks
    ]
    return _listed(title, texts)


def _listed(title: str, texts: tuple[str, ...] | list[str]) -> Section:
    items = ItemList([ListedItem(text) for text in texts], "chain")
    return Section([TerminalLine(title.upper()), items], title)
