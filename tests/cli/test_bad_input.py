"""Bad input at the command line: what, where, what now; no log left behind; odd objects asked."""

from __future__ import annotations

import copy
import gzip
import io
import json
import os
import signal
import tarfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from cli.conftest import VOLCANO, a_pod, an_object
from cli.test_shell import INTERRUPTED, spawn
from clusters import compact, listed, pod, watched
from plinian.engine.log import Query, open_log

Run = Callable[..., Result]

GOOD = watched(("ADDED", pod("a", 1)), ("MODIFIED", pod("a", 2)))
LIST = compact(listed(*[pod(f"p{number}", number + 1) for number in range(200)]))


def tar_of(*members: tuple[str, bytes]) -> bytes:
    """Return a tar archive."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in members:
            header = tarfile.TarInfo(name)
            header.size = len(data)
            archive.addfile(header, io.BytesIO(data))
    return out.getvalue()


def zip_of(*members: tuple[str, bytes]) -> bytes:
    """Return a zip archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return out.getvalue()


def damaged(data: bytes, at: int, size: int = 1) -> bytes:
    """Return bytes of which some are others."""
    return data[:at] + bytes(byte ^ 0xFF for byte in data[at : at + size]) + data[at + size :]


TAR = tar_of(("a.json", LIST), ("b.json", GOOD))
SECOND = 512 + -(-len(LIST) // 512) * 512
"""Where the header of the tar's second member begins."""

KIND_OF_WRONG_TYPE = watched(("ADDED", {**pod("a", 1), "kind": ["Pod"]}))

REFUSED = {
    "cut off": LIST[:-30],
    "damaged gzip": damaged(gzip.compress(LIST), -6),
    "damaged zip member": damaged(zip_of(("a.json", LIST)), 60),
    "zip cut off": zip_of(("a.json", LIST))[:-30],
    "tar cut off in a header": TAR[: SECOND + 100],
    "tar with a damaged header": damaged(TAR, SECOND, 100),
    "tar without an end": TAR[:SECOND],
    "a kind of wrong type": KIND_OF_WRONG_TYPE,
    "an error of the API server": compact({"kind": "Status", "status": "Failure", "code": 403}),
    "nothing": b"",
    "nothing known": b"hello\n",
}


def refused(result: Result, *words: str) -> None:
    """Hold a result to be an explained failure."""
    assert result.exit_code == 2, result.stdout
    first, *now = result.stderr.splitlines()
    assert first.startswith("plinian: ")
    assert "internal error of Plinian" not in first
    for word in words:
        assert word in first
    assert now
    assert all(line.startswith("        ") for line in now)


@pytest.mark.parametrize("case", REFUSED)
def test_a_bad_input_is_explained_and_founds_no_log(run: Run, tmp_path: Path, case: str) -> None:
    (tmp_path / "in").write_bytes(REFUSED[case])
    refused(run("ingest", "in"), "in")
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


@pytest.mark.parametrize(
    "case", ["damaged gzip", "damaged zip member", "tar with a damaged header"]
)
def test_damage_is_counted_if_that_is_asked_for(run: Run, tmp_path: Path, case: str) -> None:
    (tmp_path / "in").write_bytes(REFUSED[case])
    (tmp_path / "good").write_bytes(GOOD)
    result = run("ingest", "in", "good", "--skip-malformed")
    assert result.exit_code == 0, result.stderr
    assert "malformed: in" in result.stdout
    with open_log("plinian.db") as log:
        assert log.last() >= 2


def test_if_nothing_is_left_without_the_damage_that_is_said(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(gzip.compress(LIST)[:-30])
    refused(run("ingest", "in", "--skip-malformed"), "nothing can be read", "ends in the middle")


@pytest.mark.parametrize("path", ["nowhere", "", "no/where", "loop", "a\0b"])
def test_a_path_that_cannot_be_read_is_explained(run: Run, tmp_path: Path, path: str) -> None:
    (tmp_path / "loop").symlink_to("loop")
    refused(run("ingest", path))
    assert not (tmp_path / "plinian.db").exists()


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("mysql://u:secret@host/x", "mysql://host/x"),
        ("postgresql://[::1/x", "this is not a URL"),
        (".", "this is a folder"),
        ("no/where/x.db", "folder does not exist"),
        (os.devnull, "this is not a file"),
    ],
)
def test_a_place_that_can_hold_no_log_is_refused_before_anything_is_read(
    run: Run, place: str, words: str
) -> None:
    result = run("ingest", "-", "--log", place, input=LIST[:-30])
    refused(result, words)
    assert "secret" not in result.stderr


