"""Searches: what they find, what they say of releases, and that they end the same everywhere."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from machine_cases import BREAKS, HOLDS, one_pod, scaled

from plinian.engine.errors import UsageError
from plinian.engine.machine.machine_layout import MachineStep
from plinian.engine.machine.walks import WalkBound
from plinian.engine.volcano.table import Part
from plinian.replay.budget import budget_seconds
from plinian.replay.compare.releases import release_diff
from plinian.replay.explore import anomaly_releases as releases
from plinian.replay.explore import explore_task
from plinian.replay.explore.exploration import Exploration, SearchPlan
from plinian.replay.explore.explore_search import Search
from plinian.replay.explore.explore_task import (
    SearchWatcher,
    asked_invariants,
    explore_world,
    prepared,
)
from plinian.replay.explore.explored_scenario import MachineCase, parse_machine_case
from plinian.replay.explore.order_token import decoded, encoded
from plinian.replay.explore.replaying import replay
from plinian.replay.explore.scenario_world import digest_of, run_steps, world_of
from plinian.replay.explore.step_coverage import StepCoverage, bound_together, together
from plinian.replay.explore.story import story_of
from plinian.replay.render.documents import plain
from plinian.replay.render.race import anomaly_lines, replay_lines

pytestmark = pytest.mark.slow

PROMPT = "statefulsets,kubelets,scheduler"
TURNS = 7000


def case_of(given: dict[str, Any]) -> MachineCase:
    """Return a scenario as it is read."""
    return parse_machine_case(json.dumps(given).encode())


SCALED = case_of(scaled())


@pytest.fixture(scope="module")
def found() -> Iterator[Exploration]:
    """Search until the lost PodGroup is found, and try two neighbouring releases and one more."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(releases, "RELEASES", tuple(r for r in releases.RELEASES if str(r) in TRIED))
        world, plan = prepared(SCALED, SearchPlan(BREAKS, steps=TURNS, delays=None), PROMPT)
        yield explore_world(world, plan, 600)


TRIED = {HOLDS, "v1.13.0", BREAKS}


def test_a_stateful_set_that_is_scaled_can_lose_its_pod_group(found: Exploration) -> None:
    (anomaly,) = found.anomalies
    assert anomaly.violation.invariant == "I-04"
    assert "podgroup-statefulset-default-web-1, which does not exist" in anomaly.violation.sentence
    assert not found.complete
    assert len(anomaly.steps) < anomaly.found_in


def test_the_same_order_is_tried_in_other_releases(found: Exploration) -> None:
    (anomaly,) = found.anomalies
    assert anomaly.releases.breaks == ("v1.13.0", BREAKS)
    assert anomaly.releases.holds == (HOLDS,)
    assert anomaly.releases.complete


def test_the_behaviour_that_makes_the_difference_is_named(found: Exploration) -> None:
    cure = found.anomalies[0].cure
    assert cure is not None
    assert (cure.breaks, cure.holds) == ("v1.13.0", HOLDS)
    assert [one.behaviour for one in cure.behaviours] == ["statefulsets_skip_annotated_pods"]


def test_a_behaviour_that_is_not_read_makes_no_difference(found: Exploration) -> None:
    (anomaly,) = found.anomalies
    trial = releases._Trial(
        SCALED, "v1.13.0", (releases._Order(anomaly.steps, anomaly.violation.invariant),)
    )
    read, every = releases._read(trial), release_diff("v1.13.0", HOLDS, parts=[Part.SESSION])
    unread = [one for one in every if one.behaviour not in read]
    assert unread, "the cluster has no devices, for one"
    for one in unread:
        assert releases._try(trial._replace(changed=releases._changed(HOLDS, one))) == [True], one


def test_a_token_runs_the_same_order_to_the_same_end(found: Exploration) -> None:
    (anomaly,) = found.anomalies
    again = replay(anomaly.token)
    assert again.breaks
    assert again.digest == anomaly.digest
    assert not replay(anomaly.token, HOLDS).breaks


FIXED = (
    *(MachineStep("user", "", "acts"), MachineStep("statefulsets", "StatefulSet")),
    *(
        MachineStep("statefulsets", "", "statefulSet"),
        MachineStep("user", "", "acts"),
        MachineStep("user", "", "acts"),
    ),
)


def test_the_digest_of_an_end_is_the_same_on_every_machine() -> None:
    world = world_of(SCALED, BREAKS)
    assert digest_of(world, run_steps(world, FIXED).rest) == DIGEST


DIGEST = "fb12910ad3b51ccfd0dfcf5479a857a5"


def test_no_step_of_what_is_left_can_be_left_out(found: Exploration) -> None:
    (anomaly,) = found.anomalies
    world = world_of(SCALED, BREAKS)
    for at in range(len(anomaly.steps)):
        fewer = [*anomaly.steps[:at], *anomaly.steps[at + 1 :]]
        assert anomaly.violation not in run_steps(world, fewer).violations


def test_the_story_says_what_came_late(found: Exploration) -> None:
    story = story_of(world_of(SCALED, BREAKS), found.anomalies[0].steps)
    late = {delay.what for delay in story.delays}
    assert "podgroups sees StatefulSet web added" in late
    for delay in story.delays:
        assert str(story.moments[delay.made - 1].step) == str(delay.held)


