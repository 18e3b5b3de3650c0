"""preempt: which of a job's tasks each queue's turn still has to try."""

from __future__ import annotations

from plinian.engine.session.actions import ACTIONS
from plinian.engine.session.tables import Status

from ..sessions import group, node, opened, pod, queue, tasks

LEAVING = {"deletionTimestamp": "2025-11-21T14:00:30Z"}


def test_the_next_queue_only_has_tasks_that_the_job_has_not_tried() -> None:
    # The turn of queue `first` ends with all starving jobs preempting within themselves: one pod
    # takes the place that becomes free, the other finds none. Queue `second` has neither left.
    leaving = pod("leaving", "old", cpu=4, on="n")
    leaving["metadata"].update(LEAVING)
    ssn, _ = opened(
        "priority gang conformance",
        node("n", cpu=5),
        queue("first"),
        queue("second"),
        group("old", queue="first"),
        pod("stays", "old", on="n"),
        leaving,
        group("starving", min_member=2, queue="second"),
        pod("fits", "starving", cpu=2),
        pod("too-large", "starving", cpu=3),
    )
    ACTIONS["preempt"](ssn)
    fits, too_large = tasks(ssn, "fits", "too-large")
    placed = [step.about for step in ssn.trace.steps if step.what == "pipeline"]
    assert placed == ["ns/fits"]
    assert ssn.tasks.status[fits] == Status.PIPELINED
    assert ssn.tasks.status[too_large] == Status.PENDING
    assert ssn.nodes.pipelined[0, ssn.dims.index("cpu")] == 2000
