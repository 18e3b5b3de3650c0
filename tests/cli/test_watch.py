"""``plinian get --watch`` prints what becomes of objects, from the log and as it grows."""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from processes import spawn

import plinian
from plinian.engine.events import Event, Reference
from plinian.engine.ingest.objects.version_events import version_event
from plinian.engine.kubernetes.units import SECOND_US, parse_time
from plinian.replay.logs.watch import Watch

Run = Callable[..., Result]

NOON = parse_time("2026-01-02T12:00:00Z")
POD = ("", "Pod")


@pytest.fixture
def own_log(small_log: str, tmp_path: Path) -> str:
    """Copy the small log, to append to it."""
    path = str(tmp_path / "own.db")
    shutil.copy(small_log, path)
    return path


def a_pod(
    revision: int, *, name: str = "late", verb: str = "created", phase: str = "Pending"
) -> Event:
    """Return a version of a pod."""
    document: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": f"uid-of-{name}",
            "resourceVersion": str(revision),
            "creationTimestamp": "2026-01-02T12:00:10Z",
            "labels": {"app": name},
        },
        "spec": {"containers": [{"name": "c"}]},
        "status": {"phase": phase},
    }
    return version_event(
        document,
        verb=verb,
        source="w",
        line=revision,
        earliest=NOON + revision * SECOND_US,
        latest=NOON + revision * SECOND_US,
        actor="",
    )


def told(seen: Iterator[Any]) -> list[tuple[str, str, int]]:
    """Return what became of which object, and its revision."""
    return [(one.what, one.entry.reference.uid, one.entry.revision) for one in seen]


def all_of(entries: Any) -> list[Any]:
    return list(entries)


def test_what_the_log_holds_after_a_moment_is_gone_through(small_log: str) -> None:
    with plinian.open(small_log) as log:
        watch = Watch(log, POD, log.moment("rv:14"), all_of)
        assert [entry.revision for entry in watch.entries()] == [14]
        assert told(watch.changes(timeout=0)) == [
            ("MODIFIED", "uid-of-train-0", 15),
            ("DELETED", "uid-of-train-0", 15),
            ("ADDED", "uid-of-second", 18),
        ]
        assert [entry.revision for entry in watch.entries()] == [18]


def test_a_watch_ends_with_the_state_that_the_log_tells(demo_log: str) -> None:
    """Of every kind, from every one of some moments: the law that makes a watch trustworthy."""
    with plinian.open(demo_log) as log:
        for at in ("rv:350", "rv:800", "rv:1100"):
            for kind in (POD, ("", "Node"), ("scheduling.volcano.sh", "PodGroup")):
                watch = Watch(log, kind, log.moment(at), all_of)
                assert list(watch.changes(timeout=0))
                now = {entry.reference: entry.revision for entry in log.truth().of(*kind)}
                assert {one.reference: one.revision for one in watch.entries()} == now


def test_each_row_is_of_the_moment_at_which_it_happened(demo_log: str) -> None:
    with plinian.open(demo_log) as log:
        kind = ("", "Node")
        for one in Watch(log, kind, log.moment("rv:900"), all_of).changes(timeout=0):
            then = log.truth(one.moment).find(*kind, "", one.entry.reference.name)
            assert then is not None
            assert then.revision == one.entry.revision


def test_an_object_that_is_chosen_no_longer_counts_as_deleted(small_log: str) -> None:
    with plinian.open(small_log) as log:
        pending = lambda some: [one for one in some if one.fact.phase == "Pending"]  # noqa: E731
        watch = Watch(log, POD, log.moment("rv:13"), pending)
        assert told(watch.changes(timeout=0)) == [
            ("MODIFIED", "uid-of-train-0", 14),
            ("DELETED", "uid-of-train-0", 14),
            ("ADDED", "uid-of-second", 18),
        ]


def test_what_is_appended_is_told_and_late_news_only_as_what_it_makes_of_now(own_log: str) -> None:
    with plinian.open(own_log) as log:
        watch = Watch(log, POD, log.moment(), all_of)
        assert told(watch.changes(timeout=0)) == []
        log.store.append([a_pod(30), a_pod(31, phase="Running")])
        assert told(watch.changes(timeout=0)) == [
            ("ADDED", "uid-of-late", 30),
            ("MODIFIED", "uid-of-late", 31),
        ]
        log.store.append([a_pod(25, name="older"), a_pod(29)])
        log._truths.forget()
        assert told(watch.changes(timeout=0)) == [("ADDED", "uid-of-older", 25)]
        log.store.append([a_pod(32, verb="deleted")])
        assert told(watch.changes(timeout=0)) == [("DELETED", "uid-of-late", 31)]


