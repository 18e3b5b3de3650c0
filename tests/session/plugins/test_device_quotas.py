"""How many devices of a class the pods of a queue may claim, as the code of v1.15 counts them."""

from __future__ import annotations

import pytest

from plinian.engine.session.close import close
from plinian.engine.session.framework import voting
from plinian.engine.session.framework.session import Session
from plinian.engine.session.framework.session_outcome import SessionResult
from sessions import Document, document, group, job, node, opened, pod, queue, tasks

NEWEST = "v1.15.1"
GPU = "gpu.example.com"
LIMIT = f"deviceclass/{GPU}"
TREE = """
actions: "allocate"
tiers:
- plugins:
  - name: capacity
    enableHierarchy: true
"""


def claim(name: str, count: int = 1, **request: object) -> Document:
    """Return a claim of so many devices; ``request`` stands for what it says exactly."""
    exact = {"deviceClassName": GPU, "allocationMode": "ExactCount", "count": count, **request}
    requests = [{"name": "r", "exactly": exact}]
    return document("ResourceClaim", name, "ns", spec={"devices": {"requests": requests}})


def claiming(name: str, of: str, *claims: str, on: str = "") -> Document:
    """Return a pod with these claims."""
    made = pod(name, of, on=on)
    made["spec"]["resourceClaims"] = [
        {"name": f"c{number}", "resourceClaimName": each} for number, each in enumerate(claims)
    ]
    return made


def session(*documents: Document, conf: str = "capacity", release: str = NEWEST) -> Session:
    """Return a session with only this plugin."""
    return opened(conf, queue("default"), node("n1", cpu=64), *documents, release=release)[0]


def takes(ssn: Session, name: str) -> bool:
    """Say whether the queue of a pod can take it."""
    (task,) = tasks(ssn, name)
    return voting.allocatable(ssn, ssn.jobs.queue[ssn.tasks.job[task]], task)


def enqueues(ssn: Session, name: str) -> bool:
    """Say whether a job may be enqueued."""
    return voting.job_enqueueable(ssn, job(ssn, name), f"ns/{name}")


def test_a_pod_waits_whose_queue_may_have_no_more_devices() -> None:
    ssn = session(
        queue("q", capability={LIMIT: "2"}),
        group("g", queue="q"),
        claim("one"),
        claim("two", 2),
        claiming("runs", "g", "one", on="n1"),
        claiming("more", "g", "two"),
        claiming("shares", "g", "one"),
    )
    assert not takes(ssn, "more")
    assert takes(ssn, "shares")  # its claim counts already


@pytest.mark.parametrize(
    ("asked", "fits"),
    [
        ({"count": 3}, False),
        ({"count": 0}, True),  # one device
        ({"allocationMode": "All", "count": 9}, True),
        ({"deviceClassName": "other", "count": 9}, True),
        ({"deviceClassName": "", "count": 9}, True),
    ],
)
def test_only_numbers_of_devices_of_a_class_that_is_bounded_count(
    asked: dict[str, object], *, fits: bool
) -> None:
    ssn = session(
        queue("q", capability={LIMIT: "2"}),
        group("g", queue="q"),
        claim("c", **asked),
        claiming("p", "g", "c"),
    )
    assert takes(ssn, "p") is fits


def test_of_several_wishes_none_counts_and_those_of_v1beta1_do() -> None:
    wishes = claim("wishes")
    wishes["spec"]["devices"]["requests"] = [
        {"name": "r", "firstAvailable": [{"name": "w", "deviceClassName": GPU, "count": 9}]}
    ]
    older = claim("older")
    older["spec"]["devices"]["requests"] = [{"name": "r", "deviceClassName": GPU, "count": 9}]
    ssn = session(
        queue("q", capability={LIMIT: "2"}),
        group("g", queue="q"),
        wishes,
        older,
        claiming("a", "g", "wishes"),
        claiming("b", "g", "older"),
    )
    assert takes(ssn, "a")
    assert not takes(ssn, "b")


@pytest.mark.parametrize("capability", [{LIMIT: "0"}, {f"memory.{LIMIT}": "1Gi"}])
def test_a_capability_of_nothing_bounds_nothing(capability: dict[str, str]) -> None:
    ssn = session(
        queue("q", capability=capability),
        group("g", queue="q"),
        claim("c", 9),
        claiming("p", "g", "c"),
    )
    assert takes(ssn, "p")


def test_what_is_placed_counts_until_it_is_taken_back() -> None:
    ssn = session(
        queue("q", capability={LIMIT: "2"}),
        group("g", queue="q"),
        claim("one", 2),
        claim("two", 1),
        claiming("a", "g", "one"),
        claiming("b", "g", "one"),
        claiming("c", "g", "two"),
    )
    first, second = tasks(ssn, "a", "b")
    for task in (first, second):
        ssn.registry.notify_allocated(task, 0)
    assert not takes(ssn, "c")
    ssn.registry.notify_deallocated(first, 0)
    assert not takes(ssn, "c")
    ssn.registry.notify_deallocated(second, 0)
    assert takes(ssn, "c")


