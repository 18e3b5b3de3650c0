"""``plinian step``: walk through a run by hand."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from ..questions.fields import Field
from .command import command
from .shell import note, say, style, write_lines

if TYPE_CHECKING:
    from ..explore.hand_walk import Walk


@command("step")
def step(
    run: Annotated[
        str,
        Field(
            "A scenario file with mode machine, or a token, whose steps can be followed.",
            "CASE|TOKEN",
        ),
    ],
    *,
    release: Annotated[
        str | None,
        Field(
            "The release of Volcano; by default the token's, or v1.12.1 for a scenario.", "RELEASE"
        ),
    ] = None,
) -> None:
    """Walk through a run of a scenario by hand, one step at a time, forward and back.

    It lists the steps that can be made now, the natural one first, and reads from standard input
    which one to make. The natural order is that of a cluster in which nothing is late.
    """
    from ..facade.exploring import step as walk_of
    from ..render.walk import HELP

    walk = walk_of(run, release=release)
    note(HELP.rstrip())
    _show(walk)
    for line in sys.stdin:
        words = line.split()
        if words[:1] == ["q"]:
            break
        if words:
            _do(walk, words)


def _show(walk: Walk) -> None:
    from ..render.walk import choices_lines

    write_lines(choices_lines(walk.choices(), style()))
    sys.stdout.flush()


def _do(walk: Walk, words: list[str]) -> None:
    """Do what a line of input says; a line that says nothing known changes nothing."""
    from ...engine.errors import PlinianError

    try:
        _obey(walk, words)
    except PlinianError as fault:
        say(fault)


def _obey(walk: Walk, words: list[str]) -> None:
    from ...engine.errors import UsageError
    from ..render.walk import HELP, held_text, made_line

    match words:
        case ["n" | "t"] | [_] if words[0] in {"n", "t"} or words[0].isdecimal():
            write_lines([made_line(walk.make(walk.choice(words[0])))])
            _show(walk)
        case ["b"]:
            back = walk.back()
            write_lines(["This is the begin.\n" if back is None else f"back: {made_line(back)}"])
            _show(walk)
        case ["s"]:
            write_lines([f"{', '.join(walk.names)}\n"])
        case ["s", *name]:
            sys.stdout.write(held_text(walk.held(" ".join(name))))
        case ["w"]:
            wrong = [f"{violation.invariant}: {violation.sentence}\n" for violation in walk.wrong()]
            write_lines(wrong or ["Nothing is wrong if the cluster is left alone now.\n"])
        case _:
            raise UsageError(f"no such command: {' '.join(words)[:80]!r}", now=HELP.rstrip())
