"""A cluster that lives on from a moment: known answers on small ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from answer_worlds import CAPACITY, NODES

from forecasts import (
    LISTED,
    RELEASE,
    USER,
    Later,
    deployment,
    finishes,
    job,
    lived,
    living_log,
    starts,
)
from plinian.engine.errors import NotKnown, ObjectNotFound, UsageError
from plinian.engine.machine.live_scheduler import LiveScheduler
from plinian.replay.forecast.forecast_outcome import differences, summaries
from plinian.replay.forecast.forecast_run import ForecastRequest, forecast
from plinian.replay.forecast.recorded_durations import Wish
from plinian.replay.render.documents import plain
from plinian.replay.render.forecast import forecast_lines
from plinian.replay.what_if.changed_sessions import Variant
from plinian.replay.what_if.cluster_changes import (
    AddNodes,
    Apply,
    Cordon,
    Delete,
    named_in,
    set_field,
)
from sessions import document, group, node, pod, queue

Document = dict[str, Any]
ROOT = (queue("root"), queue("default", parent="root"))
MINUTE = ("job/a=60s", "job/b=60s", "job/c=60s")
THREE = (
    *ROOT,
    queue("top", parent="root", capability={"cpu": "2"}),
    node("n1", 8),
    *(job(name, queue="top") for name in "abc"),
)
TWO_ON_ONE = (queue("default"), node("n1", 2), job("a"), job("b"))
RECLAIM = """
actions: "enqueue, allocate, reclaim"
tiers:
- plugins:
  - name: gang
    enablePreemptable: false
- plugins:
  - name: predicates
  - name: proportion
