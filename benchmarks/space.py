"""Space: what a log takes of the bytes it was made from, managedFields left out of both."""

from __future__ import annotations

import lzma
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import msgspec

from plinian.engine.log import open_log
from plinian.replay.ingest.ingest_run import IngestOptions, ingest
from plinian.replay.truth.truth import build_index

from .measure import Result


def run(folder: Path, *, scale: float) -> list[Result]:  # noqa: ARG001 # sizes are the recording's
    """Ingest the shipped recording, whole and its watch streams alone, and compare sizes."""
    with as_file(files("plinian.replay") / "recordings" / "quickstart") as recording:
        return [
            _share(folder / "whole.db", sorted(recording.glob("*.xz")), "the whole recording"),
            _share(folder / "watch.db", sorted(recording.glob("watch-*")), "its watch streams"),
        ]


def _share(log: Path, inputs: list[Path], what: str) -> Result:
    given = sum(_bytes_given(path) for path in inputs)
    with open_log(str(log), create=True) as store:
        ingest(store, [str(path) for path in inputs], IngestOptions(), None)
        build_index(store, cluster="default")
    stored = log.stat().st_size
    return Result(
        benchmark="space",
        figure=f"log of {what}, as a share of the input",
        value=stored / given,
        unit="×",
        limit=0.25,
        note=f"{stored / 1e6:.2f} of {given / 1e6:.2f} MB, indexes and facts included",
    )


def _bytes_given(path: Path) -> int:
    text = lzma.decompress(path.read_bytes())
    if ".json" not in path.name and not path.name.startswith("audit"):
        return len(text)
    return sum(
        len(msgspec.json.encode(_slim(msgspec.json.decode(line)))) + 1
        for line in text.splitlines()
        if line.strip()
    )


def _slim(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _slim(item) for key, item in value.items() if key != "managedFields"}
    if isinstance(value, list):
        return [_slim(item) for item in value]
    return value
