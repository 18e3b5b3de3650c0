"""Queues that form a tree: sums, limits, what makes it unsound, and what follows from that."""

from __future__ import annotations

from typing import Any

import pytest
import short_scenarios

from plinian.engine.model.panic import Panic
from plinian.engine.model.resource import Resource
from plinian.engine.session.framework import framework_orders as orders
from plinian.engine.session.framework import immediate, voting
from plinian.engine.session.framework.session import Session
from plinian.engine.session.plugins.capacity import Capacity
from plinian.engine.session.plugins.capacity.attrs import QueueAttr
from sessions import RELEASE, Document, group, job, node, opened, pod, queue, tasks

CONF = """
actions: "enqueue, allocate"
tiers:
- plugins:
  - name: capacity
    enableHierarchy: true
"""
ROOT = queue("root")


def tree(
    *documents: Document, root: Document | None = ROOT, release: str = RELEASE
) -> tuple[Session, Capacity]:
    """Return a session with only this plugin, and the plugin."""
    given = documents if root is None else (root, *documents)
    ssn, plugins = opened(CONF, *given, release=release)
    plugin = plugins["capacity"]
    assert isinstance(plugin, Capacity)
    return ssn, plugin


def accounts(*documents: Document) -> dict[str, QueueAttr]:
    """Return the accounts of a tree that is sound."""
    ssn, plugin = tree(*documents)
    assert ssn.errors == []
    return plugin._attrs


NODE = node("n1", cpu=10, memory="20Gi")
TEAM = (queue("team"), queue("left", parent="team"), queue("right", parent="team"))


def test_a_queue_without_parent_is_below_the_root() -> None:
    attrs = accounts(NODE, *TEAM)
    assert [attr.name for attr in attrs["left"].lineage] == ["left", "team", "root"]
    assert [attr.name for attr in attrs["team"].lineage] == ["team", "root"]
    assert [attr.name for attr in attrs["root"].lineage] == ["root"]


def test_what_jobs_hold_and_ask_for_counts_in_all_queues_above() -> None:
    attrs = accounts(
        NODE,
        *TEAM,
        group("j1", queue="left", minResources={"cpu": "1"}, phase="Running"),
        pod("p1", "j1", cpu=2, on="n1"),
        pod("p2", "j1", cpu=3),
        group("j2", queue="right", minResources={"cpu": "4"}),
    )
    for name in ("team", "root"):
        assert attrs[name].allocated.cpu == 2000
        assert attrs[name].request.cpu == 5000
        assert attrs[name].elastic.cpu == 1000
        assert attrs[name].inqueue.cpu == 4000
    assert attrs["left"].inqueue.cpu == 0


def test_the_root_may_use_and_deserves_the_cluster() -> None:
    attrs = accounts(NODE, queue("team", guarantee={"resource": {"cpu": "1"}}))
    total = Resource(10000, 20 * 1024.0**3, {"pods": 110.0})
    assert attrs["root"].deserved == attrs["root"].real_capability == total
    assert attrs["root"].guarantee.cpu == 1000


def test_limits_go_down_the_tree() -> None:
    attrs = accounts(
        NODE,
        queue("team", capability={"cpu": "6"}, guarantee={"resource": {"cpu": "4"}}),
        queue("other", guarantee={"resource": {"cpu": "2"}}),
        queue("left", parent="team", guarantee={"resource": {"cpu": "3"}}),
        queue("right", parent="team", capability={"cpu": "2"}),
    )
    limits = {name: attr.real_capability.cpu for name, attr in attrs.items() if attr.name != "root"}
    # root: 10 − 6 guaranteed + own; team: 6 − 3 guaranteed + own
    assert limits == {"team": 6000, "other": 6000, "left": 6000, "right": 2000}
    assert attrs["left"].capability.cpu == 6000


def test_the_root_is_told_the_sum_of_its_childrens_guarantees() -> None:
    ssn, _ = tree(
        NODE,
        queue("a", guarantee={"resource": {"cpu": "1"}}, deserved={"cpu": "1"}),
        queue("b", guarantee={"resource": {"cpu": "2"}}),
    )
    assert ssn.total_guarantee.cpu == 3000


