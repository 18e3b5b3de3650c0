"""Events that the cluster recorded, beside an answer that they contradict."""

from __future__ import annotations

from html import unescape
from pathlib import Path
from typing import Any

import pytest
from answer_worlds import (
    NODES,
    OTHER,
    PROPORTION,
    Document,
    links,
    listing,
    log_of,
    owned,
    wants,
    watched_log,
)
from click.testing import CliRunner
from doors import doors_of

from plinian.engine.kubernetes.units import parse_time
from plinian.replay.answers.records import Recorded
from plinian.replay.answers.why import why_at
from plinian.replay.cli.main import app
from plinian.replay.ingest.ingest_records import IngestOptions
from plinian.replay.ingest.ingest_run import ingest
from plinian.replay.logs.log import opened
from sessions import document, group, node, pod, queue

LATE = "2025-11-21T13:50:00Z"
EARLY = "2025-11-21T13:40:00Z"
FULL = "0/1 nodes are unavailable: 1 Insufficient cpu."
TAINTED = "0/1 nodes are unavailable: 1 node(s) had untolerated taint(s)."
WORLD = (node("n1", 1), queue("default"), group("pg", 1))
WAITS = pod("a", "pg", 4)
RUNS = (node("n1", 1), queue("default"), group("pg", 1, "Running"), pod("b", "pg", 1, "n1"))


def event(
    about: Document, reason: str, message: str, time: str = LATE, uid: str | None = None
) -> Document:
    """Return an Event about an object, as ``client-go`` writes it."""
    metadata = about["metadata"]
    involved = {
        "kind": about["kind"],
        "name": metadata["name"],
        "namespace": metadata.get("namespace", ""),
        "uid": metadata["uid"] if uid is None else uid,
    }
    fields = {"involvedObject": involved, "reason": reason, "message": message, "count": 1}
    if time:
        fields["lastTimestamp"] = time
    name = f"{metadata['name']}.{reason.lower()}.{len(message)}{time[14:16]}"
    return document("Event", name, metadata.get("namespace", "default"), type="Warning", **fields)


def recorded(found: Any) -> list[str]:
    """Return what an answer says of the cluster's records."""
    return [one.text for one in links(found, Recorded)]


