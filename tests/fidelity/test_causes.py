"""Each cause of a difference, on a small cluster that has just this difference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from recorded_cluster import CONF, RecordedCluster

from plinian.replay.fidelity.report import Cause, Counts, Fidelity
from plinian.replay.logs.logged_confs import ConfText
from sessions import document, group, node, pod, queue

SESSION = "11111111-1111-4111-8111-111111111111"
OPENED = 10.0
WAITING = pod("p", "g", cpu=4)


def cluster(*nodes: dict[str, Any]) -> RecordedCluster:
    """Return a cluster with nodes, and a PodGroup whose pod may be given later."""
    made = RecordedCluster()
    made.saw(1, queue("default"), *nodes, group("g"))
    return made


def bind_recorded(made: RecordedCluster, on: str, of: dict[str, Any] = WAITING) -> None:
    """Add a session that bound the pod to a node."""
    name = f"ns/{of['metadata']['name']}"
    made.opened(SESSION, OPENED)
    made.decided(SESSION, "allocate", OPENED + 0.02, task=name, node=on)
    made.bound(of, on, OPENED + 0.05)


def run(made: RecordedCluster, folder: Path, **options: Any) -> Fidelity:
    """Run the sessions of the cluster's log again."""
    with made.log(folder / "log.db", **options) as log:
        return log.fidelity()


def causes(found: Fidelity) -> list[tuple[str, str, Cause]]:
    """Return what differs, and why."""
    return [(each.about, each.name, each.cause) for each in found.differences]


def test_what_the_session_decides_again_is_exact(tmp_path: Path) -> None:
    made = cluster(node("n1"), node("n2", cpu=1))
    made.saw(2, WAITING)
    bind_recorded(made, "n1")
    found = run(made, tmp_path)
    assert found.bindings == Counts(1, 1, 0, 0, 0, 0)
    assert found.differences == ()
    assert found.exact
    assert [one.deliveries for one in found.sessions] == [()]


def test_an_equal_node_is_a_tie(tmp_path: Path) -> None:
    made = cluster(node("n1"), node("n2"))
    made.saw(2, WAITING)
    bind_recorded(made, "n2")
    found = run(made, tmp_path)
    assert found.bindings == Counts(1, 0, 1, 0, 0, 0)
    assert causes(found) == [("binding", "ns/p", Cause.TIE)]
    (tie,) = found.differences
    assert (tie.recorded, tie.again) == ("n2", "n1")
    assert found.exact


def test_a_node_without_room_is_different_and_not_explained(tmp_path: Path) -> None:
    made = cluster(node("n1"), node("n2", cpu=1))
    made.saw(2, WAITING)
    bind_recorded(made, "n2")
    found = run(made, tmp_path)
    assert found.bindings == Counts(1, 0, 0, 1, 0, 0)
    assert causes(found) == [("binding", "ns/p", Cause.UNEXPLAINED)]
    assert not found.exact


def test_a_bind_that_nothing_records_is_invented(tmp_path: Path) -> None:
    made = cluster(node("n1"))
    made.saw(2, WAITING)
    made.opened(SESSION, OPENED)
    found = run(made, tmp_path)
    assert found.bindings == Counts(0, 0, 0, 0, 0, 1)
    assert causes(found) == [("binding", "ns/p", Cause.UNEXPLAINED)]


def test_a_bind_that_does_not_come_again_is_missed(tmp_path: Path) -> None:
    made = cluster(node("n1", cpu=1))
    made.saw(2, WAITING)
    bind_recorded(made, "n1")
    found = run(made, tmp_path)
    assert found.bindings == Counts(1, 0, 0, 0, 1, 0)
    assert causes(found) == [("binding", "ns/p", Cause.UNEXPLAINED)]


def test_a_pod_that_the_log_lacks_is_missing_input(tmp_path: Path) -> None:
    made = cluster(node("n1"))
    made.opened(SESSION, OPENED)
    made.decided(SESSION, "allocate", OPENED + 0.02, task="ns/p", node="n1")
    made.bound(WAITING, "", OPENED + 0.05)
    found = run(made, tmp_path)
    assert found.bindings == Counts(1, 0, 0, 0, 1, 0)
    assert causes(found) == [("binding", "ns/p", Cause.MISSING_INPUT)]


