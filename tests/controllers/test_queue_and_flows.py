"""What recorded cases do not show of queues, finished jobs, JobFlows and JobTemplates."""

from __future__ import annotations

from typing import Any

import pytest
from recording_client import Fault
from running_components import RunningComponents

from plinian.engine.controllers.garbage_collector import GarbageCollector
from plinian.engine.controllers.jobflow_controller import JobFlowController
from plinian.engine.controllers.jobtemplate import JobTemplateController
from plinian.engine.controllers.queue_controller import QueueController
from plinian.engine.kubernetes.api_server import Document
from plinian.engine.kubernetes.object_table import ObjectTable
from plinian.engine.kubernetes.units import SECOND_US
from plinian.engine.model.panic import Panic
from plinian.engine.volcano.table import controller_behaviours

FLOW_API, JOB_API = "flow.volcano.sh/v1alpha1", "batch.volcano.sh/v1alpha1"


def _object(api: str, kind: str, name: str, **parts: Any) -> Document:
    metadata: dict[str, Any] = {"name": name, **parts.pop("metadata", {})}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, "spec": {}, **parts}


def _failing(run: RunningComponents, verb: str, resource: str) -> None:
    run.client.faults.append(
        Fault({"verb": verb, "resource": resource, "error": "timeout", "times": -1})
    )


def _wait_long(run: RunningComponents, times: int = 20) -> None:
    for _ in range(times):
        run.wait(1_000 * SECOND_US)


def test_a_finished_job_is_deleted_when_its_time_is_over() -> None:
    table = ObjectTable()
    collector = GarbageCollector(controller_behaviours("v1.15.1"), table)
    run = RunningComponents(collector)
    status = {"state": {"phase": "Completed"}}
    run.create(_object(JOB_API, "Job", "a", spec={"ttlSecondsAfterFinished": 10}, status=status))
    run.wait(9 * SECOND_US)
    assert run.names("Job") == ["a"]
    assert collector.due() == SECOND_US
    again = GarbageCollector(controller_behaviours("v1.15.1"), table)
    again.restore(collector.kept())
    assert again.kept() == collector.kept()
    run.components = [again]
    run.wait(SECOND_US)
    assert run.names("Job") == []


def test_a_job_that_runs_again_lives_anew() -> None:
    run = RunningComponents(GarbageCollector(controller_behaviours("v1.15.1"), ObjectTable()))
    done = {"state": {"phase": "Failed"}}
    run.create(_object(JOB_API, "Job", "a", spec={"ttlSecondsAfterFinished": 10}, status=done))
    run.wait(9 * SECOND_US)
    run.change("Job", "default/a", {"status": {"state": {"phase": "Running"}}})
    run.wait(SECOND_US)
    run.change("Job", "default/a", {"status": done})
    run.wait(9 * SECOND_US)
    assert run.names("Job") == ["a"]
    run.wait(SECOND_US)
    assert run.names("Job") == []


def test_a_queue_whose_parent_never_comes_is_given_up_with_an_event() -> None:
    run = RunningComponents(QueueController(controller_behaviours("v1.15.1"), ObjectTable()))
    queue = _object("scheduling.volcano.sh/v1beta1", "Queue", "a", spec={"parent": "b"})
    run.create(queue)
    _wait_long(run)
    (event,) = run.client.events
    assert event == (
        "Queue a: SyncQueue: SyncQueue queue failed for sync queue a failed for "
        'queue.scheduling.volcano.sh "b" not found, event is OutOfSync, action is SyncQueue'
    )
    (controller,) = run.components
    assert controller.due() is None


def _templated(release: str) -> RunningComponents:
    table, own = ObjectTable(), controller_behaviours(release)
    run = RunningComponents(JobFlowController(own, table), JobTemplateController(own, table))
    run.create(_object(FLOW_API, "JobTemplate", "a", spec={"minAvailable": 1}))
    return run


def test_the_status_of_a_template_names_its_jobs() -> None:
    run = _templated("v1.15.1")
    run.create(_object(FLOW_API, "JobFlow", "f", spec={"flows": [{"name": "a"}]}))
    run.create(_object(FLOW_API, "JobFlow", "g", spec={"flows": [{"name": "a"}]}))
    status = run.api.get("JobTemplate", "default/a")["status"]
    assert status == {"jobDependsOnList": ["f-a", "g-a"]}


@pytest.mark.parametrize(("release", "crashes"), [("v1.8.2", 0), ("v1.10.2", 1), ("v1.11.0", 0)])
def test_a_template_that_is_given_up_crashes_some_releases(release: str, crashes: int) -> None:
    run = _templated(release)
    _failing(run, "update", "jobtemplates/status")
    run.create(_object(FLOW_API, "JobFlow", "f", spec={"flows": [{"name": "a"}]}))
    if crashes:
        with pytest.raises(Panic):
            _wait_long(run)
    else:
        _wait_long(run)
        assert any(event.startswith("JobTemplate a: ") for event in run.client.events)


@pytest.mark.parametrize(("release", "phase"), [("v1.12.4", "Pending"), ("v1.13.0", "Failed")])
def test_a_job_that_is_terminated_at_once_fails_its_flow(release: str, phase: str) -> None:
    run = _templated(release)
    run.create(_object(FLOW_API, "JobFlow", "f", spec={"flows": [{"name": "a"}]}))
    run.change("Job", "default/f-a", {"status": {"state": {"phase": "Terminated"}}})
    assert run.api.get("JobFlow", "default/f")["status"]["state"] == {"phase": phase}


@pytest.mark.parametrize(("release", "waiting"), [("v1.8.2", 2), ("v1.9.0", 1)])
def test_equal_requests_about_flows_are_merged_by_newer_releases(
    release: str, waiting: int
) -> None:
    controller = JobFlowController(controller_behaviours(release), ObjectTable())
    run = RunningComponents(controller)
    owner = {"apiVersion": FLOW_API, "kind": "JobFlow", "name": "f", "controller": True}
    job = _object(JOB_API, "Job", "x", metadata={"ownerReferences": [owner]})
    run.create(job)
    for phase in ("Running", "Completed"):
        run.api.patch("Job", "default/x", {"status": {"state": {"phase": phase}}})
    run.deliver()
    assert len(controller.requests) == waiting
    kept = controller.kept()
    hash(kept)
    controller.restore(kept)
    assert controller.kept() == kept