def test_an_unknown_branch_or_a_cluster_without_name_is_refused_before_a_log_is_founded(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "in").write_bytes(GOOD)
    refused(run("ingest", "in", "--branch", "what-if"), "no branch 'what-if'")
    refused(run("ingest", "in", "--cluster", ""), "a cluster needs a name")
    assert not (tmp_path / "plinian.db").exists()


@pytest.mark.slow
def test_an_interrupted_ingest_exits_with_130_and_leaves_whole_batches_or_nothing(
    tmp_path: Path,
) -> None:
    lines = watched(*[("MODIFIED", pod(f"p{n % 50}", n + 1)) for n in range(120_000)])
    (tmp_path / "in").write_bytes(lines)
    place = tmp_path / "log.db"
    process = spawn("ingest", str(tmp_path / "in"), "--log", str(place))
    while not place.exists():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert (process.returncode, err) == (130, INTERRUPTED)
    with open_log(place, create=True) as log:
        assert log.last() % 1000 == 0
        assert log.verify().events == log.last()


def test_clocks_that_disagree_are_noted(run: Run, tmp_path: Path) -> None:
    def made(revision: int, minute: int) -> tuple[str, dict[str, Any]]:
        at = f"2026-01-01T00:{minute:02d}:00Z"
        return "ADDED", pod(f"p{revision}", revision, creationTimestamp=at)

    began = ("MODIFIED", pod("first", 1, creationTimestamp="2026-01-01T00:00:00Z"))
    (tmp_path / "in").write_bytes(watched(began, made(2, 30), made(3, 5), made(4, 31)))
    result = run("ingest", "in")
    assert "note: in: 1 time contradicts the other evidence, by up to 24m" in result.stdout
    told = json.loads(run("ingest", "in", "-o", "json").stdout)["notes"]
    assert any("contradicts the other evidence" in note for note in told)


@pytest.mark.parametrize(
    "point", ["rv:²", "rv:" + "9" * 30, "@٣", "-99999999d", "-" + "9" * 25 + "d"]
)
def test_no_point_is_too_odd_to_be_answered(run: Run, small_log: str, point: str) -> None:
    result = run("get", "pods", "-A", "--at", point, "--log", small_log)
    assert "internal error of Plinian" not in result.stderr
    assert result.exit_code == (0 if point == "rv:" + "9" * 30 else 2)


def test_what_has_no_end_is_not_followed(run: Run, small_log: str) -> None:
    for option in (["--newest-first"], ["--until", "@3"], ["-o", "json"]):
        refused(run("events", "--follow", *option, "--log", small_log), "has no end")


@pytest.mark.parametrize(
    "command", [["diff", "@1"], ["history", "node/n1"], ["digest"], ["verify"]]
)
def test_every_command_refuses_an_unknown_output_form(
    run: Run, small_log: str, command: list[str]
) -> None:
    result = run(*command, "-o", "xml", "--log", small_log)
    assert result.exit_code == 2
    assert "no output form 'xml'" in result.stderr


ODD = (None, "x", True, [1], {"a": 1}, [None], "1e999999999", [{"a": []}], 1e300)


