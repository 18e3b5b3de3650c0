"""Since when invariants are violated, and whether that was longer than the settle window."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from .invariant import Invariant, Violation
from .view import Unit

SECOND_US = 1_000_000
SETTLE_US = 5 * SECOND_US
"""By default, components have this long to catch up."""


class HappeningPlace(NamedTuple):
    """A place in the order in which things happened.

    :param position: of the last event by then. :param revision: None if there is none.
    :param time: microseconds, or None if not known.
    :param events: positions of the events at it.
    """

    position: int
    revision: int | None
    time: int | None
    events: tuple[int, ...] = ()


class Breach(NamedTuple):
    """A violation with the time that it lasted.

    :param since: where it began, as far as the log shows.
    :param until: where it had ended; None if it holds at the last place.
    :param before: it had begun before the log knew all that the invariant needs.
    :param began: time by which it had begun; microseconds, or None.
    :param lasted: for how long, in microseconds, or None if not known.
    """

    invariant: Invariant
    violation: Violation
    since: HappeningPlace
    until: HappeningPlace | None
    before: bool
    began: int | None
    lasted: int | None = None


_NOWHERE: Mapping[str, HappeningPlace] = MappingProxyType({})


class ViolationTimeline:
    """Keeps which violations hold, and since when.

    :ivar ended: violations that held, and hold no more.
    """

    def __init__(self) -> None:
        self.ended: list[Breach] = []
        self._held: dict[tuple[str, Unit], dict[tuple[str, str, str], Breach]] = {}

    def compare(
        self,
        invariant: Invariant,
        unit: Unit,
        violations: Iterable[Violation],
        place: HappeningPlace,
        *,
        began: Iterable[int | None] | None = None,
        seen: HappeningPlace | None = None,
    ) -> None:
        """Note what is violated in a unit now.

        :param began: given at the first check of an invariant: by when each violation had begun.
        :param seen: where the invariant was last checked, if the log did not know enough since: a
            violation that is gone is known to have lasted until then.
        """
        now = {violation.place: violation for violation in violations}
        before = self._held.pop((invariant.id, unit), {})
        if not now and not before:
            return
        times = dict(zip(now, began or (), strict=False))
        holding: dict[tuple[str, str, str], Breach] = {}
        for key, violation in now.items():
            # It goes on, and began where it was first seen.
            if key in before:
                holding[key] = before[key]
                continue
            early = began is not None
            since = times.get(key) if early else place.time
            holding[key] = Breach(invariant, violation, place, None, early, since)
        for key, breach in before.items():
            if key not in now:
                self.ended.append(_until(breach, seen or place)._replace(until=place))
        if holding:
            self._held[invariant.id, unit] = holding

    def units_of(self, invariant: Invariant) -> list[Unit]:
        """Return the units of which an invariant is violated now."""
        return [unit for id_, unit in self._held if id_ == invariant.id]

    def holding(
        self, place: HappeningPlace, seen: Mapping[str, HappeningPlace] = _NOWHERE
    ) -> Iterator[Breach]:
        """Yield the violations that hold, with how long they had lasted at a place.

        :param seen: where invariants were last checked of which the log does not know enough since.
        """
        for (id_, _), breaches in self._held.items():
            for breach in breaches.values():
                yield _until(breach, seen.get(id_, place))


def _until(breach: Breach, place: HappeningPlace) -> Breach:
    if breach.began is None or place.time is None:
        return breach
    return breach._replace(lasted=max(0, place.time - breach.began))


def has_settled(breach: Breach, settle: int) -> bool:
    """Return whether a violation counts: it lasted for the settle window, or needs none.

    :param settle: the window in microseconds.
    """
    if not breach.invariant.settles or not settle:
        return True
    return breach.lasted is not None and breach.lasted >= max(settle, breach.invariant.patience)