UNSOUND = [
    (
        [queue("a", capability={"cpu": "11"})],
        (
            "Failed to check queue's hierarchical structure, error:"
            " queue <root> capability is less than its child queue <a>"
        ),
    ),
    (
        # No amount of it is little enough if the cluster does not name it.
        [queue("a", capability={"example.com/foo": "0"})],
        (
            "Failed to check queue's hierarchical structure, error:"
            " queue <root> capability is less than its child queue <a>"
        ),
    ),
    (
        [queue("a", deserved={"cpu": "6"}), queue("b", deserved={"cpu": "5"})],
        (
            "Failed to check queue's hierarchical structure, error:"
            " deserved resources of queue <root> are less than the sum of its child queues'"
            " deserved resources"
        ),
    ),
    (
        [
            queue("a", guarantee={"resource": {"cpu": "1"}}, deserved={"cpu": "5"}),
            queue("b", parent="a", guarantee={"resource": {"cpu": "2"}}),
        ],
        (
            "Failed to check queue's hierarchical structure, error:"
            " guarantee resources of queue <a> are less than the sum of its child queues'"
            " guarantee resources"
        ),
    ),
    (
        [queue("a"), queue("b", parent="gone")],
        "Failed to update Queue <b> attributes, error: the queue b has invalid parent queue gone",
    ),
    (
        [queue("z", parent="gone"), queue("b", parent="z")],
        "Failed to update Queue <b> attributes, error: the queue z has invalid parent queue gone",
    ),
    (
        [queue("a"), queue("b", parent="a"), group("j1", queue="a")],
        "The Queue <a> of Job <ns/j1> is not leaf queue",
    ),
]


@pytest.mark.parametrize(("documents", "error"), UNSOUND)
def test_an_unsound_tree_is_an_error(documents: list[Document], error: str) -> None:
    ssn, _ = tree(NODE, *documents)
    assert ssn.errors == [error]


@pytest.mark.parametrize(("documents", "error"), UNSOUND)
def test_an_unsound_tree_stops_all_queues(documents: list[Document], error: str) -> None:
    ssn, _ = tree(
        NODE,
        *documents,
        queue("other", deserved={"cpu": "1"}),
        group("j", queue="other", phase="Pending", minResources={"cpu": "1"}),
        pod("p", "j"),
        pod("q", "j", on="n1"),
    )
    pending, running = tasks(ssn, "p", "q")
    assert ssn.errors == [error]
    assert not voting.job_enqueueable(ssn, job(ssn, "j"), "ns/j")
    assert not voting.allocatable(ssn, "other", pending)
    assert not voting.preemptive(ssn, "other", (pending,))
    assert voting.reclaimable(ssn, pending, [running]) == []
    assert ssn.registry.flat("QueueOrder") == ssn.registry.flat("VictimQueueOrder") == []
    assert ssn.total_guarantee == Resource()


def test_what_children_deserve_is_bounded_before_it_is_summed() -> None:
    attrs = accounts(
        NODE,
        queue("a", deserved={"cpu": "20"}, capability={"cpu": "4"}),
        queue("b", deserved={"cpu": "1"}, guarantee={"resource": {"cpu": "2"}}),
    )
    assert attrs["a"].deserved == Resource(4000, 0)
    assert attrs["b"].deserved == Resource(2000, 0)


def test_a_scalar_of_zero_that_is_deserved_must_be_named_above() -> None:
    """The sum still names it when the queue's own share of it has gone."""
    ssn, _ = tree(NODE, queue("a", deserved={"cpu": "1", "example.com/foo": "0"}))
    assert "deserved resources of queue <root>" in ssn.errors[0]


def test_a_tree_without_root_and_queues_crashes() -> None:
    with pytest.raises(Panic, match="nil pointer") as caught:
        tree(NODE, root=None)
    assert caught.value.place == (
        "plugins/capacity.(*capacityPlugin).buildHierarchicalQueueAttrs",
        "plugins/capacity.(*capacityPlugin).OnSessionOpen",
        "framework.OpenSession",
    )


