"""Faults: what processes miss, what fails, what starts again, and what that comes to."""

from __future__ import annotations

from typing import Any

import pytest
from small_machines import Reader, Writer, ends_of, job, nothing, settings
from walked_machines import WalkedMachine

from plinian.engine.controllers.queue_controller import QueueController
from plinian.engine.kubernetes.api_server import Document
from plinian.engine.machine.cluster_machine import cluster
from plinian.engine.machine.machine import Machine
from plinian.engine.machine.machine_faults import FaultLimits, Faults
from plinian.engine.machine.machine_layout import FAULTS, ComponentPart, MachineLayout
from plinian.engine.machine.natural import Natural
from plinian.engine.machine.processes import Processes
from plinian.engine.machine.scheduler import SchedulerComponent
from plinian.engine.machine.state_search import EachStep, Exhaustive
from plinian.engine.machine.turns import Turns
from plinian.engine.machine.user import UserAct
from plinian.replay.explore.explored_scenario import MachineCase
from plinian.replay.explore.scenario_world import world_of

BREAK = "faults break the watch of {} by {}"
LIST = "faults end: {} lists {} again"
CONTROLLERS, SCHEDULER = "vc-controller-manager", "vc-scheduler"


def pod(name: str, **metadata: Any) -> Document:
    """Return a pod that waits for Volcano, and may end at once."""
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", **metadata},
        "spec": {"schedulerName": "volcano", "containers": [container]},
    }


def walked(limits: FaultLimits, *script: UserAct, release: str = "v1.15.1") -> WalkedMachine:
    """Return a cluster in which something may fail."""
    machine, start = cluster(settings(release, script)._replace(faults=limits))
    return WalkedMachine(machine, start)


def waiting(cluster: WalkedMachine, part: str, kind: str) -> list[tuple[str, str]]:
    """Return what an informer is to deliver: verbs and keys."""
    notices = cluster.machine.waiting(cluster.state, part, kind)
    return [cluster.machine.transitions.notices[one][::2] for one in notices]  # type: ignore[misc]


def test_nothing_fails_in_a_cluster_unless_it_may() -> None:
    plain = walked(FaultLimits(), UserAct("ADDED", pod("a")))
    assert plain.machine.faults is None
    assert not any(step.startswith(FAULTS) for step in plain.can())
    kinds = {"watch": "break", "restart": "restart", "resync": "resync"}
    for kind, word in kinds.items():
        one = walked(FaultLimits(**{kind: 1}), UserAct("ADDED", pod("a")))
        words = {step.split()[1] for step in one.can() if step.startswith(FAULTS)}
        assert words == ({word} if kind != "resync" else set())


def test_a_process_whose_watch_is_broken_sees_afterwards_what_came_of_it() -> None:
    known, changed, gone = pod("known"), pod("changed"), pod("gone")
    script = [
        *(UserAct("ADDED", one) for one in (known, changed, gone)),
        UserAct("MODIFIED", pod("changed", labels={"new": "yes"})),
        UserAct("DELETED", gone),
        UserAct("ADDED", pod("created")),
    ]
    one = walked(FaultLimits(watch=1), *script)
    one.make("user acts", "user acts", "user acts", *["scheduler sees Pod"] * 3)
    one.make(BREAK.format("Pod", SCHEDULER), "user acts", "user acts", "user acts")
    assert not waiting(one, "scheduler", "Pod")
    assert len(waiting(one, "podgroups", "Pod")) == 6
    assert BREAK.format("Pod", SCHEDULER) not in one.can()
    one.make(LIST.format(SCHEDULER, "Pod"))
    assert waiting(one, "scheduler", "Pod") == [
        ("MODIFIED", "default/changed"),
        ("ADDED", "default/created"),
        ("TOMBSTONE", "default/gone"),
    ]
    assert LIST.format(SCHEDULER, "Pod") not in one.can()


