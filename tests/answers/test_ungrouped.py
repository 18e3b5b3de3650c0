"""What ``why`` says of jobs of Volcano that have no PodGroup, or not any more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from answer_worlds import NODES, Document, watched_log

from plinian.replay.answers.answer import Why
from plinian.replay.answers.why import why_at
from sessions import document, group, node, pod, queue

RELEASE = "v1.12.1"
OWN = "train-uid-train"
IGNORED = "does not exist, and without it the scheduler ignores the pods"


def job(phase: str = "Pending") -> Document:
    """Return the job ``train`` of Volcano."""
    made = document("Job", "train", "ns", spec={}, status={"state": {"phase": phase}})
    made["metadata"]["uid"] = "uid-train"
    return made


def member(name: str, on: str = "") -> Document:
    """Return a pod of the job."""
    return pod(name, OWN, 1, on, annotations={"volcano.sh/job-name": "train"})


def both(log: Any) -> list[Why]:
    """Ask about the job and about its pod."""
    names = ("job/train", "pod/train-0")
    return [why_at(log, log.object(name), namespace="ns", release=RELEASE) for name in names]


def added(*documents: Document) -> list[tuple[str, Document]]:
    """Return objects that are created one after the other."""
    return [("ADDED", one) for one in documents]


WORLD = (node("n1", 1), queue("default"), group("other"))


def test_a_job_whose_podgroup_was_deleted_waits_for_what_its_pod_waits_for(tmp_path: Path) -> None:
    gone = [*added(*WORLD, job(), group(OWN), member("train-0")), ("DELETED", group(OWN))]
    with watched_log(tmp_path, NODES, *gone) as log:
        whole, one = both(log)
    assert whole.sentence == f"job ns/train waits because its PodGroup ns/{OWN} {IGNORED}"
    assert whole.cause == one.cause == f"no-podgroup ns/{OWN}"
    assert whole.made_by == one.made_by
    assert [(each.kind, each.revision) for each in whole.made_by] == [("podgroup.deleted", 7)]
    assert whole.chain[-1] == one.chain[-1]
    assert [stage.cause for stage in whole.stages][-1] == whole.cause


def test_a_job_whose_pods_name_a_podgroup_that_the_log_never_held(ask: Any) -> None:
    found = ask("job/train", NODES, *WORLD, job(), member("train-0"))
    assert found.sentence == f"job ns/train waits because its PodGroup ns/{OWN} {IGNORED}"


def test_a_job_without_pods_whose_podgroup_was_deleted(tmp_path: Path) -> None:
    gone = [*added(*WORLD, pod("b", "other"), job(), group(OWN)), ("DELETED", group(OWN))]
    with watched_log(tmp_path, NODES, *gone) as log:
        found = why_at(log, log.object("job/train"), namespace="ns", release=RELEASE)
    assert found.sentence == (
        f"job ns/train waits because its PodGroup ns/{OWN} does not exist any more: Volcano's job "
        "controller has to make it again, and the job is Pending"
    )
    assert [each.kind for each in found.made_by] == ["podgroup.deleted"]


def test_a_job_that_never_had_a_podgroup(ask: Any) -> None:
    found = ask("job/train", NODES, *WORLD, pod("b", "other"), job())
    assert found.sentence == (
        "job ns/train waits because it has no PodGroup yet: Volcano's job controller makes it, and "
        "the job is Pending"
    )
    assert found.cause == "no-podgroup"


@pytest.mark.parametrize("pods", [(), (member("train-0"),)])
def test_without_podgroups_in_the_log_it_is_not_known_why_a_job_waits(ask: Any, pods: Any) -> None:
    found = ask("job/train", NODES, node("n1", 1), queue("default"), job(), *pods)
    assert found.sentence == "it is not known why job ns/train waits: the log holds no podgroups"
    assert (found.waits, found.cause) == (None, "unknown")


def test_without_podgroups_a_running_job_is_not_said_to_be_unseen(ask: Any) -> None:
    found = ask("job/train", NODES, *WORLD[:2], job("Running"), member("train-0", "n1"))
    assert found.sentence == (
        "job ns/train is Running, and the log holds no podgroups: it is not known whether more of "
        "its pods wait"
    )
    assert found.waits is None


def test_a_running_job_with_a_waiting_pod_and_no_podgroup_waits(ask: Any) -> None:
    some = (member("train-0", "n1"), member("train-1"))
    found = ask("job/train", NODES, *WORLD, job("Running"), *some)
    assert found.sentence == f"job ns/train waits because its PodGroup ns/{OWN} {IGNORED}"
