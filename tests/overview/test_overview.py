"""What is wrong at a moment: the same facts as other answers, the worst first."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from answer_worlds import CAPACITY, NODES, Document, log_of, watched_log
from audited import audited
from click.testing import CliRunner
from serving import ended, serving

import plinian
from plinian.engine.volcano.session.history import resolve
from plinian.replay.answers.why import why_at
from plinian.replay.belief.logged_drift import drift_at
from plinian.replay.cli.main import app
from plinian.replay.logs.log import Log
from plinian.replay.overview import failed_checks, pressed_queues
from plinian.replay.overview.overview import overview_at
from plinian.replay.overview.overview_task import OverviewTask
from plinian.replay.overview.problems import Overview, Problem, ProblemKind
from plinian.replay.render.blocks import block_lines
from plinian.replay.render.overview import overview_sections
from sessions import group, node, pod, queue

AT = "2026-11-21T01:53:36Z"
RELEASE = "v1.12.1"
ROOT = (queue("root"), queue("default", parent="root"))


def overview_of(log: Log, at: str = "end", release: str = RELEASE) -> Overview:
    """Return the overview of a moment."""
    return overview_at(log, OverviewTask(moment=log.moment(at), release=release))


def problems(overview: Overview, kind: ProblemKind) -> list[Problem]:
    """Return the problems of one kind."""
    return [problem for problem in overview.problems if problem.kind == kind]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the log of the demo."""
    found = tmp_path_factory.mktemp("overview") / "demo.db"
    plinian.demo(found).close()
    return str(found)


@pytest.fixture(scope="module")
def demo(place: str) -> Iterator[tuple[plinian.Log, Overview]]:
    """Return the log of the demo, and what is wrong at the moment of its story."""
    with plinian.open(place, read_only=True) as log:
        yield log, overview_of(log, AT)


class TestTheDemo:
    def test_jobs_that_wait_are_grouped_and_each_is_named_once(self, demo: Any) -> None:
        log, overview = demo
        waiting = problems(overview, ProblemKind.WAITING)
        named = [name for problem in waiting for name in problem.objects]
        assert len(named) == len(set(named)) == overview.waiting - overview.placed
        phases = [found["status"]["phase"] for found in log.get("podgroups", at=AT)]
        assert len(named) == sum(phase in {"Pending", "Inqueue"} for phase in phases)

    def test_a_group_has_the_sentence_of_why_about_its_first_job(self, demo: Any) -> None:
        log, overview = demo
        for problem in problems(overview, ProblemKind.WAITING):
            why = why_at(log, log.object(problem.objects[0]), AT, release=RELEASE)
            assert problem.text == why.sentence

    def test_all_jobs_of_a_group_wait_for_the_same_cause(self, demo: Any) -> None:
        log, overview = demo
        for problem in problems(overview, ProblemKind.WAITING):
            whys = [why_at(log, log.object(name), AT, release=RELEASE) for name in problem.objects]
            assert len({why.cause for why in whys}) == 1

    def test_full_queues_hold_what_get_shows(self, demo: Any) -> None:
        log, overview = demo
        texts = " ".join(problem.text for problem in problems(overview, ProblemKind.QUEUE))
        assert "queue silver holds all that it deserves: 12 of 12 cpu" in texts
        assert log.blame("queue/silver", "allocated.cpu", at=AT).value == "12"

    def test_who_did_what_before_is_listed_people_first(self, demo: Any) -> None:
        _, overview = demo
        actors = [act.actor for act in overview.acts]
        people = [actor for actor in actors if actor == "kubernetes-admin"]
        assert actors[: len(people)] == people
        created = next(act for act in overview.acts if act.text.startswith("creates"))
        assert created.actor == "kubernetes-admin"
        assert created.count == 15

    def test_a_cordon_and_evictions_are_listed_and_the_taint_of_a_cordon_is_not(
        self, demo: Any
    ) -> None:
        log, _ = demo
        acts = overview_of(log, "2026-11-21T01:53:44Z").acts
        texts = [(act.actor, act.text, act.objects[:1]) for act in acts]
        assert ("kubernetes-admin", "cordons", ("node/node-1",)) in texts
        evicts = next(act for act in acts if act.text == "evicts 5 pods")
        assert "pod/default/train-b-worker-3" in evicts.objects
        assert "taint" not in str(texts)

    def test_every_door_says_the_same(self, demo: Any, place: str) -> None:
        log, overview = demo
        ask = ["overview", "--log", place, "--at", AT, "--release", RELEASE, "-o", "json"]
        by_command = json.loads(CliRunner().invoke(app, ask).stdout)
        assert by_command["problems"] == plinian_document(overview)["problems"]
        assert log.overview(at=AT, release=RELEASE).problems == overview.problems
        running = serving(Path(place))
        try:
            answer = running.client.get(f"/plinian/v1/overview?at={AT}&release={RELEASE}")
            twin = running.client.get(f"/@{AT}/overview.json", follow_redirects=True)
        finally:
            ended(running)
        assert problems_of(answer) == by_command["problems"]
        # A page is about a position, and its commands name that.
        plain = [{**problem, "command": ""} for problem in by_command["problems"]]
        assert [{**problem, "command": ""} for problem in problems_of(twin)] == plain