def test_without_a_root_no_queue_has_a_parent() -> None:
    ssn, _ = tree(NODE, queue("a"), root=None)
    assert ssn.errors == [
        "Failed to update Queue <a> attributes, error: the queue a has invalid parent queue root"
    ]


def test_a_placing_in_a_queue_without_account_crashes() -> None:
    """Backfill asks no queue: it places even when the tree could not be built."""
    ssn, plugin = tree(
        NODE, queue("a", parent="gone"), queue("b"), group("j", queue="b"), pod("p", "j")
    )
    assert "b" not in plugin._attrs
    with pytest.raises(Panic, match="nil pointer"):
        immediate.allocate(ssn, *tasks(ssn, "p"), 0)


def test_newer_releases_place_in_a_queue_without_account() -> None:
    ssn, plugin = tree(
        *(NODE, queue("a", parent="gone"), queue("b"), group("j", queue="b"), pod("p", "j")),
        release="v1.15.0",
    )
    assert "b" not in plugin._attrs
    immediate.allocate(ssn, *tasks(ssn, "p"), 0)
    assert ssn.tasks.node[tasks(ssn, "p")[0]] == 0


def test_queues_that_are_each_others_parents_are_never_reached() -> None:
    ssn, plugin = tree(
        NODE,
        queue("a", parent="b"),
        queue("b", parent="a"),
        queue("leaf", parent="b"),
        group("j", queue="leaf", phase="Pending", minResources={"cpu": "99"}),
        pod("p", "j"),
    )
    assert ssn.errors == []
    assert plugin._attrs["leaf"].real_capability is None
    assert voting.job_enqueueable(ssn, job(ssn, "j"), "ns/j")
    assert not voting.allocatable(ssn, "leaf", *tasks(ssn, "p"))


FULL = CONF.replace("- plugins:", "- plugins:\n  - name: gang\n  - name: predicates")
CYCLES = {
    "itself": [("a", "a")],
    "each other": [("a", "b"), ("b", "a")],
    "three": [("a", "b"), ("b", "c"), ("c", "a")],
}


def decided(release: str, below: list[tuple[str, str]], busy: str) -> dict[str, Any]:
    """Return what a session makes of queues below others, and of a job in one queue."""
    (step,) = short_scenarios.run(
        release,
        [
            *(short_scenarios.queue(name, parent=parent) for name, parent in below),
            short_scenarios.node("n1"),
            short_scenarios.group("j", cpu="1", queue=busy),
            short_scenarios.pod("p", "j"),
        ],
        conf=FULL,
    )
    return step


@pytest.mark.parametrize("cycle", CYCLES)
def test_queues_below_themselves_end_the_process_of_most_releases(cycle: str) -> None:
    """As v1.12.1, v1.13.0, v1.14.2 and v1.15.1 were seen to do."""
    assert decided("v1.12.1", CYCLES[cycle], "default")["binds"] == [["default/p", "n1"]]
    opening = decided("v1.13.0", CYCLES[cycle], "default")
    assert "nil pointer" in opening["panic"]
    assert opening["panic_at"].endswith("OnSessionOpen < framework.OpenSession")
    for release in ("v1.13.1", "v1.14.2", "v1.15.1"):
        copying = decided(release, CYCLES[cycle], "default")
        assert copying["panic"] == "stack overflow"
        assert copying["binds"] == []
        assert not any(group["written"] for group in copying["podgroups"].values())


def test_a_queue_below_such_may_use_nothing_later() -> None:
    below = [("a", "a"), ("leaf", "a")]
    assert "nil pointer" in decided("v1.13.0", below, "leaf")["panic"]
    for release in ("v1.13.1", "v1.14.2", "v1.15.1"):
        refused = decided(release, below, "leaf")
        assert refused["panic"] is None
        assert refused["podgroups"]["default/j"]["phase"] == "Pending"


