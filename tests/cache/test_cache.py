"""The cache does what the scheduler's informer handlers do, with their oddities."""

from __future__ import annotations

from typing import Any

import pytest

from plinian.engine.cache.cache import SchedulerCache
from plinian.engine.cache.scheduler_flags import CacheOptions
from plinian.engine.kubernetes import objects
from plinian.engine.model.panic import Panic
from plinian.engine.model.task_status import TaskStatus
from plinian.engine.volcano.session.history import resolve
from sessions import RELEASE, Document, document, group, node, pod, queue

GI = 2**30


class Cluster:
    """A cache, and the objects as an API server would have them."""

    def __init__(self, release: str = RELEASE, **options: Any) -> None:
        self.cache = SchedulerCache(resolve(release), CacheOptions(**options))
        self._revision = 0

    def see(self, *documents: Document) -> Cluster:
        """Deliver objects in turn, and let the workers run after each."""
        for each in documents:
            self._revision += 1
            each["metadata"]["resourceVersion"] = str(self._revision)
            self.cache.deliver(each["kind"], _decoded(each))
            self.cache.run_workers()
        return self

    def lose(self, *documents: Document) -> Cluster:
        """Deliver deletions, without letting a worker run."""
        for each in documents:
            self.cache.deliver_deletion(each["kind"], _decoded(each))
        return self

    def status(self, key: str, uid: str) -> TaskStatus:
        """Return the status of a task."""
        return self.cache.jobs[key].tasks[uid].status


def _decoded(each: Document) -> objects.Object:
    return objects.decode(objects.KINDS[each["kind"]], each)


def renewed(each: Document, uid: str) -> Document:
    """Return an object of the same name that was created later."""
    return {**each, "metadata": {**each["metadata"], "uid": uid}}


def cluster(*documents: Document) -> Cluster:
    """Return a cluster with a queue and a node ``n1`` of eight cores."""
    return Cluster().see(queue("default"), node("n1"), *documents)


def test_a_pod_counts_on_its_node_and_in_its_job() -> None:
    seen = cluster(group("g"), pod("a", "g", on="n1"), pod("b", "g", cpu=3))
    info, job = seen.cache.nodes["n1"], seen.cache.jobs["ns/g"]
    assert (info.idle.cpu, info.used.cpu, list(info.tasks)) == (7000, 1000, ["ns/a"])
    assert (job.allocated.cpu, job.total_request.cpu) == (1000, 4000)
    assert {status: list(tasks) for status, tasks in job.index.items()} == {
        TaskStatus.RUNNING: ["uid-a"],
        TaskStatus.PENDING: ["uid-b"],
    }


def test_a_pod_of_another_scheduler_counts_once_it_has_a_node() -> None:
    other = pod("a", "g")
    other["spec"]["schedulerName"] = "default-scheduler"
    seen = cluster(other)
    assert "ns/g" not in seen.cache.jobs
    bound = pod("a", "g", on="n1")
    bound["spec"]["schedulerName"] = "default-scheduler"
    seen.see(bound)
    assert seen.cache.nodes["n1"].used.cpu == 1000
    assert list(seen.cache.jobs["ns/g"].tasks) == ["uid-a"]


def test_a_pod_without_a_filter_is_taken_in_whoever_schedules_it() -> None:
    other = pod("a", "g")
    other["spec"]["schedulerName"] = "default-scheduler"
    seen = Cluster(filters_pods=False).see(other)
    assert list(seen.cache.jobs["ns/g"].tasks) == ["uid-a"]


def test_a_pod_makes_a_node_that_is_not_ready_until_its_node_is_seen() -> None:
    seen = Cluster().see(queue("default"), group("g"), pod("a", "g", on="n9"))
    info = seen.cache.nodes["n9"]
    assert (info.ready, info.used.cpu, list(info.tasks)) == (False, 0, ["ns/a"])
    assert seen.cache.snapshot().nodes.names == []
    seen.see(node("n9"))
    assert (info.ready, info.used.cpu) == (True, 1000)
    assert seen.cache.snapshot().nodes.names == ["n9"]


