"""What ``hardened`` does where the newest release loses a PodGroup, step by step."""

from __future__ import annotations

import pytest
from small_machines import again, deployment, settings
from walked_machines import WalkedMachine, of_corpus

from plinian.engine.machine.checks import violations_in
from plinian.engine.machine.cluster_machine import cluster
from plinian.engine.machine.machine import State
from plinian.engine.machine.natural import Natural

NEWEST, OURS = "v1.15.1", "hardened"
GROUP = "default/train-job-default-train-1"
SEES = "jobs sees PodGroup"


def with_a_job(name: str, release: str) -> WalkedMachine:
    """Return a scenario after its Job was created and runs."""
    run = of_corpus(name, release)
    run.make("user acts")
    run.rest()
    return run


def see_deletion_late(run: WalkedMachine, key: str) -> None:
    """Go on in the natural order, but let the job controller not see that a PodGroup is gone."""
    natural, seen = Natural(run.machine), set[State]()
    while run.state not in seen:
        seen.add(run.state)
        moves = natural.moves(run.state, user=False)
        if run.find("PodGroup", key) is None:
            moves = [one for one in moves if str(run.machine.step(one.step)) != SEES]
        run.state = moves[0].state if moves else run.state


def lost(run: WalkedMachine) -> set[str]:
    """Leave the cluster alone, and return which invariants of PodGroups it violates then."""
    run.rest()
    return {one.invariant for one in violations_in(run.machine, ["I-04", "I-13"])(run.state)}


@pytest.mark.parametrize("name", ["b24-restart-deletes-podgroup", "n05-restart-job-loses-podgroup"])
@pytest.mark.parametrize(("release", "violated"), [(NEWEST, {"I-04", "I-13"}), (OURS, set())])
def test_a_restarted_job_has_a_podgroup_though_its_deletion_is_seen_late(
    name: str, release: str, violated: set[str]
) -> None:
    run = with_a_job(name, release)
    run.make("user acts")
    see_deletion_late(run, GROUP)
    assert lost(run) == violated
    (pod,) = (document for place, document in run.objects() if place.kind == "Pod")
    assert (pod["status"]["phase"] == "Running") is (not violated)


def uid_of_group(release: str) -> str:
    """Return the uid of a Job's PodGroup after a task was restarted."""
    run = with_a_job("b24-restart-deletes-podgroup", release)
    run.make("user acts")
    run.rest()
    group = run.find("PodGroup", GROUP)
    assert group is not None
    uid: str = group["metadata"]["uid"]
    return uid


def test_the_restart_of_a_task_leaves_the_podgroup_alone() -> None:
    assert uid_of_group(NEWEST) == f"podgroup-{GROUP.replace('/', '-')}-2"
    assert uid_of_group(OURS) == f"podgroup-{GROUP.replace('/', '-')}-1"


def see_all(run: WalkedMachine, component: str) -> None:
    """Let a component see all that is delivered to it, and work until nothing is left."""
    while steps := [one for one in run.can() if one.startswith(f"{component} ")]:
        run.make(min(steps, key=lambda one: " sees " not in one))


@pytest.mark.parametrize(("release", "violated"), [(NEWEST, {"I-04"}), (OURS, set())])
def test_a_podgroup_is_named_by_the_pod_that_was_seen_and_not_by_the_next(
    release: str, violated: set[str]
) -> None:
    stateful = {**deployment(1), "kind": "StatefulSet"}
    run = WalkedMachine(*cluster(settings(release, again(stateful))))
    run.make("user acts")
    see_all(run, "statefulsets")
    run.make("podgroups sees Pod", "user acts")
    see_all(run, "owners")
    assert run.find("Pod", "default/web-0") is None
    run.make("user acts")
    see_all(run, "statefulsets")
    run.make("podgroups podgroup")
    pod = run.find("Pod", "default/web-0")
    assert pod is not None
    assert ("annotations" in pod["metadata"]) is bool(violated)
    assert lost(run) == violated
