"""What pictures show: queues, nodes, gangs, sessions and waits over time, as numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from drawn_cluster import DrawnCluster, busy, node, pod, podgroup, queue
from hypothesis import given
from hypothesis import strategies as st
from recorded_cluster import time

import plinian
from plinian import Log
from plinian.engine.errors import ObjectNotFound, UsageError
from plinian.engine.kubernetes.units import format_time
from plinian.engine.state.facts import QueueFact
from plinian.replay.objects.kind_names import ObjectName
from plinian.replay.plot.picture import Chart
from plinian.replay.recorded.session_list import ListedSession
from plinian.replay.series import incidents
from plinian.replay.series.gang_counts_over_time import gang
from plinian.replay.series.incidents import QueueIncidents, scheduler_incidents
from plinian.replay.series.node_use import CORDONED, GONE, MOST_ROWS, NOT_READY, READY, node_use
from plinian.replay.series.period import PARTS, Period, Track, divided, span_of
from plinian.replay.series.queue_shares import MOST_QUEUES, queue_shares
from plinian.replay.series.queue_totals import Tree
from plinian.replay.series.session_runs import session_runs
from plinian.replay.series.waits import _at, waits

SECOND = 1_000_000


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Log]:
    """Open the log of a small cluster."""
    with busy(tmp_path_factory.mktemp("busy") / "busy.db") as opened:
        yield opened


def at(period: Period, second: float) -> int:
    """Return the part of a period that has a second of the small cluster."""
    return period.part_of(time(second))


# -- periods ------------------------------------------------------------------------------------


@given(st.integers(0, 10**16), st.integers(0, 10**15))
def test_a_period_has_few_parts_and_covers_all_of_it(begin: int, length: int) -> None:
    period = divided(begin, begin + length)
    assert 1 <= period.parts <= PARTS
    assert period.time_of(period.parts) >= begin + length
    assert period.part_of(begin) == 0
    assert period.part_of(begin + length) == period.parts - 1


@given(
    st.lists(st.tuples(st.integers(-50, 149), st.none() | st.integers(0, 9))),
    st.integers(1, 40),
)
def test_a_track_keeps_the_highest_and_the_last_of_each_part(
    steps: list[tuple[int, int | None]], step: int
) -> None:
    period = Period(begin=0, end=150, step=step)
    steps = sorted(steps, key=lambda one: one[0])
    highest, last = Track(period), Track(period, last=True)
    for when, value in steps:
        highest.set(when, value)
        last.set(when, value)
    for part in range(period.parts):
        begin = part * step
        before = next((value for when, value in reversed(steps) if when < begin), None)
        within = [value for when, value in steps if begin <= when < begin + step]
        known = [value for value in (before, *within) if value is not None]
        assert highest.values()[part] == max(known, default=None)
        assert last.values()[part] == [before, *within][-1]


def test_a_period_that_is_empty_or_unknown_is_refused(log: Log, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the period is empty"):
        span_of(log, "2025-06-15T15:06:50Z", "2025-06-15T15:06:45Z")
    with pytest.raises(UsageError, match="the period is empty"):
        span_of(log, "2030-01-01T00:00:00Z")
    empty = plinian.open(tmp_path / "empty.db", create=True)
    with empty, pytest.raises(plinian.PlinianError):
        span_of(empty)


# -- queues -------------------------------------------------------------------------------------


def test_a_picture_begins_when_the_log_began_to_observe(tmp_path: Path) -> None:
    """Objects in a list are older than all that is known of the cluster."""
    old = an_object("Node", "n1", created="2026-08-25T08:00:00Z", revision=12)
    new = an_object("Node", "n2", created="2026-11-21T10:00:00Z", revision=8990)
    waits = an_object("Pod", "a", created="2026-11-21T10:09:00Z", revision=9850)
    for name, items in (("one.json", [old, new]), ("two.json", [old, new, waits])):
        document = {"apiVersion": "v1", "kind": "List", "items": items}
        (tmp_path / name).write_text(json.dumps(document), "utf-8")
    with plinian.open(tmp_path / "old.db", create=True) as log:
        log.ingest([tmp_path / "one.json", tmp_path / "two.json"])
        assert begin_of(span_of(log).period) == "2026-11-21T10:00:00"
        assert begin_of(span_of(log, "2026-11-01T00:00:00Z").period) == "2026-11-01T00:00:00"


def begin_of(period: Period) -> str:
    return format_time(period.begin)[:19]


def an_object(kind: str, name: str, *, created: str, revision: int) -> dict[str, Any]:
    metadata = {"name": name, "uid": f"uid-{name}", "resourceVersion": str(revision)}
    metadata |= {"creationTimestamp": created} | ({"namespace": "default"} if kind == "Pod" else {})
    spec = {"containers": [{"name": "c"}]} if kind == "Pod" else {}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": spec, "status": {}}


def test_a_queue_has_what_its_pods_and_those_below_it_request(log: Log) -> None:
    found = queue_shares(log, span_of(log))
    period, shares = found.period, {one.queue: one for one in found.queues}
    assert [one.queue for one in found.queues] == ["old", "root", "team", "child"]
    assert [one.depth for one in found.queues] == [0, 0, 1, 2]
    for name in ("root", "team", "child"):
        allocated = shares[name].allocated
        had = [allocated[at(period, second)] for second in (3, 5.5, 6.5, 15, 19)]
        assert had == [0, 2000, 5000, 3000, 0], name
    assert set(shares["team"].capability) == {4000}
    assert set(shares["child"].guarantee) == {1000}
    assert set(shares["old"].deserved) == {None}


def test_incidents_say_what_was_exceeded_and_until_when(log: Log) -> None:
    found = queue_shares(log, span_of(log)).incidents
    texts = {one.text: one for one in found}
    above = texts["team has more than its capability"]
    assert (above.queue, above.time, above.until) == ("team", time(6), time(14))
    closed = texts["old is Closed"]
    assert (closed.time, closed.until) == (time(11), None)
    assert texts["capability 6 of child is above the 4 of its parent team"].time == time(0)
    assert len(found) == 3


def test_an_incident_that_ended_before_the_period_is_not_in_it(log: Log) -> None:
    found = queue_shares(log, span_of(log, "2025-06-15T15:06:55Z"))
    assert "team has more than its capability" not in {one.text for one in found.incidents}
    begin = {one.time for one in found.incidents}
    assert begin == {found.period.begin}, "the others had begun before"


def test_children_above_all_nodes_are_an_incident_of_a_root_without_limit(tmp_path: Path) -> None:
    cluster = DrawnCluster()
    cluster.saw(0, node("n1", "8"), node("n2", "8"), queue("root"))
    cluster.saw(1, queue("a", parent="root", deserved="10"))
    cluster.gone(5, node("n2"))
    cluster.saw(9, node("n1", "8"), verb="updated")
    with cluster.log(tmp_path / "log.db") as log:
        found = queue_shares(log, span_of(log)).incidents
    assert [(one.time, one.text) for one in found] == [
        (time(5), "deserved 10 of a is above the 8 of all nodes")
    ]


def test_many_queues_are_bounded_to_those_that_have_most(tmp_path: Path) -> None:
    cluster = DrawnCluster()
    cluster.saw(0, node("n1", "100"))
    for number in range(MOST_QUEUES + 3):
        cluster.saw(1, queue(f"q{number}"))
        cluster.saw(2, podgroup(f"g{number}", queue=f"q{number}", least=1, phase="Running"))
        cluster.saw(3, pod(f"p{number}", group=f"g{number}", cpu=str(number + 1), on="n1"))
    with cluster.log(tmp_path / "log.db") as log:
        found = queue_shares(log, span_of(log))
        named = queue_shares(log, span_of(log), names=["q0"])
        with pytest.raises(UsageError, match="no queue 'q99'"):
            queue_shares(log, span_of(log), names=["q99"])
        with pytest.raises(UsageError, match="no queue, node or pod has 'gpu'"):
            queue_shares(log, span_of(log), "gpu")
    assert (len(found.queues), found.left_out) == (MOST_QUEUES, 3)
    assert {"q0", "q1", "q2"}.isdisjoint(one.queue for one in found.queues)
    assert [one.queue for one in named.queues] == ["q0"]
    assert named.left_out == 0


def test_a_pod_counts_for_the_queue_that_its_podgroup_has_at_the_time(tmp_path: Path) -> None:
    cluster = DrawnCluster()
    cluster.saw(0, node("n1"), queue("one"), queue("two"))
    cluster.saw(1, podgroup("g", queue="one", least=1, phase="Running"))
    cluster.saw(2, pod("p", group="g", on="n1"))
    cluster.saw(5, podgroup("g", queue="two", least=1, phase="Running"), verb="updated")
    cluster.saw(8, node("n1"), verb="updated")
    with cluster.log(tmp_path / "log.db") as log:
        found = queue_shares(log, span_of(log))
    one, two = found.queues
    before, after = at(found.period, 4), at(found.period, 6)
    assert (one.allocated[before], two.allocated[before]) == (1000, 0)
    assert (one.allocated[after], two.allocated[after]) == (0, 1000)


def test_versions_that_change_nothing_of_a_queue_are_not_compared_with_its_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most versions of pods, nodes and queues: of a large log they took most of the time."""
    cluster = DrawnCluster()
    cluster.saw(0, node("n1"), queue("one", capability="4"))
    cluster.saw(1, podgroup("g", queue="one", least=1, phase="Running"))
    cluster.saw(2, pod("p", group="g", on="n1"))
    for second in range(3, 23):
        cluster.saw(second, pod("p", group="g", on="n1", phase="Running"), verb="updated")
        cluster.saw(second, node("n1", cordoned=second % 2 == 0), verb="updated")
        cluster.saw(
            second, queue("one", "Open" if second % 2 else "", capability="4"), verb="updated"
        )
    compared: list[int] = []
    real = QueueIncidents.amounts

    def amounts(self: QueueIncidents, time: int, *rest: Any) -> None:
        compared.append(time)
        real(self, time, *rest)

    monkeypatch.setattr(QueueIncidents, "amounts", amounts)
    with cluster.log(tmp_path / "log.db") as log:
        found = queue_shares(log, span_of(log))
    assert found.queues[0].allocated[-1] == 1000
    assert set(compared) == {time(0), time(2)}


