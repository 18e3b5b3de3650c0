"""The path of a pod agrees with why: the same session, the same words, the same numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from answer_worlds import CAPACITY, NODES, PROPORTION, Document, log_of, wants
from click.testing import CliRunner
from serving import ended, serving

import plinian
from plinian.engine.errors import ObjectNotFound, UsageError
from plinian.replay.answers.answer import Why
from plinian.replay.answers.records import Nodes, QueuePath
from plinian.replay.answers.why import why_at
from plinian.replay.cli.main import app
from plinian.replay.facade.documents import document
from plinian.replay.logs.log import Log
from plinian.replay.pod_path.path_answer import PathTask, path_at
from plinian.replay.pod_path.path_records import Check, FilteredNodes, PathCheck, PodPath
from sessions import group, node, pod, queue

AT = "2026-11-21T01:53:44Z"
RELEASE = "v1.12.1"
ROOT = (queue("root"), queue("default", parent="root"))


def path_of(log: Log, named: str, release: str = RELEASE, nodes: str = "") -> PodPath:
    """Return the path of a pod of the namespace ``ns`` at the end of a log."""
    moment = log.moment("end")
    task = PathTask(
        named=log.object(named), moment=moment, release=release, namespace="ns", nodes=nodes
    )
    return path_at(log, task)


def checks_of(path: PodPath, check: Check) -> list[PathCheck]:
    """Return the checks of one sort."""
    return [found for found in path.checks if found.check == check]


def states(path: PodPath, check: Check) -> list[tuple[str, str]]:
    """Return the results of the checks of one sort, each with its plugin."""
    return [(found.by, found.state) for found in checks_of(path, check)]


def rows(path: PodPath) -> tuple[FilteredNodes, ...]:
    """Return the rows of the table of nodes."""
    assert path.nodes is not None
    return path.nodes.rows


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the log of the demo."""
    found = tmp_path_factory.mktemp("path") / "demo.db"
    plinian.demo(found).close()
    return str(found)


@pytest.fixture(scope="module")
def demo(place: str) -> Iterator[plinian.Log]:
    """Return the log of the demo."""
    with plinian.open(place, read_only=True) as log:
        yield log


def agrees(path: PodPath, why: Why) -> None:
    """Assert that a path says what ``why`` says of the same pod."""
    assert path.sentence == why.sentence
    assert path.cause == why.cause
    of_pod = [link for link in why.chain if isinstance(link, Nodes) and link.pod == path.asked.name]
    for link in of_pod[:1]:
        (check,) = checks_of(path, Check.NODES)
        if check.reason is not None:
            assert check.reason == link
        grouped: dict[tuple[Any, ...], set[str]] = {}
        for row in rows(path):
            codes = {code for cell in row.cells if cell.state == "failed" for code in cell.codes}
            if row.cells and row.state == "failed":
                grouped.setdefault((frozenset(codes), row.final, row.of), set()).update(row.nodes)
        told: dict[tuple[Any, ...], set[str]] = {}
        for each in link.groups:
            key = frozenset(each.codes), each.final, each.of
            told.setdefault(key, set()).update(each.nodes)
        assert grouped == told
        passing = {name for row in rows(path) if row.state == "passed" for name in row.nodes}
        assert passing == set(link.passing)
        same = {row.nodes: row.text for row in rows(path)}
        assert all(same.get(each.nodes, each.text) == each.text for each in link.groups)
    paths = [found.reason for found in path.checks if isinstance(found.reason, QueuePath)]
    for queue_link in (link for link in why.chain if isinstance(link, QueuePath) and link.blocks):
        assert queue_link in paths or path.nodes is None or not path.nodes.reached


