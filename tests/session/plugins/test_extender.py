"""A service of one's own answers as was recorded, or not at all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from plinian.engine.model.panic import Panic
from plinian.engine.session.framework import voting
from plinian.engine.session.framework.plugin_registry import ScoreError
from plinian.engine.session.framework.process_parts import ExternalValues, ProcessState
from plinian.engine.session.framework.session import Session
from plinian.engine.session.framework.statement import Statement
from plinian.engine.session.reasons.objections import Objection
from plinian.engine.session.reasons.statuses import NodeRefusal, StatusCode
from sessions import group, job, names, node, opened, pod, queue, tasks

POINTS = (
    *("onSessionOpen", "predicate", "prioritize", "preemptable", "reclaimable"),
    *("queueOverused", "jobEnqueueable", "jobReady"),
)


def extended(
    *points: str,
    answers: dict[tuple[str, str], Any] | None = None,
    ignorable: bool = False,
    managed: str = "",
    release: str = "v1.12.1",
) -> Session:
    """Return a session with a service that is asked at these points, by verbs of their names.

    :param managed: the resources that are its business, as YAML.
    """
    verbs = "".join(f"      extender.{point}Verb: {point}\n" for point in points)
    conf = (
        "actions: allocate\ntiers:\n- plugins:\n  - name: extender\n    arguments:\n"
        f"      extender.urlPrefix: http://127.0.0.1\n"
        f"      extender.ignorable: {str(ignorable).lower()}\n{verbs}"
        + (f"      extender.managedResources: {managed}\n" if managed else "")
    )
    process = ProcessState(external=ExternalValues(extender_answers=answers or {}))
    documents = (
        *(node(name) for name in ("n1", "n2", "n3")),
        queue("default"),
        group("g", phase="Pending"),
        pod("p", "g"),
        pod("wants", "g", requests={"example.com/card": "1"}),
        pod("q", "g", on="n1"),
        pod("r", "g", on="n1"),
    )
    return opened(conf, *documents, process=process, release=release)[0]


def test_only_what_there_are_verbs_for_is_asked() -> None:
    ssn = extended("predicate")
    assert [
        bool(ssn.registry.flat(point)) for point in ("Predicate", "BatchNodeOrder", "Overused")
    ] == [*(True, False, False)]


def verdicts_on(ssn: Session, pod_name: str) -> list[tuple[NodeRefusal, ...]]:
    """Return what the service says of each node for a pod."""
    ((_, predicate),) = ssn.registry.flat("Predicate")
    verdicts = predicate.function(*tasks(ssn, pod_name), np.arange(len(ssn.nodes)))
    return [ssn.reasons.statuses(verdict) for verdict in verdicts.tolist()]


def test_predicates_answer_for_each_node() -> None:
    answers = {
        ("predicate", "ns/p n1"): {},
        ("predicate", "ns/p n2"): {"status": "no", "code": 2},
        ("predicate", "ns/p n3"): {"Status": "never"},
    }
    ssn = extended("predicate", answers=answers)
    assert verdicts_on(ssn, "p") == [
        (),
        (NodeRefusal(StatusCode.UNSCHEDULABLE, Objection("no")),),
        (NodeRefusal(StatusCode.ERROR, Objection("never")),),
    ]
    assert ssn.errors == []


def test_a_node_is_taken_with_a_code_that_nobody_knows() -> None:
    ssn = extended("predicate", answers={("predicate", "ns/p n1"): {"status": "odd", "code": 99}})
    assert verdicts_on(ssn, "p")[0] == ()


def listed(*statuses: Any) -> tuple[NodeRefusal, ...]:
    """Return what a node gets of which the service says this list, in a release that reads one."""
    answers = {("predicate", "ns/p n1"): {"status": list(statuses)}}
    return verdicts_on(extended("predicate", answers=answers, release="v1.9.0"), "p")[0]


def test_older_releases_take_a_list_of_statuses() -> None:
    no, far = {"Code": 2, "Reason": "no"}, {"code": 2, "reason": "too far"}
    fine, never = {"Code": 0, "Reason": "fine"}, {"Code": 3, "Reason": "never"}
    final = StatusCode.UNSCHEDULABLE_AND_UNRESOLVABLE
    assert listed() == listed(fine) == listed(None) == listed({"Code": 99, "Reason": "odd"}) == ()
    assert listed(no, far) == (NodeRefusal(StatusCode.UNSCHEDULABLE, Objection("no,too far")),)
    assert listed(fine, never) == (NodeRefusal(final, Objection("fine,never")),)
    assert listed({"Code": 1, "Reason": "broken"}) == (NodeRefusal(final, Objection("broken")),)


@pytest.mark.parametrize(
    ("release", "answer"),
    [
        ("v1.9.0", {"status": "no", "code": 2}),
        ("v1.9.0", {"status": [{"Code": "2"}]}),
        ("v1.10.0", {"status": [{"Code": 2}]}),
    ],
)
def test_an_answer_in_the_form_of_another_release_is_none(
    release: str, answer: dict[str, Any]
) -> None:
    ssn = extended("predicate", answers={("predicate", "ns/p n1"): answer}, release=release)
    ((verdict,), *_) = verdicts_on(ssn, "p")
    assert verdict.objection.message == "the call failed"
    assert "the answer to predicate about ns/p n1 is none" in ssn.errors[0]


@pytest.mark.parametrize(
    ("release", "curable"), [("v1.8.2", False), ("v1.9.0", True), ("v1.10.0", False)]
)
def test_only_v1_9_evicts_where_nobody_answered(
    release: str,
    curable: bool,  # noqa: FBT001
) -> None:
    ((verdict,), *_) = verdicts_on(extended("predicate", release=release), "p")
    assert (verdict.code is StatusCode.UNSCHEDULABLE) is curable


@pytest.mark.parametrize("ignorable", [False, True])
def test_a_predicate_without_answer_fails_unless_that_is_ignored(
    ignorable: bool,  # noqa: FBT001
) -> None:
    ssn = extended("predicate", ignorable=ignorable)
    ((_, predicate),) = ssn.registry.flat("Predicate")
    verdicts = predicate.function(*tasks(ssn, "p"), np.arange(1)).tolist()
    assert [bool(verdict) for verdict in verdicts] == [not ignorable]
    assert ssn.errors == [
        "extender: no answer to predicate about ns/p n1 was recorded; the call counts as failed"
    ]


def test_scores_are_those_of_the_answer() -> None:
    answers = {("prioritize", "ns/p"): {"nodeScore": {"n1": 3, "n3": 4.5}}}
    ssn = extended("prioritize", answers=answers)
    ((_, batch),) = ssn.registry.flat("BatchNodeOrder")
    assert batch.function(*tasks(ssn, "p"), np.arange(3)).tolist() == [3, 0, 4.5]


@pytest.mark.parametrize("answer", [{"errorMessage": "no"}, {}, None])
def test_scores_that_fail_choose_no_node(answer: dict[str, Any] | None) -> None:
    answers = {} if answer is None else {("prioritize", "ns/p"): answer}
    ssn = extended("prioritize", answers=answers)
    ((_, batch),) = ssn.registry.flat("BatchNodeOrder")
    with pytest.raises(ScoreError):
        batch.function(*tasks(ssn, "p"), np.arange(3))


def test_scores_that_are_not_answered_may_be_ignored() -> None:
    ssn = extended("prioritize", ignorable=True)
    ((_, batch),) = ssn.registry.flat("BatchNodeOrder")
    assert batch.function(*tasks(ssn, "p"), np.arange(3)) is None


@pytest.mark.parametrize("point", ["preemptable", "reclaimable"])
def test_victims_are_those_of_the_answer(point: str) -> None:
    answers = {(point, "ns/p"): {"status": 1, "victims": ["ns/r", "ns/q", "ns/x"]}}
    ssn = extended(point, answers=answers)
    evictor, *candidates = tasks(ssn, "p", "q", "r")
    assert names(ssn, getattr(voting, point)(ssn, evictor, candidates)) == ["r", "q"]
    abstaining = extended(point, answers={(point, "ns/p"): {"status": 0, "victims": ["ns/q"]}})
    assert getattr(voting, point)(abstaining, evictor, candidates) == []


@pytest.mark.parametrize(
    ("answer", "ignorable", "enqueued"),
    [
        ({"status": 1}, False, True),
        ({"status": -1}, False, False),
        ({"status": 0}, False, True),
        (None, False, False),
        (None, True, True),
    ],
)
def test_enqueueing(
    answer: dict[str, Any] | None,
    ignorable: bool,  # noqa: FBT001
    enqueued: bool,  # noqa: FBT001
) -> None:
    answers = {} if answer is None else {("jobEnqueueable", "ns/g"): answer}
    ssn = extended("jobEnqueueable", answers=answers, ignorable=ignorable)
    assert voting.job_enqueueable(ssn, job(ssn, "g"), "ns/g") is enqueued


@pytest.mark.parametrize(
    ("answer", "ignorable", "expected"),
    [
        ({"overused": True, "status": True}, False, True),
        ({}, False, False),
        (None, False, True),
        (None, True, False),
    ],
)
def test_queues_and_jobs(
    answer: dict[str, Any] | None,
    ignorable: bool,  # noqa: FBT001
    expected: bool,  # noqa: FBT001
) -> None:
    asked = [("queueOverused", "default"), ("jobReady", "ns/g")]
    answers = {} if answer is None else dict.fromkeys(asked, answer)
    ssn = extended("queueOverused", "jobReady", answers=answers, ignorable=ignorable)
    assert voting.overused(ssn, "default") is expected
    assert voting.job_ready(ssn, job(ssn, "g")) is expected


def test_without_an_answer_to_the_opening_nothing_is_asked() -> None:
    silent = extended(*POINTS)
    assert silent.registry.flat("Predicate") == []
    ignored = extended(*POINTS, ignorable=True)
    assert ignored.registry.flat("Predicate")
    answered = extended(*POINTS, answers={("onSessionOpen", ""): {}})
    assert answered.registry.flat("Predicate")
    assert answered.errors == []


MANAGED = "[example.com/card]"


@pytest.mark.parametrize(
    ("release", "asked"),
    [("v1.12.1", ["ns/p", "ns/wants"]), ("v1.13.0", ["ns/wants"]), ("v1.15.1", ["ns/wants"])],
)
def test_only_pods_that_want_what_is_managed_are_asked_about(
    release: str, asked: list[str]
) -> None:
    points = ("predicate", "prioritize", "preemptable")
    ssn = extended(*points, managed=MANAGED, ignorable=True, release=release)
    ((_, predicate),) = ssn.registry.flat("Predicate")
    ((_, batch),) = ssn.registry.flat("BatchNodeOrder")
    for task in tasks(ssn, "p", "wants"):
        assert predicate.function(task, np.arange(1)).tolist() == [0]
        batch.function(task, np.arange(1))
        assert voting.preemptable(ssn, task, []) == []
    about = [tuple(line.split()[4:7:2]) for line in ssn.errors]
    assert about == [(point, key) for key in asked for point in points]


def test_what_is_managed_must_be_a_list() -> None:
    with pytest.raises(Panic, match="Could not parse argument for key"):
        extended("predicate", managed="example.com/card", release="v1.13.0")


@pytest.mark.parametrize(
    ("answer", "ignorable", "error"),
    [
        ({}, False, None),
        ({"errorMessage": "no"}, False, "no"),
        ({"errorMessage": "no"}, True, "no"),
        (None, False, "the call failed"),
        (None, True, None),
    ],
)
def test_a_service_may_refuse_a_placement(
    answer: dict[str, Any] | None, *, ignorable: bool, error: str | None
) -> None:
    answers = {} if answer is None else {("allocateFunc", "ns/p"): answer}
    ssn = extended("allocateFunc", answers=answers, ignorable=ignorable, release="v1.13.0")
    (task,) = tasks(ssn, "p")
    assert ssn.registry.notify_allocated(task, 0) == ([] if error is None else [error])
    older = extended("allocateFunc", answers=answers, ignorable=ignorable)
    assert older.registry.event_handlers == []


def test_a_refused_placement_is_taken_back() -> None:
    answers = {("allocateFunc", "ns/p"): {"errorMessage": "no"}}
    ssn = extended("allocateFunc", answers=answers, release="v1.13.0")
    statement = Statement(ssn)
    (task,) = tasks(ssn, "p")
    assert statement.allocate(task, 0) is not None
    assert statement.operations == []
