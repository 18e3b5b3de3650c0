"""Plinian's PodGroup controller does what that of each release did in recorded cases."""

from __future__ import annotations

import pytest
from recorded_components import component_cases, outcomes
from recorded_controllers import run

CASES = sorted(
    name for name, case in component_cases().items() if case.get("controllers") == ["podgroup"]
)


@pytest.mark.parametrize("case", CASES)
def test_a_case_comes_out_as_recorded_at_every_release(case: str) -> None:
    for one in outcomes(case):
        found = run(component_cases()[case], one.release)
        for number, (got, want) in enumerate(zip(found["steps"], one.steps, strict=True)):
            assert got == want, (one.release, number)
        assert found["stored"] == one.whole["stored"], one.release
        assert found["informers"] == one.whole["informers"], one.release


@pytest.mark.parametrize("case", CASES)
def test_nothing_is_lost_when_the_controller_is_put_together_again(case: str) -> None:
    for release in ("v1.8.0", "v1.12.1", "v1.15.1"):
        found = run(component_cases()[case], release, restored=True)
        assert found == run(component_cases()[case], release)


def test_all_cases_are_run_at_all_releases() -> None:
    assert len(CASES) == 77
    assert {len(outcomes(case)) for case in CASES} == {27}


def test_a_wrong_release_is_noticed() -> None:
    case = "statefulset-two-revisions"
    recorded = {one.release: one.steps for one in outcomes(case)}
    assert run(component_cases()[case], "v1.12.1")["steps"] != recorded["v1.12.2"]
    assert run(component_cases()[case], "v1.12.2")["steps"] == recorded["v1.12.2"]
