"""Which sessions a log shows, how they are known, and ``session:N`` as a moment."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded_cluster import RecordedCluster, time

import plinian
from plinian.engine.errors import PointUnknown
from plinian.engine.log import open_log
from plinian.replay.recorded.recorded_sessions import HowKnown
from sessions import group, node, pod, queue

ONE = "11111111-1111-4111-8111-111111111111"
TWO = "22222222-2222-4222-8222-222222222222"
OTHER = "system:kube-scheduler"


def cluster() -> RecordedCluster:
    """Return a cluster with a queue, a node and two PodGroups."""
    made = RecordedCluster()
    made.saw(1, queue("default"), node("n1"), group("g"), group("h"))
    return made


def condition(uid: str) -> dict[str, object]:
    """Return the status of a PodGroup that a session wrote."""
    written = {"type": "Unschedulable", "status": "True", "transitionID": uid}
    return {"phase": "Pending", "conditions": [written]}


def test_logged_sessions_are_numbered_in_order_of_their_opening(tmp_path: Path) -> None:
    made = cluster()
    made.opened(TWO, 20)
    made.opened(ONE, 10)
    made.closed(ONE, 10.5)
    with made.log(tmp_path / "log.db") as log:
        first, second = log.sessions()
    assert (first.number, first.id, first.opened, first.closed) == (1, ONE, time(10), time(10.5))
    assert (second.number, second.id, second.closed) == (2, TWO, None)
    assert {first.how, second.how} == {HowKnown.LOGGED}


def test_a_session_did_not_know_what_it_wrote_itself(tmp_path: Path) -> None:
    made = cluster()
    waiting = pod("p", "g")
    made.saw(2, waiting)
    made.opened(ONE, 10)
    made.decided(ONE, "allocate", 10.01, task="ns/p", node="n1")
    placed = {**waiting, "spec": {**waiting["spec"], "nodeName": "n1"}}
    made.saw(9.98, placed, verb="updated")  # The clocks of both differ.
    made.bound(waiting, "", 10.01)
    with made.log(tmp_path / "log.db") as log:
        (session,) = log.sessions()
        moment = log.moment("session:1")
    assert session.revision == 5
    assert (moment.revision, moment.time, moment.label) == (5, time(10), "session:1")


def test_without_a_log_writes_close_together_are_a_session(tmp_path: Path) -> None:
    made = cluster()
    pods = [pod(name, "g") for name in ("a", "b", "c")]
    made.saw(2, *pods)
    made.bound(pods[0], "n1", 10)
    made.bound(pods[1], "n1", 10.2)
    made.bound(pods[2], "n1", 11)
    with made.log(tmp_path / "log.db") as log:
        first, second = log.sessions()
        moment = log.moment("session:2")
    assert {first.how, second.how} == {HowKnown.INFERRED}
    assert (first.binds, second.binds) == (2, 1)
    assert (first.opened, first.opened_after) == (time(10), None)
    assert (second.opened, second.opened_after) == (time(11), time(10.2))
    assert first.evictions is None
    assert "inferred" in moment.note


def test_the_id_in_conditions_keeps_one_session_together_and_two_apart(tmp_path: Path) -> None:
    made = cluster()
    waiting = pod("p", "g")
    made.saw(2, waiting)
    made.saw(10, group("g", status=condition(ONE)), verb="updated")
    made.bound(waiting, "n1", 11)
    made.saw(12, group("h", status=condition(ONE)), verb="updated")
    made.saw(12.1, group("g", status=condition(TWO)), verb="updated")
    with made.log(tmp_path / "log.db") as log:
        first, second = log.sessions()
    assert (first.id, first.binds, first.podgroups) == (ONE, 1, 2)
    assert (second.id, second.binds, second.podgroups) == (TWO, 0, 1)


def test_an_id_from_before_the_log_is_no_session_of_it(tmp_path: Path) -> None:
    made = cluster()
    made.saw(2, group("old", status=condition(ONE)), verb="observed")
    made.saw(10, group("old", 2, status=condition(ONE)), verb="updated")
    with made.log(tmp_path / "log.db") as log:
        assert log.sessions() == []


def test_pods_of_another_scheduler_show_no_session(tmp_path: Path) -> None:
    made = cluster()
    theirs = pod("p", "g")
    theirs["spec"]["schedulerName"] = "default-scheduler"
    made.saw(2, theirs)
    made.bound(theirs, "n1", 10, actor=OTHER)
    with made.log(tmp_path / "log.db") as log:
        assert log.sessions() == []


def test_a_watch_alone_shows_bindings_by_the_version_that_has_a_node(tmp_path: Path) -> None:
    made = cluster()
    waiting = pod("p", "g")
    made.saw(2, waiting)
    made.saw(10, {**waiting, "spec": {**waiting["spec"], "nodeName": "n1"}}, verb="updated")
    with made.log(tmp_path / "log.db") as log:
        (session,) = log.sessions()
    assert (session.how, session.binds, session.revision) == (HowKnown.INFERRED, 1, 5)


def test_a_watch_shows_what_a_logged_session_bound(tmp_path: Path) -> None:
    """A recorder watches and follows the scheduler's log; an audit log is not needed."""
    made = cluster()
    waiting = pod("p", "g")
    made.saw(2, waiting, pod("q", "g"))
    made.opened(ONE, 10)
    made.decided(ONE, "allocate", 10.01, task="ns/p", node="n1")
    made.decided(ONE, "allocate", 10.02, task="ns/q", node="n1")  # Taken back: it has no node.
    made.opened(TWO, 11)
    made.saw(11.1, {**waiting, "spec": {**waiting["spec"], "nodeName": "n1"}}, verb="updated")
    with made.log(tmp_path / "log.db") as log:
        first, second = log.sessions()
    assert [(one.id, one.binds) for one in (first, second)] == [(ONE, 1), (TWO, 0)]
    assert first.how is HowKnown.LOGGED