def test_an_object_that_was_created_again_meanwhile_is_a_changed_one() -> None:
    one = walked(
        FaultLimits(watch=1),
        *(UserAct(verb, pod("a")) for verb in ("ADDED", "DELETED", "ADDED")),
    )
    one.make("user acts", "scheduler sees Pod", BREAK.format("Pod", SCHEDULER))
    one.make("user acts", "user acts", LIST.format(SCHEDULER, "Pod"))
    assert waiting(one, "scheduler", "Pod") == [("MODIFIED", "default/a")]
    one.make("scheduler sees Pod")
    scheduler = one.component("scheduler")
    assert isinstance(scheduler, SchedulerComponent)
    known = scheduler.projector.origins["Pod"]["default/a"].item
    assert known.metadata.uid == "pod-default-a-2"


def test_watches_of_one_process_break_together() -> None:
    one = walked(FaultLimits(watch=1), UserAct("ADDED", job()))
    one.make(BREAK.format("PodGroup", CONTROLLERS), "user acts", "jobs sees Job")
    one.make(next(step for step in one.can() if step.startswith("jobs ") and "sees" not in step))
    assert one.find("PodGroup", "default/train-job-default-train-1") is not None
    assert not waiting(one, "jobs", "PodGroup")
    assert not waiting(one, "queues", "PodGroup")
    assert waiting(one, "scheduler", "PodGroup")
    one.make(LIST.format(CONTROLLERS, "PodGroup"))
    assert len(waiting(one, "jobs", "PodGroup")) == len(waiting(one, "queues", "PodGroup")) == 1


def test_a_broken_watch_comes_back_by_itself_if_nothing_else_happens() -> None:
    one = walked(FaultLimits(watch=1), UserAct("ADDED", pod("a")))
    one.make(BREAK.format("Pod", CONTROLLERS), "user acts")
    one.rest()
    found = one.find("Pod", "default/a")
    assert found is not None
    assert found["status"]["phase"] == "Running"


@pytest.mark.parametrize(("release", "waits"), [("v1.15.1", True), ("v1.8.2", False)])
def test_a_process_that_starts_waits_for_its_lists(release: str, *, waits: bool) -> None:
    one = walked(FaultLimits(restart=1), UserAct("ADDED", pod("a")), release=release)
    one.make("user acts", "scheduler sees Pod", f"faults restart {SCHEDULER}")
    assert ("scheduler session" in one.can()) is not waits
    for kind in [kind for name, kind in one.machine.layout.channels if name == "scheduler"]:
        while f"scheduler sees {kind}" in one.can():
            one.make(f"scheduler sees {kind}")
    assert "scheduler session" in one.can()
    one.rest()
    found = one.find("Pod", "default/a")
    assert found is not None
    assert found["status"]["phase"] == "Running"


def test_components_of_one_process_start_again_together() -> None:
    one = walked(FaultLimits(restart=1), UserAct("ADDED", job()))
    one.make("user acts", "jobs sees Job", f"faults restart {CONTROLLERS}")
    assert waiting(one, "jobs", "Job") == [("ADDED", "default/train"), ("SYNCED", "")]
    assert waiting(one, "queues", "Queue")[-1] == ("SYNCED", "")
    assert not any(step.startswith(("jobs work", "queues sync")) for step in one.can())
    assert not waiting(one, "scheduler", "Queue")
    one.rest()
    assert one.find("Pod", "default/train-work-0") is not None


def test_a_watch_that_was_broken_is_new_after_a_restart() -> None:
    one = walked(FaultLimits(watch=1, restart=1), UserAct("ADDED", pod("a")))
    one.make(BREAK.format("Pod", SCHEDULER), "user acts", f"faults restart {SCHEDULER}")
    assert waiting(one, "scheduler", "Pod") == [("ADDED", "default/a"), ("SYNCED", "")]
    assert LIST.format(SCHEDULER, "Pod") not in one.can()


def test_a_request_fails_before_or_after_it_is_carried_out() -> None:
    for how, created in (("is refused", False), ("is done but not answered", True)):
        one = walked(FaultLimits(request=1), UserAct("ADDED", pod("a")))
        one.make("user acts", "podgroups sees Pod")
        step = next(step for step in one.can() if step.endswith(f"request 1 {how}"))
        one.make(step)
        held = one.find("Pod", "default/a")
        assert held is not None
        changed = "annotations" in held["metadata"]
        group = one.find("PodGroup", "default/podgroup-pod-default-a-1")
        assert (changed or group is not None) is created
        assert not any("request" in step for step in one.can())
        one.rest()
        held = one.find("Pod", "default/a")
        assert held is not None
        assert held["status"]["phase"] == "Running"