def test_a_node_that_goes_takes_its_tasks_with_it() -> None:
    gone = node("n1")
    seen = cluster(group("g"), pod("a", "g", on="n1")).lose(gone)
    assert "n1" in seen.cache.nodes  # a worker has not been there yet
    seen.cache.run_workers()
    assert "n1" not in seen.cache.nodes
    seen.see(gone)
    assert seen.cache.nodes["n1"].used.cpu == 0  # the pod's next update would tell
    seen.see(pod("a", "g", on="n1"))
    assert seen.cache.nodes["n1"].used.cpu == 1000


def test_a_finished_pod_is_in_the_job_and_not_on_the_node() -> None:
    seen = cluster(group("g"), pod("a", "g", on="n1"))
    seen.see(pod("a", "g", on="n1", status={"phase": "Succeeded"}))
    assert seen.cache.nodes["n1"].tasks == {}
    assert seen.status("ns/g", "uid-a") == TaskStatus.SUCCEEDED


def test_binding_survives_the_pod_s_updates_until_one_has_the_node() -> None:
    seen = cluster(group("g"), pod("a", "g"))
    assert seen.cache.add_bind_task("ns/g", "uid-a", "n1") is None
    seen.see(pod("a", "g", labels={"touched": "yes"}))
    assert seen.status("ns/g", "uid-a") == TaskStatus.BINDING
    assert seen.cache.nodes["n1"].used.cpu == 1000
    seen.see(pod("a", "g", on="n1", status={"phase": "Pending"}))
    assert seen.status("ns/g", "uid-a") == TaskStatus.BOUND
    assert seen.cache.nodes["n1"].used.cpu == 1000


def test_a_bind_that_does_not_fit_is_refused_and_leaves_the_task_pending() -> None:
    seen = cluster(group("g"), pod("a", "g", cpu=9))
    error = seen.cache.add_bind_task("ns/g", "uid-a", "n1")
    assert error is not None
    assert error.startswith("node n1 resources [cpu] are not enough to put task <ns/a>, idle: cpu")
    assert seen.status("ns/g", "uid-a") == TaskStatus.PENDING
    assert seen.cache.nodes["n1"].used.cpu == 0


@pytest.mark.parametrize(
    ("job", "uid", "host", "error"),
    [
        ("ns/x", "uid-a", "n1", "failed to find Job ns/x for Task uid-a"),
        ("ns/g", "uid-x", "n1", "failed to find task in status by id uid-x"),
        ("ns/g", "uid-a", "n2", "failed to bind Task uid-a to host n2, host does not exist"),
    ],
)
def test_what_is_not_there_cannot_be_bound(job: str, uid: str, host: str, error: str) -> None:
    seen = cluster(group("g"), pod("a", "g"))
    assert seen.cache.add_bind_task(job, uid, host) == error


def test_an_evicted_task_is_releasing_until_its_pod_goes() -> None:
    running = pod("a", "g", on="n1")
    seen = cluster(group("g"), running)
    assert seen.cache.evict("ns/g", "uid-a", "preempt") is None
    info = seen.cache.nodes["n1"]
    assert (info.releasing.cpu, info.used.cpu) == (1000, 1000)
    seen.lose(running)
    assert (info.releasing.cpu, info.used.cpu, info.idle.cpu) == (0, 0, 8000)


def test_a_pending_task_cannot_be_evicted() -> None:
    seen = cluster(group("g"), pod("a", "g"))
    error = seen.cache.evict("ns/g", "uid-a", "preempt")
    assert error == "failed to evict Task uid-a from host , host does not exist"


