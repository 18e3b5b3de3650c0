"""Plinian's controllers do what those of each release did in recorded cases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from recorded_components import component_cases, outcomes
from recorded_controllers import run, what_matters
from recorded_documents import difference, plain
from recorded_views import VIEWS

from plinian.engine.kubernetes.api_server import merged

CASES: Mapping[str, tuple[str, ...]] = {
    name: tuple(case["controllers"])
    for name, case in sorted(component_cases().items())
    if set(case.get("controllers", ())) & set(VIEWS)
}
"""Cases, with the controllers that run in each."""

NOT_YET: frozenset[str] = frozenset()
"""Cases that do not come out as recorded: none."""


def _differences(case: str) -> list[tuple[str, object]]:
    """Return what does not come out, with its release: steps, or parts of the outcome.

    Releases whose controllers do the same have one run.
    """
    found: list[tuple[str, object]] = []
    runs: dict[object, dict[str, Any]] = {}
    for one in outcomes(case):
        alike = what_matters(one.release)
        made = runs[alike] = runs.get(alike) or run(component_cases()[case], one.release)
        places = range(max(len(made["steps"]), len(one.steps)))
        found += (
            (one.release, place)
            for place in places
            if made["steps"][place : place + 1] != one.steps[place : place + 1]
        )
        parts = ("stored", "informers")
        found += ((one.release, part) for part in parts if made[part] != one.whole[part])
    return found


@pytest.mark.parametrize("case", CASES)
def test_a_case_comes_out_as_recorded_at_every_release(case: str) -> None:
    found = _differences(case)
    assert bool(found) == (case in NOT_YET), found[:5]


def test_all_cases_are_run_at_all_releases_that_did_the_same_each_time() -> None:
    counts: dict[tuple[str, ...], list[int]] = {}
    for case, controllers in CASES.items():
        count = counts.setdefault(controllers, [0, 0])
        count[0] += 1
        count[1] += len(outcomes(case))
    assert counts == {
        ("podgroup",): [77, 2079],
        ("job",): [132, 3512],
        ("queue",): [45, 1215],
        ("gc",): [6, 162],
        ("jobflow",): [5, 135],
        ("podgroup", "job", "queue"): [1, 27],
    }


def test_a_difference_makes_one_document_of_another() -> None:
    first = {"metadata": {"resourceVersion": "1", "labels": {"a": "1", "b": "2"}}, "spec": {"x": 1}}
    second = {"metadata": {"resourceVersion": "2", "labels": {"b": "3"}}, "status": {"y": [1]}}
    for before, after in ((first, second), (second, first), (first, first)):
        assert plain(merged(plain(before), difference(before, after))) == plain(after)
    assert difference(None, first) == plain(first)
    assert difference(first, first) == {}


@pytest.mark.parametrize(
    ("case", "wrong", "right"),
    [
        ("statefulset-two-revisions", "v1.12.1", "v1.12.2"),
        ("job-restart-vanished-pod", "v1.12.4", "v1.13.0"),
        ("queue-close-parent", "v1.14.4", "v1.15.0"),
        ("gc-delete-notfound", "v1.9.1", "v1.10.0"),
        ("flow-job-fails", "v1.11.2", "v1.12.0"),
    ],
)
def test_a_wrong_release_is_noticed(case: str, wrong: str, right: str) -> None:
    recorded = {one.release: one.steps for one in outcomes(case)}
    assert run(component_cases()[case], wrong)["steps"] != recorded[right]
    assert run(component_cases()[case], right)["steps"] == recorded[right]


@pytest.mark.parametrize(
    "case", [case for case in CASES if not case.startswith(("random-job", "random-queue-1"))]
)
@pytest.mark.parametrize("release", ["v1.8.2", "v1.12.1", "v1.15.1"])
def test_other_controllers_go_on_with_what_was_kept(case: str, release: str) -> None:
    given = component_cases()[case]
    assert _requests(run(given, release, restored=True)) == _requests(run(given, release))


def _requests(made: dict[str, Any]) -> list[Any]:
    """Return what was sent in each step and what waits then, and what is stored in the end."""
    steps = [(step.get("api"), step.get("events"), step.get("groups")) for step in made["steps"]]
    return [steps, made["stored"]]
