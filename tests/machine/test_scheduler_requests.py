"""A scheduler acts on the pod that it knows: the next one of that name is left alone."""

from __future__ import annotations

from small_machines import object_of, settings
from walked_machines import WalkedMachine

from plinian.engine.cache.driver import Worker
from plinian.engine.kubernetes.api_server import Document
from plinian.engine.machine.cluster_machine import cluster
from plinian.engine.machine.scheduler import SchedulerComponent
from plinian.engine.machine.user import UserAct
from plinian.engine.volcano.conf import conf_in_force

PREEMPTING = """
actions: "enqueue, allocate, preempt"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
  - name: predicates
"""


def group(name: str, **spec: object) -> Document:
    """Return a PodGroup that is in its queue already."""
    spec = {"minMember": 1, "queue": "default", **spec}
    return object_of("PodGroup", name, spec=spec, status={"phase": "Inqueue"})


def pod(name: str, group_name: str, cpu: str = "8", **spec: object) -> Document:
    """Return a pod of a PodGroup."""
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    made = object_of("Pod", name)
    made["metadata"]["annotations"] = {"scheduling.k8s.io/group-name": group_name}
    return {**made, "spec": {"schedulerName": "volcano", "containers": [container], **spec}}


def walked(existing: list[Document], script: list[UserAct], conf: str = "") -> WalkedMachine:
    """Return the newest release's cluster with a node of 8 CPUs and more."""
    given = settings("v1.15.1")
    if conf:
        given = given._replace(conf=conf_in_force(conf, given.behaviours))
    return WalkedMachine(
        *cluster(given._replace(existing=[*given.existing, *existing], script=script))
    )


def tasks_to_resync(run: WalkedMachine) -> int:
    """Return how many tasks wait to be read again."""
    scheduler = run.component("scheduler")
    assert isinstance(scheduler, SchedulerComponent)
    return len(scheduler.projector.driver.queue(Worker.RESYNC))


def test_a_binding_names_its_pod() -> None:
    again = [
        UserAct("ADDED", pod("a", "g")),
        UserAct("DELETED", pod("a", "g")),
        UserAct("ADDED", pod("a", "g")),
    ]
    run = walked([group("g")], again)
    run.make("user acts", "scheduler sees Pod", "scheduler session")
    run.make("user acts", "user acts", "scheduler binds")
    new = run.find("Pod", "default/a")
    assert new is not None
    assert "nodeName" not in new["spec"]
    assert tasks_to_resync(run) == 1


def test_a_pod_that_was_changed_is_not_evicted() -> None:
    high = {"kind": "PriorityClass", "metadata": {"name": "high"}, "value": 100}
    low = pod("low", "low", nodeName="n1")
    existing = [high, group("low"), {**low, "status": {"phase": "Running"}}]
    urgent = [
        UserAct("ADDED", group("urgent", priorityClassName="high")),
        UserAct("ADDED", pod("urgent", "urgent", priority=100)),
    ]
    label = object_of("Pod", "low")
    label["metadata"]["labels"] = {"changed": "yes"}
    evicted = walked(existing, urgent, PREEMPTING)
    evicted.make("user acts", "user acts", "scheduler sees PodGroup", "scheduler sees Pod")
    evicted.make("scheduler session")
    assert is_deleted(evicted.find("Pod", "default/low"))

    run = walked(existing, [*urgent, UserAct("MODIFIED", label)], PREEMPTING)
    run.make("user acts", "user acts", "scheduler sees PodGroup", "scheduler sees Pod")
    run.make("user acts", "scheduler session")
    assert not is_deleted(run.find("Pod", "default/low"))
    assert tasks_to_resync(run) == 1


def is_deleted(document: Document | None) -> bool:
    """Say whether a pod was told to end."""
    return document is None or "deletionTimestamp" in document["metadata"]
