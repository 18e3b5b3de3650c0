"""What makes up a number: the number, what changed it last, and its parts in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..answers.blamed import Blame, NumberPart
from .blocks import Section, Sentence, Words, block_lines, moment_ref, object_ref
from .tables import NONE, PLAIN, Style, TextColumn, table_of

_AMOUNT: Sequence[TextColumn[NumberPart]] = (
    TextColumn("AMOUNT", lambda one: one.amount, keep=True),
)
_VALUES: Sequence[TextColumn[NumberPart]] = (
    TextColumn("BEFORE", lambda one: one.before, keep=True),
    TextColumn("AFTER", lambda one: one.amount, keep=True),
)
_EVENT: Sequence[TextColumn[NumberPart]] = (
    TextColumn("OBJECT", lambda one: object_ref(one.about), keep=True),
    TextColumn("SINCE EVENT", lambda one: one.event.kind, keep=True),
    TextColumn("POSITION", lambda one: moment_ref(one.event.position)),
    TextColumn("TIME", lambda one: one.event.time),
    TextColumn("BY", lambda one: one.event.by or NONE, shorten=True),
)


def blame_lines(found: Blame, *, style: Style = PLAIN) -> Iterator[str]:
    """Yield the lines of an answer."""
    return block_lines(blame_sections(found), style=style)


def blame_sections(found: Blame) -> Iterator[Section]:
    """Yield what an answer says."""
    number = f"{found.about} {found.number} is {found.value}: {found.how}"
    said = [Sentence(number, "sentence")]
    last = found.last
    if last is not None:
        by = f" by {last.by}" if last.by else ""
        when = f" at {last.when}" if last.when else ""
        event = (f"last changed by {last.kind} ", object_ref(last.about), " ")
        place = moment_ref(last.position)
        said.append(Sentence(Words(*event, place, f"{by}{when} ({found.changed})")))
    yield Section(said)
    if found.parts:
        amount = _VALUES if any(one.before for one in found.parts) else _AMOUNT
        columns = (*amount, *_EVENT)
        table = table_of(columns, found.parts, "What the number is made of", pages="parts")
        yield Section([table])
