"""The sla plugin: jobs that have waited long enough."""

from __future__ import annotations

import pytest

from plinian.engine.session.framework import framework_orders as orders
from plinian.engine.session.framework import voting
from plinian.engine.session.framework.session import Session
from sessions import NOW, Document, group, job, node, opened, queue

HOUR = 3_600_000_000
GLOBAL = """
actions: "enqueue"
tiers:
- plugins:
  - name: sla
    arguments:
      sla-waiting-time: {limit}
- plugins:
  - name: overcommit
"""
CREATED = NOW - HOUR


def limited(name: str, limit: str) -> Document:
    """Return a PodGroup, created an hour ago, that does not want to wait longer than that."""
    marks = {"sla-waiting-time": limit}
    return group(name, phase="Pending", annotations=marks, minResources={"cpu": "99"})


def session(*groups: Document, conf: str = GLOBAL.format(limit='""'), now: int = NOW) -> Session:
    return opened(conf, node("n1"), queue("default"), *groups, now=now)[0]


@pytest.mark.parametrize(("limit", "enqueued"), [("59m", True), ("1h", True), ("1h1ns", False)])
def test_who_is_overdue_is_enqueued_even_if_there_is_no_room(limit: str, enqueued: object) -> None:
    ssn = session(limited("a", limit))
    assert voting.job_enqueueable(ssn, job(ssn, "a"), "a") is enqueued


def test_the_clock_is_that_of_the_session() -> None:
    ssn = session(limited("a", "2h"), now=NOW + HOUR)
    assert voting.job_enqueueable(ssn, job(ssn, "a"), "a")


@pytest.mark.parametrize(("limit", "enqueued"), [("10m", True), ("3h", False), ("60", False)])
def test_the_argument_is_for_jobs_without_limit(limit: str, enqueued: object) -> None:
    plain = group("a", phase="Pending", minResources={"cpu": "99"})
    ssn = session(plain, conf=GLOBAL.format(limit=limit))
    assert voting.job_enqueueable(ssn, job(ssn, "a"), "a") is enqueued


def test_the_earlier_end_of_waiting_comes_first_and_none_last() -> None:
    ssn = session(limited("c", "1h"), limited("b", "2h"), group("a", phase="Pending"))
    a, b, c = (job(ssn, name) for name in "abc")
    assert orders.job_order(ssn, c, b)
    assert orders.job_order(ssn, b, a)
    assert not orders.job_order(ssn, a, b)


def test_an_overdue_job_counts_as_pipelined() -> None:
    ssn = session(limited("a", "1m"), limited("b", "2h"))
    vote = dict(ssn.registry.flat("JobPipelined"))["sla"]
    assert [vote(job(ssn, name)) for name in "ab"] == [1, 0]