class TestPods:
    def test_another_reason_is_shown_with_its_time_and_what_the_session_writes(
        self, ask: Any
    ) -> None:
        found = ask("pod/a", NODES, *WORLD, WAITS, event(WAITS, "FailedScheduling", TAINTED))
        assert recorded(found) == [
            (
                f"the cluster recorded another reason at {LATE}, in an Event of pod ns/a "
                f'(FailedScheduling): "{TAINTED}"; this session writes "{FULL}"'
            )
        ]
        (link,) = links(found, Recorded)
        assert (link.about, link.event_reason, link.message, link.time) == (
            "pod ns/a",
            "FailedScheduling",
            TAINTED,
            LATE,
        )
        assert not link.blocks

    @pytest.mark.parametrize(
        "message",
        [
            FULL,
            "0/3 nodes are unavailable: 3 Insufficient cpu.",
            f"pod group is not ready, 2 Pending. Origin reason is b: {FULL}",
        ],
        ids=["same", "numbers", "of another pod of the gang"],
    )
    def test_the_same_reason_is_not_said_again(self, ask: Any, message: str) -> None:
        found = ask("pod/a", NODES, *WORLD, WAITS, event(WAITS, "FailedScheduling", message))
        assert recorded(found) == []

    @pytest.mark.parametrize("newest", [TAINTED, FULL], ids=["another", "the same"])
    @pytest.mark.parametrize("turn", [1, -1], ids=["older first", "newer first"])
    def test_the_newest_event_counts(self, ask: Any, newest: str, turn: int) -> None:
        older = FULL if newest == TAINTED else TAINTED
        told = [
            event(WAITS, "FailedScheduling", older, EARLY),
            event(WAITS, "FailedScheduling", newest, LATE),
        ][::turn]
        found = ask("pod/a", NODES, *WORLD, WAITS, *told)
        assert [one.message for one in links(found, Recorded)] == [TAINTED] * (newest == TAINTED)

    def test_an_event_of_an_earlier_pod_of_that_name_is_ignored(self, ask: Any) -> None:
        gone = event(WAITS, "FailedScheduling", TAINTED, uid="another")
        assert recorded(ask("pod/a", NODES, *WORLD, WAITS, gone)) == []

    def test_an_event_that_says_nothing_of_waiting_is_ignored(self, ask: Any) -> None:
        later = event(WAITS, "FailedMount", "no such volume", "2025-11-21T13:55:00Z")
        before = event(WAITS, "FailedScheduling", TAINTED)
        found = ask("pod/a", NODES, *WORLD, WAITS, before, later)
        assert [one.event_reason for one in links(found, Recorded)] == ["FailedScheduling"]

    def test_it_was_placed_and_has_no_node(self, ask: Any) -> None:
        placed = event(WAITS, "Scheduled", "Successfully assigned ns/a to n1")
        assert recorded(ask("pod/a", NODES, *WORLD, WAITS, placed)) == [
            (
                f"the cluster recorded at {LATE}, in an Event of pod ns/a (Scheduled), that it was "
                'placed: "Successfully assigned ns/a to n1"'
            )
        ]

    def test_it_was_placed_and_runs(self, ask: Any) -> None:
        runs = pod("a", "pg", 1, "n1")
        placed = event(runs, "Scheduled", "Successfully assigned ns/a to n1")
        waited = event(runs, "FailedScheduling", FULL, EARLY)
        assert recorded(ask("pod/a", NODES, *WORLD, runs, waited, placed)) == []

    def test_it_was_evicted_and_runs(self, ask: Any) -> None:
        runs = pod("a", "pg", 1, "n1")
        evicted = event(runs, "Evict", "preempt")
        assert recorded(ask("pod/a", NODES, *WORLD, runs, evicted)) == [
            (
                f"the cluster recorded at {LATE}, in an Event of pod ns/a (Evict), that it was "
                'evicted: "preempt"'
            )
        ]

    def test_a_session_that_binds_it_says_so(self, ask: Any) -> None:
        small = pod("a", "pg", 1)
        refused = event(small, "FailedScheduling", TAINTED)
        (text,) = recorded(ask("pod/a", NODES, *WORLD, small, refused))
        assert text.endswith(f'"{TAINTED}"; this session binds it to node n1')

    def test_the_reason_of_another_scheduler(self, ask: Any) -> None:
        foreign = pod("a", "pg", 4)
        foreign["spec"]["schedulerName"] = "default-scheduler"
        found = ask("pod/a", NODES, *WORLD, foreign, event(foreign, "FailedScheduling", TAINTED))
        assert recorded(found) == [
            (
                f"the cluster recorded another reason at {LATE}, in an Event of pod ns/a "
                f'(FailedScheduling): "{TAINTED}"'
            )
        ]

    def test_a_condition_with_the_same_message_is_enough(self, ask: Any) -> None:
        condition = {
            "type": "PodScheduled",
            "status": "False",
            "message": TAINTED,
            "lastTransitionTime": EARLY,
        }
        told = pod("a", "pg", 4, status={"conditions": [condition]})
        found = ask("pod/a", NODES, *WORLD, told, event(told, "FailedScheduling", TAINTED))
        assert recorded(found) == [f'the cluster\'s scheduler wrote into pod ns/a: "{TAINTED}"']

    def test_a_condition_that_is_newer_is_enough(self, ask: Any) -> None:
        condition = {
            "type": "PodScheduled",
            "status": "False",
            "message": FULL,
            "lastTransitionTime": LATE,
        }
        told = pod("a", "pg", 4, status={"conditions": [condition]})
        found = ask("pod/a", NODES, *WORLD, told, event(told, "FailedScheduling", TAINTED, EARLY))
        assert len(recorded(found)) == 1

    def test_the_newer_form_of_events(self, ask: Any) -> None:
        newer = document(
            "Event",
            "a.1",
            "ns",
            apiVersion="events.k8s.io/v1",
            regarding={"kind": "Pod", "name": "a", "namespace": "ns", "uid": "uid-a"},
            reason="FailedScheduling",
            note=TAINTED,
            eventTime="2025-11-21T13:45:00.250000Z",
            series={"count": 2, "lastObservedTime": "2025-11-21T13:48:00.125000Z"},
        )
        (link,) = links(ask("pod/a", NODES, *WORLD, WAITS, newer), Recorded)
        assert (link.message, link.time) == (TAINTED, "2025-11-21T13:48:00.125Z")

    def test_an_event_of_the_future_is_not_known_yet(self, tmp_path: Path) -> None:
        later = event(WAITS, "FailedScheduling", TAINTED)
        given = (*WORLD, WAITS, OTHER, later)
        with watched_log(tmp_path, NODES, *(("ADDED", one) for one in given)) as log:
            named = log.object("pod/a")
            told = [
                recorded(why_at(log, named, f"rv:{revision}", namespace="ns", release="v1.12.1"))
                for revision in (len(given) - 1, len(given))
            ]
        assert [len(one) for one in told] == [0, 1]

    def test_where_an_event_has_no_time_the_log_bounds_it(self, tmp_path: Path) -> None:
        untimed = event(WAITS, "FailedScheduling", TAINTED, "")
        paths = [tmp_path / "list.json", tmp_path / "volcano-scheduler.conf"]
        paths[0].write_bytes(listing([*WORLD, WAITS, untimed]))
        paths[1].write_text(NODES)
        at = parse_time(LATE)
        with opened(tmp_path / "log.db", create=True) as log:
            ingest(log.store, [str(one) for one in paths], IngestOptions(taken_at=(at, at)))
            found = why_at(log, log.object("pod/a"), namespace="ns", release="v1.12.1")
        (link,) = links(found, Recorded)
        assert link.time == f"a time between 2025-11-21T13:00:00Z and {LATE[11:]}"


