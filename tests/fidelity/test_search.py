"""Which places are tried for a session, and which process runs it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast

from plinian.engine.events import Event, Reference
from plinian.engine.session.framework.session_outcome import SessionResult
from plinian.replay.fidelity.attempts import Aspect, Attempt, DifferingResult
from plinian.replay.fidelity.deliveries import Arrival, Deliveries
from plinian.replay.fidelity.fidelity_run import TakenSessions
from plinian.replay.fidelity.nearest_run import (
    GIVEN_UP,
    LEADS_AWAY,
    SearchLimits,
    SessionSearch,
    _Places,
)
from plinian.replay.fidelity.one_run import OneRun

START = 10


def tried(places: list[int], stopped: set[int]) -> list[int]:
    """Return the places in the order in which they are tried, if runs at some are stopped."""
    given, order = _Places(places, START), []
    for place in given:
        order.append(place)
        given.note(place, stopped=place in stopped)
    return order


def test_places_keep_their_order_while_no_side_leads_away() -> None:
    assert tried([9, 11, 8, 12], stopped=set()) == [9, 11, 8, 12]


def test_the_other_side_comes_first_where_one_leads_away() -> None:
    assert LEADS_AWAY == 2, "the order below is that of two"
    assert tried([9, 11, 8, 12, 7, 13, 6], stopped={11, 12}) == [9, 11, 8, 12, 7, 6, 13]


def test_a_run_to_the_end_counts_anew() -> None:
    places = [9, 8, 7, 11, 6, 12, 5]
    assert tried(places, stopped={9, 7, 5}) == places


def test_a_side_that_always_leads_away_is_given_up() -> None:
    later = list(range(START + 1, START + 12))
    assert tried(later, stopped=set(later)) == later[:GIVEN_UP]
    assert tried([*later, 3], stopped=set(later)) == [*later[:LEADS_AWAY], 3, *later[2:GIVEN_UP]]


class Window:
    """A pod changes at a few of twenty changes; the others are about another pod."""

    def __init__(self, changed: set[int]) -> None:
        event = Event(kind="pod.updated", reference=Reference(), payload=b"{}")
        self.arrivals = [
            Arrival(event, at, at, "Pod", True, ("ns/p" if at in changed else "ns/q",), {})
            for at in range(20)
        ]

    def places(self) -> list[int]:
        """Return the places between the changes."""
        return list(range(21))


def places(changed: set[int], *differing: DifferingResult) -> list[int]:
    """Return the places to try after a first run, if the pod that differs changes at some."""
    window = Window(changed)
    search = SessionSearch(cast("Deliveries", window), START, cast("OneRun", None), SearchLimits())
    found = search._places(Attempt(differing, {}, SessionResult()))
    assert sorted([*found, START]) == window.places()
    return found


def test_places_beside_changes_of_what_differs_come_first() -> None:
    moved = DifferingResult(Aspect.BINDING, "ns/p", "n1", "n2")
    assert places({2, 7, 15}, moved)[:5] == [7, 16, 2, 9, 11]


def test_the_place_before_a_pod_that_only_the_run_binds_comes_first_of_all() -> None:
    invented = DifferingResult(Aspect.BINDING, "ns/p", "", "n2")
    assert places({2, 7, 15}, invented)[:5] == [2, 7, 16, 9, 11]
    assert places({15}, invented)[:3] == [16, 9, 11]


def test_each_session_is_taken_once(tmp_path: Path) -> None:
    claims, numbers = TakenSessions(str(tmp_path)), list(range(200))

    def takes(_: int) -> list[int]:
        return [number for number in numbers if claims.take(number)]

    with ThreadPoolExecutor(8) as pool:
        taken = [number for some in pool.map(takes, range(8)) for number in some]
    assert sorted(taken) == numbers
    assert claims.taken() == len(numbers)