def test_a_change_that_the_scheduler_had_not_seen_explains_a_bind(tmp_path: Path) -> None:
    made = cluster(node("n1", cpu=16), node("n2", cpu=6))
    busy = pod("busy", "h", cpu=14, on="n1")
    made.saw(2, group("h", phase="Running"), busy, WAITING)
    ended = {**busy, "status": {"phase": "Succeeded"}}
    made.saw(OPENED - 0.05, ended, verb="updated")
    bind_recorded(made, "n2")
    found = run(made, tmp_path)
    assert found.bindings == Counts(1, 1, 0, 0, 0, 0)
    assert causes(found) == [("binding", "ns/p", Cause.NOT_YET_DELIVERED)]
    (session,) = found.sessions
    (late,) = session.deliveries
    assert (late.kind, late.behind, late.ahead) == ("Pod", 1, 0)
    assert late.us == 50_000
    assert [change.object for change in late.changes] == ["pod/ns/busy"]
    assert found.differences[0].again == "n1"


def test_one_informer_may_be_behind_while_another_is_not(tmp_path: Path) -> None:
    """No cut of history for all kinds has the pod and the node as it was before."""
    made = cluster(node("n1"), node("n2", cpu=1))
    made.saw(OPENED - 0.10, node("n1", spec={"unschedulable": True}), verb="updated")
    made.saw(OPENED - 0.05, WAITING)
    bind_recorded(made, "n1")
    found = run(made, tmp_path)
    assert found.bindings == Counts(1, 1, 0, 0, 0, 0)
    assert causes(found) == [("binding", "ns/p", Cause.NOT_YET_DELIVERED)]
    (session,) = found.sessions
    assert [(one.kind, one.behind) for one in session.deliveries] == [("Node", 1)]
    assert "had not yet seen node.updated node/n1" in found.differences[0].why


def test_a_change_just_after_the_opening_may_have_been_seen_already(tmp_path: Path) -> None:
    """The times of an audit log are later than those at which informers deliver."""
    made = cluster(node("n1", spec={"unschedulable": True}), node("n2", cpu=1))
    made.saw(2, WAITING)
    made.saw(OPENED + 0.1, node("n1"), verb="updated")
    made.opened(SESSION, OPENED)
    made.decided(SESSION, "allocate", OPENED + 0.15, task="ns/p", node="n1")
    made.bound(WAITING, "n1", OPENED + 0.2)
    found = run(made, tmp_path)
    assert found.bindings == Counts(1, 1, 0, 0, 0, 0)
    (session,) = found.sessions
    assert [(one.kind, one.behind, one.ahead) for one in session.deliveries] == [("Node", 0, 1)]
    assert "had already seen node.updated node/n1" in found.differences[0].why


def test_a_change_long_before_the_session_was_surely_seen(tmp_path: Path) -> None:
    made = cluster(node("n1"), node("n2", cpu=1))
    made.saw(2, node("n1", spec={"unschedulable": True}), verb="updated")
    made.saw(OPENED - 0.05, WAITING)
    bind_recorded(made, "n1")
    found = run(made, tmp_path)
    assert causes(found) == [("binding", "ns/p", Cause.UNEXPLAINED)]


@pytest.fixture
def preempting() -> RecordedCluster:
    """Return a cluster in which an important pod must preempt one of two equal ones."""
    made = RecordedCluster()
    made.saw(
        1,
        document("PriorityClass", "high", value=100),
        document("PriorityClass", "low", value=1),
        queue("default"),
        node("n1", cpu=4),
        node("n2", cpu=4),
        group("low", min_member=0, phase="Running", priorityClassName="low"),
        pod("v1", "low", cpu=4, on="n1", priority=1),
        pod("v2", "low", cpu=4, on="n2", priority=1),
        group("high", priorityClassName="high"),
        pod("p", "high", cpu=4, priority=100),
    )
    made.opened(SESSION, OPENED)
    return made