class TestJobs:
    def test_a_reason_of_its_podgroup(self, ask: Any) -> None:
        told = event(WORLD[2], "Unschedulable", "queue resource quota insufficient")
        (text,) = recorded(ask("podgroup/pg", NODES, *WORLD, WAITS, told))
        assert text.startswith(
            f"the cluster recorded another reason at {LATE}, in an Event of podgroup ns/pg "
            '(Unschedulable): "queue resource quota insufficient"; this session writes "1/1 tasks '
        )

    def test_what_the_plugin_that_refuses_records_agrees(self, ask: Any) -> None:
        world = (node("n1", 1), queue("default"), wants("9"), OTHER)
        told = event(world[2], "Unschedulable", "resource in cluster is overused")
        found = ask("podgroup/pg", PROPORTION, *world, told)
        assert found.cause == "overcommitted"
        assert recorded(found) == []

    @pytest.mark.parametrize("release", ["v1.12.1", "v1.13.0", "v1.15.1"])
    @pytest.mark.parametrize("named", ["", ": overused cpu"], ids=["before v1.13.0", "since"])
    def test_an_event_of_another_release_that_names_what_is_short_agrees(
        self, ask: Any, named: str, release: str
    ) -> None:
        world = (node("n1", 1), queue("default"), wants("9"), OTHER)
        told = event(world[2], "Unschedulable", f"resource in cluster is overused{named}")
        found = ask("podgroup/pg", PROPORTION, *world, told, release=release)
        assert found.cause == "overcommitted"
        assert recorded(found) == []

    @pytest.mark.parametrize("release", ["v1.12.1", "v1.13.0"])
    @pytest.mark.parametrize("about", ["podgroup/pg", "queue/default"])
    def test_an_event_of_a_full_queue_agrees_if_it_names_what_is_short(
        self, ask: Any, about: str, release: str
    ) -> None:
        small = queue("default", capability={"cpu": "2"})
        world = (node("n1", 16), small, wants("9"), OTHER)
        text = "queue resource quota insufficient: insufficient {}"
        for short, news in (("cpu", 0), ("memory", 1), ("cpu, insufficient memory", 1)):
            told = event(world[2], "Unschedulable", text.format(short))
            assert len(recorded(ask(about, PROPORTION, *world, told, release=release))) == news

    def test_what_every_session_records_of_a_gang_agrees(self, ask: Any) -> None:
        world = (node("n1", 1), queue("default"), wants("9"), OTHER)
        text = "0/0 tasks in gang unschedulable: pod group is not ready, 1 minAvailable"
        found = ask("podgroup/pg", PROPORTION, *world, event(world[2], "Unschedulable", text))
        assert recorded(found) == []

    def test_an_event_that_says_less_agrees(self, ask: Any) -> None:
        text = "0/0 tasks in gang unschedulable: pod group is not ready, 1 minAvailable"
        found = ask("podgroup/pg", NODES, *WORLD, WAITS, event(WORLD[2], "Unschedulable", text))
        assert found.cause == "no-node"
        assert recorded(found) == []

    @pytest.mark.parametrize("newest", ["job", "pod"])
    def test_a_reason_of_the_job_itself_and_of_its_pod(self, ask: Any, newest: str) -> None:
        job = document("Job", "train", "ns", spec={}, status={"state": {"phase": "Pending"}})
        world = (node("n1", 1), queue("default"), owned(group("train", 1), "train"), job)
        waits = pod("train-0", "train", 4)
        of_job = event(
            job, "PodGroupPending", "PodGroup ns:train unschedulable, reason: no quota", EARLY
        )
        told = [of_job, event(waits, "FailedScheduling", TAINTED)][: 1 + (newest == "pod")]
        (text,) = recorded(ask("job/train", NODES, *world, waits, *told))
        who = {"pod": "pod ns/train-0 (Failed", "job": "job ns/train (PodGroup"}[newest]
        assert f"in an Event of {who}" in text

    def test_a_controller_that_cannot_make_the_pods(self, ask: Any) -> None:
        job = document("Job", "train", "ns", spec={}, status={"state": {"phase": "Pending"}})
        world = (node("n1", 1), queue("default"), owned(group("train", 1), "train"), job, OTHER)
        failed = event(job, "FailedCreate", "pods is forbidden: exceeded quota")
        (text,) = recorded(ask("job/train", NODES, *world, failed))
        assert text.endswith('(FailedCreate): "pods is forbidden: exceeded quota"')

    def test_a_gang_that_is_ready_and_waits(self, ask: Any) -> None:
        ready = event(WORLD[2], "Scheduled", "pod group is ready")
        (text,) = recorded(ask("podgroup/pg", NODES, *WORLD, WAITS, ready))
        assert 'that it was placed: "pod group is ready"' in text

    def test_a_gang_that_was_ready_and_of_which_more_wait(self, ask: Any) -> None:
        ready = event(WORLD[2], "Scheduled", "pod group is ready")
        found = ask("podgroup/pg", NODES, *RUNS, WAITS, ready)
        assert found.waits
        assert recorded(found) == []

    def test_evictions_of_other_pods_of_a_gang_do_not_contradict_a_pod(self, ask: Any) -> None:
        evicted = event(RUNS[2], "Evict", "reclaim")
        assert recorded(ask("pod/b", NODES, *RUNS, evicted)) == []
        (text,) = recorded(ask("podgroup/pg", NODES, *RUNS, evicted))
        assert 'that pods of it were evicted: "reclaim"' in text