"""


def test_jobs_of_a_full_queue_run_one_after_the_other(tmp_path: Path) -> None:
    with living_log(tmp_path, CAPACITY, THREE) as log:
        found = lived(log, 200, runs=MINUTE)
    assert starts(found) == {"a": 1.0, "b": 63.0, "c": 125.0}
    assert finishes(found) == {"a": 61.0, "b": 123.0, "c": 185.0}
    above, cpu = found.courses[0].queues
    assert (above.queue, above.peak, above.capability) == ("root", 2.0, None)
    assert (cpu.resource, cpu.peak, cpu.capability) == ("cpu", 2.0, 2.0)
    assert cpu.mean == pytest.approx(2 * 180 / 200, abs=0.01)
    assert found.calibration is None


def test_twice_the_capability_lets_two_run_at_once(tmp_path: Path) -> None:
    with living_log(tmp_path, CAPACITY, THREE) as log:
        found = lived(log, 200, [set_field("queue/top.spec.capability.cpu=4")], runs=MINUTE)
    assert starts(found, 1) == {"a": 1.0, "b": 1.0, "c": 63.0}
    _, changed = summaries(found.courses)
    assert (changed.earlier, changed.later, changed.by) == (2, 0, 62_000_000)
    limits = [{one.capability for one in of.queues if one.queue == "top"} for of in found.courses]
    assert limits == [{2.0}, {4.0}]
    rows = {(str(row.what), row.work) for row in differences(found.courses)}
    assert rows == {(what, f"job ns/{name}") for what in ("starts", "finishes") for name in "bc"}


def test_a_change_that_changes_nothing_makes_no_difference(tmp_path: Path) -> None:
    same = [set_field("queue/top.spec.capability.cpu=2")]
    with living_log(tmp_path, CAPACITY, THREE) as log:
        found = lived(log, 200, (), same, runs=MINUTE)
    assert differences(found.courses) == []
    original, *others = plain(found.document)["courses"]
    for one in others:
        assert one["placements"] == original["placements"]
        assert one["queues"] == original["queues"]


def test_the_same_question_has_the_same_answer_also_in_other_processes(tmp_path: Path) -> None:
    changes = (set_field("queue/top.spec.capability.cpu=4"),)
    with living_log(tmp_path, CAPACITY, THREE) as log:
        question = ForecastRequest(
            log.moment(f"rv:{LISTED}"),
            (Variant("more", changes),),
            Wish(100_000_000),
            RELEASE,
            place=str(tmp_path / "log.db"),
        )
        alone = forecast(log, question).document
        assert forecast(log, question).document == alone
        assert forecast(log, question, jobs=2).document == alone


def test_sessions_that_are_left_out_would_have_decided_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with living_log(tmp_path, CAPACITY, THREE) as log:
        short = lived(log, 200, runs=MINUTE).courses[0]
        monkeypatch.setattr(LiveScheduler, "_changed_nothing", lambda _: False)
        whole = lived(log, 200, runs=MINUTE).courses[0]
    assert short.ran < whole.ran == whole.sessions == short.sessions == 200
    assert short.placements == whole.placements
    assert short.works == whole.works
    assert short.queues == whole.queues


def test_a_node_that_is_added_takes_the_job_that_waits(tmp_path: Path) -> None:
    with living_log(tmp_path, NODES, TWO_ON_ONE) as log:
        found = lived(log, 60, [AddNodes("n1")])
    assert starts(found) == {"a": 1.0, "b": None}
    assert found.courses[0].works["job ns/b"].waiting == 1
    assert starts(found, 1) == {"a": 1.0, "b": 1.0}
    assert {one.node for one in found.courses[1].placements} == {"n1", "n1-new-1"}
    assert found.courses[0].endless == 1


def test_a_cordoned_node_takes_nothing(tmp_path: Path) -> None:
    with living_log(tmp_path, NODES, TWO_ON_ONE) as log:
        found = lived(log, 30, [Cordon("n1")])
    assert starts(found, 1) == {"a": None, "b": None}
    assert [one.not_here for one in summaries(found.courses)] == [0, 1]


def test_a_gang_waits_until_all_its_pods_have_room(tmp_path: Path) -> None:
    there = (queue("default"), node("n1", 4), job("a"), job("gang", replicas=2))
    with living_log(tmp_path, NODES, there) as log:
        found = lived(log, 60, runs=["job/a=20s"])
    placed = {one.pod: one.at - found.begin for one in found.courses[0].placements}
    assert placed == {
        "ns/a-w-0": 1_000_000,
        "ns/gang-w-0": 22_000_000,
        "ns/gang-w-1": 22_000_000,
    }


@pytest.mark.parametrize(
    ("also", "started"),
    [(("PriorityClass",), {"a": 1.0}), ((), {"a": 1.0, "c": 1.0})],
)
def test_pods_of_a_class_that_does_not_exist_are_refused_if_the_classes_are_known(
    tmp_path: Path, also: tuple[str, ...], started: dict[str, float]
) -> None:
    low = document("PriorityClass", "low", value=7)
    jobs = (job("a", priorityClassName="low"), job("c", priorityClassName="urgent"))
    world = (queue("default"), node("n1", 8), low, *jobs)
    with living_log(tmp_path, NODES, world, also=also) as log:
        found = lived(log, 200)
    assert starts(found) == started


def test_a_job_that_is_deleted_makes_room_when_its_pods_are_gone(tmp_path: Path) -> None:
    there = (queue("default"), node("n1", 2), job("a"))
    later = [Later(5, "created", job("b"))]
    with living_log(tmp_path, NODES, there, later) as log:
        found = lived(log, 60, [Delete(named_in("job/a", "ns"))])
    assert starts(found) == {"a": 1.0, "b": None}
    assert starts(found, 1)["b"] == 6.0


def test_reclaim_evicts_pods_of_a_queue_above_its_share(tmp_path: Path) -> None:
    there = (
        *(queue("one", reclaimable=True), queue("two"), node("n1", 4)),
        group("busy", 1, "Running", queue="one"),
        *(pod(f"busy-{n}", "busy", 2, "n1") for n in range(2)),
    )
    later = [Later(10, "created", job("new", queue="two"))]
    with living_log(tmp_path, RECLAIM, there, later) as log:
        found = lived(log, 60, [set_field("queue/one.spec.reclaimable=false")])
    (evicted,) = found.courses[0].evictions
    assert evicted.work == "podgroup ns/busy"
    assert found.courses[0].works["podgroup ns/busy"].evictions == 1
    at = starts(found)["new"]
    assert at is not None
    assert at > 10 + 30 - 1, "a pod that is deleted takes 30 s to end, if nothing else is known"
    assert not found.courses[1].evictions
    assert starts(found, 1)["new"] is None


def test_pods_of_a_deployment_run_for_ever(tmp_path: Path) -> None:
    there = (queue("default"), node("n1", 8), deployment("web", 2))
    with living_log(tmp_path, NODES, there) as log:
        found = lived(log, 60)
        short = lived(log, 60, runs=["deployment/web=10s"])
    course = found.courses[0]
    assert (len(course.placements), course.endless) == (2, 2)
    assert course.works["deployment ns/web"].placed == 2
    again = short.courses[0]
    assert again.endless == 0
    assert again.works["deployment ns/web"].placed > 2, "a pod that ends is replaced"


def test_what_users_wrote_later_comes_at_its_time_unless_it_is_left_out(tmp_path: Path) -> None:
    there = (queue("default"), node("n1", 2), job("a"))
    more = node("n2", 2)
    later = [
        Later(5, "created", job("b")),
        Later(20, "created", more),
        Later(40, "deleted", more),
    ]
    with living_log(tmp_path, NODES, there, later) as log:
        found = lived(log, 100)
        alone = lived(log, 100, arrivals=False)
    assert starts(found) == {"a": 1.0, "b": 20.0}
    assert starts(alone) == {"a": 1.0}
    assert "Nothing is written from outside" in " ".join(alone.assumed)
    lost = [one for one in found.courses[0].placements if one.node == "n2"]
    assert len(lost) == 1
    assert finishes(found)["b"] is None


def test_what_controllers_wrote_is_not_written_again(tmp_path: Path) -> None:
    there = (queue("default"), node("n1", 2), job("a"))
    volcano = "system:serviceaccount:volcano-system:volcano-controllers"
    own = {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "name": "a",
        "uid": "uid-a",
        "controller": True,
    }
    made = pod("a-w-7", "a-uid-a", 1)
    made["metadata"]["ownerReferences"] = [own]
    with living_log(tmp_path, NODES, there, [Later(5, "created", made, volcano)]) as log:
        found = lived(log, 30)
    assert [one.pod for one in found.courses[0].placements] == ["ns/a-w-0"]


def test_pods_of_another_scheduler_come_and_are_bound_as_recorded(tmp_path: Path) -> None:
    def foreign(name: str, on: str = "") -> Document:
        made = pod(name, "", 2, on, status={"phase": "Pending"})
        made["spec"]["schedulerName"] = "default-scheduler"
        made["metadata"]["annotations"] = {}
        return made

    there = (queue("default"), node("n1", 2), node("n2", 2), foreign("early"))
    later = [
        Later(4, "created", foreign("late"), "system:serviceaccount:kube-system:job-controller"),
        Later(6, "updated", foreign("early", "n1"), ""),
        Later(8, "updated", foreign("late", "n2"), ""),
        Later(10, "created", job("a")),
        Later(40, "deleted", foreign("early", "n1"), USER),
    ]
    with living_log(tmp_path, NODES, there, later) as log:
        found = lived(log, 100)
    (placed,) = [one for one in found.courses[0].placements if one.pod == "ns/a-w-0"]
    assert placed.node == "n1"
    assert placed.at - found.begin >= 40_000_000
    assert found.courses[0].works["pod ns/late"].waiting == 0


def test_a_command_of_a_user_reaches_its_job(tmp_path: Path) -> None:
    command = {
        "apiVersion": "bus.volcano.sh/v1alpha1",
        "kind": "Command",
        "metadata": {"name": "stop", "namespace": "ns", "uid": "uid-stop"},
        "target": {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": "a"},
        "action": "AbortJob",
    }
    there = (queue("default"), node("n1", 2), job("a"))
    later = [Later(10, "created", command), Later(11, "observed", command)]
    with living_log(tmp_path, NODES, there, later) as log:
        found = lived(log, 100)
    at = finishes(found)["a"]
    assert at is not None
    assert 10 <= at <= 45


def test_the_record_says_how_sure_the_answer_is(tmp_path: Path) -> None:
    there = (queue("default"), node("n1", 8), group("g", 1), pod("g-0", "g", 1))
    bound = pod("g-0", "g", 1, "n1")
    later = [
        Later(3, "updated", {**bound, "status": {"phase": "Pending"}}, "volcano-scheduler"),
        Later(5, "updated", bound, "system:node:n1"),
        Later(15, "updated", {**bound, "status": {"phase": "Succeeded"}}, "system:node:n1"),
    ]
    with living_log(tmp_path, NODES, there, later) as log:
        found = lived(log, 60, start_after=None)
    seen = found.calibration
    assert seen is not None
    assert (seen.recorded, seen.predicted, seen.same_node, seen.invented) == (1, 1, 1, 0)
    assert (seen.off, seen.off_most) == (3_000_000, 3_000_000)
    assert finishes(found) == {"g": None}, "a PodGroup does not finish"
    use = found.courses[0].queues[0]
    assert use.queue == "default"
    assert use.mean == pytest.approx(12 / 60, abs=0.01), "2 s to start, 10 s to run, as recorded"


def test_what_cannot_be_carried_is_refused(tmp_path: Path) -> None:
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    with living_log(tmp_path, NODES, TWO_ON_ONE) as log:
        with pytest.raises(UsageError, match="nothing here acts on a ConfigMap"):
            lived(log, 10, [Apply(settings)])
        with pytest.raises(ObjectNotFound, match="the log shows no node n7"):
            lived(log, 10, [Cordon("n7")])


def test_a_log_without_all_pods_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forecasts.KINDS", ("Node", "Queue", "PodGroup", "Job"))
    with (
        living_log(tmp_path, NODES, TWO_ON_ONE) as log,
        pytest.raises(NotKnown, match="pods is not fully known") as refused,
    ):
        lived(log, 10)
    assert "ingest a list of pods" in refused.value.now


@pytest.mark.parametrize(
    ("share", "finished"), [(0.5, ["original", "a"]), (0.75, ["original", "a", "b"])]
)
def test_an_interrupt_leaves_the_courses_that_are_finished(
    tmp_path: Path, share: float, finished: list[str]
) -> None:
    with living_log(tmp_path, CAPACITY, TWO_ON_ONE) as log:
        names = ("a", "b", "c")
        variants = tuple(Variant(name, (AddNodes("n1", 1),)) for name in names)
        question = ForecastRequest(log.moment(f"rv:{LISTED}"), variants, Wish(60_000_000), RELEASE)

        def interrupt(done: int, total: int) -> None:
            if done > total * share:
                raise KeyboardInterrupt

        found = forecast(log, question, progress=interrupt)
    assert [course.name for course in found.courses] == finished
    assert found.missing == names[len(finished) - 1 :]
    first = next(iter(forecast_lines(found)))
    assert first.startswith(f"interrupted: not finished, and not shown: {', '.join(found.missing)}")
    assert plain(found.document)["missing"] == list(found.missing)
