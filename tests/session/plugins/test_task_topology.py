"""How a job's tasks are divided into buckets, ordered, and drawn to nodes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from plinian.engine.model.panic import Panic
from plinian.engine.model.resource import Resource
from plinian.engine.session.framework import framework_orders as orders
from plinian.engine.session.framework import immediate
from plinian.engine.session.framework.session import Session
from plinian.engine.session.nodes.node_views import NodeViews
from plinian.engine.session.plugins.task_topology import TaskTopologyPlugin
from plinian.engine.session.plugins.task_topology.annotations import TaskTopology, read_topology
from plinian.engine.session.plugins.task_topology.job_buckets import BucketMember, JobBuckets
from sessions import Document, group, node, opened, pod, queue, tasks

AFFINITY = "volcano.sh/task-topology-affinity"
ANTI_AFFINITY = "volcano.sh/task-topology-anti-affinity"
ORDER = "volcano.sh/task-topology-task-order"
ROLES = {"a", "b", "c"}


@pytest.mark.parametrize(
    ("annotations", "topology"),
    [
        ({}, None),
        ({AFFINITY: "a,b;c"}, TaskTopology((("a", "b"), ("c",)), (), ())),
        ({ANTI_AFFINITY: "a"}, TaskTopology((), (("a",),), ())),
        ({ORDER: "c,a"}, TaskTopology((), (), ("c", "a"))),
        ({AFFINITY: "a,,b"}, TaskTopology((("a", "", "b"),), (), ())),
        ({AFFINITY: "a,d"}, None),
        ({AFFINITY: "a,b,a"}, None),
        ({AFFINITY: "a;a"}, TaskTopology((("a",), ("a",)), (), ())),
        ({AFFINITY: "a,b", ORDER: "d"}, None),
    ],
)
def test_annotations_count_only_if_all_of_them_hold(
    annotations: dict[str, str], topology: TaskTopology | None
) -> None:
    assert read_topology(annotations, ROLES) == topology


def buckets(topology: TaskTopology, *members: tuple[str, str, str]) -> JobBuckets:
    """Return buckets of tasks that are told by name, role and node, and ask for one core each."""
    made = [
        BucketMember(row, name, role, where, Resource(1000.0))
        for row, (name, role, where) in enumerate(members)
    ]
    return JobBuckets(topology, made)


def contents(made: JobBuckets) -> list[list[int]]:
    """Return the tasks without node of each bucket, in the order of being added."""
    return [list(bucket.tasks) for bucket in made.buckets]


TOGETHER = TaskTopology((("a", "b"),), (), ())
APART = TaskTopology((), (("a",),), ())


def test_roles_that_belong_together_share_a_bucket() -> None:
    made = buckets(TOGETHER, ("p0", "a", ""), ("p1", "b", ""), ("p2", "a", ""), ("p3", "c", ""))
    assert contents(made) == [[0, 1, 2]]
    assert made.bucket(3) is None
    assert made.max_size == 3


def test_a_role_that_shuns_its_own_gets_a_bucket_for_each_task() -> None:
    made = buckets(APART, ("p1", "a", ""), ("p0", "a", ""))
    assert contents(made) == [[1], [0]]


def test_a_role_goes_where_it_is_liked_most_and_of_equals_to_the_least_asked_for() -> None:
    topology = TaskTopology((("a", "b"),), (("a",),), ())
    made = buckets(topology, *((f"p{n}", role, "") for n, role in enumerate("aaabbb")))
    # Tasks of b are drawn to one bucket as soon as it is no fuller: affinity counts a only.
    assert contents(made) == [[0, 3], [1, 4], [2, 5]]


def test_tasks_with_a_node_make_a_bucket_for_each_node() -> None:
    made = buckets(
        TOGETHER, ("p0", "a", "n2"), ("p1", "b", "n1"), ("p2", "a", "n1"), ("p3", "b", "")
    )
    assert [dict(bucket.nodes) for bucket in made.buckets] == [{"n1": 2}, {"n2": 1}]
    assert contents(made) == [[3], []]
    assert made.max_size == 3


def test_roles_come_in_the_order_given_and_then_by_what_they_are_part_of() -> None:
    topology = TaskTopology((("b", "c"),), (("a",),), ("c",))
    made = buckets(topology, ("p0", "a", ""), ("p1", "b", ""), ("p2", "c", ""))
    assert made.task_affinity_order(2, 0) == 1  # c was named in the order
    assert made.task_affinity_order(0, 1) == 1  # to shun one's own weighs more than to like others
    assert made.task_affinity_order(1, 1) == 0


def test_a_task_that_is_bound_twice_can_be_more_than_the_bucket_knows_of() -> None:
    made = buckets(TOGETHER, ("p0", "a", ""), ("p1", "b", ""))
    made.task_bound(0, "a", "n1", Resource(1000.0))
    made.task_bound(0, "a", "n2", Resource(1000.0))
    with pytest.raises(Panic) as caught:
        made.task_bound(0, "a", "n1", Resource(1000.0))
    assert caught.value.place == (
        "api.(*Resource).Sub",
        "plugins/task-topology.(*Bucket).CalcResReq",
        "plugins/task-topology.(*Bucket).TaskBound",
        "plugins/task-topology.(*JobManager).TaskBound",
    )


CONF = """
actions: "enqueue, allocate"
tiers:
- plugins:
  - name: task-topology
    arguments:
      task-topology.weight: 10