class TestTheRecording:
    @pytest.mark.parametrize("release", ["v1.8.2", "v1.10.2", "v1.12.1", "v1.15.1"])
    @pytest.mark.parametrize("at", ["2026-11-21T01:53:02Z", "2026-11-21T01:53:36Z", AT])
    def test_it_says_of_every_pending_pod_what_why_says(
        self, demo: plinian.Log, at: str, release: str
    ) -> None:
        found = [
            each["metadata"]["name"]
            for each in demo.get("pods", at=at)
            if each["status"].get("phase") == "Pending"
        ]
        assert found
        for name in found[:8]:
            path = demo.path(f"pod/{name}", at=at, release=release)
            agrees(path, demo.why(f"pod/{name}", at=at, release=release))

    def test_nodes_with_the_same_cells_are_one_row_and_each_can_have_its_own(
        self, demo: plinian.Log
    ) -> None:
        few = demo.path("pod/train-a-worker-0", at=AT, release=RELEASE)
        assert [len(row.nodes) for row in rows(few)] == [4, 1]
        each = demo.path("pod/train-a-worker-0", at=AT, release=RELEASE, nodes="all")
        assert sorted(row.nodes for row in rows(each)) == [(f"node-{n}",) for n in range(5)]
        of = {row.nodes[0]: row for row in rows(each)}
        assert of["node-4"].least["cpu"] == "1500m"
        (lacks,) = [cell for cell in of["node-4"].cells if cell.state == "failed"]
        assert (lacks.filter, lacks.text) == ("Resources", "lacks 500m cpu")
        (shut,) = [cell for cell in of["node-1"].cells if cell.state == "failed"]
        assert (shut.plugin, shut.filter) == ("predicates", "NodeUnschedulable")
        assert shut.text == "is cordoned"
        two = demo.path("pod/train-a-worker-0", at=AT, release=RELEASE, nodes="node-0,node-1")
        assert sorted(row.nodes for row in rows(two)) == [("node-0",), ("node-1",)]

    def test_a_pod_with_a_node_leads_to_the_session_before(self, demo: plinian.Log) -> None:
        path = demo.path("pod/flaky-f-0", at=AT, release=RELEASE)
        assert path.nodes is None
        assert path.waits is False
        (check,) = checks_of(path, Check.POD)
        assert "it is bound to node node-4" in check.text
        before = demo.path("pod/flaky-f-0", at=path.before, release=RELEASE)
        assert before.waits is not False
        assert before.nodes is not None

    def test_every_door_says_the_same(self, demo: plinian.Log, place: str) -> None:
        named = "pod/gpu-2-gpu-0"
        ask = ["path", named, "--log", place, "--at", AT, "--release", RELEASE, "-o", "json"]
        by_command = json.loads(CliRunner().invoke(app, ask).stdout)
        path = demo.path(named, at=AT, release=RELEASE)
        assert by_command["checks"] == json.loads(json.dumps(document(path)))["checks"]
        running = serving(Path(place))
        query = f"at={AT}&release={RELEASE}&object={named}"
        try:
            answer = running.client.get(f"/plinian/v1/path?{query}")
            twin = running.client.get(
                f"/@{AT}/path/pod/default/gpu-2-gpu-0.json?release={RELEASE}", follow_redirects=True
            )
            page = running.client.get(
                f"/@{AT}/path/pod/default/gpu-2-gpu-0?release={RELEASE}", follow_redirects=True
            )
            leads = [
                running.client.get(f"/@{AT}/{of}pod/default/gpu-2-gpu-0", follow_redirects=True)
                for of in ("", "why/")
            ]
        finally:
            ended(running)
        for got in (answer, twin):
            assert got.status_code == 200, got.text
            found = got.json()
            assert (found.get("data") or found["result"])["nodes"] == by_command["nodes"]
        assert page.status_code == 200
        assert "failed: lack cpu" in page.text.replace("</span>", "").replace("</b>", "") or (
            "lack cpu" in page.text
        )
        assert all("path/pod/default/gpu-2-gpu-0" in lead.text for lead in leads)


class TestEnqueueing:
    def test_plugins_after_the_one_that_refuses_are_not_reached(self, tmp_path: Path) -> None:
        documents = (node("n1", 4), queue("default"), wants("9"), pod("pg-0", "pg", 1))
        with log_of(tmp_path, PROPORTION, *documents) as log:
            path = path_of(log, "pod/pg-0")
        assert states(path, Check.ENQUEUE) == [
            ("overcommit", "failed"),
            ("proportion", "not-reached"),
        ]
        assert "1.2 times what all nodes have" in checks_of(path, Check.ENQUEUE)[0].text
        assert states(path, Check.ENQUEUED) == [("", "failed")]
        assert states(path, Check.TURN) == [("allocate", "not-reached")]
        assert path.nodes is not None
        assert not path.nodes.reached

    def test_what_permits_it_has_its_numbers(self, tmp_path: Path) -> None:
        documents = (node("n1", 4), queue("default"), wants("1"), pod("pg-0", "pg", 1))
        with log_of(tmp_path, PROPORTION, *documents) as log:
            path = path_of(log, "pod/pg-0")
        first, second = checks_of(path, Check.ENQUEUE)
        assert (first.state, second.state) == ("passed", "passed")
        assert first.numbers["reserved"]["cpu"] == "1"
        assert first.numbers["idle"]["cpu"] == "4800m"
        assert isinstance(second.reason, QueuePath)
        assert states(path, Check.PLACE) == [("", "passed")]
        (row,) = rows(path)
        assert row.chosen == "n1"

    def test_jobs_that_come_first_are_counted(self, tmp_path: Path) -> None:
        jobs = ("a", "b", "c", "d", "pg")
        some = [one for name in jobs for one in (group(name), pod(f"{name}-0", name, 1))]
        with log_of(tmp_path, PROPORTION, node("n1", 8), queue("default"), *some) as log:
            (turn,) = checks_of(path_of(log, "pod/pg-0"), Check.TURN)
        last = "podgroup ns/b, podgroup ns/c, podgroup ns/d"
        assert turn.text.startswith(f"it comes after 4 other jobs: 1 other, {last}")

    def test_a_queue_that_refuses_the_pod_says_it_with_its_account(self, tmp_path: Path) -> None:
        documents = (
            node("n1", 16),
            *ROOT,
            queue("a", parent="root", capability={"cpu": "2"}),
            group("old", 1, "Running", queue="a"),
            pod("old-0", "old", 2, "n1"),
            group("pg", 1, "Inqueue", queue="a"),
            pod("pg-0", "pg", 1),
        )
        with log_of(tmp_path, CAPACITY, *documents) as log:
            path = path_of(log, "pod/pg-0")
        (check,) = checks_of(path, Check.ALLOCATABLE)
        assert (check.by, check.state) == ("capacity", "failed")
        assert isinstance(check.reason, QueuePath)
        assert path.nodes is not None
        assert not path.nodes.reached
        assert rows(path)[0].state == "passed"


