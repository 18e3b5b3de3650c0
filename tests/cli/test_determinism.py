"""Two runs over the same input are the same run, whatever the hash seed and the order of paths."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import pytest


def run(*arguments: str, seed: str) -> str:
    return subprocess.run(
        [sys.executable, "-m", "plinian", *arguments],
        env=os.environ | {"PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def told(log: Path, paths: list[str], seed: str) -> tuple[list[dict[str, Any]], str, str]:
    """Return every event of a log made from some paths, the state's digest, and a table."""
    run("ingest", *paths, "--log", str(log), seed=seed)
    lines = run("events", "-o", "ndjson", "--payload", "--log", str(log), seed=seed).splitlines()
    events = [json.loads(line) for line in lines]
    for event in events:
        del event["recorded_at"]
    table = run("get", "pods,queues,nodes", "-A", "-o", "wide", "--log", str(log), seed=seed)
    return events, run("digest", "--log", str(log), seed=seed), table


@pytest.mark.slow
def test_neither_hash_seed_nor_order_of_paths_changes_anything(tmp_path: Path) -> None:
    with as_file(files("plinian.replay") / "recordings" / "quickstart") as recording:
        paths = sorted(str(path) for path in recording.glob("*.xz"))
        first = told(tmp_path / "first.db", paths, "0")
        assert len(first[0]) > 4000
        assert told(tmp_path / "second.db", paths[::-1], "4711") == first
