"""Plinian's cache does what the scheduler's cache of each release did in recorded cases."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from recorded_caches import run
from recorded_components import component_cases, outcomes

from plinian.engine.volcano.releases import parse_release

CACHE_CASES = sorted(
    name for name, case in component_cases().items() if case["component"] == "cache"
)

OTHER_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "failed to bind Task {} to host , host does not exist": (
            "failed to evict Task {} from host , host does not exist"
        )
    }
)
"""Answers that are expected to differ, as recorded and as Plinian gives them.

Releases before v1.12.0 say "bind" where a task cannot be evicted whose node is not known. The text
is only logged and decides nothing, so Plinian has one text for all releases.
"""

REWORDED_IN = parse_release("v1.12.0")


def _expected(step: dict[str, Any], given: dict[str, Any], release: str) -> dict[str, Any]:
    """Return what is recorded of a step, in Plinian's words."""
    if given.get("op") != "evict" or parse_release(release) >= REWORDED_IN:
        return step
    for recorded, ours in OTHER_WORDS.items():
        begin, end = recorded.split("{}")
        answer = step.get("answer", "")
        if answer.startswith(begin) and answer.endswith(end):
            return {**step, "answer": ours.format(answer[len(begin) : -len(end)])}
    return step


@pytest.mark.parametrize("case", CACHE_CASES)
def test_a_case_comes_out_as_recorded_at_every_release(case: str) -> None:
    for one in outcomes(case):
        steps = [
            _expected(step, given, one.release)
            for step, given in zip(one.steps, one.given, strict=False)
        ]
        found = run(component_cases()[case], one.release)
        for number, (got, want) in enumerate(zip(found["steps"], steps, strict=True)):
            assert got == want, (one.release, number)
        assert found["start"] == one.whole["start"], one.release
        assert found["stored"] == one.whole["stored"], one.release


def test_all_cases_are_run_at_all_releases() -> None:
    assert len(CACHE_CASES) == 92
    assert {len(outcomes(case)) for case in CACHE_CASES} == {27}


def test_a_wrong_release_is_noticed() -> None:
    case = component_cases()["cache-group-deleted-pod-stays"]
    recorded = {one.release: one.steps for one in outcomes("cache-group-deleted-pod-stays")}
    assert run(case, "v1.13.3")["steps"] != recorded["v1.14.0"]
    assert run(case, "v1.14.0")["steps"] == recorded["v1.14.0"]