"""


def member(name: str, role: str, cpu: int = 1, on: str = "", of: str = "g") -> Document:
    """Return a pod of a role."""
    return pod(name, of, cpu, on, annotations={"volcano.sh/task-spec": role})


def topology(*pods: Document, **annotations: str) -> Session:
    """Return a session on two nodes of four cores, with a job of these pods."""
    marks = {f"volcano.sh/task-topology-{key}": text for key, text in annotations.items()}
    ssn, plugins = opened(
        CONF,
        *(node(name, cpu=4) for name in ("n1", "n2")),
        queue("default"),
        group("g", len(pods), annotations=marks),
        *pods,
    )
    assert isinstance(plugins["task-topology"], TaskTopologyPlugin)
    return ssn


def scores(ssn: Session, name: str) -> list[float]:
    """Return the scores of n1 and n2 for a pod."""
    ((_, order),) = ssn.registry.flat("NodeOrder")
    scored: list[float] = order.function(*tasks(ssn, name), np.arange(2)).tolist()
    return scored


def compare(ssn: Session) -> Callable[[int, int], float]:
    """Return the plugin's own order of tasks, without what comes after it."""
    ((_, order),) = ssn.registry.flat("TaskOrder")
    own: Callable[[int, int], float] = order.compare
    return own


def test_a_node_scores_by_what_of_the_bucket_runs_there_or_would() -> None:
    ssn = topology(member("p1", "a", on="n2"), member("p2", "a"), member("p3", "b"), affinity="a,b")
    # Two to come, and one that runs on n2; three of three are 100 × weight.
    assert scores(ssn, "p2") == [2 * 10 * 100 / 3, 3 * 10 * 100 / 3]


def test_what_finds_no_room_beside_the_task_does_not_count() -> None:
    ssn = topology(*(member(f"p{n}", "a", 2) for n in range(4)), affinity="a")
    assert scores(ssn, "p0") == [500, 500]  # two of four fit


def test_a_node_that_is_too_small_scores_nothing() -> None:
    ssn = topology(member("p1", "a", 5), member("p2", "a"), affinity="a")
    assert scores(ssn, "p1") == [0, 0]


def test_a_node_that_is_too_small_is_not_asked_about_the_rest_of_the_bucket() -> None:
    """Where the task finds no room, it does not matter that the bucket knows of too little."""
    ssn = topology(member("p0", "a", 3), member("p1", "a", 5), member("p2", "a", 6), affinity="a")
    for _ in range(3):  # the bucket subtracts it every time, which leaves 5 cpus, less than p2's
        ssn.registry.notify_allocated(*tasks(ssn, "p0"), 0)
    assert scores(ssn, "p1") == [0, 0]


def test_a_panic_while_nodes_are_scored_ends_the_process_at_once() -> None:
    """Nodes are scored in goroutines: the close of the session, which is deferred, is not made."""
    ssn = topology(member("p0", "a", 1), member("p1", "a", 1), member("p2", "a", 6), affinity="a")
    for _ in range(3):  # the bucket subtracts it every time, which leaves 5 cpus, less than p2's
        ssn.registry.notify_allocated(*tasks(ssn, "p0"), 0)
    with pytest.raises(Panic) as caught:
        NodeViews(ssn).selection.scores(*tasks(ssn, "p1"), ssn.all_rows)
    assert caught.value.fatal


def test_a_node_lacks_a_scalar_that_is_named_even_if_none_is_wanted() -> None:
    wanting = pod(
        "p1",
        "g",
        annotations={"volcano.sh/task-spec": "a"},
        requests={"nvidia.com/gpu": "0"},
    )
    assert scores(topology(wanting, member("p2", "a"), affinity="a"), "p1") == [0, 0]


def test_tasks_placed_in_the_session_draw_their_bucket_and_repel_those_that_shun_them() -> None:
    ssn = topology(
        member("p1", "a"),
        member("p2", "b"),
        member("p3", "c"),
        affinity="a,b",
        **{"anti-affinity": "a,c"},
    )
    assert scores(ssn, "p2") == [1000, 1000]
    immediate.pipeline(ssn, *tasks(ssn, "p1"), 0)
    assert scores(ssn, "p2") == [1000, 500]
    assert scores(ssn, "p3") == [0, 500]


def test_a_job_without_rules_is_left_alone() -> None:
    other = group("h", annotations={"volcano.sh/task-topology-affinity": "a"})
    ssn = topology(member("p1", "a"), other, member("p2", "a", of="h"))
    assert scores(ssn, "p1") == [0, 0]
    assert scores(ssn, "p2") == [1000, 1000]
    assert compare(ssn)(*tasks(ssn, "p1", "p2")) == 0


def test_where_no_pending_task_has_rules_nothing_is_asked() -> None:
    for ssn in (
        topology(member("p1", "a")),
        topology(member("p1", "a", on="n1"), affinity="a"),
        topology(member("p1", "a"), affinity="b"),
    ):
        assert (
            ssn.registry.flat("NodeOrder")
            == ssn.registry.flat("TaskOrder")
            == ssn.registry.event_handlers
            == []
        )


def test_tasks_in_buckets_come_first_and_the_larger_bucket_before_the_smaller() -> None:
    ssn = topology(
        member("p0", "c"),
        member("p1", "a"),
        member("p2", "b"),
        member("p3", "b"),
        affinity="b",
        **{"anti-affinity": "a;a,b"},
    )
    zero, one, two, three = tasks(ssn, "p0", "p1", "p2", "p3")
    assert orders.task_order(ssn, one, zero)
    assert orders.task_order(ssn, two, one)
    order = compare(ssn)
    assert order(two, three) == order(zero, zero) == 0
    assert order(two, one) == -order(one, two) == -1


def test_of_buckets_of_one_size_the_older_comes_first() -> None:
    ssn = topology(member("p1", "a"), member("p2", "a"), **{"anti-affinity": "a"})
    order = compare(ssn)
    one, two = tasks(ssn, "p1", "p2")
    assert order(one, two) < 0 < order(two, one)