def test_another_victim_on_an_equal_node_is_the_order_of_a_map(
    tmp_path: Path, preempting: RecordedCluster
) -> None:
    preempting.decided(SESSION, "evict", OPENED + 0.1, task="ns/v2", reason="preempt")
    found = run(preempting, tmp_path)
    assert found.evictions == Counts(1, 1, 0, 0, 0, 0)
    assert {cause for _, _, cause in causes(found)} == {Cause.MAP_ORDER}
    assert {name for _, name, _ in causes(found)} >= {"ns/v1", "ns/v2"}
    assert [one.order > 0 for one in found.sessions] == [True]


def test_the_logged_victim_shows_which_of_equal_nodes_was_tried(
    tmp_path: Path, preempting: RecordedCluster
) -> None:
    preempting.decided(SESSION, "preempt", OPENED + 0.1, task="ns/v2", reason="ns/p")
    preempting.decided(SESSION, "evict", OPENED + 0.1, task="ns/v2", reason="preempt")
    found = run(preempting, tmp_path)
    assert found.evictions == Counts(1, 1, 0, 0, 0, 0)
    assert found.differences == ()
    assert [one.order for one in found.sessions] == [0]


def test_in_a_large_cluster_a_worse_node_is_sampling(tmp_path: Path) -> None:
    made = cluster(*(node(f"n{number:03}", cpu=8 + (number == 7)) for number in range(101)))
    made.saw(2, WAITING)
    bind_recorded(made, "n050")
    found = run(made, tmp_path)
    assert found.bindings == Counts(1, 0, 0, 1, 0, 0)
    assert causes(found) == [("binding", "ns/p", Cause.SAMPLING)]


def test_with_100_nodes_all_are_looked_at(tmp_path: Path) -> None:
    made = cluster(*(node(f"n{number:03}", cpu=8 + (number == 7)) for number in range(100)))
    made.saw(2, WAITING)
    bind_recorded(made, "n050")
    assert causes(run(made, tmp_path)) == [("binding", "ns/p", Cause.UNEXPLAINED)]


def test_a_node_that_the_audit_log_leaves_out_is_not_compared(tmp_path: Path) -> None:
    """At level Metadata a binding has no node, and the scheduler's log may lack it, too."""
    made = cluster(node("n1"))
    made.saw(2, WAITING)
    made.opened(SESSION, OPENED)
    made.decided(SESSION, "allocate", OPENED + 0.02, task="ns/p", node="n9")
    made.bound(WAITING, "", OPENED + 0.05)
    found = run(made, tmp_path)
    assert found.bindings.recorded == 1
    assert found.bindings.different == 1, "the scheduler's log names the node"


NAMES = "priority gang predicates nodeorder"
LOADED = f"Successfully loaded Scheduler conf, actions: [{{}}], plugins: [{NAMES}]"
FINISHED = f"Finished loading scheduler config. Final state: actions=[{{}}], plugins=[{NAMES}]"


@pytest.mark.parametrize("logged", [LOADED, FINISHED, ""])
def test_a_configuration_counts_from_when_the_scheduler_read_it(
    tmp_path: Path, logged: str
) -> None:
    """The kubelet writes a changed ConfigMap into the pod up to a minute later."""
    _, _, tiers = CONF.partition("tiers:")
    texts = [f'actions: "{actions}"\ntiers:{tiers}' for actions in ("enqueue", "enqueue, allocate")]
    made = cluster(node("n1"))
    made.configured(texts[0], 1)
    made.configured(texts[1], OPENED - 1)
    made.saw(OPENED - 0.9, WAITING)
    if logged:
        made.said(logged.format("enqueue"), OPENED - 0.5)
        made.said(logged.format("enqueue allocate"), OPENED + 20)
    made.opened(SESSION, OPENED)
    made.closed(SESSION, OPENED + 0.1)
    made.opened("next", OPENED + 30)
    made.decided("next", "allocate", OPENED + 30, task="ns/p", node="n1")
    made.bound(WAITING, "n1", OPENED + 30.1)
    with made.log(tmp_path / "log.db") as log:
        found = log.fidelity()
        decided = [log.session(at=f"session:{number}").result.binds for number in (1, 2)]
    assert found.bindings == Counts(1, 1, 0, 0, 0, 0)
    assert [len(binds) for binds in decided] == [0 if logged else 1, 1]