def test_evicting_without_a_podgroup_is_an_error_after_the_fact() -> None:
    seen = cluster(group("g"), pod("a", "g", on="n1")).lose(group("g"))
    error = seen.cache.evict("ns/g", "uid-a", "preempt")
    assert error == "the PodGroup of Job <ns/g> is nil"
    assert seen.status("ns/g", "uid-a") == TaskStatus.RELEASING


def test_a_late_deletion_of_a_podgroup_unsets_the_one_created_again() -> None:
    first = group("g")
    seen = cluster(first, pod("a", "g"))
    seen.see(renewed(group("g"), "uid-g-2")).lose(first)
    assert seen.cache.jobs["ns/g"].pod_group is None
    assert seen.cache.snapshot().jobs.keys == []


def test_a_job_is_dropped_when_nothing_is_left_of_it() -> None:
    first, task = group("g"), pod("a", "g")
    seen = cluster(first, task).lose(first)
    seen.cache.run_workers()
    assert "ns/g" in seen.cache.jobs  # it has a pod
    assert seen.cache.job_cache.deleted_jobs.delayed() == [seen.cache.jobs["ns/g"]]
    seen.lose(task)
    seen.cache.run_workers()
    assert "ns/g" not in seen.cache.jobs


def test_the_cleanup_lets_a_job_of_another_podgroup_live() -> None:
    first = group("g")
    seen = cluster(first).lose(first)
    gone = seen.cache.jobs.pop("ns/g")
    seen.see(renewed(group("g"), "uid-g-2"))
    assert gone.terminated
    assert seen.cache.jobs["ns/g"].uid == "uid-g-2"


def test_roles_of_an_older_podgroup_are_kept_and_the_total_is_not() -> None:
    seen = cluster(group("g", minTaskMember={"ps": 1, "worker": 2}))
    seen.see(group("g", minTaskMember={"worker": 3}))
    job = seen.cache.jobs["ns/g"]
    assert job.task_min_available == {"ps": 1, "worker": 3}
    assert job.task_min_available_total == 3


def test_a_podgroup_without_a_queue_goes_to_the_default_one() -> None:
    seen = Cluster(default_queue="batch").see(group("g", queue=""))
    assert seen.cache.jobs["ns/g"].queue == "batch"


def test_a_job_whose_queue_is_not_there_is_seen_by_no_session() -> None:
    seen = cluster(group("g", queue="other"))
    assert seen.cache.snapshot().jobs.keys == []
    seen.see(queue("other"))
    assert seen.cache.snapshot().jobs.keys == ["ns/g"]
    seen.lose(queue("other"))
    assert seen.cache.snapshot().jobs.keys == []


def test_a_repeated_podgroup_is_passed_over_by_its_version_alone() -> None:
    seen = cluster(group("g"))
    same = group("g", min_member=7)
    same["metadata"]["resourceVersion"] = "3"
    seen.cache.deliver("PodGroup", _decoded(same))
    assert seen.cache.jobs["ns/g"].min_available == 1


def test_priority_comes_from_the_class_then_from_the_default() -> None:
    high = document("PriorityClass", "high", value=100)
    default = document("PriorityClass", "base", value=5, globalDefault=True)
    seen = cluster(high, default, group("a", priorityClassName="high"), group("b"))
    assert seen.cache.snapshot().jobs.priority.tolist() == [100, 5]
    seen.lose(default)
    assert seen.cache.snapshot().jobs.priority.tolist() == [100, 0]
    seen.lose(high)
    assert seen.cache.snapshot().jobs.priority.tolist() == [0, 0]


def test_deleting_one_of_two_default_classes_leaves_none() -> None:
    one = document("PriorityClass", "one", value=1, globalDefault=True)
    two = document("PriorityClass", "two", value=2, globalDefault=True)
    seen = cluster(one, two, group("g"))
    assert seen.cache.default_priority == 2
    seen.lose(one)
    assert seen.cache.default_priority == 0