def test_a_job_is_enqueued_if_its_first_pods_may_have_their_devices() -> None:
    ssn = session(
        queue("q", capability={LIMIT: "2"}),
        group("g", 2, "Pending", queue="q", minResources={}),
        group("h", 1, "Pending", queue="q", minResources={}),
        claim("two", 2),
        claiming("a", "g", "two"),
        claiming("b", "g", "two"),
        claiming("c", "h", "two"),
    )
    assert not enqueues(ssn, "g")  # a claim that is shared counts for each
    assert enqueues(ssn, "h")
    assert not enqueues(ssn, "h")  # it is reserved


def test_roles_with_minima_count_one_pod_as_often_as_they_must_be_there() -> None:
    roles = {"a": 2, "b": 0}
    ssn = session(
        queue("q", capability={LIMIT: "3"}),
        group("g", 2, "Pending", queue="q", minResources={}, minTaskMember=roles),
        group("h", 2, "Pending", queue="q", minResources={}, minTaskMember={"a": 1, "b": 1}),
        claim("two", 2),
        *(
            {**made, "metadata": {**made["metadata"], "annotations": marks}}
            for made, role in ((claiming("a", "g", "two"), "a"), (claiming("b", "h", "two"), "a"))
            for marks in [{**made["metadata"]["annotations"], "volcano.sh/task-spec": role}]
        ),
    )
    assert not enqueues(ssn, "g")
    assert enqueues(ssn, "h")


def test_queues_above_are_asked_too() -> None:
    ssn = session(
        queue("root"),
        queue("top", parent="root", capability={LIMIT: "2"}),
        queue("a", parent="top", capability={LIMIT: "4"}),
        queue("b", parent="top", deserved={LIMIT: "1"}),
        queue("c", parent="top"),
        *(group(f"g{each}", queue=each) for each in "abc"),
        claim("one"),
        claim("two", 2),
        claiming("ra", "ga", "one", on="n1"),
        claiming("rc", "gc", "two", on="n1"),
        claiming("pa", "ga", "two"),
        claiming("pb", "gb", "one"),
        conf=TREE,
    )
    assert not takes(ssn, "pa")  # of queue c, which names no class, nothing is counted above
    assert takes(ssn, "pb")
    ssn.registry.notify_allocated(*tasks(ssn, "pb"), 0)
    assert takes(ssn, "pb")  # its claim counts above now
    ssn.registry.notify_deallocated(*tasks(ssn, "ra"), 0)
    assert not takes(ssn, "pa")
    ssn.registry.notify_deallocated(*tasks(ssn, "pb"), 0)
    assert takes(ssn, "pa")


def test_statuses_of_queues_tell_devices_once_for_each_claim() -> None:
    ssn = session(
        queue("root"),
        queue("a", parent="root"),
        queue("b", parent="root"),
        group("ga", queue="a"),
        group("gb", queue="b"),
        claim("one"),
        claim("two", 2),
        claiming("p", "ga", "one", on="n1"),
        claiming("q", "ga", "one", "two", on="n1"),
        claiming("r", "gb", "two", on="n1"),
        claiming("s", "gb", "one"),
    )
    result = SessionResult()
    close(ssn, result)
    told = {name: status.allocated.get(LIMIT) for name, status in result.queues.items()}
    assert told == {"default": None, "root": "3", "a": "3", "b": "2"}


@pytest.mark.parametrize(("release", "fits"), [("v1.15.0", True), ("v1.15.1", False)])
def test_numbers_without_bound_begin_again_below_nothing(release: str, *, fits: bool) -> None:
    ssn = session(
        queue("q", capability={LIMIT: "2"}),
        group("g", queue="q"),
        claim("one"),
        claim("endless", 2**63 - 1),
        claiming("runs", "g", "one", on="n1"),
        claiming("p", "g", "endless"),
        release=release,
    )
    assert takes(ssn, "p") is fits


@pytest.mark.parametrize(
    ("release", "arguments"),
    [
        ("v1.14.4", ""),
        ("v1.15.1", "arguments: {capacity.DynamicResourceAllocationEnable: false}"),
    ],
)
def test_older_releases_and_those_that_are_told_not_to_count_nothing(
    release: str, arguments: str
) -> None:
    conf = f'actions: "allocate"\ntiers:\n- plugins:\n  - name: capacity\n    {arguments}\n'
    ssn = session(
        queue("q", capability={LIMIT: "1"}),
        group("g", queue="q", phase="Pending", minResources={}),
        claim("two", 2),
        claiming("p", "g", "two"),
        conf=conf,
        release=release,
    )
    assert takes(ssn, "p")
    assert enqueues(ssn, "g")
