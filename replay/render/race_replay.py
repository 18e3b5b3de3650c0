"""A token that was run again, as text and for programs."""

from __future__ import annotations

from collections.abc import Iterator

from ..explore.replaying import Replay
from .race import lanes_lines, parting_lines, wrapped, writes_lines
from .tables import PLAIN, Style


def replay_lines(again: Replay, style: Style = PLAIN) -> Iterator[str]:
    """Yield the lanes of a run, what it wrote, what is wrong in the end, and its digest."""
    case = again.token.case
    yield style.bold(f"{case.name} as {again.release}") + "\n\n"
    yield from lanes_lines(again.story, style=style)
    yield "\n"
    yield from parting_lines(again.story, style)
    yield "\n"
    yield from writes_lines(again.story, style)
    yield "\n"
    for violation in again.violations:
        yield from wrapped(style.removed(f"{violation.invariant}: {violation.sentence}"), style)
    if not again.violations:
        yield "Nothing is wrong in the end.\n"
    yield f"Digest of the end: {again.digest}\n"
