"""A run by hand, as text: what can be done, what was done, what a component holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..explore.hand_walk import Choice
from ..explore.story import StoryStep
from .tables import PLAIN, Style, TextColumn, lines_of, table_of
from .yaml_text import YamlWriter

HELP = (
    "NUMBER makes that step, n the natural one, t the token's; b goes back; "
    "w says what is wrong if the cluster is left alone now; "
    "s NAME shows what a component holds, s alone lists them; q ends.\n"
)


def choices_lines(choices: Sequence[Choice], style: Style = PLAIN) -> Iterator[str]:
    """Yield the steps that can be made, the natural one first."""
    if not choices:
        yield "Nothing is left to do.\n"
        return
    yield from lines_of(table_of(_COLUMNS, list(enumerate(choices, start=1))), style=style)


_COLUMNS: Sequence[TextColumn[tuple[int, Choice]]] = (
    TextColumn("STEP", lambda row: str(row[0])),
    TextColumn("COMPONENT", lambda row: row[1].step.part or "time"),
    TextColumn("DOES", lambda row: row[1].about or row[1].step.name, keep=True),
    TextColumn("ORDER", lambda row: _mark(*row)),
)


def _mark(number: int, choice: Choice) -> str:
    return ", ".join(["natural"] * (number == 1) + ["token"] * choice.next_of_token)


def made_line(moment: StoryStep) -> str:
    """Return what a step did."""
    early = "" if moment.instead_of is None else f" (before {moment.instead_of})"
    return f"{moment.number}. {moment.actor}: {moment.sentence}{early}\n"


def held_text(held: dict[str, Any]) -> str:
    """Return what a component holds, as YAML."""
    return YamlWriter().text(held)
