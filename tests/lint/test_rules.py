"""Every rule finds what it is about, and nothing in its neighbour that is as it should be."""

from __future__ import annotations

import pytest
from lint_examples import (
    EXAMPLES,
    of,
)
from linting import (
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
    priority_class,
    queue,
    task,
)

from plinian.engine.volcano.session.history import resolve
from plinian.replay.lint.findings import FaultEffect, FindingSeverity
from plinian.replay.lint.lint_rules import RULES
from plinian.replay.lint.lint_run import lint


def test_every_rule_has_an_example() -> None:
    assert [rule.name for rule in RULES] == list(EXAMPLES)


@pytest.mark.parametrize("name", [name for name, example in EXAMPLES.items() if example != of()])
def test_a_rule_finds_what_it_is_about_and_nothing_else(name: str) -> None:
    example = EXAMPLES[name]
    bad = found(*example.bad, conf=example.conf, rule=name)
    assert bad
    assert all(finding.releases and finding.issue.message for finding in bad)
    assert all(finding.issue.subject.place is not None for finding in bad)
    assert found(*example.good, conf=example.good_conf, rule=name) == []


def test_a_queue_below_one_with_jobs_is_found_where_the_jobs_are_in_a_log() -> None:
    tree = (queue("team"), queue("a", parent="team"))
    at_work = inputs_of(*tree, group("g", "team"), conf=TREE, stored=True)
    (finding,) = [f for f in lint(at_work, RELEASES) if f.rule == "queue-below-busy-queue"]
    assert "PodGroup ml/g" in finding.issue.message
    idle = inputs_of(*tree, group("g", "a"), conf=TREE, stored=True)
    assert "queue-below-busy-queue" not in names(lint(idle, RELEASES))


def test_what_is_as_it_should_be_has_no_findings() -> None:
    sound = (
        node("n", "16"),
        priority_class("high"),
        queue(
            "team", capability={"cpu": 8}, deserved={"cpu": 4}, guarantee={"resource": {"cpu": 2}}
        ),
        queue("a", parent="team", deserved={"cpu": 4}, guarantee={"resource": {"cpu": 2}}),
        job("j", task("w", 4), queue="a", minAvailable=4, priorityClassName="high"),
        group("g", "a", minMember=1, minResources={"cpu": 2}),
        pod("p", "g"),
    )
    findings = found(*sound, conf=TREE)
    # Releases before the capacity plugin, and before its tree, cannot do what is written here.
    assert all(set(finding.releases) <= _without_tree() for finding in findings)
    assert names(findings) <= {
        *("plugin-unknown", "queue-plugin-missing", "queue-parent-ignored", "hierarchy-unknown"),
        *("queue-deserved-ignored", "field-of-later-release"),
    }


def _without_tree() -> set[str]:
    return {how.release for how in RELEASES if not how.root_queue}


def test_the_worst_is_told_first() -> None:
    findings = found(
        queue("z", parent="lost", weight=3), queue("a", capability={"gpu": 1}), conf=TREE
    )
    severities = [list(FindingSeverity).index(finding.severity) for finding in findings]
    assert severities == sorted(severities)
    assert len(set(severities)) == 3


def test_rules_say_what_they_are_about() -> None:
    for rule in RULES:
        assert rule.about.endswith("."), rule.name
        assert len(rule.about) <= 110, rule.name
        assert rule.group in {
            *("object", "tree", "admission", "queue", "job", "topology", "flow"),
            *("conf", "argument"),
        }


def test_what_cannot_be_there_at_once_may_run_all_the_same() -> None:
    """Nobody waits for minResources that overcommit does not look at; a Job's gang does."""
    nodes = (node("n", "2"), node("m", "2"))
    group_of, job_of = group("g", minResources={"cpu": 5}), job("j", task("w", 5))
    tree = TREE.replace('"enqueue, ', '"')

    def effects(*documents: Document, conf: str) -> set[str]:
        rule = "min-resources-above-cluster"
        return {f.issue.effect.value for f in found(*nodes, *documents, conf=conf, rule=rule)}

    assert effects(group_of, conf=tree) == {"does not do what it says"}
    assert effects(job_of, conf=tree) == {"is never scheduled"}
    assert effects(job_of, conf=tree.replace("gang", "sla")) == {"does not do what it says"}
    overcommit = f"{TREE}  - name: overcommit\n    arguments: {{overcommit-factor: 1.1}}\n"
    assert effects(group_of, conf=overcommit) == {"is never scheduled"}
    assert effects(group_of, conf=overcommit.replace("1.1", "1.5")) == {"does not do what it says"}


def test_a_queue_that_is_guaranteed_more_than_it_deserves_is_judged_by_release() -> None:
    document = queue("a", deserved={"cpu": 1}, guarantee={"resource": {"cpu": 2}})
    findings = found(document, conf=TREE, rule="queue-guarantee-above-deserved")
    told = {release: f.issue.message for f in findings for release in f.releases}
    assert "deserved rises to it" in told["v1.12.1"]
    assert "reclaim less" in told["v1.13.0"]
    assert "deserved rises to it" in told["v1.15.1"]


