"""An API version or a kind that no release has is said, with the one that there is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from linting import Document, cron_job, flow, found, group, hypernode, job, node, queue, task

from plinian.engine.kubernetes.resources import VOLCANO_KINDS, VOLCANO_VERSIONS
from plinian.replay.lint.findings import FaultEffect
from plinian.replay.lint.lint_task import LintTask, check
from plinian.replay.lint.manifest_reading import read_files
from plinian.replay.render.lint import lint_summary

RULES = {"api-version-unknown", "kind-unknown"}
SCHEDULING, BATCH = "scheduling.volcano.sh/v1beta1", "batch.volcano.sh/v1alpha1"
GANG = task("w", 1)


def told(document: Document) -> list[tuple[str, str, str]]:
    issues = [one.issue for one in found(document) if one.rule in RULES]
    assert all(one.effect is FaultEffect.REFUSED for one in issues)
    return [(one.field, one.message, one.now) for one in issues]


@pytest.mark.parametrize("kind", sorted(VOLCANO_KINDS))
def test_each_kind_of_volcano_has_one_version(kind: str) -> None:
    of = VOLCANO_KINDS[kind]
    right = f"{of}/{VOLCANO_VERSIONS[of]}"
    made: Document = {"apiVersion": right, "kind": kind, "metadata": {"name": "a"}}
    assert told(made) == []
    for version in ("v1", "v1alpha2", "v2", ""):
        wrong = f"{of}/{version}" if version else of
        ((field, message, now),) = told({**made, "apiVersion": wrong})
        assert (field, now) == ("apiVersion", f"write apiVersion: {right}")
        assert message == (
            f"there is no apiVersion {wrong!r} in any release: no API server accepts the object"
        )


@pytest.mark.parametrize(
    ("document", "field", "now"),
    [
        ({**queue("a"), "apiVersion": BATCH}, "apiVersion", f"write apiVersion: {SCHEDULING}"),
        ({**queue("a"), "apiVersion": "v1"}, "apiVersion", f"write apiVersion: {SCHEDULING}"),
        (
            {**queue("a"), "apiVersion": "scheduling.volcano.io/v1beta1"},
            "apiVersion",
            f"write apiVersion: {SCHEDULING}",
        ),
        ({**queue("a"), "kind": "queue"}, "kind", "write kind: Queue"),
        ({**queue("a"), "kind": "Queues"}, "kind", "write kind: Queue"),
        ({**group("a"), "kind": "Podgroup"}, "kind", "write kind: PodGroup"),
        (
            {**queue("a"), "kind": "jobs"},
            "kind",
            f"write kind: Job, and apiVersion: {BATCH}",
        ),
        ({**queue("a"), "kind": "Tenant"}, "kind", "it has PodGroup, Queue"),
        (
            {**job("a", GANG), "apiVersion": "batch/v1"},
            "apiVersion",
            f"write apiVersion: {BATCH}",
        ),
        (
            {**cron_job("a", "* * * * *", GANG), "apiVersion": "batch/v1"},
            "apiVersion",
            f"write apiVersion: {BATCH}",
        ),
        (
            {**job("a", GANG), "apiVersion": "flow.volcano.sh/v1alpha1"},
            "apiVersion",
            f"write apiVersion: {BATCH}",
        ),
    ],
)
def test_a_kind_that_is_elsewhere_or_nowhere_is_said_with_the_right_one(
    document: Document, field: str, now: str
) -> None:
    ((where, _, advice),) = told(document)
    assert (where, advice) == (field, now)


@pytest.mark.parametrize(
    "document",
    [
        queue("a"),
        group("a"),
        job("a", GANG),
        cron_job("a", "* * * * *", GANG),
        flow("a", b=[]),
        hypernode("a", 1),
        node("n"),
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}, "spec": {}},
        {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "metadata": {}},
        {"apiVersion": "volcano.example.com/v1", "kind": "Tenant", "metadata": {"name": "a"}},
    ],
)
def test_what_exists_or_belongs_to_others_is_not_said(document: Document) -> None:
    assert told(document) == []


def test_an_object_whose_kind_does_not_exist_is_something_to_check(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({**queue("a"), "kind": "Qeue"}), "utf-8")
    report = check(LintTask(read_files([str(path)])), [])
    assert [one.rule for one in report.findings] == ["kind-unknown"]
    assert lint_summary(report).startswith("1 error in 1 object,")


def test_the_other_rules_check_an_object_of_an_unknown_version() -> None:
    wrong = {**queue("a", parrent="root"), "apiVersion": "scheduling.volcano.sh/v1"}
    assert {one.rule for one in found(wrong)} == {"api-version-unknown", "field-unknown"}
