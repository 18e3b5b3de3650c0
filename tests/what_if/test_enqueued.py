"""Changes by which a job without pods is enqueued: they help only if its pods then start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from answer_worlds import CAPACITY, Document, owned
from helping import helped, texts_of

from plinian.replay.what_if.cluster_changes import SetField
from plinian.replay.what_if.pairs import distinct
from plinian.replay.what_if.suggestion import OPEN, PAIR, Suggestion, queue_name, single
from sessions import document, group, node, pod, queue

NO_CHECK = "enableJobEnqueued: false on plugin capacity"
OPENED = "queue small is open"


def job(**spec: Any) -> Document:
    """Return the job ``train`` of Volcano, of one pod with 2 CPUs."""
    containers = [{"name": "main", "resources": {"requests": {"cpu": "2"}}}]
    template = {"spec": {"schedulerName": "volcano", "containers": containers, **spec}}
    tasks = [{"name": "w", "replicas": 1, "template": template}]
    made = document("Job", "train", "ns", spec={"tasks": tasks, "queue": "small"})
    return {**made, "status": {"state": {"phase": "Pending"}}}


def world(state: str, *more: Document) -> list[Document]:
    """Return a job without pods, whose queue may be closed."""
    wanted = group("new", 1, "Pending", queue="small", minResources={"cpu": "2"})
    queues = (queue("root"), queue("small", parent="root", state=state), queue("default"))
    running = (group("keeps", 1, "Running"), pod("k", "keeps", 1, "n1"))
    return [node("n1", 5), *queues, owned(wanted, "train"), *running, *more]


RESERVES = (
    group("big", 3, minResources={"cpu": "6"}),
    *(pod(f"big-{number}", "big", 2) for number in range(3)),
)
"""A gang that does not fit, and for which more is reserved than there is."""


def test_a_change_that_only_enqueues_does_not_help(tmp_path: Path) -> None:
    found = helped(tmp_path, CAPACITY, *world("Closed", *RESERVES, job()))
    texts = [one.text for one in found.found]
    assert NO_CHECK not in texts
    assert NO_CHECK in found.in_vain
    assert OPENED in found.in_vain


def test_what_opening_the_queue_uncovers_is_tried_with_it(tmp_path: Path) -> None:
    found = helped(tmp_path, CAPACITY, *world("Closed", *RESERVES, job()))
    pairs = texts_of(found, PAIR)
    assert f"{OPENED}, and one more node like n1" in pairs
    assert f"{OPENED}, and podgroup ns/big is gone" in pairs
    assert {one.starts for one in found.found} == {"enqueued"}


def test_a_job_whose_pods_the_next_sessions_start_is_helped(tmp_path: Path) -> None:
    found = helped(tmp_path, CAPACITY, *world("Closed", job()))
    assert texts_of(found, OPEN) == [OPENED]


def test_a_job_whose_pods_no_node_takes_is_not_helped_by_being_enqueued(tmp_path: Path) -> None:
    found = helped(tmp_path, CAPACITY, *world("Closed", job(nodeSelector={"disk": "ssd"})))
    assert texts_of(found, OPEN) == []
    assert OPENED in found.in_vain


@pytest.mark.parametrize(("least", "helps"), [(1, True), (2, False)])
def test_pods_that_are_let_in_start_beside_others_that_are_rejected(
    tmp_path: Path, least: int, *, helps: bool
) -> None:
    known = document("PriorityClass", "low", value=1)
    made, odd = job(), job(priorityClassName="gone")
    tasks = [*made["spec"]["tasks"], {**odd["spec"]["tasks"][0], "name": "odd"}]
    two = {**made, "spec": {**made["spec"], "tasks": tasks}}
    gang = owned(group("new", least, "Pending", queue="small", minResources={"cpu": "2"}), "train")
    others = [one for one in world("Closed") if one["metadata"]["name"] != "new"]
    found = helped(tmp_path, CAPACITY, *others, gang, known, two)
    assert texts_of(found, OPEN) == ([OPENED] if helps else [])


def test_without_the_job_in_the_log_its_pods_are_believed_to_start(tmp_path: Path) -> None:
    found = helped(tmp_path, CAPACITY, *world("Closed"))
    assert texts_of(found, OPEN) == [OPENED]


@pytest.mark.parametrize("turned", [False, True])
def test_a_pair_is_tried_once_in_whatever_order(*, turned: bool) -> None:
    changes = [SetField(queue_name(name), ("status", "state"), "Open") for name in ("a", "b")]
    order = changes[::-1] if turned else changes
    pairs: list[Suggestion] = [single(PAIR, 0, "x", *changes), single(PAIR, 1, "y", *order)]
    assert [one.text for one in distinct(pairs)] == ["x"]