RECLAIM = """
actions: "enqueue, allocate, reclaim"
tiers:
- plugins:
  - name: gang
- plugins:
  - name: predicates
  - name: proportion
"""


@pytest.mark.parametrize("on", ["n1", "n2"])
@pytest.mark.parametrize("victim", ["x", "y"])
def test_a_victim_may_be_any_that_a_map_has_first(tmp_path: Path, victim: str, on: str) -> None:
    """`reclaim` goes through maps of nodes and of their pods; the scheduler logs what it tried."""
    made = RecordedCluster()
    nodes = [node(name, cpu=4) for name in ("n1", "n2")]
    made.saw(1, queue("default"), queue("b", weight=1), *nodes)
    for at in ("n1", "n2"):
        for name in ("x", "y"):
            group_name = f"{name}-{at}"
            made.saw(1, group(group_name, phase="Running", queue="b"))
            made.saw(1, pod(group_name, group_name, cpu=2, on=at))
    made.saw(2, group("g"), pod("p", "g", cpu=2))
    made.opened(SESSION, OPENED)
    chosen = f"ns/{victim}-{on}"
    made.decided(SESSION, "reclaim", OPENED + 0.02, task=chosen, reason="ns/p")
    made.decided(SESSION, "evict", OPENED + 0.02, task=chosen, reason="reclaim")
    found = run(made, tmp_path, conf=RECLAIM)
    assert found.evictions == Counts(1, 1, 0, 0, 0, 0)


def gang_that_fits_nowhere(of: str) -> tuple[RecordedCluster, dict[str, Any]]:
    """Return a cluster with such a gang, and its PodGroup when a session wrote a pod's reason."""
    made = RecordedCluster()
    waiting = group("g", min_member=2, minTaskMember={"a": 1, "b": 1})
    roles = {name: {"volcano.sh/task-spec": name} for name in ("a", "b")}
    pods = [
        pod(name, "g", cpu=64, annotations=role, labels={"of": name})
        for name, role in roles.items()
    ]
    made.saw(1, queue("default"), node("n1"), waiting, *pods)
    message = (
        "2/2 tasks in gang unschedulable: pod group is not ready, 2 Pending, 2 minAvailable; "
        f"Pending: 2 Unschedulable. Origin reason is {of}: 0/1 nodes are unavailable: "
        "1 Insufficient cpu."
    )
    told = {"type": "Unschedulable", "status": "True", "transitionID": SESSION, "message": message}
    status = {"phase": "Inqueue", "conditions": [{**told, "reason": "NotEnoughResources"}]}
    return made, {**waiting, "status": status}


@pytest.mark.parametrize("of", ["a", "b"])
def test_a_gang_may_have_the_reason_of_any_of_its_pods(tmp_path: Path, of: str) -> None:
    """Go takes the first of a map, so the one that was recorded is as good as another."""
    made, written = gang_that_fits_nowhere(of)
    made.opened(SESSION, OPENED)
    made.saw(OPENED + 0.1, written, verb="updated")
    made.closed(SESSION, OPENED + 0.2)
    made.opened("next", OPENED + 1)  # It took the same one again, so there was nothing to write.
    made.closed("next", OPENED + 1.2)
    found = run(made, tmp_path)
    assert found.differences == ()
    assert found.conditions.exact == 1


def test_a_write_that_the_scheduler_says_it_could_not_make_is_not_missed(tmp_path: Path) -> None:
    made, _ = gang_that_fits_nowhere("a")
    made.opened(SESSION, OPENED)
    made.said("Failed to update job <ns/g>: connection refused", OPENED + 0.1, SESSION)
    made.closed(SESSION, OPENED + 0.2)
    assert run(made, tmp_path).differences == ()