def odd_objects() -> list[dict[str, Any]]:
    """Return objects of which each has one field of a type or value that it cannot have."""
    whole = [
        a_pod("p", phase="Running", node="n"),
        an_object(
            "Node", "n", spec={"taints": [{"key": "a"}]}, status={"allocatable": {"cpu": "8"}}
        ),
        an_object(
            "Job",
            "j",
            namespace="default",
            api="batch.volcano.sh/v1alpha1",
            spec={"tasks": [{"name": "w", "replicas": 1}], "queue": "gold", "minAvailable": 1},
            status={"state": {"phase": "Running"}, "taskStatusCount": {"w": {"phase": {"x": 1}}}},
        ),
        an_object("Queue", "gold", api=VOLCANO, spec={"capability": {"cpu": "4"}}, status={}),
        an_object("PodGroup", "g", namespace="default", api=VOLCANO, spec={"minMember": 1}),
    ]
    for one in whole:
        one["metadata"]["ownerReferences"] = [{"kind": "Job", "name": "j"}]
        one.setdefault("status", {})["conditions"] = [{"type": "Ready"}]
    return [
        changed
        for one in whole
        for number, path in enumerate(_paths(one))
        if path[:2] not in {("metadata", "name"), ("metadata", "namespace"), ("metadata", "uid")}
        and path[0] not in ("kind", "apiVersion")
        for value in (ODD[number % len(ODD)], ODD[(number + 4) % len(ODD)])
        if (changed := _changed(one, path, value)) is not None
    ]


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    found = [(*path, key) for key, _ in inner]
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    return found + [
        deeper
        for key, part in inner
        if isinstance(part, dict | list)
        for deeper in _paths(part, (*path, key))
    ]


def _changed(one: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any] | None:
    if path == ("metadata",):
        return None
    changed = copy.deepcopy(one)
    holder = changed
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    return changed


def test_fields_of_wrong_types_break_no_question(run: Run, tmp_path: Path) -> None:
    objects = odd_objects()
    for number, one in enumerate(objects, start=1):
        one["metadata"] |= {"name": f"o{number}", "uid": f"u{number}"}
        one["metadata"]["resourceVersion"] = str(number)
    (tmp_path / "in").write_bytes(watched(*[("MODIFIED", one) for one in objects]))
    result = run("ingest", "in", "--skip-malformed")
    assert result.exit_code == 0, result.stderr
    asked = [["diff", "@1"], ["digest"], ["export", "out.ndjson"], ["get", "nodes,pods,q,pg,vcjob"]]
    asked += [["get", kind, "-A", "-o", "wide"] for kind in ("nodes", "pods", "q", "pg", "vcjob")]
    asked += [["get", "pods", "-A", "--sort-by", path] for path in (".metadata", ".spec.nodeName")]
    nouns = {"Node": "node", "Pod": "pod", "Queue": "q", "PodGroup": "pg", "Job": "vcjob"}
    for one in objects:
        name = f"{nouns[one['kind']]}/{one['metadata']['name']}"
        asked.append(["describe", name])
    asked += [["history", f"{noun}/o{len(objects) // 2}"] for noun in nouns.values()]
    described = set()
    for arguments in asked:
        result = run(*arguments)
        absent = "not found" in result.stderr or "plinian: the log holds no " in result.stderr
        assert result.exit_code == absent, (arguments, result.stderr)
        if arguments[0] == "describe" and not absent:
            described.add(arguments[1].partition("/")[2])
    with open_log(tmp_path / "plinian.db") as log:
        stored = {one.event.reference.name for one in log.read(Query()) if one.event.reference.uid}
    assert len(stored) > len(objects) / 2
    assert stored <= described


def test_a_device_is_written_to_and_not_replaced(run: Run, small_log: str, tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert run("export", str(pipe), "--log", small_log).exit_code == 0
    assert os.read(reader, 4096).startswith(b'{"position":1,')
    os.close(reader)
    assert pipe.is_fifo()
    link.symlink_to(tmp_path / "out.ndjson")
    assert run("export", str(link), "--log", small_log).exit_code == 0
    assert link.is_symlink()
    assert (tmp_path / "out.ndjson").exists()


def test_a_branch_cannot_have_the_name_of_a_point(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(GOOD)
    run("ingest", "in")
    for name in ("end", "a@b", "rv:1", ""):
        refused(run("branch", "create", name), "cannot name a branch")