def test_a_report_fits_a_hundred_columns_but_for_its_token(found: Exploration) -> None:
    (anomaly,) = found.anomalies
    story = story_of(world_of(SCALED, BREAKS), anomaly.steps)
    lines = "".join(anomaly_lines(anomaly, story)).splitlines()
    lines += "".join(replay_lines(replay(anomaly.token))).splitlines()
    assert [line for line in lines if len(line) > 100 and anomaly.token not in line] == []
    assert any("deletes PodGroup" in line for line in lines)


@pytest.fixture(scope="module")
def complete() -> Exploration:
    """Search until every state was seen."""
    world, plan = prepared(case_of(one_pod()), SearchPlan("v1.12.1"), "none")
    return explore_world(world, plan, 600)


def test_a_search_that_ends_by_itself_saw_every_state(complete: Exploration) -> None:
    assert complete.complete
    assert complete.anomalies == ()
    assert complete.states > 10


def test_the_kinds_of_steps_that_were_made_and_not_made_are_told(complete: Exploration) -> None:
    covered = complete.coverage
    assert {"user acts", "podgroups sees Pod", "kubelets start", "scheduler session"} <= {
        *covered.made
    }
    assert "scheduler sees Node" in covered.never
    assert not {*covered.made} & {*covered.never}


def test_several_searches_cover_what_any_of_them_covers() -> None:
    both = together([StepCoverage(("a", "b"), ("c", "d")), StepCoverage(("c",), ("b", "d"))])
    assert both == StepCoverage(("a", "b", "c"), ("d",))
    one = WalkBound(depth=3, kinds=5, steps=100, walks=2)
    assert bound_together([one, None, one._replace(kinds=6)]) == one._replace(kinds=6, walks=4)
    assert bound_together([None]) is None


@pytest.mark.parametrize("strategy", ["random", "pct", "delay"])
def test_walks_with_a_seed_are_the_same_twice(strategy: str) -> None:
    def documents() -> Any:
        world, plan = prepared(SCALED, SearchPlan(BREAKS, strategy, seed=3, steps=500), "none")
        search = Search(world, plan)
        search.run(lambda _: False)
        return plain(search.result(search.anomalies).document)

    one = documents()
    assert one == documents()
    assert (one["complete"], one["seed"]) == (False, 3)


SCRIPT = """
import json, sys
from machine_cases import BREAKS, scaled
from plinian.replay.explore.exploration import SearchPlan
from plinian.replay.explore.explore_search import Search
from plinian.replay.explore.explored_scenario import parse_machine_case
from plinian.replay.explore.explore_task import prepared
from plinian.replay.render.documents import plain
case = parse_machine_case(json.dumps(scaled()).encode())
world, plan = prepared(case, SearchPlan(BREAKS, steps=7000), "statefulsets,kubelets,scheduler")
search = Search(world, plan)
search.run(lambda _: False)
print(json.dumps(plain(search.result(search.anomalies).document)))
"""


def test_the_hash_seed_changes_no_byte() -> None:
    made = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": "tests/support"},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "4711")
    }
    assert len(made) == 1
    assert json.loads(made.pop())["anomalies"]


def test_an_interrupt_keeps_what_was_found() -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    world, plan = prepared(SCALED, SearchPlan(BREAKS, steps=TURNS, delays=None), PROMPT)
    result = explore_world(world, plan, 600, SearchWatcher(notice=stop))
    assert result.interrupted
    (anomaly,) = result.anomalies
    assert anomaly.releases.breaks == (BREAKS,)
    assert not anomaly.releases.complete
    assert decoded(anomaly.token).release == BREAKS


def test_an_interrupt_while_releases_are_tried_keeps_what_several_processes_found(
    found: Exploration, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(explore_task, "run_all", lambda *_, **__: iter([found, found]))
    monkeypatch.setattr(explore_task, "in_all_releases", stop)
    world, plan = prepared(SCALED, SearchPlan(BREAKS, "random", steps=1, jobs=2), PROMPT)
    result = explore_world(world, plan, 600)
    assert result.interrupted
    assert [one.violation for one in result.anomalies] == [one.violation for one in found.anomalies]


def test_only_the_invariants_that_are_asked_for_are_found() -> None:
    world, plan = prepared(
        SCALED, SearchPlan(BREAKS, steps=TURNS, delays=None, invariants=("I-05",)), PROMPT
    )
    assert explore_world(world, plan, 600).anomalies == ()
    assert asked_invariants(["i-04", "I-19", "I-04"]) == ("I-04", "I-19")


def test_a_token_of_a_run_that_ends_otherwise_now_is_reported(found: Exploration) -> None:
    token = decoded(found.anomalies[0].token)
    with pytest.raises(Exception, match="the run ends with the digest"):
        replay(encoded(token._replace(digest="00")))


@pytest.mark.parametrize(
    ("text", "message"), [("0s", "a budget of zero"), ("0", "duration"), ("soon", "--budget")]
)
def test_a_budget_in_which_nothing_can_be_found_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        budget_seconds(text)


@pytest.mark.parametrize("name", ["I-99", "I-12", "nothing"])
def test_an_invariant_that_no_search_checks_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        asked_invariants([name])


def test_a_component_that_the_scenario_has_not_is_refused() -> None:
    with pytest.raises(UsageError, match="no component 'rockets'"):
        prepared(SCALED, SearchPlan(BREAKS), "rockets")