def test_a_watch_shows_what_a_session_wrote_at_its_end_when_it_is_closed(tmp_path: Path) -> None:
    made = cluster()
    for uid, second in ((ONE, 10), (TWO, 11)):
        made.opened(uid, second)
        made.closed(uid, second + 0.2)
    written = {**group("g"), "status": {"phase": "Pending"}}
    made.saw(10.25, written, verb="updated", since=10)
    with made.log(tmp_path / "log.db") as log:
        assert [one.podgroups for one in log.sessions()] == [1, 0]


@pytest.mark.parametrize("number", ["0", "2", "x", "-1", "", "9" * 30])
def test_an_unknown_number_says_how_many_there_are(tmp_path: Path, number: str) -> None:
    made = cluster()
    made.opened(ONE, 10)
    with (
        made.log(tmp_path / "log.db") as log,
        pytest.raises(PointUnknown, match="the log records 1 session") as raised,
    ):
        log.moment(f"session:{number}")
    assert "session list" in raised.value.now


def test_a_log_without_sessions_says_from_what_they_would_be_known(tmp_path: Path) -> None:
    with (
        cluster().log(tmp_path / "log.db") as log,
        pytest.raises(PointUnknown, match="the log records 0 sessions"),
    ):
        log.moment("session:1")


def test_ranges_are_of_openings_and_inclusive(tmp_path: Path) -> None:
    made = cluster()
    for number, uid in enumerate((ONE, TWO, "3", "4"), start=1):
        made.opened(uid, 10 * number)
    with made.log(tmp_path / "log.db") as log:
        of = [one.number for one in log.sessions(since="session:2", until="session:3")]
        at = [one.number for one in log.sessions(at="session:3")]
        known = log.sessions()
        position = f"@{known[1].position}"
        by_position = [one.number for one in log.sessions(until=position)]
        from_position = [one.number for one in log.sessions(since=position)]
        by_revision = [one.number for one in log.sessions(until="rv:2")]
    assert of == [2, 3]
    assert by_position == [1, 2]
    assert from_position == [2, 3, 4]
    assert by_revision == []
    assert at == [3]


def test_a_binding_that_arrives_during_the_next_session_belongs_to_the_one_that_tried_it(
    tmp_path: Path,
) -> None:
    made = cluster()
    waiting = pod("p", "g")
    made.saw(2, waiting)
    made.opened(ONE, 10)
    made.decided(ONE, "allocate", 10.01, task="ns/p", node="n1")
    made.opened(TWO, 11)
    made.bound(waiting, "n1", 11.2)
    with made.log(tmp_path / "log.db") as log:
        assert [(one.id, one.binds) for one in log.sessions()] == [(ONE, 1), (TWO, 0)]


def test_a_binding_on_a_branch_is_of_no_session_before_it(tmp_path: Path) -> None:
    """A branch may begin while a session runs that has tried a pod; another one binds it there."""
    made = cluster()
    waiting = pod("p", "g")
    made.saw(2, waiting)
    made.opened(ONE, 10)
    made.decided(ONE, "allocate", 10.01, task="ns/p", node="n1")
    place = tmp_path / "log.db"
    made.log(place).close()
    known = len(made.events)
    made.bound(waiting, "n2", 500)
    with open_log(place) as store:
        store.create_branch("b", fork=store.last("main"))
        store.append(made.events[known:], branch="b")
    with plinian.open(place, branch="b") as log:
        assert [(one.id, one.binds) for one in log.sessions()] == [(ONE, 0), ("", 1)]
