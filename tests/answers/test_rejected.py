"""Jobs without pods, as the API server rejects pods whose PriorityClass does not exist."""

from __future__ import annotations

from typing import Any

import pytest
from answer_worlds import NODES, Document, owned

from sessions import document, group, node, pod, queue

OTHER = document("PriorityClass", "low", value=1)
BUILT_IN = "system-node-critical"
WAITS = "job ns/train waits because none of its pods exists: "
MAKES = "it is enqueued, and the controller of its Job has to make them"


def job(*, of_pods: str = "", of_job: str = "", replicas: int = 1) -> Document:
    """Return the job ``train`` of Volcano, of one task."""
    spec = {"priorityClassName": of_pods} if of_pods else {}
    tasks = [{"name": "w", "replicas": replicas, "template": {"spec": spec}}]
    whole = {"priorityClassName": of_job} if of_job else {}
    state = {"state": {"phase": "Pending"}}
    return document("Job", "train", "ns", spec={"tasks": tasks, **whole}, status=state)


def world(*more: Document, least: int = 1) -> list[Document]:
    """Return a job that is enqueued."""
    return [
        node("n1", 4),
        queue("default"),
        owned(group("pg", least, "Inqueue"), "train"),
        *(group("other", 1, "Running"), pod("o", "other", 1, "n1")),
        *more,
    ]


def test_pods_of_a_class_that_does_not_exist_are_rejected(ask: Any) -> None:
    for made in (job(of_pods="urgent"), job(of_job="urgent")):
        found = ask("job/train", NODES, *world(OTHER, made))
        assert found.sentence == (
            f"{WAITS}the API server rejects them, as their PriorityClass urgent does not exist"
        )
        assert found.cause == "no-priority-class urgent"
        assert [link.text for link in found.chain if link.blocks] == [
            found.sentence.partition("because ")[2]
        ]


def test_a_release_that_does_not_pass_the_class_of_the_job_on(ask: Any) -> None:
    found = ask("job/train", NODES, *world(OTHER, job(of_job="urgent")), release="v1.10.2")
    assert found.sentence == WAITS + MAKES


@pytest.mark.parametrize("name", ["low", BUILT_IN])
def test_a_class_that_exists_rejects_nothing(ask: Any, name: str) -> None:
    found = ask("job/train", NODES, *world(OTHER, job(of_pods=name)))
    assert found.sentence == WAITS + MAKES


def test_without_a_list_of_classes_it_is_not_known(ask: Any) -> None:
    found = ask("job/train", NODES, *world(job(of_pods="urgent")))
    assert found.sentence == (
        f"{WAITS}{MAKES}; it is not known whether their PriorityClass urgent exists, without which "
        "the API server rejects them: the log holds no complete list of priorityclasses"
    )
    assert found.cause == "no-pods"


def test_a_gang_that_lacks_pods_says_that_new_ones_are_rejected(ask: Any) -> None:
    some = (OTHER, job(of_pods="urgent", replicas=2), pod("a", "pg", 1))
    found = ask("job/train", NODES, *world(*some, least=2))
    assert found.sentence.endswith(
        "; the API server rejects new pods of task w, as their PriorityClass urgent does not exist"
    )


def test_the_queue_says_the_same(ask: Any) -> None:
    found = ask("queue/default", NODES, *world(OTHER, job(of_pods="urgent")))
    assert "as their PriorityClass urgent does not exist" in found.sentence
