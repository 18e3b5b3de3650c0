"""What the job controller does that no recorded case shows: timeouts, and hardened releases."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from plinian.engine.controllers.job.controller import DELAYED, FORGET, JobController
from plinian.engine.controllers.job.delayed_actions import DelayedActions
from plinian.engine.controllers.job.job_names import JobAction, JobEvent
from plinian.engine.controllers.job.job_request import JobRequest
from plinian.engine.kubernetes.api_server import ApiServer, Document
from plinian.engine.kubernetes.object_table import ObjectTable
from plinian.engine.volcano.table import controller_behaviours

JOB = "default/train"
POD = "default/train-work-0"
MINUTE_US = 60_000_000


class _Cluster:
    """An API server and the job controller of a release; everything is delivered at once."""

    def __init__(self, release: str, **changed: Any) -> None:
        self.api = ApiServer()
        self.objects = ObjectTable()
        self.controller = JobController(controller_behaviours(release, **changed), self.objects)
        self.held: frozenset[str] = frozenset()
        self._waiting: list[Any] = []
        self.api.create({"kind": "Queue", "metadata": {"name": "default"}, "spec": {}})

    def create_job(self, **spec: Any) -> None:
        template = {"spec": {"containers": [{"name": "c"}]}}
        task = {"name": "work", "replicas": 1, "template": template}
        given = {"minAvailable": 1, "maxRetry": 3, "queue": "default", "tasks": [task], **spec}
        metadata = {"name": "train", "namespace": "default"}
        self.api.create({"kind": "Job", "metadata": metadata, "spec": given})
        self.settle()

    def run_job(self, **spec: Any) -> None:
        """Create a job, and let its pod run."""
        self.create_job(**spec)
        group = self.groups()[-1]["metadata"]["name"]
        self.set_phase("PodGroup", f"default/{group}", "Running")
        self.api.patch("Pod", POD, {"spec": {"nodeName": "n1"}})
        self.set_phase("Pod", POD, "Running")

    def set_phase(self, kind: str, key: str, phase: str) -> None:
        self.api.patch(kind, key, {"status": {"phase": phase}})
        self.settle()

    def gone(self, kind: str, key: str) -> None:
        self.api.delete(kind, key, grace=0)
        self.settle()

    def deliver(self) -> bool:
        self._waiting += self.api.take_changes()
        now = [change for change in self._waiting if change.kind not in self.held]
        self._waiting = [change for change in self._waiting if change.kind in self.held]
        for change in now:
            self.controller.deliver(*change, self.api)
        return bool(now)

    def settle(self) -> None:
        while self.deliver() or self.controller.steps():
            for step in self.controller.steps():
                self.controller.step(step, self.api)

    def pass_minutes(self, minutes: int) -> None:
        self.controller.advance(minutes * MINUTE_US)
        self.settle()

    def phase(self) -> str:
        phase: str = self.api.get("Job", JOB)["status"]["state"]["phase"]
        return phase

    def groups(self) -> list[Document]:
        return self.api.list("PodGroup")


def _policy(event: str, action: str) -> dict[str, Any]:
    return {"policies": [{"event": event, "action": action, "timeout": "10m"}]}


def test_a_policy_with_a_timeout_acts_when_it_is_over() -> None:
    cluster = _Cluster("v1.12.1")
    cluster.run_job(**_policy("PodFailed", "TerminateJob"))
    cluster.set_phase("Pod", POD, "Failed")
    assert cluster.controller.due() == 10 * MINUTE_US
    cluster.pass_minutes(9)
    assert cluster.phase() == "Running", "until then the failure is not even synced"
    cluster.controller.advance(MINUTE_US)
    assert list(cluster.controller.steps()) == [DELAYED]
    cluster.settle()
    assert cluster.phase() == "Terminated"


def test_a_pod_that_runs_in_time_calls_off_the_action_on_pending_pods() -> None:
    cluster = _Cluster("v1.12.1")
    cluster.create_job(**_policy("PodPending", "AbortJob"))
    group = cluster.groups()[-1]["metadata"]["name"]
    cluster.set_phase("PodGroup", f"default/{group}", "Inqueue")
    assert cluster.controller.due() == 10 * MINUTE_US
    cluster.set_phase("Pod", POD, "Running")
    assert cluster.controller.due() is None
    cluster.pass_minutes(20)
    assert cluster.phase() == "Running"


def test_a_pod_that_stays_pending_aborts_its_job_after_the_timeout() -> None:
    cluster = _Cluster("v1.12.1")
    cluster.create_job(**_policy("PodPending", "AbortJob"))
    group = cluster.groups()[-1]["metadata"]["name"]
    cluster.set_phase("PodGroup", f"default/{group}", "Inqueue")
    cluster.pass_minutes(10)
    assert cluster.phase() == "Aborted"
    assert cluster.api.find("Pod", POD) is None


def test_an_action_that_was_due_while_its_job_was_unknown_keeps_others_of_its_pod_away() -> None:
    delays, request = (
        DelayedActions(),
        JobRequest("default", "train", JobEvent.POD_FAILED, pod="train-work-0"),
    )
    delays.add(request, JobAction.RESTART, 1)
    delays.advance(1)
    assert delays.take().action == JobAction.RESTART
    delays.add(request, JobAction.RESTART, 1)
    assert (delays.due(), delays.ready()) == (None, False)
    delays.add(request, JobAction.ABORT, 1)
    assert delays.due() == 1


def test_an_action_done_calls_off_those_on_the_same_part_only() -> None:
    delays = DelayedActions()
    for pod, task in (("a-0", "a"), ("b-0", "b")):
        request = JobRequest("default", "train", JobEvent.POD_FAILED, task=task, pod=pod)
        delays.add(request, JobAction.RESTART_TASK, 1)
    delays.done(JobRequest("default", "train", task="a", pod="a-1"), JobAction.RESTART_TASK)
    assert [one.request.task for one in delays.kept()] == ["b"]
    delays.done(JobRequest("default", "train"), JobAction.ABORT)
    assert [one.request.task for one in delays.kept()] == ["b"]


@pytest.mark.parametrize(("release", "known"), [("v1.15.1", False), ("hardened", True)])
def test_only_hardened_a_recreated_job_outlives_the_cleanup_of_the_old_one(
    release: str, *, known: bool
) -> None:
    """The end of the old job's last pod is delivered while a worker has the old entry in hand."""
    cluster = _Cluster(release)
    cluster.run_job()
    cluster.held = frozenset({"Pod"})
    cluster.gone("Job", JOB)
    cluster.gone("Pod", POD)
    cluster.controller.advance(cluster.controller.due() or 0)
    old = cluster.controller.take(FORGET)
    cluster.held = frozenset()
    cluster.deliver()
    cluster.controller.finish(FORGET, old, cluster.api)
    cluster.create_job()
    cluster.settle()
    assert (cluster.controller.held.cache.get(JOB) is not None) == known