def test_what_volcano_writes_itself_is_no_fault() -> None:
    """Quotas in minResources are the controller's, deserved of the root is the scheduler's."""
    written = group("g", minResources={"count/pods": 2, "requests.cpu": 1, "cpu": 1})
    assert found(written, rule="resource-not-counted") == []
    root = found(queue("root", deserved={"cpu": 1}), conf=PROPORTION)
    assert names(root) == {"field-of-later-release"}
    admitted = job("j", task("a", 1, minAvailable=1), task("b", 4, minAvailable=4), minAvailable=3)
    stored = lint(inputs_of(admitted, stored=True), RELEASES)
    assert "task-minima-ignored" not in names(stored)


def test_templates_of_jobs_are_checked_as_jobs() -> None:
    spec = {"tasks": [task("w", 1)], "minAvailable": 2}
    metadata = {"name": "nightly", "namespace": "ml"}
    version = "batch.volcano.sh/v1alpha1"
    cron = {
        "apiVersion": version,
        "kind": "CronJob",
        "metadata": metadata,
        "spec": {"schedule": "0 1 * * *", "jobTemplate": {"spec": spec}},
    }
    flow = {
        "apiVersion": "flow.volcano.sh/v1alpha1",
        "kind": "JobTemplate",
        "metadata": metadata,
        "spec": spec,
    }
    for document in (cron, flow):
        (finding,) = found(document, rule="job-min-available-unreachable")
        assert str(finding.issue.subject) == "Job ml/nightly"
    assert found({**cron, "apiVersion": "batch/v1"}, rule="job-min-available-unreachable") == []


def test_our_own_release_grants_no_more_than_there_is() -> None:
    documents = (
        queue("a", capability={"cpu": 4}),
        queue("b", parent="a", capability={"cpu": 9}, deserved={"cpu": 2}),
    )
    findings = lint(inputs_of(*documents, conf=TREE), [resolve("hardened")])
    told = {finding.rule: finding.issue for finding in findings}
    assert "the excess is not granted" in told["queue-exceeds-parent"].message
    assert not told["queue-exceeds-parent"].effect.fatal


def test_nodeorder_without_predicates_is_told_of_the_releases_that_crash() -> None:
    bare = FLAT.replace("predicates", "nodeorder")
    off = f"{FLAT}  - name: nodeorder\n".replace(
        "predicates\n", "predicates\n    enablePredicate: false\n"
    )
    for conf in (bare, off):
        (finding,) = found(conf=conf, rule="nodeorder-without-predicates")
        assert list(finding.releases) == ["v1.12.0", "v1.12.1"]
        assert finding.issue.effect is FaultEffect.CRASHES
    unscored = bare.replace("nodeorder\n", "nodeorder\n    enableNodeOrder: false\n")
    assert found(conf=unscored, rule="nodeorder-without-predicates") == []


def test_counts_of_one_are_in_the_singular() -> None:
    (high,) = found(node("n", "2"), job("j", task("w", 1, "3")), rule="pod-above-every-node")
    assert high.message == "one pod requests cpu 3, but no node has all of that"
    (gang,) = found(job("j", task("w", 1), minAvailable=2), rule="job-min-available-unreachable")
    assert gang.message == "minAvailable 2 is more than the 1 pod of its tasks"
    (lacks,) = found(
        job("j", {**task("w", 0), "minAvailable": 1}), rule="task-min-available-unreachable"
    )
    assert lacks.message == "task 'w' needs 1 pod and has 0"


class TestTasksThatWait:
    def test_all_pods_are_needed_at_once_and_some_wait_for_others(self) -> None:
        works = task("w", 8, dependsOn={"name": ["m"]})
        (one,) = found(job("j", task("m", 1), works, minAvailable=9), rule="task-behind-its-gang")
        assert one.issue.message == (
            "its gang needs 9 pods at once, and only 1 exists before task 'm' runs"
        )
        assert one.issue.now == "set it to 1 at most"

    def test_a_minimum_of_the_task_that_waits(self) -> None:
        works = task("w", 2, minAvailable=1, dependsOn={"name": ["m"]})
        masters = task("m", 4, minAvailable=2)
        (one,) = found(job("j", masters, works, minAvailable=3), rule="task-behind-its-gang")
        assert one.issue.message == (
            "its gang needs 1 pod of task 'w', which gets none before task 'm' runs"
        )
        assert one.issue.now == "set it to 2 at most"

    def test_without_gang_nothing_waits_for_all(self) -> None:
        works = task("w", 8, dependsOn={"name": ["m"]})
        bare = FLAT.replace("  - name: gang\n", "")
        rule = "task-behind-its-gang"
        assert found(job("j", task("m", 1), works, minAvailable=9), conf=bare, rule=rule) == []