def test_phases_and_conditions_are_compared(tmp_path: Path) -> None:
    made = cluster(node("n1"))
    made.saw(2, WAITING)
    bind_recorded(made, "n1")
    wrong = {
        "phase": "Running",
        "running": 3,
        "conditions": [{"type": "Scheduled", "status": "True", "transitionID": SESSION}],
    }
    made.saw(OPENED + 0.1, group("g", status=wrong), verb="updated")
    made.closed(SESSION, OPENED + 0.2)
    found = run(made, tmp_path)
    assert found.phases.recorded == found.conditions.recorded == 1
    assert found.conditions.different == 1
    assert ("conditions", "ns/g", Cause.UNEXPLAINED) in causes(found)


def test_a_status_that_nobody_wrote_is_invented_if_the_log_would_have_it(tmp_path: Path) -> None:
    made = cluster(node("n1"))
    made.saw(2, WAITING)
    bind_recorded(made, "n1")
    made.closed(SESSION, OPENED + 0.2)
    found = run(made, tmp_path)
    assert found.phases == Counts(0, 0, 0, 0, 0, 1)


def test_a_session_without_a_known_end_invents_no_status(tmp_path: Path) -> None:
    made = cluster(node("n1"))
    made.saw(2, WAITING)
    bind_recorded(made, "n1")
    assert run(made, tmp_path).phases == Counts(0, 0, 0, 0, 0, 0)


def test_the_configuration_that_is_assumed_is_named(tmp_path: Path) -> None:
    made = cluster(node("n1"))
    made.saw(2, WAITING)
    bind_recorded(made, "n1")
    assert run(made, tmp_path, conf="").conf == "built into v1.12.1"


def test_what_an_assumed_configuration_decides_otherwise_is_missing_input(tmp_path: Path) -> None:
    made = cluster(node("n1"), node("n2", cpu=1))
    made.saw(2, WAITING)
    bind_recorded(made, "n2")
    with made.log(tmp_path / "log.db", conf="", whole=False) as log:
        (assumed,) = log.fidelity().differences
        (given,) = log.fidelity(conf=ConfText(CONF, "by hand")).differences
    assert (assumed.cause, given.cause) == (Cause.MISSING_INPUT, Cause.UNEXPLAINED)
    assert "the built-in one is assumed" in assumed.why


def test_an_inferred_session_leaves_open_what_it_tried(tmp_path: Path) -> None:
    made = cluster(node("n1"), node("n2", cpu=1))
    made.saw(2, WAITING)
    made.bound(WAITING, "n2", OPENED)
    found = run(made, tmp_path)
    assert [one.how for one in found.sessions] == ["inferred"]
    assert found.bindings == Counts(1, 0, 0, 1, 0, 0)
    assert causes(found) == [("binding", "ns/p", Cause.MISSING_INPUT)]
    assert "inferred" in found.differences[0].why


def test_an_inferred_session_may_be_exact(tmp_path: Path) -> None:
    made = cluster(node("n1"), node("n2", cpu=1))
    made.saw(2, WAITING)
    made.bound(WAITING, "n1", OPENED)
    found = run(made, tmp_path)
    assert found.bindings == Counts(1, 1, 0, 0, 0, 0)
    assert found.evictions == Counts(0, 0, 0, 0, 0, 0)


def test_a_log_without_sessions_has_nothing_to_compare(tmp_path: Path) -> None:
    found = run(cluster(node("n1")), tmp_path)
    assert (found.recorded, found.sessions, found.differences) == (0, (), ())


def test_a_gap_in_a_watch_makes_a_difference_missing_input(tmp_path: Path) -> None:
    """The watches end long before the session."""
    made = cluster(node("n1"), node("n2", cpu=1))
    made.saw(2, WAITING)
    watched = made.revision
    made.opened(SESSION, 1000)
    made.decided(SESSION, "allocate", 1000.02, task="ns/p", node="n2")
    made.bound(WAITING, "n2", 1000.05)
    found = run(made, tmp_path, whole=False, watched=watched)
    assert causes(found) == [("binding", "ns/p", Cause.MISSING_INPUT)]
    assert found.not_known