def test_hardened_a_deletion_spares_a_podgroup_that_changed_since_it_was_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    left = {}
    for release in ("v1.15.1", "hardened"):
        cluster = _Cluster(release)
        cluster.run_job()
        key = f"default/{cluster.groups()[-1]['metadata']['name']}"
        changes = count()
        find = cluster.api.find

        def read(
            kind: str, name: str, api: Any = cluster.api, find: Any = find, changes: Any = changes
        ) -> Document | None:
            """Return an object; directly after it is read, somebody else changes a PodGroup."""
            found: Document | None = find(kind, name)
            if kind == "PodGroup" and found is not None:
                api.patch(kind, name, {"metadata": {"labels": {"read": str(next(changes))}}})
            return found

        monkeypatch.setattr(cluster.api, "find", read)
        target = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": "train"}
        metadata = {"name": "c", "namespace": "default"}
        command = {"kind": "Command", "metadata": metadata, "action": "AbortJob", "target": target}
        cluster.api.create(command)
        cluster.settle()
        left[release] = find("PodGroup", key) is not None
    assert left == {"v1.15.1": False, "hardened": True}


@pytest.mark.parametrize(("release", "forgotten"), [("v1.13.3", False), ("v1.14.0", True)])
def test_an_entry_that_a_pod_led_to_is_forgotten_if_an_update_named_it(
    release: str, *, forgotten: bool
) -> None:
    cluster = _Cluster(release)
    cluster.run_job()
    cache, pod = cluster.controller.held.cache, cluster.api.get("Pod", POD)
    job = cluster.api.get("Job", JOB)
    cache.delete(job)
    cache.delete_pod(pod)
    cluster.settle()
    assert not cache.jobs(), "forgotten, though the job is there"
    cache.add_pod(pod)
    cache.update(job)
    cluster.held = frozenset({"Job", "Pod"})
    cache.delete(job)
    cache.delete_pod(pod)
    cluster.settle()
    assert (not cache.jobs()) == forgotten


def test_what_is_kept_does_not_depend_on_how_entries_came_to_be() -> None:
    one, other = _Cluster("v1.15.1"), _Cluster("v1.15.1")
    cache = one.controller.held.cache
    for name in ("b", "a"):
        metadata = {"name": name, "namespace": "default", "resourceVersion": "1"}
        cache.add({"kind": "Job", "metadata": metadata, "spec": {}})
    kept = one.controller.kept()
    other.controller = JobController(controller_behaviours("v1.15.1"), one.objects)
    other.controller.restore(kept)
    other.controller.held.cache.add_pod(
        {"kind": "Pod", "metadata": {"name": "p", "annotations": {"volcano.sh/job-name": "c"}}}
    )
    assert kept.jobs.keys == (("default/a", 0), ("default/b", 1))
    assert other.controller.kept() != kept
    other.controller.restore(kept)
    assert other.controller.kept() == kept
