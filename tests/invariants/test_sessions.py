"""Invariants of a session: what it decides, and the numbers that it compares."""

from __future__ import annotations

from typing import Any

from invariant_views import Story

from plinian.engine.invariants.view import QueueLimits
from plinian.engine.model.panic import NIL_POINTER, Panic
from plinian.engine.session.framework.trace import StepOutcome, TraceStep
from sessions import group, node, pod, queue

BEGIN = (queue("default", capability={"cpu": "4"}), node("n1"))
LEAST = {"cpu": "3"}


def test_a_panic_is_a_violation_of_one_of_two() -> None:
    story = Story(*BEGIN)
    story.session()
    assert story.violated("I-05") == story.violated("I-05b") == []
    story.session(panic=Panic("resource is not sufficient to do operation"))
    assert (len(story.violated("I-05")), story.violated("I-05b")) == (1, [])
    story.session(panic=Panic(NIL_POINTER))
    assert (story.violated("I-05"), len(story.violated("I-05b"))) == ([], 1)


def test_binds_above_the_capability() -> None:
    story = Story(*BEGIN, group("g"), pod("a", "g", cpu=3, on="n1"), pod("b", "g", cpu=1))
    story.then("created", pod("c", "g", cpu=2))
    story.session(binds=[("ns/b", "n1")])
    assert story.violated("I-07") == []
    story.session(binds=[("ns/c", "n1")])
    (found,) = story.violations("I-07")
    assert (found.name, found.field) == ("default", "held.cpu")
    story.session(QueueLimits.NOTHING, binds=[("ns/c", "n1")])
    assert story.violated("I-07") == []


def test_a_queue_that_was_above_its_capability_before_the_session_is_not_its_fault() -> None:
    story = Story(*BEGIN, group("g"), pod("a", "g", cpu=5, on="n1"))
    story.session()
    assert story.violated("I-07") == []


def test_enqueued_jobs_above_the_capability_of_the_parent() -> None:
    queues = [queue("top", capability={"cpu": "4"}), *(queue(n, parent="top") for n in "ab")]
    groups = [group(f"of-{name}", queue=name, minResources=LEAST) for name in "ab"]
    story = Story(queue("root"), *queues, *groups)
    story.session(QueueLimits.TREE, enqueued=["ns/of-b"])
    assert story.violated("I-07") == ["top"]
    story.session(QueueLimits.FLAT, enqueued=["ns/of-b"])
    assert story.violated("I-07") == []


def test_what_a_job_holds_beyond_its_minimum_is_elastic() -> None:
    running = group("g", phase="Running", minResources={"cpu": "1"})
    story = Story(*BEGIN, running, pod("a", "g", cpu=4, on="n1"))
    story.then("created", group("h", minResources=LEAST))
    story.session(enqueued=["ns/h"])
    assert story.violated("I-07") == []


def _vote(about: str, inqueue: dict[str, float]) -> TraceStep:
    numbers: dict[str, Any] = {"queue": "default", "inqueue": inqueue}
    return TraceStep(
        *("enqueue", "JobEnqueueable", (about,), "capacity", StepOutcome.PERMIT), numbers=numbers
    )


def _enqueue(about: str) -> TraceStep:
    return TraceStep("enqueue", "enqueue", (about,), "", StepOutcome.ENQUEUED)


def test_what_is_reserved_is_what_inqueue_podgroups_need() -> None:
    story = Story(*BEGIN, group("g", minResources=LEAST), group("h", 1, "Pending"))
    story.then("created", group("i", 1, "Pending", minResources={"cpu": "1"}))
    story.session(
        trace=[
            _vote("ns/i", {"cpu": 3000.0, "memory": 0.0}),
            _enqueue("ns/i"),
            _vote("ns/h", {"cpu": 4000.0}),
        ]
    )
    assert story.violated("I-08") == []


def test_a_reservation_that_was_kept_after_a_refusal() -> None:
    story = Story(*BEGIN, group("g", minResources=LEAST))
    story.session(trace=[_vote("ns/h", {"cpu": 3000.0}), _vote("ns/i", {"cpu": 5000.0})])
    (found,) = story.violations("I-08")
    assert (found.name, found.field) == ("default", "inqueue.cpu")
    assert "counts 5 of cpu" in found.message


def test_what_a_job_holds_is_not_counted_twice() -> None:
    story = Story(*BEGIN, group("g", minResources=LEAST), pod("a", "g", cpu=2, on="n1"))
    story.session(trace=[_vote("ns/h", {"cpu": 3000.0})])
    assert story.violated("I-08") == ["default"]
    story.session(trace=[_vote("ns/h", {"cpu": 1000.0})])
    assert story.violated("I-08") == []


def test_a_pod_is_bound_although_its_queue_is_closed() -> None:
    story = Story(queue("default", state="Closed"), node("n1"), group("g"), pod("a", "g"))
    story.session(binds=[("ns/a", "n1")])
    assert story.violated("I-15b") == ["ns/a"]
    story.then("updated", queue("default"))
    assert story.violated("I-15b") == []