def test_a_pod_keeps_the_owners_it_had_when_it_loses_its_controller() -> None:
    owned = pod("a", "g")
    owner = {"kind": "Job", "name": "j", "uid": "u", "controller": True}
    owned["metadata"]["ownerReferences"] = [owner]
    seen = cluster(owned).see(pod("a", "g"))
    owners = seen.cache.jobs["ns/g"].tasks["uid-a"].pod.metadata.owner_references
    assert [one.name for one in owners] == ["j"]
    assert seen.cache.stores.get("Pod", "ns/a").metadata.owner_references == owners


def test_a_late_deletion_of_a_pod_takes_its_namesake_off_the_node() -> None:
    first = pod("a", "g", on="n1")
    again = renewed(pod("a", "g", on="n1"), "uid-a-2")
    seen = cluster(group("g"), first, again)
    assert list(seen.cache.jobs["ns/g"].tasks) == ["uid-a-2"]
    seen.lose(first)
    assert list(seen.cache.jobs["ns/g"].tasks) == ["uid-a-2"]
    assert seen.cache.nodes["n1"].tasks == {}


def test_volumes_count_against_what_the_driver_takes() -> None:
    key = "attachable-volumes-csi-disk.example.com"
    claim = document(
        "PersistentVolumeClaim", "data", "ns", spec={"storageClassName": "fast", "volumeName": ""}
    )
    classed = document("StorageClass", "fast", provisioner="disk.example.com")
    drivers = [{"name": "disk.example.com", "nodeID": "n1", "allocatable": {"count": 3}}]
    csi = document("CSINode", "n1", spec={"drivers": drivers})
    with_volume = pod("a", "g", on="n1")
    with_volume["spec"]["volumes"] = [{"persistentVolumeClaim": {"claimName": "data"}}]
    seen = cluster(csi, claim, classed, with_volume)
    info = seen.cache.nodes["n1"]
    assert (info.allocatable.get(key), info.used.get(key)) == (3, 1)
    assert seen.cache.node_cache.csi_nodes == {"n1": {"disk.example.com": True}}
    assert seen.cache.job_cache.error_tasks.delayed() == []


def test_a_task_whose_claim_is_missing_is_taken_in_and_read_again() -> None:
    with_volume = pod("a", "g")
    with_volume["spec"]["volumes"] = [{"persistentVolumeClaim": {"claimName": "data"}}]
    seen = cluster(with_volume)
    jobs = seen.cache.job_cache
    assert list(seen.cache.jobs["ns/g"].tasks) == ["uid-a"]
    assert jobs.error_tasks.delayed() == ["ns/g/uid-a"]
    jobs.error_tasks.fire_all()
    live = _decoded(with_volume)
    assert isinstance(live, objects.Pod)
    error = jobs.resync_next_task(lambda _namespace, _name: live)
    assert error == (
        "failed to generate taskInfo of pod(a), error: looking up PVC ns/data:"
        ' persistentvolumeclaim "data" not found'
    )
    assert jobs.error_tasks.delayed() == ["ns/g/uid-a"]
    jobs.error_tasks.fire_all()
    assert jobs.resync_next_task(lambda _namespace, _name: None) is None
    assert seen.cache.jobs["ns/g"].tasks == {}
    assert jobs.error_tasks.delayed() == []


@pytest.mark.parametrize(
    ("release", "claim", "known"),
    [
        ("v1.14.4", "data", True),
        ("v1.15.0", "data", False),
        ("v1.15.1", "data", True),
        ("v1.14.4", "", True),
        ("v1.15.1", "", False),
    ],
)
def test_whether_a_pod_is_known_before_its_claim_is(
    release: str,
    claim: str,
    known: bool,  # noqa: FBT001
) -> None:
    early = pod("a", "g")
    early["spec"]["volumes"] = [{"persistentVolumeClaim": {"claimName": claim}}]
    seen = Cluster()
    seen.cache = SchedulerCache(resolve(release))
    seen.see(queue("default"), group("g"), early)
    assert (list(seen.cache.jobs["ns/g"].tasks) == ["uid-a"]) is known
    jobs = seen.cache.job_cache
    assert [*jobs.error_tasks.ready(), *jobs.error_tasks.delayed()] == ["ns/g/uid-a"]


