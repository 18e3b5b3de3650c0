"""Plinian's job controller does what that of each release did in recorded cases."""

from __future__ import annotations

from typing import Any

import pytest
from recorded_components import component_cases, outcomes
from recorded_jobs import JobRun, run

JOB_CASES = sorted(
    name for name, case in component_cases().items() if case.get("controllers") == ["job"]
)

NOT_YET: frozenset[str] = frozenset()
"""Cases that do not come out as recorded: none."""


def _differences(case: str) -> list[tuple[str, object]]:
    """Return what does not come out, with its release: numbers of steps, or ``stored``."""
    found: list[tuple[str, object]] = []
    for one in outcomes(case):
        made = run(component_cases()[case], one.release)
        places = range(max(len(made["steps"]), len(one.steps)))
        found += (
            (one.release, place)
            for place in places
            if made["steps"][place : place + 1] != one.steps[place : place + 1]
        )
        if made["stored"] != one.whole["stored"]:
            found.append((one.release, "stored"))
        assert one.whole["informers"] == 1, "one controller alone watches each kind once"
    return found


@pytest.mark.parametrize("case", JOB_CASES)
def test_a_case_comes_out_as_recorded_at_every_release(case: str) -> None:
    found = _differences(case)
    assert bool(found) == (case in NOT_YET), found[:5]


def test_all_cases_are_run_at_all_releases_that_did_the_same_each_time() -> None:
    assert len(JOB_CASES) == 132
    assert sum(len(outcomes(case)) for case in JOB_CASES) == 3512


def test_a_wrong_release_is_noticed() -> None:
    case = component_cases()["job-restart-vanished-pod"]
    recorded = {one.release: one.steps for one in outcomes("job-restart-vanished-pod")}
    assert run(case, "v1.12.4")["steps"] != recorded["v1.13.0"]
    assert run(case, "v1.13.0")["steps"] == recorded["v1.13.0"]


class _Interrupted(JobRun):
    """Another controller goes on with what was kept, after each step of a case."""

    def step(self, given: dict[str, Any]) -> bool:
        goes_on = super().step(given)
        kept = self.controller.kept()
        hash(kept)
        self.restart(kept)
        assert self.controller.kept() == kept
        return goes_on


@pytest.mark.parametrize("case", [name for name in JOB_CASES if "random" not in name])
@pytest.mark.parametrize("release", ["v1.8.2", "v1.15.1"])
def test_another_controller_goes_on_with_what_was_kept(case: str, release: str) -> None:
    found = [_requests(made, case) for made in (JobRun(release), _Interrupted(release))]
    assert found[0] == found[1]


def _requests(made: JobRun, case: str) -> list[Any]:
    """Run a case, and return what was sent in each step, and what is stored in the end."""
    for step in component_cases()[case]["steps"]:
        if not made.step(step):
            break
    return [[told.get("api") for told in made.told], made.api.stored()]
