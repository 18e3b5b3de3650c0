"""Windows of time in which a write of a user ends badly, if nothing else is late."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from machine_cases import one_pod

from plinian.engine.machine.bad_windows import BadWindow, Windows
from plinian.engine.machine.machine_layout import MachineStep
from plinian.engine.machine.natural import USER, StateViolation
from plinian.engine.machine.user import ACTS
from plinian.replay.explore.explored_scenario import parse_machine_case
from plinian.replay.explore.replaying import replay
from plinian.replay.explore.scenario_world import ScenarioWorld, number_of, world_of
from plinian.replay.explore.window_words import windows_in
from plinian.replay.render.race import windows_document, windows_lines

CASE = Path(__file__).parents[2] / "docs/articles/002-deployment-scaled.case.json"
ALPHA, CURED = "v1.9.0-alpha.0", "v1.9.0"
MEASURED = {1: 0.27, 30: 10.95, 60: 21.9, 120: 43.8}
"""Seconds after the old pod is gone in which a new PodGroup is lost, by grace period.

Source: a separate model of the work queue of client-go, in virtual time.
"""


def scaled(grace: int, release: str) -> ScenarioWorld:
    """Return the machine of the article's scenario with another grace period."""
    given: Any = json.loads(CASE.read_text("utf-8"))
    template = given["steps"][0]["events"][1]["object"]["spec"]["template"]
    template["spec"]["terminationGracePeriodSeconds"] = grace
    return world_of(parse_machine_case(json.dumps(given).encode()), release)


def windows(world: ScenarioWorld) -> list[list[BadWindow]]:
    """Return the windows of each write after the first."""
    found = Windows(world.machine, world.start, world.check).of_all_writes()
    return [[*one.windows] for one in found]


@pytest.mark.parametrize("grace", MEASURED)
def test_a_new_pod_group_is_lost_for_a_time_that_grows_with_the_grace_period(grace: int) -> None:
    to_zero, to_one = windows(scaled(grace, ALPHA))
    assert to_zero == []
    (window,) = to_one
    assert window.begin == grace * 1_000_000, "when the old pod is gone"
    assert window.end is not None
    assert (window.end - window.begin) / 1e6 == pytest.approx(MEASURED[grace], abs=0.05)
    assert {one.invariant for one in window.violations} == {"I-01"}


@pytest.mark.parametrize("release", [CURED, "v1.8.2", "v1.15.1"])
def test_other_releases_lose_it_only_if_something_is_late(release: str) -> None:
    assert windows(scaled(30, release)) == [[], []]


def test_a_window_begins_and_ends_at_the_very_microsecond() -> None:
    world = scaled(1, ALPHA)
    _, (window,) = windows(world)
    assert window.end is not None
    moments = [window.begin - 1, window.begin, window.end - 1, window.end]
    assert [bool(put_off(world, at)) for at in moments] == [False, True, True, False]
    assert set(put_off(world, window.begin + 123_456)) == set(window.violations)


def put_off(world: ScenarioWorld, by: int) -> tuple[StateViolation, ...]:
    """Return what is wrong in the end if the last write comes so late; another way to run it."""
    machine, natural = world.machine, world.natural
    acts = number_of(world, MachineStep(USER, "", ACTS))
    state, _ = machine.after(world.start, acts)
    while (moved := natural.move(state, user=False, wait=False)) is not None:
        state = moved.state
    state, _ = machine.after(state, acts)
    left = by
    while True:
        while (moved := natural.move(state, user=False, wait=False)) is not None:
            state = moved.state
        due = machine.due(state)
        if due is None or due > left:
            break
        state, left = machine.passed(state, due), left - due
    state = machine.passed(state, left) if left else state
    state, _ = machine.after(state, acts)
    return tuple(world.check(state))


def test_a_window_says_what_it_begins_and_ends_with() -> None:
    world = scaled(30, ALPHA)
    _, told = windows_in(world)
    assert (told.number, told.sentence) == (3, "scales Deployment web 0 → 1")
    (window,) = told.windows
    assert window.opens.startswith("deletes Pod web-")
    assert "deletedJobs" in window.closes
    again = replay(window.token)
    assert again.breaks
    assert [one.what for one in again.story.delays] == ["user acts"]
    text = "".join(windows_lines(world, windows_in(world)))
    assert "30s    40.955s   10.955s" in text
    assert "\nI-01: PodGroup" in text
    assert "1 window in which" in " ".join(text.split())


@pytest.mark.parametrize(("release", "lasts"), [("v1.15.1", 10.955), ("hardened", None)])
def test_a_job_that_is_created_again_is_lost_for_as_long(release: str, lasts: float | None) -> None:
    case = CASE.with_name("002-job-created-again.case.json").read_bytes()
    _, to_create = windows(world_of(parse_machine_case(case), release, ["I-02"]))
    spans = [(window.begin / 1e6, (window.end or 0) / 1e6) for window in to_create]
    assert spans == ([] if lasts is None else [(30, 30 + lasts)])


def test_no_window_is_told_as_none() -> None:
    world = scaled(1, CURED)
    assert "no windows in which" in " ".join(
        "".join(windows_lines(world, windows_in(world))).split()
    )
    writes = windows_document(world, windows_in(world))["writes"]
    assert [(one["number"], one["windows"]) for one in writes] == [(2, []), (3, [])]


def test_a_user_who_writes_once_puts_nothing_off() -> None:
    case = one_pod()
    case["steps"] = case["steps"][:2]
    world = world_of(parse_machine_case(json.dumps(case).encode()), CURED)
    assert windows(world) == []
    assert "writes only once" in "".join(windows_lines(world, ()))


def test_a_fault_that_time_does_not_cure_is_a_window_without_end() -> None:
    world = scaled(1, CURED)
    wrong = (StateViolation("I-01", "always"),)
    found = [*Windows(world.machine, world.start, lambda _: wrong).of_all_writes()]
    assert [[(w.begin, w.end, w.violations) for w in one.windows] for one in found] == [
        [(0, None, wrong)],
        [(0, None, wrong)],
    ]
    told = windows_in(world._replace(check=lambda _: wrong))
    assert told[0].windows[0].closes == ""
    assert "for ever" in "".join(windows_lines(world, told))


def test_an_end_that_changes_while_nothing_is_due_is_found() -> None:
    """Here the end depends on how much time is left until something is due."""
    world = scaled(1, ALPHA)

    def check(state: tuple[int, ...]) -> tuple[StateViolation, ...]:
        left = world.machine.due(state)
        return (StateViolation("I-01", "late"),) if left is not None and left < 7000 else ()

    changed = world._replace(check=check)
    _, to_one = windows(changed)
    between = [window for window in to_one if window.opens is None]
    assert between, "no window begins while nothing is due"
    for window in between:
        moments = (window.begin - 1, window.begin)
        assert [bool(put_off(changed, at)) for at in moments] == [False, True]
