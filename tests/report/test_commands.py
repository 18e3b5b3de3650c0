"""The commands in a report give its parts again, and show nothing that is secret."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

import plinian
from clusters import compact, listed, pod
from plinian.engine.log.location import log_name
from plinian.replay.logs.moment_commands import beginning, commands_at


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("/home/me/logs/prod.db", "prod.db"),
        ("prod.db", "prod.db"),
        ("postgresql://me:secret@db.example/logs?schema=prod", "logs"),
    ],
    ids=["path", "name", "url"],
)
def test_a_log_has_no_folder_and_no_password(place: str, name: str) -> None:
    assert log_name(place) == name
    assert beginning(name) == (f"export PLINIAN_LOG={name}",)


def test_words_that_a_shell_would_read_are_quoted() -> None:
    assert beginning("a $(b).db") == ("export PLINIAN_LOG='a $(b).db'",)


def test_the_part_of_the_log_that_counts_is_named(tmp_path: Path) -> None:
    with plinian.open(tmp_path / "log.db", create=True) as log:
        for cluster in ("east", "west"):
            path = tmp_path / f"{cluster}.json"
            path.write_bytes(compact(listed(pod(cluster))))
            log.ingest(path, cluster=cluster)
    with plinian.open(tmp_path / "log.db", cluster="west") as log:
        end = commands_at(log, log.moment(), "v1.12.1", None)
        early = commands_at(log, log.moment("end", as_known_at="@2"), "v1.12.1", "my conf")
    assert shlex.split(end.of_moment("get", "pods")) == [
        *("plinian", "get", "pods", "--at", end.at, "--cluster", "west")
    ]
    assert shlex.split(early.of_session("why", "pod/a")) == [
        *("plinian", "why", "pod/a", "--release", "v1.12.1", "--conf", "my conf"),
        *("--at", "@2", "--cluster", "west", "--as-known-at", "@2"),
    ]
    assert "--as-known-at" not in early.of_events("events")