def test_the_page_is_of_the_release_that_its_address_names(place: str) -> None:
    running = serving(Path(place))
    try:
        twins = [
            running.client.get(f"/@{AT}/overview.json?release={named}", follow_redirects=True)
            for named in ("v1.9.0", "v1.15.1")
        ]
    finally:
        ended(running)
    answers = [answer.json() for answer in twins]
    assert [(answer.get("data") or answer["result"])["asked"]["release"] for answer in answers] == [
        "v1.9.0",
        "v1.15.1",
    ]


def plinian_document(overview: Overview) -> Any:
    """Return what answers show of an overview."""
    return json.loads(msgspec.json.encode(overview))


def problems_of(answer: httpx.Response) -> Any:
    """Return the problems of an answer of a server."""
    assert answer.status_code == 200, answer.text
    found = answer.json()
    return (found.get("data") or found["result"])["problems"]


def held(of: str, cpu: float, on: str = "n1", **rest: Any) -> tuple[Document, ...]:
    """Return a PodGroup that runs with one pod."""
    return group(of, 1, "Running", **rest), pod(f"{of}-0", of, cpu, on)


class TestChecks:
    def test_drift_is_that_of_its_command(self, tmp_path: Path) -> None:
        roles = {"minTaskMember": {"a": 1, "b": 1}}
        made = (node("n1"), queue("default"), group("pg", 1, **roles))
        later = ("MODIFIED", group("pg", 1, minTaskMember={"b": 1}))
        with watched_log(tmp_path, NODES, *(("ADDED", one) for one in made), later) as log:
            (difference,) = drift_at(log.store, log.moment(), resolve(RELEASE)).differences
            (problem,) = problems(overview_of(log), ProblemKind.DRIFT)
        assert (problem.objects, problem.count) == (("podgroup/ns/pg",), 1)
        assert difference.field in problem.text
        assert "is 1 in the cache and not there in truth" in problem.text

    def test_many_objects_are_not_linted_and_it_is_said(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        documents = (node("n1"), queue("a", parent="none"), *ROOT)
        with log_of(tmp_path, CAPACITY, *documents) as log:
            assert problems(overview_of(log), ProblemKind.LINT)
            monkeypatch.setattr(failed_checks, "MOST_LINTED", 3)
            many = overview_of(log)
        assert not problems(many, ProblemKind.LINT)
        (said,) = [text for text in many.not_checked if text.startswith("lint")]
        assert said.startswith("lint of 4 objects: ask plinian lint")


class TestNodes:
    def test_nodes_that_are_not_ready_are_a_problem(self, tmp_path: Path) -> None:
        broken = {"conditions": [{"type": "Ready", "status": "Unknown"}]}
        lost = node("n2")
        lost["status"] |= broken
        with log_of(tmp_path, NODES, node("n1"), lost, queue("default")) as log:
            (problem,) = problems(overview_of(log), ProblemKind.NODE)
        assert problem.text == "node n2 is not ready (its condition Ready is Unknown)"
        assert problem.objects == ("node/n2",)

    def test_since_when_a_node_is_not_ready_is_known_if_it_was_ready(self, tmp_path: Path) -> None:
        ready, lost = node("n1"), node("n1")
        for document, status in ((ready, "True"), (lost, "False")):
            document["status"] |= {"conditions": [{"type": "Ready", "status": status}]}
        with plinian.open(tmp_path / "log.db", create=True) as log:
            for minute, revision, document in ((30, 10, ready), (31, 20, lost)):
                document["metadata"] |= {"resourceVersion": str(revision)}
                file = tmp_path / f"{minute}.jsonl"
                file.write_text(audited(document, f"2026-05-01T08:{minute}:00.000000Z"))
                log.ingest([file])
            (problem,) = problems(overview_of(log), ProblemKind.NODE)
        assert problem.since == "2026-05-01T08:31:00Z"

    def test_pods_that_request_more_than_a_node_has_are_a_problem(self, tmp_path: Path) -> None:
        documents = (node("n1", 2), queue("default"), *held("a", 2), *held("b", 1))
        with log_of(tmp_path, NODES, *documents) as log:
            (problem,) = problems(overview_of(log), ProblemKind.NODE)
        assert problem.text == "pods on node n1 request more than it has: 3 of 2 cpu"

    def test_since_when_pods_request_more_than_a_node_has(self, tmp_path: Path) -> None:
        documents = (node("n1", 2), queue("default"), *held("a", 2), *held("b", 1))
        with plinian.open(tmp_path / "log.db", create=True) as log:
            for number, document in enumerate(documents):
                document["metadata"] |= {"resourceVersion": str(10 + number)}
                file = tmp_path / f"{number}.jsonl"
                file.write_text(audited(document, f"2026-05-01T08:3{number}:00.000000Z"))
                log.ingest([file])
            overview = overview_of(log)
            (problem,) = problems(overview, ProblemKind.NODE)
            text = "".join(block_lines(overview_sections(overview)))
        assert (problem.since, problem.at_least) == ("2026-05-01T08:35:00Z", True)
        assert "so much for at least 0s, since 08:35:00 · node/n1" in text

    def test_of_a_time_that_is_not_one_the_bounds_are_printed(self, tmp_path: Path) -> None:
        documents = (node("n1", 2), queue("default"), *held("a", 2), *held("b", 1))
        with log_of(tmp_path, NODES, *documents) as log:
            overview = overview_of(log)
        (problem,) = problems(overview, ProblemKind.NODE)
        text = "".join(block_lines(overview_sections(overview)))
        assert (problem.since, problem.between) == ("", "after 2025-11-21T13:00:00Z")
        assert "so much since after 2025-11-21T13:00:00Z · node/n1" in text


class TestQueues:
    def test_queues_over_what_they_deserve_come_after_those_for_which_jobs_wait(
        self, tmp_path: Path
    ) -> None:
        documents = (
            node("n1", 16),
            *ROOT,
            queue("a", parent="root", deserved={"cpu": "2"}),
            queue("b", parent="root", capability={"cpu": "2"}),
            *held("one", 4, queue="a"),
            *held("two", 2, queue="b"),
            group("pg", 1, queue="b"),
            pod("pg-0", "pg", 1),
        )
        with log_of(tmp_path, CAPACITY, *documents) as log:
            full, over = problems(overview_of(log), ProblemKind.QUEUE)
        assert full.text == "queue b is full: it holds 2 of 2 cpu, and 1 of its jobs waits"
        assert over.text == "queue a holds more than it deserves: 4 of 2 cpu"

    def test_a_parent_counts_what_its_children_hold_only_where_accounts_do(
        self, tmp_path: Path
    ) -> None:
        documents = (
            node("n1", 16),
            *ROOT,
            queue("up", parent="root", capability={"cpu": "4"}),
            queue("down", parent="up", capability={"cpu": "8"}),
            *held("one", 4, queue="down"),
        )
        with log_of(tmp_path, CAPACITY, *documents) as log:
            (problem,) = problems(overview_of(log), ProblemKind.QUEUE)
        assert problem.text == "queue up is full: it holds 4 of 4 cpu"

    def test_since_when_is_not_asked_of_more_pods_than_are_read(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        documents = (node("n1", 2), queue("default", capability={"cpu": "2"}), *held("a", 2))
        with log_of(tmp_path, CAPACITY, *documents, *ROOT[:1]) as log:
            (dated,) = problems(overview_of(log), ProblemKind.QUEUE)
            monkeypatch.setattr(pressed_queues, "MOST_BLAMED", 0)
            (undated,) = problems(overview_of(log), ProblemKind.QUEUE)
        assert (dated.between != "", undated.between) == (True, "")
        assert dated.text == undated.text

    def test_queues_above_themselves_are_a_crash_first(self, tmp_path: Path) -> None:
        documents = (
            node("n1", 8),
            *ROOT,
            queue("a", parent="b"),
            queue("b", parent="a"),
            *held("one", 8, queue="a"),
            group("pg", 1, queue="a"),
            pod("pg-0", "pg", 1),
        )
        with log_of(tmp_path, CAPACITY, *documents) as log:
            overview = overview_of(log)
        assert overview.problems[0].kind == ProblemKind.CRASH
        assert "queue a is above itself" in overview.problems[0].text
        assert overview.sentence.startswith("the scheduler panics")


class TestPoorInputs:
    def test_a_log_that_nothing_is_wrong_with_says_as_far_as_was_checked(
        self, tmp_path: Path
    ) -> None:
        with log_of(tmp_path, NODES, node("n1"), queue("default")) as log:
            overview = overview_of(log)
        assert overview.problems == ()
        assert overview.sentence.startswith("nothing is wrong in what the log knows, but it does")
        assert overview.not_known

    def test_the_exit_code_says_whether_anything_is_wrong(self, tmp_path: Path, place: str) -> None:
        ask = ["overview", "--exit-code", "--release", RELEASE, "--log"]
        assert CliRunner().invoke(app, [*ask, place, "--at", AT]).exit_code == 1
        with log_of(tmp_path, NODES, node("n1"), queue("default")):
            pass
        assert CliRunner().invoke(app, [*ask, str(tmp_path / "log.db")]).exit_code == 0

    def test_an_empty_log_says_so(self, tmp_path: Path) -> None:
        place = str(tmp_path / "empty.db")
        plinian.open(place, create=True).close()
        done = CliRunner().invoke(app, ["overview", "--log", place])
        assert "it does not fully know" in done.stdout
        assert "Traceback" not in done.output