def test_a_log_without_the_schedulers_log_is_not_read_again_for_sessions(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    def listed(*_: object) -> list[ListedSession]:
        raise AssertionError("sessions that are inferred never lack an end")

    monkeypatch.setattr(incidents, "listed_sessions", listed)
    assert scheduler_incidents(log, span_of(log)) == []


names = st.sampled_from("abcde")


@given(
    st.lists(
        st.tuples(names, st.none() | names, st.integers(0, 5)),
        max_size=30,
    )
)
def test_totals_are_those_of_all_queues_below(
    steps: list[tuple[str, str | None, int]],
) -> None:
    tree, own, parents = Tree(), dict.fromkeys("abcde", 0), dict.fromkeys("abcde", "")
    for name, parent, amount in steps:
        if parent is not None:
            tree.put(name, QueueFact(parent=parent))
            parents[name] = "" if parent == name else parent
        tree.add(name, amount)
        own[name] += amount

    def below(top: str) -> set[str]:
        found, left = {top}, [top]
        while left:
            over = left.pop()
            more = {one for one, parent in parents.items() if parent == over} - found
            found |= more
            left += more
        return found

    for name in "abcde":
        assert tree.total(name) == sum(own[one] for one in below(name))


# -- nodes --------------------------------------------------------------------------------------


def test_a_node_has_its_share_and_its_state(log: Log) -> None:
    found = node_use(log, span_of(log))
    period, (first, second) = found.period, found.rows
    assert (first.name, second.name, found.nodes) == ("n1", "n2", 2)
    assert [first.used[at(period, when)] for when in (3, 5.5, 19)] == [0, 0.25, 0]
    assert [second.used[at(period, when)] for when in (7, 13, 17)] == [0.75, 1.5, None]
    states = [second.states[at(period, when)] for when in (3, 10, 13, 17)]
    assert states == [READY, CORDONED, NOT_READY, GONE]
    assert set(first.states) == {READY}


def test_more_nodes_than_rows_share_rows(tmp_path: Path) -> None:
    cluster = DrawnCluster()
    count = MOST_ROWS * 2 + 1
    cluster.saw(0, *(node(f"n{number}", "2") for number in range(count)))
    cluster.saw(1, pod("p", group="g", cpu="3", on="n1"))
    cluster.saw(3, node("n2", "2", cordoned=True), verb="updated")
    with cluster.log(tmp_path / "log.db") as log:
        found = node_use(log, span_of(log))
        with pytest.raises(UsageError, match="no node 'x'"):
            node_use(log, span_of(log), names=["x"])
    assert len(found.rows) <= MOST_ROWS
    assert (found.nodes, sum(row.count for row in found.rows)) == (count, count)
    row = found.rows[0]
    assert (row.name, row.last, row.count) == ("n0", "n2", 3), "n10 comes after n2"
    assert (row.used[-1], row.states[-1]) == (0.5, CORDONED)


# -- gangs --------------------------------------------------------------------------------------


def test_a_gang_is_counted_by_what_its_pods_do(log: Log) -> None:
    found = gang(log, span_of(log), ObjectName("scheduling.volcano.sh", "PodGroup", "gang", ""))
    period = found.period

    def counts(second: float) -> tuple[float | None, ...]:
        return tuple(
            found.counts[state][at(period, second)]
            for state in ("pending", "bound", "running", "finished")
        )

    seconds = (1.7, 3, 5.5, 6.5, 8.5, 10.5, 14.5, 18.5)
    assert [counts(second) for second in seconds] == [
        (1, 0, 0, 0),
        (2, 0, 0, 0),
        (1, 1, 0, 0),
        (0, 2, 0, 0),
        (0, 1, 1, 0),
        (1, 1, 1, 0),
        (1, 1, 0, 1),
        (1, 0, 0, 1),
    ]
    assert set(found.min_member) == {2}
    assert [(one.time, one.phase) for one in found.phases] == [
        (time(1), "Inqueue"),
        (time(7), "Running"),
    ]
    assert period.begin == time(1)


def test_a_pod_that_joins_its_gang_later_counts_from_then_on(tmp_path: Path) -> None:
    """The pods of a Deployment get their PodGroup after they were created."""
    cluster = DrawnCluster()
    joining = pod("p", 1, group="g")
    alone = {**joining, "metadata": {**joining["metadata"], "annotations": {}}}
    cluster.saw(0, node("n1"), podgroup("g", 0, queue="q", least=1, phase="Inqueue"))
    cluster.saw(2, alone)
    cluster.saw(4, joining, verb="updated")
    cluster.saw(6, pod("p", 1, group="g", on="n1", phase="Running"), verb="updated")
    cluster.saw(8, alone, verb="updated")
    with cluster.log(tmp_path / "log.db") as log:
        named = ObjectName("scheduling.volcano.sh", "PodGroup", "g", "")
        found = gang(log, span_of(log), named, whole=True)
    pending, running = found.counts["pending"], found.counts["running"]
    at_seconds = [at(found.period, second) for second in (1, 3, 5, 7)]
    assert [pending[one] for one in at_seconds] == [0, 0, 1, 0]
    assert [running[one] for one in at_seconds] == [0, 0, 0, 1]
    assert running[-1] == 0


def test_what_is_no_gang_is_refused(log: Log) -> None:
    span = span_of(log)
    with pytest.raises(UsageError, match="a Queue is no gang"):
        gang(log, span, ObjectName("scheduling.volcano.sh", "Queue", "team", ""))
    with pytest.raises(ObjectNotFound, match="no pod or PodGroup of job 'other'"):
        gang(log, span, ObjectName("batch.volcano.sh", "Job", "other", ""))
    named = ObjectName("scheduling.volcano.sh", "PodGroup", "gang", "")
    with pytest.raises(ObjectNotFound):
        gang(log, span, named, namespace="elsewhere")


# -- waits and sessions -------------------------------------------------------------------------


def test_waits_are_from_creation_to_binding(log: Log) -> None:
    found = waits(log, span_of(log))
    pods, gangs = found.spreads
    assert (pods.queue, pods.what, gangs.what) == ("child", "pods", "gangs")
    assert (pods.bound, pods.least, pods.most) == (2, int(3.5 * SECOND), 4 * SECOND)
    assert (pods.still, pods.waiting) == (1, (10 * SECOND,))
    assert (gangs.bound, gangs.median) == (1, 5 * SECOND), "from 1 to 6, when both have a node"
    assert (pods.gone, found.unknown) == (0, 0)


def test_a_pod_that_gets_its_podgroup_later_waits_since_its_creation(tmp_path: Path) -> None:
    """The pods of a Deployment get their PodGroup after they were created."""
    cluster = DrawnCluster()
    cluster.saw(0, node("n1"), queue("q"), podgroup("g", 0, queue="q", least=1, phase="Inqueue"))
    for number, name in enumerate(("bound", "stuck")):
        joining = pod(name, 1 + number, group="g")
        alone = {**joining, "metadata": {**joining["metadata"], "annotations": {}}}
        cluster.saw(1 + number, alone)
        cluster.saw(3 + number, joining, verb="updated")
    cluster.saw(6, pod("bound", 1, group="g", on="n1"), verb="updated")
    cluster.saw(12, node("n1"), verb="updated")
    with cluster.log(tmp_path / "log.db") as log:
        pods = next(one for one in waits(log, span_of(log)).spreads if one.what == "pods")
    assert (pods.bound, pods.least) == (1, 5 * SECOND)
    assert pods.waiting == (10 * SECOND,)


def test_a_pod_that_was_bound_before_it_was_seen_has_no_known_wait(tmp_path: Path) -> None:
    cluster = DrawnCluster()
    cluster.saw(0, node("n1"), queue("q"), podgroup("g", 0, queue="q", least=1, phase="Inqueue"))
    cluster.saw(5, pod("known", 5, group="g"))
    cluster.saw(6, pod("bound", 6, group="g", on="n1"))
    cluster.saw(7, pod("deleted", 7, group="g"))
    cluster.gone(9, pod("deleted", 7, group="g"))
    with cluster.log(tmp_path / "log.db") as log:
        found = waits(log, span_of(log), names=["q"])
        with pytest.raises(UsageError, match="nothing was created in queue 'r'"):
            waits(log, span_of(log), names=["r"])
    pods = found.spreads[0]
    assert (found.unknown, pods.bound, pods.still, pods.gone) == (1, 0, 1, 1)
    assert (pods.least, pods.median, pods.most) == (None, None, None)


@given(st.lists(st.integers(0, 100), min_size=1, max_size=9))
def test_quartiles_are_measured_values_in_order(lengths: list[int]) -> None:
    some = sorted(lengths)
    found = [_at(some, share) for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
    assert found == sorted(found, key=lambda one: one or 0)
    assert (found[0], found[-1]) == (some[0], some[-1])
    half = found[2]
    assert half in some
    assert sum(one <= half for one in some) * 2 >= len(some)
    assert sum(one < half for one in some) * 2 <= len(some)


def test_sessions_are_summed_up_by_parts(recording: Log) -> None:
    found = session_runs(recording, span_of(recording))
    listed = recording.sessions()
    assert found.sessions == len(listed) == sum(found.logged) + sum(found.inferred)
    assert sum(found.bound) == sum(one.binds for one in listed) > 20
    longest = max(one.closed - one.opened for one in listed if one.closed is not None)
    assert max(one for one in found.longest if one is not None) == longest


def test_a_session_that_does_not_end_is_an_incident(tmp_path: Path) -> None:
    cluster = DrawnCluster()
    cluster.saw(0, node("n1"), queue("q"))
    for number, second in enumerate((1.0, 2.0, 3.0)):
        cluster.opened(f"s{number}", second)
        if number != 1:
            cluster.closed(f"s{number}", second + 0.1)
    cluster.saw(5, node("n1"), verb="updated")
    with cluster.log(tmp_path / "log.db") as log:
        found = session_runs(log, span_of(log)).incidents
    assert [(one.time, one.text) for one in found] == [(time(2), "session:2 does not end")]


def test_a_limit_far_above_all_else_is_named_instead_of_drawn(tmp_path: Path) -> None:
    cluster = DrawnCluster()
    cluster.saw(0, node("n1"), queue("huge", capability="10000000", deserved="4"))
    cluster.saw(0, queue("idle", capability="10000000"))
    cluster.saw(9, node("n1"), verb="updated")
    with cluster.log(tmp_path / "log.db") as log:
        huge, idle = log.plot("queues").picture.panels
    assert isinstance(huge, Chart)
    assert isinstance(idle, Chart)
    assert huge.title == "huge; capability 10000000 above the panel"
    assert [line.label for line in huge.lines] == ["deserved"]
    assert [line.label for line in idle.lines] == ["capability"]


def test_progress_rises_to_the_last_position(recording: Log) -> None:
    seen: list[tuple[int, int]] = []
    queue_shares(recording, span_of(recording), progress=lambda *done: seen.append(done))
    known = recording.moment().known
    done = [position for position, _ in seen]
    assert done == sorted(done)
    assert done[-1] == known
    assert {total for _, total in seen} == {known}
    assert len(seen) >= 2


def test_a_name_that_is_given_twice_is_one_queue(log: Log) -> None:
    found = queue_shares(log, span_of(log), names=["team", "team"])
    assert ([one.queue for one in found.queues], found.left_out) == (["team"], 0)
