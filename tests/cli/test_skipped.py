"""``ingest`` says of skipped records and files how many there are, why, and where the first is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from click.testing import Result

Run = Callable[..., Result]


def record(verb: str, name: str = "a", **more: Any) -> str:
    """Return a line of an audit log at level Metadata."""
    return json.dumps(
        {
            "kind": "Event",
            "apiVersion": "audit.k8s.io/v1",
            "level": "Metadata",
            "auditID": name,
            "stage": "ResponseComplete",
            "requestURI": f"/api/v1/namespaces/default/pods/{name}",
            "verb": verb,
            "user": {"username": "alice"},
            "objectRef": {
                "resource": "pods",
                "namespace": "default",
                "name": name,
                "apiVersion": "v1",
            },
            "responseStatus": {"code": 200},
            "stageTimestamp": "2026-01-02T03:04:05.000000Z",
            **more,
        }
    )


def test_every_reason_has_its_count_and_the_line_of_its_first_record(
    run: Run, tmp_path: Path
) -> None:
    for name, lines in {
        "a.log": [record("update"), record("get"), record("get"), record("get")],
        "b.log": [record("get"), record("update"), record("update", stage="ResponseStarted")],
    }.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), "utf-8")
    paths = [str(tmp_path / "a.log"), str(tmp_path / "b.log")]
    found = run("ingest", *paths, "--log", str(tmp_path / "a.db")).stdout.splitlines()
    start = next(place for place, line in enumerate(found) if line.startswith("SKIPPED"))
    assert [line.split("  ") for line in squeezed(found[start : start + 3])] == [
        ["SKIPPED", "RECORDS", "FIRST"],
        ["read request", "4", f"{paths[0]}:2"],
        ["stage ResponseStarted", "1", f"{paths[1]}:3"],
    ]
    said = json.loads(run("ingest", *paths, "--log", str(tmp_path / "b.db"), "-o", "json").stdout)
    assert said["skipped"] == {"read request": 4, "stage ResponseStarted": 1}
    assert said["first_skipped"] == {
        "read request": f"{paths[0]}:2",
        "stage ResponseStarted": f"{paths[1]}:3",
    }


def squeezed(lines: list[str]) -> list[str]:
    """Return lines of a table with two spaces between the columns."""
    return ["  ".join(part.strip() for part in line.split("  ") if part.strip()) for line in lines]


def test_malformed_records_that_are_not_listed_are_counted(run: Run, tmp_path: Path) -> None:
    place, line = str(tmp_path / "audit.log"), f"{record('update')}\n"
    Path(place).write_text(line + "{}}\n" * 29, "utf-8")
    found = run("ingest", place, "--skip-malformed", "--log", str(tmp_path / "a.db")).stdout
    listed = [each for each in found.splitlines() if each.startswith("malformed: ")]
    assert [
        each.startswith(f"malformed: {place}:{number}: ")
        for number, each in enumerate(listed[:10], 2)
    ] == [True] * 10
    assert listed[10:] == ["malformed: and 19 more"]
    Path(place).write_text(line + "{}}\n" * 10, "utf-8")
    found = run("ingest", place, "--skip-malformed", "--log", str(tmp_path / "b.db")).stdout
    assert "malformed: and" not in found
    assert found.count("\nmalformed: ") == 10


def test_files_that_are_not_listed_are_counted(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "inputs"
    folder.mkdir()
    (folder / "audit.log").write_text(f"{record('update')}\n", "utf-8")
    for number in range(11):
        (folder / f"note-{number:02}").write_text("hello\n", "utf-8")
    found = run("ingest", str(folder), "--log", str(tmp_path / "a.db")).stdout
    listed = [each for each in found.splitlines() if each.startswith("skipped: ")]
    assert listed[0].startswith(f"skipped: {folder / 'note-00'}: ")
    assert listed[10:] == ["skipped: and 1 more file"]
