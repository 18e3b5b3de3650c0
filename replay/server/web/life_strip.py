"""The life of an object in one strip: created, bound, running, evicted, gone; each is a moment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...histories.name_life import Life, NameState
from ...moments.actors import short_actor
from ...render.blocks import Drawn
from ...render.state_looks import DONE, FAILED, WAITING, look_of
from .blocks import drawn
from .look import Look

MOST_TURNS = 14
"""Turns that are shown: of more, the first two and the last ones."""

_FIRST = 2
_EVICTED = "pod.evicted"
_ENQUEUED = "Inqueue"


class LifeTurn(NamedTuple):
    """A turn in the life of an object.

    :param look: a key of the looks of states. :param later: it is after the moment of the page.
    """

    text: str
    look: str
    position: int
    later: bool


def life_strip(look: Look, life: Life) -> Drawn:
    """Return the strip of a life, also with what comes after the moment."""
    turns = list(_turns(life, look.position))
    left_out = max(0, len(turns) - MOST_TURNS)
    shown = turns if not left_out else [*turns[:_FIRST], *turns[_FIRST + left_out :]]
    gap = _FIRST if left_out else -1
    return drawn(look, "life.html", turns=shown, gap=gap, left_out=left_out)


def _turns(life: Life, now: int) -> Iterator[LifeTurn]:
    happenings = {happening.position: happening for happening in life.history.happenings}
    before = NameState()
    for step in life.steps():
        happening = happenings.get(step.position)
        kind, actor = ("", "") if happening is None else (happening.kind, happening.actor)
        by = f" by {short_actor(actor)}" if actor else ""
        for text, drawn_as in _changed(before, step.state, kind, by):
            yield LifeTurn(text, drawn_as, step.position, step.position > now)
        before = step.state


def _changed(before: NameState, after: NameState, kind: str, by: str) -> Iterator[tuple[str, str]]:
    """Yield what changed in a step of a life, and how it looks."""
    drawn_as = look_of(after.status, after.node)
    is_new = after.exists and (not before.exists or before.uid != after.uid)
    if before.exists and not after.exists:
        yield f"gone{by}", DONE
    elif is_new:
        yield f"{'created' if kind.rpartition('.')[2] == 'created' else 'first seen'}{by}", drawn_as
    elif kind == _EVICTED:
        yield f"evicted{by}", FAILED
    elif after.node != before.node and after.node:
        yield f"bound to {after.node}", WAITING
    elif after.status != before.status and after.status:
        yield ("enqueued" if after.status == _ENQUEUED else after.status), drawn_as