def test_only_informers_of_kubernetes_deliver_everything_again() -> None:
    one = walked(FaultLimits(resync=1), *settings("v1.15.1").script)
    names = {step for step in one.can() if step.startswith("faults resync")}
    assert names == {
        f"faults resync {kind} in kube-controller-manager"
        for kind in ("Deployment", "ReplicaSet", "Pod")
    }
    one.make("user acts", "deployments sees Deployment")
    one.make("faults resync Deployment in kube-controller-manager")
    assert waiting(one, "deployments", "Deployment") == [("MODIFIED", "default/web")]


def test_a_queue_keeps_a_podgroup_whose_deletion_its_controller_missed() -> None:
    group = {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "g", "namespace": "default"},
        "spec": {"minMember": 1, "queue": "default"},
    }
    script = (UserAct("ADDED", job()), UserAct("ADDED", group), UserAct("DELETED", group))
    for release, goes_on in (("v1.8.2", False), ("v1.15.1", True)):
        one = walked(FaultLimits(watch=1), *script, release=release)
        one.make("user acts", "user acts", *["queues sees PodGroup"])
        one.make(BREAK.format("PodGroup", CONTROLLERS), "user acts")
        one.make(LIST.format(CONTROLLERS, "PodGroup"), "queues sees PodGroup")
        queues = one.component("queues")
        assert isinstance(queues, QueueController)
        assert queues.groups() == {"default": ["default/g"]}
        while "queues queue" in one.can():
            one.make("queues queue")
        after = one.component("queues")
        assert isinstance(after, QueueController)
        assert (after.groups()["default"] == []) is goes_on
        assert bool(after.requests.queue.failures()) is not goes_on


def failing(names: tuple[str, ...], limits: FaultLimits) -> Machine:
    """Return a machine of two writers and a reader, whose process can fail."""
    parts = {
        "one": ComponentPart((), lambda: Writer("a", "b"), process="writers"),
        "other": ComponentPart((), lambda: Writer(*names), process="writers"),
        "reader": ComponentPart(("Pod",), Reader, process="reader"),
    }

    def faults(layout: MachineLayout, processes: Processes) -> Faults:
        return Faults(limits, layout, processes, ("reader",), ("reader",))

    return Machine(parts, None, faults)


@pytest.mark.parametrize("limits", [FaultLimits(1), FaultLimits(0, 0, 1), FaultLimits(1, 0, 1, 1)])
@pytest.mark.parametrize("names", [("c",), ("b", "bad")])
def test_a_search_by_turns_comes_to_the_same_ends_where_something_fails(
    names: tuple[str, ...], limits: FaultLimits
) -> None:
    machine = failing(names, limits)
    each, plain, panics = ends_of(EachStep(machine), machine.start)
    turned, reduced, same = ends_of(Turns(machine), machine.start)
    assert turned == each
    assert sorted(same) == sorted(panics)
    assert len(reduced.reached) < len(plain.reached)


def test_a_job_is_forgotten_whose_podgroup_is_admitted_while_the_watch_is_broken() -> None:
    one = walked(FaultLimits(watch=1), UserAct("ADDED", job()))
    one.make(BREAK.format("PodGroup", CONTROLLERS), "user acts")
    one.rest()
    group = one.find("PodGroup", "default/train-job-default-train-1")
    assert group is not None
    assert group["status"]["phase"] == "Inqueue"
    assert one.find("Pod", "default/train-work-0") is None


def test_other_releases_are_tried_with_the_same_faults() -> None:
    case = MachineCase(
        "f", "", "", tuple(settings("v1.15.1").existing[2:]), (UserAct("ADDED", pod("a")),)
    )
    for release in ("v1.8.2", "v1.15.1"):
        world = world_of(case._replace(faults=FaultLimits(restart=1)), release)
        search = Exhaustive(Turns(world.machine), world.start, nothing)
        assert next(search.run(lambda now: now.states > 200), None) is None
        assert any(
            world.machine.step(step).part == FAULTS
            for step in Natural(world.machine).steps(world.start)
        )
