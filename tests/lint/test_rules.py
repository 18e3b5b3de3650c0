"""Every rule finds what it is about, and nothing in its neighbour that is as it should be."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
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
from plinian.replay.lint.findings import Effect, Severity
from plinian.replay.lint.rules import RULES
from plinian.replay.lint.run import lint

PATH, WEIGHTS = "volcano.sh/hierarchy", "volcano.sh/hierarchy-weights"
HDRF = """
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: gang
  - name: drf
    enableHierarchy: true
  - name: predicates
"""
CLOSED = {"state": "Closed"}


class Example(NamedTuple):
    """What a rule finds and, next to it, what it does not."""

    bad: tuple[Document, ...]
    good: tuple[Document, ...]
    conf: str | None = None
    good_conf: str | None = None


def of(
    bad: Any = (), good: Any = (), conf: str | None = None, good_conf: str | None = None
) -> Example:
    """Return an example of objects, or of configurations."""

    def listed(given: Any) -> tuple[Document, ...]:
        return (given,) if isinstance(given, dict) else tuple(given)

    return Example(listed(bad), listed(good), conf, conf if good_conf is None else good_conf)


def hierarchy(path: str, weights: str) -> Document:
    """Return a queue with a place by annotation."""
    return queue("a", annotations={PATH: path, WEIGHTS: weights})


def with_arguments(plugin: str, **arguments: Any) -> str:
    """Return a configuration that gives a plugin arguments; ``__`` stands for a dot."""
    lines = [f"      {name.replace('__', '.')}: {value}" for name, value in arguments.items()]
    return "\n".join([f"{FLAT}  - name: {plugin}", "    arguments:", *lines, ""])


BINPACK = with_arguments("binpack", binpack__weight=10)
EXAMPLES: dict[str, Example] = {
    "object-malformed": of(queue("a", weight="heavy"), queue("a", weight=2)),
    "object-unnamed": of(queue(""), queue("a")),
    "object-repeated": of((queue("a"), queue("a")), (queue("a"), queue("b"))),
    "quantity-malformed": of(
        queue("a", capability={"cpu": "2x"}), queue("a", capability={"cpu": 2})
    ),
    "quantity-negative": of(
        group("g", minResources={"cpu": "-1"}), group("g", minResources={"cpu": "1"})
    ),
    "resource-not-counted": of(
        queue("a", capability={"gpu": 1}), queue("a", capability={"nvidia.com/gpu": 1})
    ),
    "resource-nowhere": of(
        (node("n"), queue("a", deserved={"nvidia.com/gpu": 1})),
        (node("n", **{"nvidia.com/gpu": "2"}), queue("a", deserved={"nvidia.com/gpu": 1})),
    ),
    "queue-parent-missing": of(
        queue("a", parent="team"), (queue("team"), queue("a", parent="team")), TREE
    ),
    "queue-parent-cycle": of(
        (queue("a", parent="b"), queue("b", parent="a")), (queue("a", parent="b"), queue("b")), TREE
    ),
    "queue-exceeds-parent": of(
        (queue("a", capability={"cpu": 4}), queue("b", parent="a", capability={"cpu": "4001m"})),
        (queue("a", capability={"cpu": 4}), queue("b", parent="a", capability={"cpu": "4000m"})),
        TREE,
    ),
    "queue-children-exceed-deserved": of(
        (
            queue("a", deserved={"cpu": 4}),
            queue("b", parent="a", deserved={"cpu": 3}),
            queue("c", parent="a", deserved={"cpu": 2}),
        ),
        (
            queue("a", deserved={"cpu": 5}),
            queue("b", parent="a", deserved={"cpu": 3}),
            queue("c", parent="a", deserved={"cpu": 2}),
        ),
        TREE,
    ),
    "queue-children-exceed-guarantee": of(
        (
            queue("a", guarantee={"resource": {"cpu": 1}}),
            queue("b", parent="a", guarantee={"resource": {"cpu": 2}}),
        ),
        (
            queue("a", guarantee={"resource": {"cpu": 2}}),
            queue("b", parent="a", guarantee={"resource": {"cpu": 2}}),
        ),
        TREE,
    ),
    "queue-guarantees-exceed-room": of(
        (node("n", "8"), queue("a", guarantee={"resource": {"cpu": 9}})),
        (node("n", "8"), queue("a", guarantee={"resource": {"cpu": 8}})),
        TREE,
    ),
    "queue-below-busy-queue": of(),  # needs a log: see below
    "job-in-parent-queue": of(group("g", "root"), group("g", "default"), TREE),
    "root-capability-ignored": of(queue("root", capability={"cpu": 8}), queue("root"), TREE),
    "queue-parent-ignored": of(
        (queue("a"), queue("b", parent="a")), queue("b", parent="root"), FLAT
    ),
    "queue-refused-for-amounts": of(
        queue("a", capability={"cpu": 4}, deserved={"cpu": "4001m"}),
        queue("a", capability={"cpu": 4}, deserved={"cpu": "4000m"}),
    ),
    "queue-refused-below-parent": of(
        (queue("a", capability={"cpu": 4}), queue("b", parent="a", capability={"cpu": 5})),
        (queue("a", capability={"cpu": 4}), queue("b", parent="a", capability={"cpu": 4})),
    ),
    "queue-refused-for-depth": of(queue("a", parent="a"), queue("a", parent="root")),
    "queue-refused-without-parent": of(
        queue("a", parent="b"), (queue("b"), queue("a", parent="b")), FLAT, TREE
    ),
    "queue-before-parent": of(
        (queue("a", parent="b"), queue("b")), (queue("b"), queue("a", parent="b"))
    ),
    "queue-guarantee-above-deserved": of(
        queue("a", deserved={"cpu": 1}, guarantee={"resource": {"cpu": 2}}),
        queue("a", deserved={"cpu": 2}, guarantee={"resource": {"cpu": 2}}),
        FLAT,
    ),
    "queue-deserved-above-capability": of(
        queue("a", deserved={"cpu": 3}, capability={"cpu": 2}),
        queue("a", deserved={"cpu": 3}, capability={"memory": "2Gi"}),
        FLAT,
    ),
    "queue-guarantee-above-capability": of(
        queue("a", guarantee={"resource": {"memory": "3Gi"}}, capability={"memory": "2Gi"}),
        queue("a", guarantee={"resource": {"memory": "2Gi"}}, capability={"memory": "2Gi"}),
        PROPORTION,
    ),
    "guarantees-exceed-cluster": of(
        (node("n", "4"), *(queue(n, guarantee={"resource": {"cpu": 3}}) for n in "ab")),
        (node("n", "6"), *(queue(n, guarantee={"resource": {"cpu": 3}}) for n in "ab")),
        PROPORTION,
    ),
    "guarantees-break-division": of(
        (node("n", "4"), queue("a", guarantee={"resource": {"cpu": 3}}), queue("b")),
        (node("n", "4"), queue("a", guarantee={"resource": {"cpu": 1}}), queue("b")),
        PROPORTION,
    ),
    "queue-deserved-ignored": of(queue("a", deserved={"cpu": 1}), queue("a", weight=3), PROPORTION),
    "queue-weight-ignored": of(queue("a", weight=3), queue("a", weight=1), FLAT),
    "queue-weight-negative": of(queue("a", weight=-1), queue("a", weight=1)),
    "queue-hierarchy-annotations": of(
        hierarchy("root/a/b", "1/2"), hierarchy("root/a/b", "1/2/3"), HDRF
    ),
    "queue-hierarchy-ignored": of(
        hierarchy("root/a", "1/2"), hierarchy("root/a", "1/2"), TREE, HDRF
    ),
    "queue-beside-hierarchy": of(
        (hierarchy("root/a", "1/2"), queue("b")), (queue("a"), queue("b")), HDRF
    ),
    "reclaim-without-victims": of(
        (queue("default", reclaimable=False), queue("a", reclaimable=False)),
        (queue("default", reclaimable=False), queue("a")),
        FLAT.replace("backfill", "reclaim"),
    ),
    "job-without-tasks": of(job("j"), job("j", task("w", 1))),
    "job-min-available-unreachable": of(
        job("j", task("a", 1), task("b", 2), minAvailable=4),
        job("j", task("a", 1), task("b", 2), minAvailable=3),
    ),
    "task-min-available-unreachable": of(
        job("j", task("a", 2, minAvailable=3)), job("j", task("a", 3, minAvailable=3))
    ),
    "task-minima-ignored": of(
        job("j", task("a", 1, minAvailable=1), task("b", 4), minAvailable=3),
        job("j", task("a", 1, minAvailable=1), task("b", 4), minAvailable=5),
    ),
    "pod-group-min-member-unreachable": of(
        (group("g", minMember=2), pod("p", "g")), (group("g", minMember=1), pod("p", "g"))
    ),
    "pod-group-missing": of((group("g"), pod("p", "h")), (group("g"), pod("p", "g"))),
    "job-queue-missing": of(
        (queue("a"), job("j", task("w", 1), queue="b")),
        (queue("a"), job("j", task("w", 1), queue="a")),
    ),
    "job-queue-closed": of(
        (queue("a", status=CLOSED), group("g", "a")),
        (queue("a", status={"state": "Open"}), group("g", "a")),
    ),
    "min-resources-above-queue": of(
        (queue("a", capability={"cpu": 2}), job("j", task("w", 3), queue="a")),
        (queue("a", capability={"cpu": 3}), job("j", task("w", 3), queue="a")),
        FLAT,
    ),
    "min-resources-above-cluster": of(
        (node("n", "2"), node("m", "1"), group("g", minResources={"cpu": 4})),
        (node("n", "2"), node("m", "2"), group("g", minResources={"cpu": 4})),
    ),
    "pod-above-every-node": of(
        (node("n", "2"), node("m", "1"), job("j", task("w", 1, "3"))),
        (node("n", "3"), node("m", "1"), job("j", task("w", 1, "3"))),
    ),
    "priority-class-missing": of(
        (priority_class("high"), job("j", task("w", 1), priorityClassName="hihg")),
        (priority_class("high"), job("j", task("w", 1), priorityClassName="high")),
    ),
    "gang-unheeded": of(
        group("g", minMember=2), group("g", minMember=2), FLAT.replace("gang", "conformance"), FLAT
    ),
    "conf-rejected": of((), (), f"{HDRF}  - name: proportion\n", HDRF),
    "conf-key-unknown": of((), (), TREE.replace("enableHierarchy", "enableHierachy"), TREE),
    "conf-key-repeated": of((), (), f'{FLAT}actions: "allocate"\n', FLAT),
    "action-unknown": of((), (), FLAT.replace("backfill", "backfil"), FLAT),
    "action-allocate-missing": of((), (), FLAT.replace("allocate, ", ""), FLAT),
    "action-enqueue-missing": of((), (), FLAT.replace("enqueue, ", ""), FLAT),
    "configuration-unknown": of(
        (),
        (),
        f"{FLAT}configurations:\n- name: preempt\n",
        f"{FLAT}configurations:\n- name: allocate\n",
    ),
    "plugin-unknown": of((), (), f"{PROPORTION}  - name: gangs\n", PROPORTION),
    "plugin-repeated": of((), (), f"{FLAT}  - name: gang\n", FLAT),
    "capacity-beside-proportion": of((), (), f"{FLAT}  - name: proportion\n", FLAT),
    "queue-plugin-missing": of((), (), FLAT.replace("  - name: capacity\n", ""), PROPORTION),
    "gang-missing": of((), (), FLAT.replace("  - name: gang\n", ""), FLAT),
    "predicates-missing": of((), (), FLAT.replace("  - name: predicates\n", ""), FLAT),
    "nodeorder-without-predicates": of(
        (),
        (),
        FLAT.replace("predicates", "nodeorder"),
        f"{FLAT}  - name: nodeorder\n",
    ),
    "preempt-without-starving": of(
        (),
        (),
        FLAT.replace("backfill", "preempt")
        .replace("  - name: gang\n", "")
        .replace("priority", "conformance"),
        FLAT.replace("backfill", "preempt"),
    ),
    "preempt-without-priority": of(
        (),
        (),
        FLAT.replace("backfill", "preempt").replace("priority", "conformance"),
        FLAT.replace("backfill", "preempt"),
    ),
    "reclaim-without-queue-plugin": of(
        (),
        (),
        FLAT.replace("backfill", "reclaim").replace("capacity", "nodeorder"),
        PROPORTION.replace("backfill", "reclaim"),
    ),
    "reclaim-below-deserved": of(
        conf=TREE.replace('backfill"', 'backfill, reclaim"'),
        good_conf=FLAT.replace('backfill"', 'backfill, reclaim"').replace(
            "  - name: gang\n- plugins:\n", "  - name: gang\n"
        ),
    ),
    "hierarchy-unknown": of(
        (), (), f"{FLAT}  - name: drf\n  - {{name: sla, enableHierarchy: true}}\n", FLAT
    ),
    "argument-unknown": of((), (), BINPACK.replace("weight", "wieght"), BINPACK),
    "argument-type": of((), (), BINPACK.replace("10", '"10"'), BINPACK),
    "argument-value": of(
        (),
        (),
        with_arguments("overcommit", **{"overcommit-factor": 0.9}),
        with_arguments("overcommit", **{"overcommit-factor": 1.5}),
    ),
    "argument-unlisted": of(
        (),
        (),
        with_arguments("binpack", **{"binpack.resources.nvidia.com/gpu": 2}),
        with_arguments(
            "binpack",
            **{"binpack.resources": "nvidia.com/gpu", "binpack.resources.nvidia.com/gpu": 2},
        ),
    ),
    "device-modes-conflict": of(
        (),
        (),
        with_arguments(
            "deviceshare", deviceshare__GPUSharingEnable="true", deviceshare__VGPUEnable="true"
        ),
        with_arguments("deviceshare", deviceshare__VGPUEnable="true"),
    ),
}


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
        "queue-deserved-ignored",
    }


def _without_tree() -> set[str]:
    return {how.release for how in RELEASES if not how.root_queue}


def test_the_worst_is_told_first() -> None:
    findings = found(
        queue("z", parent="lost", weight=3), queue("a", capability={"gpu": 1}), conf=TREE
    )
    severities = [list(Severity).index(finding.severity) for finding in findings]
    assert severities == sorted(severities)
    assert len(set(severities)) == 3


def test_rules_say_what_they_are_about() -> None:
    for rule in RULES:
        assert rule.about.endswith("."), rule.name
        assert len(rule.about) <= 110, rule.name
        assert rule.group in {"object", "tree", "admission", "queue", "job", "conf", "argument"}


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
    assert found(queue("root", deserved={"cpu": 1}), conf=PROPORTION) == []
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
        assert finding.issue.effect is Effect.CRASHES
    unscored = bare.replace("nodeorder\n", "nodeorder\n    enableNodeOrder: false\n")
    assert found(conf=unscored, rule="nodeorder-without-predicates") == []
