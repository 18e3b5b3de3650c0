"""Invariants that remember earlier moments: phases, decisions, evictions, Jobs that went."""

from __future__ import annotations

from typing import Any

import pytest
from invariant_views import Story, deleting, owned, with_uid

from plinian.engine.events import GENERATED
from plinian.engine.session.framework.session_outcome import ClosedPodGroupStatus, SessionResult
from sessions import Document, document, group, node, pod, queue

BEGIN = (queue("default"), node("n1"))
JOB = "batch.volcano.sh/v1alpha1"


def test_a_podgroup_leaves_running_while_its_pods_are_deleted() -> None:
    story = Story(*BEGIN, group("g", 1, "Running"), pod("a", "g", on="n1"))
    story.then("updated", deleting(pod("a", "g", on="n1")))
    story.then("updated", group("g", 1, "Pending"))
    (found,) = story.violations("I-12b")
    assert "1 is being deleted" in found.message
    story.then("deleted", deleting(pod("a", "g", on="n1")))
    assert story.violated("I-12b") == []


def test_a_podgroup_leaves_running_when_its_pods_are_gone() -> None:
    story = Story(*BEGIN, group("g", 1, "Running"), pod("a", "g", on="n1"))
    story.then("deleted", pod("a", "g", on="n1"))
    story.then("updated", group("g", 1, "Pending"))
    story.then("created", pod("b", "g", on="n1"))
    assert story.violated("I-12b") == []


def decides(story: Story, phase: str) -> None:
    status = ClosedPodGroupStatus("uid-g", phase, (), 0, 0, 0, written=True)
    made = SessionResult(pod_groups={"ns/g": status})
    story.view.phases.decide(made, story.view.truth.of("PodGroup"))


def test_a_phase_that_sessions_decide_and_nobody_gets() -> None:
    story = Story(*BEGIN, group("g", 1, "Pending"))
    for _ in range(2):
        decides(story, "Inqueue")
        assert story.violated("I-12c") == []
    decides(story, "Inqueue")
    assert story.violated("I-12c") == ["ns/g"]
    story.then("updated", group("g", 1, "Inqueue"))
    decides(story, "Inqueue")
    assert story.violated("I-12c") == []


def test_sessions_that_change_their_mind_lose_no_phase() -> None:
    story = Story(*BEGIN, group("g", 1, "Pending"))
    for phase in ("Inqueue", "Running", "Inqueue", "Running"):
        decides(story, phase)
    assert story.violated("I-12c") == []


def evicted(each: Document) -> Document:
    conditions = [{"type": "Ready", "status": "False", "reason": "Evict"}]
    return {**deleting(each), "status": {"phase": "Running", "conditions": conditions}}


def turn(story: Story, gone: str, came: str, number: int) -> None:
    """Evict the pod of one PodGroup, and place one of the other on the node."""
    old = with_uid(pod(gone, gone, on="n1"), f"{gone}-{number}")
    story.then("updated", evicted(old))
    story.then("deleted", evicted(old))
    story.then("created", with_uid(pod(came, came, on="n1"), f"{came}-{number + 1}"))


def test_two_podgroups_that_take_turns_on_a_node() -> None:
    story = Story(*BEGIN, group("a"), group("b"), with_uid(pod("a", "a", on="n1"), "a-0"))
    for number in range(4):
        assert story.violated("I-17") == []
        turn(story, "ab"[number % 2], "ba"[number % 2], number)
    assert story.violated("I-17") == ["ns/a", "ns/b"]
    story.then("created", node("n2"))
    assert story.violated("I-17") == []


def test_evictions_between_which_the_cluster_changes_are_no_livelock() -> None:
    story = Story(*BEGIN, group("a"), group("b"), with_uid(pod("a", "a", on="n1"), "a-0"))
    for number in range(6):
        turn(story, "ab"[number % 2], "ba"[number % 2], number)
        story.then("created", group(f"new-{number}"))
    assert story.violated("I-17") == []


def job(uid: str, replicas: int = 2, **status: Any) -> Document:
    tasks = [{"name": "w", "replicas": replicas}]
    made = document("Job", "train", "ns", spec={"tasks": tasks})
    status = {"state": {"phase": "Pending"}, **status}
    return {**with_uid(made, uid), "apiVersion": JOB, "status": status}


