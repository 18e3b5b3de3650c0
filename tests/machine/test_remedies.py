"""What ``hardened`` does where the newest release loses a PodGroup, step by step."""

from __future__ import annotations

import pytest
from corpus_cases import case
from walked_machines import WalkedMachine

from plinian.engine.machine.checks import violations_in
from plinian.engine.machine.machine import State
from plinian.engine.machine.natural import Natural

NEWEST, OURS = "v1.15.1", "hardened"


def make_all_but(run: WalkedMachine, name: str) -> None:
    """Make steps in the natural order, without one, until only time would pass."""
    natural, seen = Natural(run.machine), set[State]()
    while run.state not in seen:
        seen.add(run.state)
        moves = natural.moves(run.state, user=False)
        others = [one for one in moves if str(run.machine.step(one.step)) != name]
        run.state = others[0].state if others else run.state


def lost(run: WalkedMachine) -> set[str]:
    """Leave the cluster alone, and return which invariants of PodGroups it violates then."""
    run.rest()
    return {one.invariant for one in violations_in(run.machine, ["I-04", "I-13"])(run.state)}


@pytest.mark.parametrize("name", ["b24-restart-deletes-podgroup", "n05-restart-job-loses-podgroup"])
@pytest.mark.parametrize(("release", "violated"), [(NEWEST, {"I-04", "I-13"}), (OURS, set())])
def test_a_restarted_job_has_a_podgroup_though_its_deletion_is_seen_late(
    name: str, release: str, violated: set[str]
) -> None:
    run = case(name, release)
    run.make("user acts")
    make_all_but(run, "jobs sees PodGroup")
    assert lost(run) == violated
    (pod,) = (document for place, document in run.objects() if place.kind == "Pod")
    assert (pod["status"]["phase"] == "Running") is (not violated)


def test_the_restart_of_a_task_leaves_the_podgroup_alone() -> None:
    run = case("b24-restart-deletes-podgroup", OURS)
    key = "default/train-job-default-train-1"
    before = run.find("PodGroup", key)
    run.make("user acts")
    run.rest()
    after = run.find("PodGroup", key)
    assert before is not None
    assert after is not None
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    newest = case("b24-restart-deletes-podgroup", NEWEST)
    newest.make("user acts")
    newest.rest()
    other = newest.find("PodGroup", key)
    assert other is not None
    assert other["metadata"]["uid"] != before["metadata"]["uid"]


@pytest.mark.parametrize(("release", "named_first"), [(NEWEST, 1), (OURS, 2)])
def test_a_podgroup_is_named_by_the_pod_that_was_seen_and_not_by_the_next(
    release: str, named_first: int
) -> None:
    run = case("b23-podgroup-of-deleted-statefulset", release)
    print(run.can(), run.objects())