class TestEvictions:
    def test_actions_that_evict_say_what_they_did(self, tmp_path: Path) -> None:
        documents = (node("n1", 2), queue("default"), group("old", 1, "Running"))
        waiting = (group("pg", 1, "Inqueue"), pod("pg-0", "pg", 2))
        with log_of(
            tmp_path, PROPORTION, *documents, pod("old-0", "old", 2, "n1"), *waiting
        ) as log:
            path = path_of(log, "pod/pg-0")
            why = why_at(log, log.object("pod/pg-0"), namespace="ns", release=RELEASE)
        texts = {found.by: found.text for found in checks_of(path, Check.EVICTION)}
        assert set(texts) == {"preempt", "reclaim"}
        told = [link.text for link in why.chain if type(link).__name__ == "EvictionTry"]
        assert told == [f"{action}: {text}" for action, text in texts.items()]


class TestPoorData:
    def test_a_pod_without_a_podgroup_ends_there(self, tmp_path: Path) -> None:
        alone: Document = pod("alone", "", 1)
        alone["metadata"].pop("annotations", None)
        with log_of(tmp_path, NODES, node("n1"), queue("default"), alone) as log:
            path = path_of(log, "pod/alone")
        assert states(path, Check.PODGROUP) == [("", "failed")]
        assert states(path, Check.NODES) == [("", "not-reached")]
        assert path.nodes is None

    def test_a_podgroup_that_does_not_exist_is_named(self, tmp_path: Path) -> None:
        with log_of(tmp_path, NODES, node("n1"), queue("default"), pod("pg-0", "pg", 1)) as log:
            path = path_of(log, "pod/pg-0")
        (check,) = checks_of(path, Check.PODGROUP)
        assert check.state == "failed"
        assert "its PodGroup ns/pg does not exist" in check.text

    def test_a_session_that_crashes_says_so_first(self, tmp_path: Path) -> None:
        documents = (
            node("n1", 8),
            *ROOT,
            queue("a", parent="b"),
            queue("b", parent="a"),
            group("old", 1, "Running", queue="a"),
            pod("old-0", "old", 8, "n1"),
            group("pg", 1, queue="a"),
            pod("pg-0", "pg", 1),
        )
        with log_of(tmp_path, CAPACITY, *documents) as log:
            path = path_of(log, "pod/pg-0")
        (check,) = checks_of(path, Check.SESSION)
        assert check.state == "failed"
        assert "queue a is above itself" in check.text
        assert {found.state for found in path.checks if found.check in {"nodes", "place"}} == {
            "not-reached"
        }

    def test_a_log_without_nodes_says_what_is_not_known(self, tmp_path: Path) -> None:
        documents = (queue("default"), group("pg", 1, "Inqueue"), pod("pg-0", "pg", 1))
        with log_of(tmp_path, NODES, *documents) as log:
            path = path_of(log, "pod/pg-0")
        assert "nodes" in {unknown.name for unknown in path.not_known}
        assert path.nodes is None or rows(path) == ()

    def test_a_node_that_sessions_do_not_see_has_a_row(self, tmp_path: Path) -> None:
        gone = node("n2")
        gone["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
        documents = (node("n1", 1), gone, queue("default"), group("pg", 1, "Inqueue"))
        with log_of(tmp_path, NODES, *documents, pod("pg-0", "pg", 2)) as log:
            path = path_of(log, "pod/pg-0", "v1.10.0")
        assert [(row.nodes, row.state) for row in rows(path)] == [
            (("n1",), "failed"),
            (("n2",), "not-reached"),
        ]
        assert rows(path)[1].text == "not in sessions: NotReady"

    def test_other_kinds_and_unknown_nodes_are_refused(self, tmp_path: Path) -> None:
        documents = (node("n1"), queue("default"), group("pg", 1, "Inqueue"), pod("pg-0", "pg", 1))
        with log_of(tmp_path, NODES, *documents) as log:
            with pytest.raises(UsageError, match="one pod, and not about a PodGroup") as fault:
                path_of(log, "podgroup/pg")
            assert "pod/ns/pg-0" in str(fault.value.now)
            with pytest.raises(UsageError, match="there is no node n9"):
                path_of(log, "pod/pg-0", nodes="n9")
            with pytest.raises(ObjectNotFound):
                path_of(log, "pod/nope")