def test_a_binding_that_no_version_shows_is_a_change(own_log: str) -> None:
    with plinian.open(own_log) as log:
        watch = Watch(log, POD, log.moment(), all_of)
        bound = Event(
            kind="pod.bound",
            reference=Reference("", "Pod", "default", "train-0", "uid-of-second"),
            earliest=NOON + 60 * SECOND_US,
            latest=NOON + 60 * SECOND_US,
            source="audit.log",
            line=1,
            payload=b'{"node":"n1"}',
        )
        log.store.append([bound])
        (seen,) = watch.changes(timeout=0)
        assert (seen.what, seen.entry.node_bound) == ("MODIFIED", "n1")


def test_a_command_prints_rows_as_they_come_until_interrupted(own_log: str) -> None:
    words = ("get", "pods", "-w", "--output-watch-events", "-o=wide", "--at", "rv:14")
    process = spawn(*words, "--log", own_log)
    assert process.stdout is not None
    lines = [process.stdout.readline().split() for _ in range(5)]
    assert [line[:2] for line in lines] == [
        ["EVENT", "NAME"],
        ["ADDED", "train-0"],
        ["MODIFIED", "train-0"],
        ["DELETED", "train-0"],
        ["ADDED", "train-0"],
    ]
    with plinian.open(own_log) as log:
        log.store.append([a_pod(40)])
    assert process.stdout.readline().split()[:4] == ["ADDED", "late", "0/1", "Pending"]
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    kinds = "pods in default, podgroups in default"
    warning = f"warning: {kinds}: not fully known: the log holds no complete list\n"
    assert (process.returncode, out, err) == (130, "", f"{warning}plinian: interrupted\n")


def test_only_news_are_printed_if_that_is_asked_for_and_in_other_forms(own_log: str) -> None:
    words = ("get", "pods", "--watch-only", "-o=json", "--output-watch-events", "--at", "rv:16")
    process = spawn(*words, "--log", own_log)
    assert process.stdout is not None
    text = ""
    while text.count("\n}\n") < 2:
        text += process.stdout.readline()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    decoder = json.JSONDecoder()
    first, end = decoder.raw_decode(text)
    second, _ = decoder.raw_decode(text[end:].lstrip())
    assert [one["type"] for one in (first, second)] == ["DELETED", "ADDED"]
    assert second["object"]["metadata"]["uid"] == "uid-of-second"


def test_a_watch_without_any_object_says_that_it_waits(own_log: str) -> None:
    process = spawn("get", "pods", "-n", "elsewhere", "-w", "--log", own_log)
    assert process.stderr is not None
    told = [next(process.stderr) for _ in range(3)][1:]  # First, what the log does not know.
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert told == [
        "No resources found in elsewhere namespace.\n",
        "plinian: waiting for changes (Ctrl-C ends it)\n",
    ]
    assert out == ""


@pytest.mark.parametrize(
    ("words", "told_of"),
    [
        (("pods,nodes", "-w"), "only one kind can be watched"),
        (("pods", "-w", "-o", "jsonpath={.a}"), "a watch has no output form"),
        (("pods", "-w", "--sort-by", ".metadata.name"), "cannot be combined with a watch"),
        (("pods", "-w", "--as-known-at", "@3"), "cannot be combined with a watch"),
    ],
)
def test_what_a_watch_cannot_do_is_refused(
    run: Run, small_log: str, words: tuple[str, ...], told_of: str
) -> None:
    result = run("get", *words, "--log", small_log)
    assert (result.exit_code, result.stdout) == (2, "")
    assert told_of in result.stderr


def test_a_reader_that_goes_away_ends_a_watch(own_log: str) -> None:
    process = spawn("get", "pods", "-w", "--at", "rv:13", "--log", own_log)
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    with plinian.open(own_log) as log:
        log.store.append([a_pod(number) for number in range(40, 44)])
    assert process.wait(60) == 141
    assert process.stderr is not None
    (warning,) = process.stderr.read().splitlines()
    assert warning.startswith("warning: pods in default: not fully known")
    process.stderr.close()
