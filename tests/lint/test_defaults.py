"""What an API server fills in is filled in before files are checked, as it is for ingest."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from linting import (
    FILE,
    FLAT,
    PROPORTION,
    RELEASES,
    TREE,
    Document,
    found,
    group,
    inputs_of,
    job,
    names,
    node,
    pod,
    queue,
    task,
)

from plinian.engine.ingest.objects.object_defaults import fill_in
from plinian.engine.ingest.reading.formats import Context
from plinian.replay.lint.findings import FilePlace
from plinian.replay.lint.lint_inputs import LintInputs
from plinian.replay.lint.lint_run import lint
from plinian.replay.lint.lint_task import LintTask, check
from plinian.replay.lint.manifest_reading import read_files
from plinian.replay.lint.objects import Manifest
from plinian.replay.render.lint import lint_notes


def without_allocatable(name: str, cpu: str) -> Document:
    made = node(name, cpu)
    return {**made, "status": {"capacity": made["status"]["allocatable"]}}


LIMITED = {"containers": [{"name": "a", "resources": {"limits": {"cpu": "2"}}}]}
WORLD: list[Document] = [
    without_allocatable("n", "8"),
    queue("a", capability={"cpu": "4"}, guarantee={"resource": {"cpu": "1"}}),
    {**queue("b"), "spec": {}},
    queue("default"),
    queue("below", parent="default"),
    group("g", minMember=2, minResources={"cpu": "20"}),
    pod("p", "g", **LIMITED),
    pod("q", "g", containers=[{"name": "a", "resources": {"limits": {"cpu": "9"}}}]),
    job("in-default", task("w", 2, pod=LIMITED), task("", 3)),
    job("of-a", task("w", 2, "3"), queue="a", minAvailable=1),
    job("large", task("w", 1, "16"), queue="b"),
]


def stored(documents: Sequence[Document]) -> list[Document]:
    """Return objects as an API server has them, which then have a uid."""
    made = copy.deepcopy(list(documents))
    for number, each in enumerate(made):
        fill_in(each, Context(source=FILE))
        each["metadata"]["uid"] = f"uid-{number}"
    return made


@pytest.mark.parametrize("conf", [None, TREE, FLAT, PROPORTION])
def test_what_is_written_and_what_is_filled_in_have_the_same_findings(conf: str | None) -> None:
    written, filled = (
        lint(inputs_of(*some, conf=conf), RELEASES) for some in (WORLD, stored(WORLD))
    )
    assert written == filled
    assert {"min-resources-above-cluster", "pod-above-every-node"} <= names(written)


def test_a_node_without_allocatable_has_its_capacity() -> None:
    small = job("j", task("w", 2, "2"))
    assert found(without_allocatable("n", "8"), small) == []
    large = found(without_allocatable("n", "8"), job("j", task("w", 1, "9")))
    assert any("all nodes have cpu 8" in one.message for one in large)


def test_a_job_without_a_queue_is_in_the_default_one() -> None:
    alone = job("j", task("w", 1))
    some = (queue("default"), queue("below", parent="default"))
    rule = "job-refused-for-queue"
    (of_written,) = found(*some, alone, conf=FLAT, rule=rule)
    (of_named,) = found(*some, job("j", task("w", 1), queue="default"), conf=FLAT, rule=rule)
    assert of_written == of_named
    assert "'default' has child queues (below)" in of_written.message


def test_minima_that_a_webhook_filled_in_are_not_said_to_be_written() -> None:
    written = job("j", task("w", 2), task("v", 2), minAvailable=3)
    rule = "task-minima-ignored"
    assert found(written, rule=rule) == []
    (kept,) = stored([written])
    assert kept["spec"]["tasks"][0]["minAvailable"] == 2
    assert found(kept, rule=rule) == []
    assert lint(inputs_of(kept, stored=True), RELEASES) == []
    del kept["metadata"]["uid"]
    assert len(found(kept, rule=rule)) == 1, "without a uid a person wrote them"


def test_the_minimum_of_partitions_that_a_webhook_filled_in_is_not_said_to_be_written() -> None:
    policy = {"totalPartitions": 4, "partitionSize": 2, "minPartitions": 2}
    parted = job("j", task("w", 8, partitionPolicy=policy), task("v", 2), minAvailable=5)
    (kept,) = stored([parted])
    assert kept["spec"]["tasks"][0]["minAvailable"] == 4
    assert found(kept, rule="task-minima-ignored") == []


def test_filling_in_changes_no_object_that_was_read_and_no_rule_about_fields() -> None:
    made = {**without_allocatable("n", "8"), "spce": {}}
    made["status"]["capacity"]["cpu"] = "8x"
    before = json.dumps([made, queue("a")])
    world = inputs_of(made, queue("a"))
    told = lint(world, RELEASES)
    assert json.dumps([made, queue("a")]) == before
    (of_amount,) = [one for one in told if one.rule == "quantity-malformed"]
    assert of_amount.issue.field == "status.capacity.cpu"


def test_objects_get_the_namespace_that_was_given() -> None:
    documents = [group("g", "lost"), job("j", task("w", 1), queue="lost"), queue("a")]
    for each in documents[:2]:
        del each["metadata"]["namespace"]
    manifests = [Manifest(one, FilePlace(FILE, at, at)) for at, one in enumerate(documents)]
    world = LintInputs(manifests, namespace="team")
    assert set(world.pod_groups) == {"team/g"}
    assert world.pod_groups["team/g"].namespace == "team"


def told(path: Path, *documents: Document) -> list[str]:
    path.write_text("\n".join(map(json.dumps, documents)), "utf-8")
    report = check(LintTask(read_files([str(path)])), ())
    assert report.document.assumed == report.assumed
    return [one for one in lint_notes(report) if one.startswith("assumed: ")]


def test_it_is_said_once_what_was_assumed_where_an_answer_rests_on_it(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    nodes = [without_allocatable("n1", "8"), without_allocatable("n2", "8")]
    sentence = (
        "assumed: 2 nodes (n1 and others) had no status.allocatable: taken to be the capacity, "
        "as an API server or a webhook sets it"
    )
    assert told(path, *nodes, job("j", task("w", 1))) == [sentence]
    assert told(path, *nodes) == [], "no amount is compared with that of nodes"
    assert told(path, node("n"), job("j", task("w", 1)), queue("a")) == []
    assert told(path, job("j", task("w", 1))) == [], "what is created gets this for certain"