class TestQueues:
    def test_a_reason_of_a_job_that_waits_there(self, ask: Any) -> None:
        told = event(WORLD[2], "Unschedulable", "queue resource quota insufficient")
        (text,) = recorded(ask("queue/default", NODES, *WORLD, WAITS, told))
        assert "in an Event of podgroup ns/pg (Unschedulable)" in text

    def test_it_was_closed_and_is_open(self, ask: Any) -> None:
        closed = event(WORLD[1], "CloseQueue", "Close queue succeed")
        (text,) = recorded(ask("queue/default", NODES, *WORLD, OTHER, closed))
        assert text == (
            f"the cluster recorded at {LATE}, in an Event of queue default (CloseQueue), that it "
            'was closed: "Close queue succeed"'
        )

    def test_it_was_closed_and_is(self, ask: Any) -> None:
        closed = event(WORLD[1], "CloseQueue", "Close queue succeed")
        shut = (node("n1", 1), queue("default", state="Closed"), group("pg", 1))
        assert recorded(ask("queue/default", NODES, *shut, WAITS, closed)) == []


def test_of_what_is_not_known_the_cluster_still_says_something(ask: Any) -> None:
    found = ask(
        "pod/a", NODES, queue("default"), group("pg"), WAITS, event(WAITS, "Unschedulable", TAINTED)
    )
    assert found.waits is None
    assert f'in an Event of pod ns/a (Unschedulable): "{TAINTED}"' in found.sentence


def test_every_door_shows_the_event(tmp_path: Path) -> None:
    told = event(WAITS, "FailedScheduling", TAINTED)
    with log_of(tmp_path, NODES, *WORLD, WAITS, OTHER, told):
        pass
    with doors_of(tmp_path / "log.db") as doors:
        (link,) = links(doors.log.why("pod/a", namespace="ns"), Recorded)
        query = {"object": "pod/a", "namespace": "ns"}
        answer = doors.client.get("/plinian/v1/why", params=query).json()["result"]
        assert link.text in [one["text"] for one in answer["chain"]]
        page = doors.client.get("/@end/why/pod/ns/a", follow_redirects=True).text
        assert unescape(page).count(link.text) == 1
        words = ("why", "pod/a", "-n", "ns", "--log", doors.place)
        printed = CliRunner().invoke(app, words).stdout
        assert link.text in " ".join(printed.split())
