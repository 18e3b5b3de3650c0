"""A list of ignored devices that is read while it is empty: what sessions then decide."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from plinian.engine.cache.misread_ignored_devices import Misreading
from plinian.engine.volcano.session.history import resolve
from plinian.replay.simulate.misread_scenarios import MisreadSimulation, simulate_misread
from plinian.replay.simulate.results import StepResult
from plinian.replay.simulate.scenario_cases import Case
from plinian.replay.simulate.simulation import simulate

VGPU = {"cpu": "1", "volcano.sh/vgpu-number": "1", "volcano.sh/vgpu-memory": "4000"}
AMOUNTS = {"cpu": "4", "memory": "8Gi", "pods": "110", "volcano.sh/vgpu-number": "2"}


def case(*plugins: str, minimum: dict[str, str] | None = None) -> Case:
    """Return three sessions of a node with virtual GPUs and a job that asks for one."""
    tiers = "".join(f"  - name: {name}\n" for name in plugins)
    group = {"scheduling.k8s.io/group-name": "train"}
    container = {"name": "c", "resources": {"requests": VGPU}}
    objects: list[dict[str, Any]] = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "n1"},
            "status": {"allocatable": AMOUNTS, "capacity": AMOUNTS},
        },
        {
            "apiVersion": "scheduling.volcano.sh/v1beta1",
            "kind": "PodGroup",
            "metadata": {"name": "train", "namespace": "default"},
            "spec": {"minMember": 1, "queue": "default", "minResources": minimum or VGPU},
        },
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "train-0", "namespace": "default", "annotations": group},
            "spec": {"schedulerName": "volcano", "containers": [container]},
            "status": {"phase": "Pending"},
        },
    ]
    events = [{"type": "ADDED", "object": each} for each in objects]
    conf = f"actions: enqueue, allocate\ntiers:\n- plugins:\n{tiers}"
    return msgspec.convert({"conf": conf, "steps": [{"events": events}, {}, {}]}, type=Case)


def seen(steps: list[StepResult]) -> list[tuple[str, bool]]:
    """Return, by session, the job's phase and whether its pod was bound."""
    return [(step["podgroups"]["default/train"]["phase"], bool(step["binds"])) for step in steps]


GATE = ("gang", "overcommit", "predicates")
RIGHT = [("Running", True), ("Running", False), ("Running", False)]


@pytest.mark.parametrize("release", ["v1.8.0", "v1.8.1", "v1.8.2"])
def test_a_job_that_fits_is_not_enqueued_if_its_minimum_is_misread(release: str) -> None:
    given, behaviours = case(*GATE), resolve(release)
    assert seen(simulate(given, behaviours)) == RIGHT
    misread = seen(simulate_misread(given, behaviours, Misreading.MINIMUM))
    assert misread == [("Pending", False), ("Running", True), ("Running", False)]


def test_the_gate_compares_a_resource_that_no_node_has() -> None:
    run = MisreadSimulation(case(*GATE), resolve("v1.8.2"), Misreading.MINIMUM, 1)
    first = next(run.sessions())
    (refused,) = (step for step in first.result.trace if step.what == "JobEnqueueable")
    assert (refused.by, refused.outcome) == ("overcommit", "reject")
    wanted, idle = refused.numbers["inqueue"], refused.numbers["idle"]
    assert isinstance(wanted, dict)
    assert isinstance(idle, dict)
    assert wanted.keys() - idle.keys() == {"volcano.sh/vgpu-memory"}


@pytest.mark.parametrize("plugins", [GATE, ("gang", "proportion", "predicates")])
def test_a_pod_that_is_misread_is_placed_on_no_node(plugins: tuple[str, ...]) -> None:
    given, behaviours = case(*plugins), resolve("v1.8.2")
    assert seen(simulate(given, behaviours)) == RIGHT
    misread = seen(simulate_misread(given, behaviours, Misreading.POD))
    # The session writes the pod's condition: an update, with which the pod is read again.
    assert misread == [("Inqueue", False), ("Running", True), ("Running", False)]


def test_a_job_that_names_no_ignored_device_is_decided_alike() -> None:
    given, behaviours = case(*GATE, minimum={"cpu": "1"}), resolve("v1.8.2")
    assert seen(simulate_misread(given, behaviours, Misreading.MINIMUM)) == RIGHT


@pytest.mark.parametrize("what", Misreading)
def test_a_misreading_before_a_later_session_changes_nothing_before_it(what: Misreading) -> None:
    given, behaviours = case(*GATE), resolve("v1.8.2")
    assert simulate_misread(given, behaviours, what, step=3)[:2] == simulate(given, behaviours)[:2]