def test_a_node_that_no_selector_chooses_stays_out() -> None:
    seen = Cluster(node_selectors=frozenset({"pool:gpu"})).see(
        node("n1", labels={"pool": "cpu"}), node("n2", labels={"pool": "gpu"})
    )
    assert list(seen.cache.nodes) == ["n2"]


def test_a_node_learns_of_an_image_s_other_nodes_when_it_is_looked_at() -> None:
    def with_image(name: str) -> Document:
        made = node(name)
        made["status"]["images"] = [{"names": ["img:1"], "sizeBytes": 5}]
        return made

    seen = Cluster().see(with_image("n1"), with_image("n2"))
    images = {name: info.images for name, info in seen.cache.nodes.items()}
    assert images == {"n1": {"img:1": (5, 1)}, "n2": {"img:1": (5, 2)}}
    seen.see(with_image("n1"))
    assert seen.cache.nodes["n1"].images == {"img:1": (5, 2)}


def test_vgpu_resources_are_left_out_once_a_node_was_seen() -> None:
    early = pod("a", "g", requests={"volcano.sh/vgpu-memory": "4"})
    late = pod("b", "g", requests={"volcano.sh/vgpu-memory": "4"})
    seen = Cluster().see(early, node("n1"), late)
    asked = {task.name: task.request.scalars for task in seen.cache.jobs["ns/g"].tasks.values()}
    assert asked == {"a": {"volcano.sh/vgpu-memory": 4000.0, "pods": 1.0}, "b": {"pods": 1.0}}


def test_what_a_session_writes_to_a_queue_is_in_the_cache_at_once() -> None:
    seen = cluster()
    seen.cache.note_queue_status("default", {"cpu": "2", "memory": "0"})
    seen.cache.note_queue_status("absent", {"cpu": "2"})
    assert seen.cache.snapshot().queues["default"].allocated.cpu == 2000
    seen.see(queue("default"))
    assert seen.cache.snapshot().queues["default"].allocated.cpu == 0


def test_quotas_are_kept_by_namespace() -> None:
    quota = document("ResourceQuota", "q", "ns", status={"hard": {"cpu": "4"}})
    seen = cluster(quota)
    assert seen.cache.snapshot().quotas["ns"]["q"].hard == {"cpu": "4"}
    seen.lose(quota)
    assert seen.cache.snapshot().quotas == {}


def test_a_deletion_of_what_was_never_seen_is_passed_over() -> None:
    seen = cluster(group("g"), pod("a", "g", on="n1"))
    seen.lose(pod("zz", "g", on="n1"), group("zz"))
    assert seen.cache.nodes["n1"].used.cpu == 1000


def test_taking_off_more_than_is_there_is_the_scheduler_s_crash() -> None:
    seen = cluster(group("g"), pod("a", "g", on="n1"))
    seen.cache.nodes["n1"].used.cpu = 0.0
    with pytest.raises(Panic) as caught:
        seen.lose(pod("a", "g", on="n1"))
    assert caught.value.place == ("api.(*Resource).Sub", "api.(*NodeInfo).RemoveTask")


@pytest.mark.parametrize("release", ["v1.12.1", "v1.15.1"])
@pytest.mark.parametrize("told", [False, True])
def test_a_pod_that_ended_unseen_leaves_its_node_when_it_is_deleted(
    release: str, *, told: bool
) -> None:
    running = pod("a", "g", on="n1")
    ended = {**running, "status": {"phase": "Failed"}}
    seen = Cluster(release).see(queue("default"), node("n1"), group("g"), running)
    assert seen.cache.nodes["n1"].tasks
    if told:
        seen.see(ended)
    seen.lose(ended)
    assert not seen.cache.nodes["n1"].tasks
