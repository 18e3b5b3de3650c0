"""The objects that a cluster lives on with: without those that cannot be decoded, owners named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from answer_worlds import NODES, Document, log_of, owned
from click.testing import CliRunner

from plinian.replay.cli.main import app
from plinian.replay.logs.readable_objects import readable_at
from sessions import group, node, pod, queue

JOB: Document = {
    "kind": "Job",
    "metadata": {"name": "train", "namespace": "ns"},
    "spec": {"minAvailable": 1, "queue": "default", "schedulerName": "volcano", "tasks": []},
    "status": {"state": {"phase": "Pending"}},
}
PAIRS = (("batch.volcano.sh", "Job"), ("scheduling.volcano.sh", "PodGroup"), ("", "Pod"))


def world(uid: str) -> list[Document]:
    job = {**JOB, "metadata": {**JOB["metadata"], **({"uid": uid} if uid else {})}}
    made = [owned(group("pg", 1, "Inqueue"), "train"), owned(pod("p", "pg", 1), "train")]
    return [node("n1"), queue("default"), job, *made]


def owners(documents: list[dict[str, Any]]) -> set[str]:
    found = (one["metadata"].get("ownerReferences") or () for one in documents)
    return {owner["uid"] for some in found for owner in some}


@pytest.mark.parametrize(("uid", "known"), [("", True), ("uid-train", True), ("another", False)])
def test_owners_without_a_uid_are_known_by_kind_and_name(
    tmp_path: Path, uid: str, *, known: bool
) -> None:
    with log_of(tmp_path, NODES, *world(uid)) as log:
        found = readable_at(log, log.moment("end"), PAIRS)
    jobs = {one["metadata"]["uid"] for one in found if one["kind"] == "Job"}
    assert owners(found) == (jobs if known else {"uid-train"})


def test_a_cluster_lives_on_with_the_pods_of_a_job_without_a_uid(tmp_path: Path) -> None:
    said = []
    for uid in ("", "uid-train"):
        folder = tmp_path / f"of-{uid}"
        folder.mkdir()
        with log_of(folder, NODES, *world(uid)):
            pass
        command = ["what-if", "--for", "1m", "--log", str(folder / "log.db")]
        lines = CliRunner().invoke(app, command).stdout.splitlines()
        said.append([line for line in lines if line.startswith(("starts", "original", "deletes"))])
    assert said[0] == said[1]
    assert any(line.startswith("starts") for line in said[0])
