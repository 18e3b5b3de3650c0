"""``plinian release``: how releases of Volcano behave, and where they differ."""

from __future__ import annotations

from ...engine.kubernetes.counts import counted
from ..questions.table import question_named
from . import options
from .answers import write_answer
from .command import command, group
from .question_command import command_of
from .shell import note, style

_QUESTIONS = ("releases", "behaviours", "release-diff")


@command("release unproven")
def list_unproven(
    *,
    output: options.TextWideOrJson = "text",
) -> None:
    """List the behaviours that no recorded decision proves.

    And why there is none. Such a row rests on Volcano's source code alone.
    """
    from ..compare.releases import unproven_rows
    from ..render.release_tables import unproven_lines

    rows, unprovens = unproven_rows()
    write_answer(unprovens, unproven_lines(unprovens, style()), output, indent=2)
    if output != "json":
        note(f"{len(unprovens)} of {counted(rows, 'row is', 'rows are')} not proven")


release = group(
    "release",
    "List, show and compare releases of Volcano.",
    *(command_of(question_named(name)) for name in _QUESTIONS),
    list_unproven,
)
