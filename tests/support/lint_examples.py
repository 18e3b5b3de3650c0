"""Of each rule of ``lint`` an example: what it finds and, next to it, what it does not."""

from __future__ import annotations

from typing import Any, NamedTuple

from linting import (
    FLAT,
    PROPORTION,
    TREE,
    Document,
    cron_job,
    flow,
    group,
    hypernode,
    job,
    member,
    node,
    pod,
    priority_class,
    queue,
    task,
    template,
)

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
    "file-unreadable": of(),
    "api-version-unknown": of({**queue("a"), "apiVersion": "scheduling.volcano.sh/v1"}, queue("a")),
    "kind-unknown": of({**queue("a"), "kind": "Queues"}, queue("a")),
    "object-malformed": of(queue("a", weight="heavy"), queue("a", weight=2)),
    "object-unnamed": of(queue(""), queue("a")),
    "object-name-refused": of(queue("A_b"), queue("a-b.c")),
    "object-repeated": of((queue("a"), queue("a")), (queue("a"), queue("b"))),
    "key-repeated": of(),
    "field-unknown": of(queue("a", parrent="root"), queue("a", parent="root")),
    "field-of-later-release": of(queue("a", dequeueStrategy="fifo"), queue("a", weight=1)),
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
        queue("a", parent="b"), (queue("b"), queue("a", parent="b")), FLAT
    ),
    "queue-before-parent": of(
        (queue("a", parent="b"), queue("b")), (queue("b"), queue("a", parent="b"))
    ),
    "queue-refused-for-hierarchy": of(
        (
            queue("a", annotations={PATH: "root/x/y", WEIGHTS: "1/1/1"}),
            queue("b", annotations={PATH: "root/x", WEIGHTS: "1/1"}),
        ),
        (
            queue("b", annotations={PATH: "root/x", WEIGHTS: "1/1"}),
            queue("a", annotations={PATH: "root/x/y", WEIGHTS: "1/1/1"}),
        ),
    ),
    "queue-refused-for-state": of(
        queue("a", status={"state": "Closing"}), queue("a", status=CLOSED)
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
    "task-behind-its-gang": of(
        job(
            "j",
            task("m", 4, minAvailable=2),
            task("w", 2, minAvailable=1, dependsOn={"name": ["m"]}),
            minAvailable=3,
        ),
        job(
            "j",
            task("m", 4, minAvailable=2),
            task("w", 2, minAvailable=1, dependsOn={"name": ["m"]}),
            minAvailable=2,
        ),
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
    "job-refused-for-policy": of(
        job("j", task("w", 1), policies=[{"event": "PodFail", "action": "AbortJob"}]),
        job("j", task("w", 1), policies=[{"event": "PodFailed", "action": "AbortJob"}]),
    ),
    "job-refused-for-plugin": of(
        job("j", task("w", 1), plugins={"sv": []}), job("j", task("w", 1), plugins={"svc": []})
    ),
    "job-refused-for-volume": of(
        job("j", task("w", 1), volumes=[{"mountPath": "/a"}]),
        job("j", task("w", 1), volumes=[{"mountPath": "/a", "volumeClaimName": "a"}]),
    ),
    "job-refused-for-dependency": of(
        job("j", task("a", 1, dependsOn={"name": ["b"]})),
        job("j", task("a", 1, dependsOn={"name": ["b"]}), task("b", 1)),
    ),
    "job-refused-for-name": of(job("j", task("W", 1)), job("j", task("w", 1))),
    "job-refused-for-number": of(
        job("j", task("w", 1), maxRetry=-1), job("j", task("w", 1), maxRetry=0)
    ),
    "job-refused-for-partitions": of(
        job("j", task("w", 3, partitionPolicy={"totalPartitions": 2, "partitionSize": 2})),
        job("j", task("w", 4, partitionPolicy={"totalPartitions": 2, "partitionSize": 2})),
    ),
    "job-refused-for-queue": of(
        job("j", task("w", 1), queue="root"), job("j", task("w", 1), queue="default"), FLAT, FLAT
    ),
    "job-refused-for-template": of(
        job("j", task("w", 1, pod={"containers": []})), job("j", task("w", 1))
    ),
    "cron-job-refused": of(
        cron_job("c", "60 * * * *", task("w", 1)), cron_job("c", "0 * * * *", task("w", 1))
    ),
    "pod-refused-for-budget": of(
        pod("p", budget="0", schedulerName="volcano"),
        pod("p", budget="1", schedulerName="volcano"),
    ),
    "hypernode-refused": of(
        hypernode("s", 1, member("n", "node")), hypernode("s", 1, member("n", "Node"))
    ),
    "hypernode-selector-ignored": of(
        hypernode("s", 2, member(kind="HyperNode", regexMatch={"pattern": "s.*"})),
        hypernode("s", 1, member(regexMatch={"pattern": "n.*"})),
    ),
    "hypernode-mixed-members": of(
        hypernode("s", 2, member("n"), member("t", "HyperNode")), hypernode("s", 1, member("n"))
    ),
    "hypernode-cycle": of(
        (hypernode("s", 2, member("t", "HyperNode")), hypernode("t", 1, member("s", "HyperNode"))),
        (hypernode("s", 2, member("t", "HyperNode")), hypernode("t", 1, member("n"))),
    ),
    "hypernode-with-two-parents": of(
        (
            hypernode("s", 2, member("t", "HyperNode")),
            hypernode("u", 3, member("t", "HyperNode")),
            hypernode("t", 1, member("n")),
        ),
        (hypernode("s", 2, member("t", "HyperNode")), hypernode("t", 1, member("n"))),
    ),
    "hypernode-tier-order": of(
        (hypernode("s", 1, member("t", "HyperNode")), hypernode("t", 1, member("n"))),
        (hypernode("s", 2, member("t", "HyperNode")), hypernode("t", 1, member("n"))),
    ),
    "hypernode-member-missing": of(
        (node("m"), hypernode("s", 1, member("n"))), (node("n"), hypernode("s", 1, member("n")))
    ),
    "node-in-two-hypernodes": of(
        (hypernode("s", 1, member("n-1")), hypernode("t", 1, member(regexMatch={"pattern": "n-"}))),
        (
            hypernode("s", 1, member("n-1")),
            hypernode("t", 2, member("s", "HyperNode"), member("n-1")),
        ),
    ),
    "topology-refused": of(
        job("j", task("w", 1), networkTopology={"mode": "Hard"}),
        job("j", task("w", 1), networkTopology={"mode": "hard"}),
    ),
    "topology-tier-missing": of(
        (
            hypernode("s", 1, member("n")),
            group("g", networkTopology={"mode": "hard", "highestTierAllowed": 2}),
        ),
        (
            hypernode("s", 1, member("n")),
            group("g", networkTopology={"mode": "hard", "highestTierAllowed": 1}),
        ),
    ),
    "flow-dependency-missing": of(flow("f", a=[], b=["zzz"]), flow("f", a=[], b=["a"])),
    "flow-cycle": of(flow("f", a=["b"], b=["a"]), flow("f", a=[], b=["a"])),
    "flow-template-missing": of((template("b"), flow("f", a=[])), (template("a"), flow("f", a=[]))),
    "flow-repeated": of(
        {**flow("f"), "spec": {"flows": [{"name": "a"}, {"name": "a"}]}}, flow("f", a=[], b=[])
    ),
    "flow-policy-unknown": of(
        {**flow("f"), "spec": {"flows": [], "jobRetainPolicy": "keep"}}, flow("f")
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
