"""The resourcequota plugin: room in the namespace's quotas."""

from __future__ import annotations

from plinian.engine.session.framework import voting
from sessions import Document, document, group, job, node, opened, queue


def quota(name: str, hard: dict[str, str], used: dict[str, str]) -> Document:
    """Return a quota of the groups' namespace."""
    return document("ResourceQuota", name, "ns", status={"hard": hard, "used": used})


def waiting(name: str, **resources: str) -> Document:
    """Return a PodGroup that asks to be enqueued."""
    return group(name, phase="Pending", minResources=resources)


def enqueued(*documents: Document, ask: str) -> str:
    """Return, by group of ``ask`` in turn, ``+`` if it was enqueued, else ``-``."""
    ssn, _ = opened("resourcequota", node("n1"), queue("default"), *documents)
    return "".join(
        "+" if voting.job_enqueueable(ssn, job(ssn, name), name) else "-" for name in ask.split()
    )


def test_without_quota_or_min_resources_there_is_room() -> None:
    assert enqueued(waiting("a", cpu="99"), ask="a") == "+"
    full = quota("q", {"cpu": "1"}, {"cpu": "1"})
    assert enqueued(full, group("a", phase="Pending"), ask="a") == "+"


def test_exactly_up_to_the_bound() -> None:
    half = quota("q", {"cpu": "2", "memory": "1Gi"}, {"cpu": "500m"})
    groups = (waiting("fits", cpu="1500m"), waiting("not", cpu="1500.000001m"))
    assert enqueued(half, *groups, ask="fits") == "+"
    assert enqueued(half, *groups, ask="not") == "-"


def test_names_must_be_the_same() -> None:
    requests = quota("q", {"requests.cpu": "1"}, {"requests.cpu": "1"})
    assert enqueued(requests, waiting("a", cpu="9"), ask="a") == "+"


def test_every_quota_counts() -> None:
    wide, narrow = quota("a", {"cpu": "9"}, {}), quota("b", {"cpu": "1"}, {})
    assert enqueued(wide, narrow, waiting("a", cpu="2"), ask="a") == "-"


def test_what_was_permitted_counts_as_used_with_all_its_resources() -> None:
    bound = quota("q", {"cpu": "4", "memory": "4Gi"}, {"cpu": "1"})
    groups = (
        waiting("a", cpu="2", memory="3Gi"),
        waiting("b", memory="2Gi"),
        waiting("c", cpu="1", memory="1Gi"),
    )
    assert enqueued(bound, *groups, ask="a b c") == "+-+"


def test_the_event_says_what_is_exceeded() -> None:
    ssn, _ = opened(
        "resourcequota",
        node("n1"),
        queue("default"),
        quota("q", {"cpu": "2", "memory": "9Gi"}, {"cpu": "1", "memory": "1Gi"}),
        waiting("a", cpu="2", memory="1Gi"),
    )
    voting.job_enqueueable(ssn, job(ssn, "a"), "a")
    message = (
        "resource quota insufficient, requested: map[cpu:2], used: map[cpu:1], limited: map[cpu:2]"
    )
    assert ssn.events == [(job(ssn, "a"), "Unschedulable", message)]
