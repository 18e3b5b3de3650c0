"""Changes of the configuration that make an object start together, where none does alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ..compare.causes import Cause, smallest
from .changed_sessions import Variant
from .suggestion import SWITCH, Suggestion
from .switches import Switch, Switches, said
from .trial import ChangeTrial, TriedChange

SETS = 1_000
"""The size of several changes of the configuration: after single ones."""


def switched(settings: Switches, some: Sequence[Switch], rank: int) -> Iterator[Suggestion]:
    """Yield the configuration with some changes, unless it is rejected then."""
    conf = settings.changed(some)
    if conf is not None:
        text = said(some) + settings.blind(conf)
        yield Suggestion(SWITCH, rank, text, Variant(text, conf=conf))


def together(
    trial: ChangeTrial, settings: Switches, go_on: Callable[[], bool]
) -> Iterator[TriedChange]:
    """Yield the smallest set of changes of the configuration with which the object starts.

    All are made at once; if that helps, those are left out without which it still does. If it does
    not, they are made with each plugin moved to another tier, with gangs that protect their pods
    and without: where a plugin comes to decide, it matters which others choose victims beside it.
    """
    every = [one for one in settings.singles if one.combines]
    protected = [one for one in every if not one.exposes]
    sets = [every]
    for move in settings.moves if settings.evicting else ():
        sets += [[move, *protected], *([[move, *every]] if protected != every else [])]
    for some in sets:
        least = _least(trial, settings, some) if len(some) > 1 and go_on() else {}
        if least:
            yield from least.values()
            return


def _least(
    trial: ChangeTrial, settings: Switches, some: Sequence[Switch]
) -> dict[Cause, TriedChange]:
    """Return the smallest part of some changes that helps, and a milder form; none if none does."""
    known = {one.text: one for one in (*some, *settings.singles)}
    ran: dict[Cause, TriedChange] = {}

    def helps(names: Cause) -> bool:
        for one in switched(settings, [known[name] for name in names], SETS):
            ran[names] = trial.tried(one)
            return ran[names].remedy is not None
        return False

    least = smallest(tuple(one.text for one in some), helps)
    if not least:
        return {}
    milder = {one.milder_than: one.text for one in settings.singles if one.milder_than}
    other = tuple(milder.get(name, name) for name in least)
    wanted = dict.fromkeys((least, *((other,) if other != least and helps(other) else ())))
    return {names: ran[names] for names in wanted}