def test_a_task_must_fit_the_queue_and_all_above() -> None:
    ssn, _ = tree(
        NODE,
        queue("team", capability={"cpu": "5"}),
        queue("left", parent="team"),
        queue("right", parent="team"),
        group("j1", queue="left", phase="Running"),
        pod("p1", "j1", cpu=4, on="n1"),
        group("j2", queue="right"),
        pod("p2", "j2", cpu=1),
        pod("p3", "j2", cpu=2),
    )
    two, three = tasks(ssn, "p2", "p3")
    assert voting.allocatable(ssn, "right", two)
    assert not voting.allocatable(ssn, "right", three)
    assert not voting.allocatable(ssn, "team", two)


def test_a_job_must_be_enqueueable_in_the_queue_and_all_above() -> None:
    ssn, plugin = tree(
        NODE,
        queue("team", capability={"cpu": "5"}),
        queue("left", parent="team"),
        queue("right", parent="team"),
        group("j1", queue="left", minResources={"cpu": "4"}),
        group("j2", queue="right", phase="Pending", minResources={"cpu": "1"}),
        group("j3", queue="right", phase="Pending", minResources={"cpu": "1"}),
    )
    assert voting.job_enqueueable(ssn, job(ssn, "j2"), "ns/j2")
    assert [plugin._attrs[name].inqueue.cpu for name in ("right", "team", "root")] == [
        1000,
        5000,
        5000,
    ]
    assert not voting.job_enqueueable(ssn, job(ssn, "j3"), "ns/j3")


def test_placing_counts_above_but_moves_only_the_queues_own_share() -> None:
    ssn, plugin = tree(
        NODE,
        queue("team", deserved={"cpu": "4"}),
        queue("left", parent="team", deserved={"cpu": "2"}),
        group("j", queue="left", min_member=2),
        pod("p", "j"),
    )
    (task,) = tasks(ssn, "p")
    immediate.pipeline(ssn, task, 0)
    attrs = plugin._attrs
    assert [attrs[name].allocated.cpu for name in ("left", "team", "root")] == [1000] * 3
    assert (attrs["left"].share, attrs["team"].share) == (0.5, 0)
    ssn.registry.notify_deallocated(task, 0)
    assert [attrs[name].allocated.cpu for name in ("left", "team", "root")] == [0] * 3


BRANCHES = (
    NODE,
    queue("a", deserved={"cpu": "4"}),
    queue("a1", parent="a", deserved={"cpu": "2"}),
    queue("a2", parent="a", deserved={"cpu": "2"}),
    queue("b", deserved={"cpu": "4"}),
    queue("b1", parent="b", deserved={"cpu": "4"}),
    group("ja1", queue="a1", phase="Running"),
    pod("p1", "ja1", cpu=1, on="n1"),
    group("ja2", queue="a2"),
    group("jb1", queue="b1", phase="Running"),
    pod("p2", "jb1", cpu=2, on="n1"),
)


def test_leaves_compare_where_their_ways_part() -> None:
    ssn, _ = tree(*BRANCHES)
    # a has a share of 1/4 and b one of 2/4, whatever their leaves have.
    assert orders.queue_order(ssn, "a1", "b1")
    assert orders.queue_order(ssn, "a2", "a1")
    assert not orders.queue_order(ssn, "b1", "a1")


def test_leaves_come_before_others_and_others_compare_their_own_shares() -> None:
    ssn, _ = tree(*BRANCHES)
    assert orders.queue_order(ssn, "b1", "a")
    assert not orders.queue_order(ssn, "a", "b1")
    assert orders.queue_order(ssn, "a", "b")


def test_priority_comes_before_all_else() -> None:
    ssn, _ = tree(*BRANCHES, queue("c", priority=5), group("jc", queue="c"))
    assert orders.queue_order(ssn, "c", "a2")


def test_victims_of_near_queues_come_first() -> None:
    ssn, _ = tree(*BRANCHES)
    assert orders.victim_queue_order(ssn, "a1", "b1", "a2")
    assert not orders.victim_queue_order(ssn, "b1", "a1", "a2")


def test_the_flag_counts_where_the_plugin_is_named_first() -> None:
    conf = CONF + "- plugins:\n  - name: capacity\n"
    _ssn, plugins = opened(conf, ROOT, NODE, *TEAM)
    plugin = plugins["capacity"]
    assert isinstance(plugin, Capacity)
    assert set(plugin._attrs) == {"root", "team", "left", "right"}
