"""Since when an answer holds, which answers held before, and which events changed them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from answer_worlds import CAPACITY, NODES, OTHER, log_of, versions, watched_log

from clusters import initial_end, watched
from plinian.engine.state.clock import TimeSpan
from plinian.replay.answers import since
from plinian.replay.answers.answer import Why
from plinian.replay.answers.evidence import dated
from plinian.replay.answers.stages import Stage, StageBegin
from plinian.replay.answers.why import why_at
from plinian.replay.ingest.ingest_run import ingest
from plinian.replay.logs.log import opened
from plinian.replay.render.why import why_lines
from sessions import group, node, pod, queue

RELEASE = "v1.12.1"


def asked(folder: Path, named: str, conf: str, *events: tuple[str, Any], at: str = "end") -> Why:
    """Ask about an object of the namespace ``ns`` in the log of a watch."""
    with watched_log(folder, conf, *events) as log:
        return why_at(log, log.object(named), at, namespace="ns", release=RELEASE)


def asked_of(folder: Path, name: str, content: bytes) -> Why:
    """Ask about the pod ``a`` of the namespace ``ns`` in the log of a file."""
    (folder / name).write_bytes(content)
    (folder / "volcano-scheduler.conf").write_text(NODES)
    with opened(folder / "log.db", create=True) as log:
        ingest(log.store, [str(folder / one) for one in (name, "volcano-scheduler.conf")])
        return why_at(log, log.object("pod/a"), namespace="ns", release=RELEASE)


def added(*documents: Any) -> list[tuple[str, Any]]:
    """Return objects that are created one after the other."""
    return [("ADDED", one) for one in documents]


def test_the_reason_changed_when_the_room_was_taken(tmp_path: Path) -> None:
    found = asked(
        tmp_path,
        "pod/a",
        NODES,
        *added(queue("default"), node("n1", 4), group("pg", 1), pod("a", "pg", 4)),
        *added(group("other", 1, "Running"), pod("taker", "other", 4, "n1")),
        *added(queue("later")),
    )
    assert found.sentence == (
        "pod ns/a waits because the only node does not take it: n1 lacks 4 cpu"
    )
    assert found.began is not None
    assert found.began.revision == 4
    assert [(stage.cause, stage.since.at) for stage in found.stages] == [
        ("next-session", "rv:4"),
        ("no-node", "rv:6"),
    ]
    changed = found.stages[-1].since
    assert (changed.not_at, changed.exact) == ("rv:5", True)
    assert [(one.revision, one.about) for one in changed.events] == [(6, "pod/ns/taker")]


def test_what_made_a_queue_full_is_named_even_if_it_came_before(tmp_path: Path) -> None:
    wanted = {"minResources": {"cpu": "2"}}
    found = asked(
        tmp_path,
        "podgroup/late",
        CAPACITY,
        *added(queue("root"), queue("small", parent="root", capability={"cpu": "9"})),
        ("MODIFIED", queue("small", parent="root", capability={"cpu": "2"})),
        *added(node("n1", 8), group("early", 1, "Running", queue="small", **wanted)),
        *added(pod("early-0", "early", 2, "n1")),
        *added(group("late", 1, "Pending", queue="small", **wanted)),
    )
    assert found.cause == "queue-full small"
    assert [stage.cause for stage in found.stages] == ["queue-full small"]
    assert [(one.revision, one.about) for one in found.made_by] == [
        (3, "queue/small"),
        (6, "pod/ns/early-0"),
    ]


def test_a_new_queue_that_is_guaranteed_what_a_job_would_need_is_named(tmp_path: Path) -> None:
    taken = {"guarantee": {"resource": {"cpu": "3"}}, "deserved": {"cpu": "3"}}
    found = asked(
        tmp_path,
        "podgroup/pg",
        CAPACITY,
        *added(queue("root"), queue("small", parent="root"), node("n1", 4)),
        *added(group("pg", 1, "Pending", queue="small", minResources={"cpu": "2"})),
        *added(queue("other", parent="root", **taken)),
    )
    assert found.cause == "queue-full small"
    assert [(one.revision, one.about) for one in found.stages[-1].since.events] == [
        (5, "queue/other")
    ]


def test_the_state_of_a_queue_does_not_make_it_full(tmp_path: Path) -> None:
    wanted = {"minResources": {"cpu": "2"}}
    small = queue("small", parent="root", capability={"cpu": "2"})
    fresh = {**small, "status": {}}
    found = asked(
        tmp_path,
        "podgroup/late",
        CAPACITY,
        *added(queue("root"), fresh, node("n1", 8)),
        ("MODIFIED", small),
        *added(group("early", 1, "Running", queue="small", **wanted)),
        *added(pod("early-0", "early", 2, "n1")),
        *added(group("late", 1, "Pending", queue="small", **wanted)),
    )
    assert found.cause == "queue-full small"
    assert [(one.kind, one.about) for one in found.made_by] == [
        ("queue.created", "queue/small"),
        ("pod.created", "pod/ns/early-0"),
    ]


def test_what_fills_a_node_is_named_and_no_change_that_left_its_room_alone(tmp_path: Path) -> None:
    n1 = node("n1", 4)
    found = asked(
        tmp_path,
        "pod/a",
        NODES,
        *added(queue("default"), n1, group("pg", 1), pod("a", "pg", 4)),
        *added(group("other", 1, "Running"), pod("taker", "other", 3, "n1")),
        *added(pod("small", "other", 0, "n1")),
        ("MODIFIED", {**n1, "spec": {"podCIDR": "10.0.0.0/24"}}),
    )
    assert found.cause == "no-node"
    assert [(one.kind, one.about) for one in found.made_by] == [
        ("node.created", "node/n1"),
        ("pod.created", "pod/ns/taker"),
    ]


def test_a_deleted_node_made_the_tree_of_queues_invalid(tmp_path: Path) -> None:
    found = asked(
        tmp_path,
        "podgroup/pg",
        CAPACITY,
        *added(queue("root"), queue("big", parent="root", capability={"cpu": "12"})),
        *added(node("n1", 8), node("n2", 8)),
        *added(group("pg", 1, "Pending", queue="big", minResources={"cpu": "2"})),
        ("DELETED", node("n2", 8)),
    )
    assert found.cause == "queue-tree root capability"
    assert [(one.kind, one.about) for one in found.made_by] == [
        ("queue.created", "queue/big"),
        ("node.deleted", "node/n2"),
    ]
    changed = found.stages[-1].since
    assert [(one.kind, one.about) for one in changed.events] == [("node.deleted", "node/n2")]


def test_a_deleted_podgroup_is_named_with_its_deletion(tmp_path: Path) -> None:
    found = asked(
        tmp_path,
        "pod/a",
        NODES,
        *added(queue("default"), node("n1", 1), group("pg", 1), group("keeps", 1)),
        *added(pod("a", "pg", 4)),
        ("DELETED", group("pg", 1)),
    )
    assert found.cause == "no-podgroup ns/pg"
    assert [(one.kind, one.revision) for one in found.made_by] == [("podgroup.deleted", 6)]


def test_with_few_sessions_the_bounds_are_said(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(since, "MOST", 2)
    others = [pod(f"filler-{number}", "other", 1, "n1") for number in range(8)]
    found = asked(
        tmp_path,
        "pod/a",
        NODES,
        *added(queue("default"), node("n1", 8), group("pg", 1), pod("a", "pg", 8)),
        *added(group("other", 1, "Running"), *others),
    )
    assert found.sessions == 3
    changed = found.stages[-1].since
    assert changed.exact is False
    assert (changed.not_at, changed.at) != ("rv:5", "rv:6")
    assert int(changed.not_at.removeprefix("rv:")) < 6 <= int(changed.at.removeprefix("rv:"))


@pytest.mark.parametrize("named", ["pod/a", "podgroup/pg"])
def test_the_past_begins_when_the_object_was_created_again(tmp_path: Path, named: str) -> None:
    def life(uid: str) -> list[Any]:
        made = [group("pg", 1), pod("a", "pg", 8)]
        return [{**one, "metadata": {**one["metadata"], "uid": uid + one["kind"]}} for one in made]

    found = asked(
        tmp_path,
        named,
        NODES,
        *added(queue("default"), node("n1", 8), *life("first")),
        ("MODIFIED", node("n1", 4)),
        *(("DELETED", one) for one in life("first")),
        *added(*life("second")),
        *added(queue("later")),
    )
    assert found.began is not None
    assert found.stages[0].since.at == f"rv:{found.began.revision}"
    (stage,) = (one for one in found.stages if one.cause == "no-node")
    assert not stage.since.or_earlier
    assert stage is found.stages[-1]


def test_a_stage_says_what_held_when_it_began(tmp_path: Path) -> None:
    found = asked(
        tmp_path,
        "queue/q",
        NODES,
        *added(node("n1", 1), queue("default"), group("none", 1, "Running"), OTHER, queue("q")),
        *added(group("runs", 1, "Running", queue="q"), pod("r-0", "runs", 1, "n1")),
        *added(group("pg", 1, queue="q"), pod("a", "pg", 8), pod("b", "pg", 8)),
    )
    idle, *_ = found.stages
    assert idle.cause == "idle"
    assert idle.sentence == "queue q lets no job wait: it has 0 jobs"


def test_what_does_not_wait_has_no_past(tmp_path: Path) -> None:
    found = asked(
        tmp_path,
        "pod/a",
        NODES,
        *added(queue("default"), node("n1", 4), group("pg", 1, "Running"), pod("a", "pg", 1, "n1")),
    )
    assert (found.waits, found.stages, found.sessions) == (False, (), 1)


def test_moments_too_far_back_are_not_looked_at_and_that_is_said(
    tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(since, "EVENTS", 4)
    found = asked(
        tmp_path,
        "pod/a",
        NODES,
        *added(queue("default"), node("n1", 1), group("pg", 1), pod("a", "pg", 8)),
        *added(*(queue(f"later-{number}") for number in range(8))),
    )
    (only,) = found.stages
    assert only.since.or_earlier is True
    assert int(only.since.at.removeprefix("rv:")) > 4
    lines = "".join(why_lines(found))
    assert f"({only.since.at}) or earlier: for the present reason" in lines


def test_an_object_that_is_older_than_the_log_may_have_waited_before(tmp_path: Path) -> None:
    existing = (queue("default"), node("n1", 1), group("pg", 1), pod("a", "pg", 8), node("n2", 1))
    made = versions((*existing, queue("later"), queue("last")))
    begin = [("ADDED", one) for one in made[:5]]
    ends = [initial_end(5, kind) for kind in ("Node", "Pod", "PodGroup", "Queue")]
    lines = watched(*begin, *ends, *(("ADDED", one) for one in made[5:]))
    (only,) = asked_of(tmp_path, "watch.jsonl", lines).stages
    assert (only.since.at, only.since.or_earlier) == ("rv:5", True)


def test_a_single_list_does_not_say_since_when_a_pod_waits(tmp_path: Path) -> None:
    existing = versions((queue("default"), node("n1", 1), group("pg", 1), pod("a", "pg", 8)))
    listed = json.dumps({"kind": "List", "items": existing}).encode()
    found = asked_of(tmp_path, "now.json", listed)
    (only,) = found.stages
    assert only.since.or_earlier is True
    assert f"from {only.since.at} or earlier: for the present reason" in "".join(why_lines(found))


@pytest.mark.parametrize(
    ("make", "says"), [(log_of, "in the log since "), (watched_log, "exists since ")]
)
def test_an_object_that_a_list_shows_may_be_older(tmp_path: Path, make: Any, says: str) -> None:
    world = (node("n1"), queue("default"), group("pg", 1, "Inqueue"), pod("a", "pg", 99))
    given = [("ADDED", one) for one in world] if make is watched_log else world
    with make(tmp_path, NODES, *given) as log:
        found = why_at(log, log.object("pod/a"), "end", namespace="ns", release=RELEASE)
    assert says in "".join(why_lines(found))


def test_an_earlier_reason_is_not_said_to_begin_after_a_later_one() -> None:
    def stage(at: str, cause: str, earliest: int, *, or_earlier: bool) -> Stage:
        span = TimeSpan(earliest * 60_000_000, 600_000_000, None)
        fields = {**dated(span), "or_earlier": or_earlier}
        return Stage(cause=cause, sentence="", since=StageBegin(at=at, **fields))

    first = stage("rv:7", "full", 0, or_earlier=True)
    stages = [first, stage("rv:9", "no-node", 0, or_earlier=False)]
    assert list(since.begins_of(stages)) == [
        "from a time between 1970-01-01T00:00:00Z and 00:10:00Z (rv:7) or earlier",
        "from a time between 1970-01-01T00:00:00Z and 00:10:00Z (rv:9)",
    ]
    assert list(since.begins_of([])) == []
    later = stage("rv:9", "no-node", 10, or_earlier=False)
    assert next(since.begins_of([first, later])) == "from 1970-01-01T00:10:00Z (rv:7) or earlier"