def of_job(each: Document, uid: str) -> Document:
    made = owned(each, "Job", "train", uid)
    made["metadata"]["ownerReferences"][0]["apiVersion"] = JOB
    return made


def test_a_job_that_replaced_another_and_gets_no_pods() -> None:
    story = Story(*BEGIN, job("old"))
    story.then("deleted", job("old"))
    story.then("created", job("new"))
    story.then("created", group("train-new", 2, "Inqueue"))
    (found,) = story.violations("I-02")
    assert (found.kind, found.name) == ("Job", "ns/train")
    assert "0 of its 2 pods" in found.message
    for name in ("w-0", "w-1"):
        story.then("created", of_job(pod(name, "train-new"), "new"))
    assert story.violated("I-02") == []


def test_a_new_job_may_wait_for_a_busy_controller() -> None:
    assert Story(*BEGIN, job("new"), group("train-new", 2, "Inqueue")).violated("I-02") == []


def test_a_pod_of_a_job_that_is_gone() -> None:
    story = Story(*BEGIN, job("old"), group("train-old"), of_job(pod("w-0", "train-old"), "old"))
    assert story.violated("I-02d") == []
    assert ("Pod", "ns/w-0") in story.then("deleted", job("old"))
    assert story.violated("I-02d") == ["ns/w-0"]
    story.then("updated", deleting(of_job(pod("w-0", "train-old"), "old")))
    assert story.violated("I-02d") == []


def test_a_pod_of_another_job_of_that_name() -> None:
    story = Story(*BEGIN, job("new"), of_job(pod("w-0", "train-old"), "old"))
    (found,) = story.violations("I-02d")
    assert "has uid new" in found.message


def test_a_job_whose_uid_was_generated_may_be_the_one_that_a_pod_names() -> None:
    story = Story(*BEGIN, job(f"{GENERATED}1"), of_job(pod("w-0", "train-old"), "old"))
    assert story.violated("I-02d") == []


CARD = "GPU-1,2,1000,100,NVIDIA-A,hami-core"


def with_notes(each: Document, **notes: str) -> Document:
    kept = {**each["metadata"].get("annotations", {})}
    kept |= {f"volcano.sh/{name.replace('_', '-')}": value for name, value in notes.items()}
    return {**each, "metadata": {**each["metadata"], "annotations": kept}}


@pytest.mark.parametrize(("memory", "fields"), [(500, []), (600, ["GPU-1.memory"])])
def test_pods_that_have_more_of_a_card_than_it_has(memory: int, fields: list[str]) -> None:
    gives = {"vgpu_ids_new": f"GPU-1,NVIDIA,{memory},10:;", "vgpu_node": "n1"}
    pods = [with_notes(pod(name, "g", on="n1"), **gives) for name in "ab"]
    cards = with_notes(node("n1"), node_vgpu_register=f"{CARD}:")
    story = Story(queue("default"), cards, group("g"), *pods)
    assert [one.field for one in story.violations("I-03b")] == fields


def test_a_pod_that_has_cards_of_another_node() -> None:
    gives = {"vgpu_ids_new": "GPU-1,NVIDIA,100,10:;", "vgpu_node": "n2"}
    story = Story(*BEGIN, group("g"), with_notes(pod("a", "g", on="n1"), **gives))
    assert story.violated("I-03b") == ["ns/a"]


def test_a_card_that_two_pods_have_whole() -> None:
    shared = node("n1")
    shared["status"]["capacity"] = {"volcano.sh/gpu-memory": "20", "volcano.sh/gpu-number": "2"}
    pods = [with_notes(pod(name, "g", on="n1"), gpu_index="0") for name in "ab"]
    for each in pods:
        each["spec"]["containers"][0]["resources"]["limits"] = {"volcano.sh/gpu-number": "1"}
    story = Story(queue("default"), shared, group("g"), pods[0])
    assert story.violated("I-03b") == []
    story.then("created", pods[1])
    assert [one.field for one in story.violations("I-03b")] == ["0.whole"]
