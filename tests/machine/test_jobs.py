"""Volcano's Jobs in a machine: what they come to, and what is found wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from small_machines import again, job, object_of, settings

from plinian.engine.controllers.kubelet import ENDS_AS
from plinian.engine.kubernetes.api_server import ApiServer, Document
from plinian.engine.kubernetes.object_table import ObjectTable
from plinian.engine.machine.checks import checked_ids, violations_in
from plinian.engine.machine.cluster_machine import COMPONENTS, cluster, parts_of
from plinian.engine.machine.job_checks import JOB_IDS, JobsAtRest
from plinian.engine.machine.machine import Machine, State
from plinian.engine.machine.machine_layout import API
from plinian.engine.machine.natural import USER, Natural, StateViolation
from plinian.engine.machine.seen import of_collector, of_kubelets, of_owners
from plinian.engine.machine.user import UserAct
from plinian.engine.machine.walks import WalkPlan, Walks, WalkStrategy

RELEASES = ["v1.8.2", "v1.12.1", "v1.15.1"]
TERMINATES = job(policies=[{"event": "PodEvicted", "action": "TerminateJob"}])
PLAIN = ["user", "jobs", "queues", "podgroups", "kubelets", "scheduler"]


def run(release: str, script: Sequence[UserAct]) -> tuple[Machine, State]:
    """Return a machine and what it comes to if its user waits long before each write."""
    machine, state = cluster(settings(release, script))
    natural = Natural(machine)
    for _ in script:
        moved = natural.move(natural.rest(state).state, wait=False)
        assert moved is not None
        state = moved.state
    rest = natural.rest(state)
    assert (rest.reached, rest.panics) == (True, ())
    return machine, rest.state


def server_of(machine: Machine, state: State) -> ApiServer:
    """Return the API server of a state."""
    return machine.transitions.server(state[API])


def phases(machine: Machine, state: State, kind: str) -> list[str]:
    """Return the phases of all objects of a kind; of Jobs they are in their states."""
    statuses = [one["status"] for one in server_of(machine, state).list(kind)]
    return [one.get("state", one)["phase"] for one in statuses]


def changed(machine: Machine, state: State, change: Callable[[ApiServer], object]) -> State:
    """Return a state in which the API server alone holds something else."""
    server = server_of(machine, state)
    change(server)
    server.take_changes()
    return (machine.transitions.server_with(server), *state[1:])


@pytest.mark.parametrize("release", RELEASES)
def test_a_job_left_to_itself_runs(release: str) -> None:
    machine, state = run(release, [UserAct("ADDED", job())])
    assert phases(machine, state, "Job") == phases(machine, state, "Pod") == ["Running"]
    (pod,) = server_of(machine, state).list("Pod")
    assert pod["spec"]["nodeName"] == "n1"
    assert not violations_in(machine)(state)


@pytest.mark.parametrize("release", RELEASES)
def test_a_job_whose_pod_ends_is_completed_and_collected_in_time(release: str) -> None:
    machine, state = run(release, [UserAct("ADDED", job(ends_as="Succeeded"))])
    assert phases(machine, state, "Job") == ["Completed"]
    lasting = job(ends_as="Succeeded", ttlSecondsAfterFinished=5)
    machine, state = run(release, [UserAct("ADDED", lasting)])
    for kind in ("Job", "Pod", "PodGroup"):
        assert not server_of(machine, state).list(kind), kind


@pytest.mark.parametrize("release", RELEASES)
def test_a_deleted_job_takes_its_pods_along_and_another_one_runs(release: str) -> None:
    machine, state = run(release, [*again(job()), *again(job("other"))])
    names = [one["metadata"]["name"] for one in server_of(machine, state).list("Pod")]
    assert names == ["other-work-0", "train-work-0"]
    assert phases(machine, state, "Job") == ["Running", "Running"]
    assert not violations_in(machine)(state)


def test_a_flow_makes_one_job_after_the_other() -> None:
    template = job("step", ends_as="Succeeded")
    given = {**template, "kind": "JobTemplate", "apiVersion": "flow.volcano.sh/v1alpha1"}
    first, second = {"name": "step"}, {"name": "last", "dependsOn": {"targets": ["step"]}}
    last: Document = {**given, "metadata": {**given["metadata"], "name": "last"}}
    spec = {"jobRetainPolicy": "retain", "flows": [first, second]}
    flow = {**object_of("JobFlow", "flow", spec=spec), "apiVersion": "flow.volcano.sh/v1alpha1"}
    machine, state = run("v1.12.1", [UserAct("ADDED", one) for one in (given, last, flow)])
    names = [one["metadata"]["name"] for one in server_of(machine, state).list("Job")]
    assert names == ["flow-last", "flow-step"]
    assert phases(machine, state, "Job") == ["Completed", "Completed"]


@pytest.mark.parametrize(
    ("script", "components"),
    [
        ([UserAct("ADDED", job())], PLAIN),
        (
            [UserAct("ADDED", job()), UserAct("DELETED", job())],
            [*PLAIN[:-1], "owners", "scheduler"],
        ),
        (
            [UserAct("ADDED", job(ttlSecondsAfterFinished=5))],
            ["user", "jobs", "gc", "queues", "podgroups", "kubelets", "owners", "scheduler"],
        ),
    ],
)
def test_a_cluster_has_the_components_that_its_objects_need(
    script: list[UserAct], components: list[str]
) -> None:
    assert [*parts_of(settings("v1.12.1", script), ObjectTable())] == components


def test_every_component_that_a_cluster_can_have_is_listed() -> None:
    flow = {"kind": "JobFlow", "metadata": {"name": "f"}, "spec": {}}
    workloads = [
        {"kind": kind, "metadata": {"name": "w"}, "spec": {}}
        for kind in ("Deployment", "StatefulSet")
    ]
    other = {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"schedulerName": "mine"}}
    given = [flow, *workloads, job(ttlSecondsAfterFinished=5), other]
    script = [UserAct("ADDED", one) for one in given]
    assert {*parts_of(settings("v1.12.1", script), ObjectTable())} == {USER, *COMPONENTS}


def test_components_see_only_what_they_use() -> None:
    pod = {**object_of("Pod", "p", spec={"nodeName": "n"}, status={"phase": "Running"})}
    pod["metadata"] |= {"annotations": {"a": "b"}, "resourceVersion": "7"}
    assert "annotations" not in of_kubelets("Pod", pod)["metadata"]
    how = {ENDS_AS: "Failed"}
    ending = {**pod, "metadata": {**pod["metadata"], "annotations": {"a": "b", **how}}}
    assert of_kubelets("Pod", ending)["metadata"]["annotations"] == how
    assert of_owners("Pod", pod)["metadata"] == {"name": "p", "namespace": "default"}
    ended = {**job(ttlSecondsAfterFinished=5), "status": {"state": {"phase": "Failed", "at": 1}}}
    seen = of_collector("Job", ended)
    assert (seen["spec"], seen["status"]) == (
        {"ttlSecondsAfterFinished": 5},
        {"state": {"phase": "Failed"}},
    )


# -- what is found wrong ---------------------------------------------------------------------------


def first_found(release: str, one: Document, ids: Sequence[str]) -> StateViolation | None:
    """Return what walks find wrong first if a user deletes a job and creates it again."""
    machine, start = cluster(settings(release, again(one)))
    search = Walks(machine, start, violations_in(machine, ids), WalkPlan(WalkStrategy.DELAY, 1))
    found = next(search.run(lambda now: now.waiting >= 60), None)
    return None if found is None else found.violation


def test_the_checks_of_jobs_are_among_those_of_machines() -> None:
    assert {*JOB_IDS} < {*checked_ids()}


@pytest.mark.parametrize("release", ["v1.9.0", "v1.12.3", "v1.15.1"])
def test_the_cleanup_of_a_job_may_forget_its_successor(release: str) -> None:
    sentence = "the job controller's cache has no job default/train"
    assert first_found(release, job(), ["I-02"]) == StateViolation("I-02", sentence)


def test_no_job_is_forgotten_where_uids_are_compared() -> None:
    assert first_found("hardened", job(), ["I-02", "I-02c"]) is None


def test_an_event_about_an_old_pod_ends_a_new_job_until_uids_are_compared() -> None:
    sentence = "job default/train is Terminated for pods of an earlier job"
    assert first_found("v1.10.2", TERMINATES, ["I-02b"]) == StateViolation("I-02b", sentence)
    assert first_found("v1.11.0", TERMINATES, ["I-02b"]) is None


def test_a_job_may_end_where_something_ends_its_pods() -> None:
    pod = object_of("Pod", "train-work-0")
    script = [*again(TERMINATES), UserAct("DELETED", {**pod, "apiVersion": "v1"})]
    machine, state = run("v1.12.1", script)
    assert phases(machine, state, "Job") == ["Terminated"]
    assert not JobsAtRest(machine)(state)


def test_a_job_without_what_belongs_to_it_is_found() -> None:
    machine, state = run("v1.15.1", [UserAct("ADDED", job())])
    check = JobsAtRest(machine)
    (group,) = (one["metadata"]["name"] for one in server_of(machine, state).list("PodGroup"))
    lacks = {
        "job default/train has 0 of 1 pod": ("Pod", "default/train-work-0"),
        "job default/train has no PodGroup": ("PodGroup", f"default/{group}"),
        "Pod default/train-work-0: its job of uid job-default-train-1 does not exist": (
            "Job",
            "default/train",
        ),
    }
    for sentence, place in lacks.items():
        broken = changed(machine, state, lambda server, place=place: server.delete(*place, grace=0))
        assert [one.sentence for one in check(broken)] == [sentence]
    assert not check(state)


def test_a_job_that_another_one_replaced_unseen_is_found() -> None:
    machine, state = run("v1.15.1", [UserAct("ADDED", job())])

    def replace(server: ApiServer) -> None:
        server.delete("Job", "default/train")
        server.create(job(tasks=[]))

    sentences = [one.sentence for one in JobsAtRest(machine)(changed(machine, state, replace))]
    assert sentences[0] == "the job controller's cache has an earlier job default/train"
