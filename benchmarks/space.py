"""Space: what a log takes of the bytes it was made from, managedFields left out of both."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

import msgspec

from plinian.engine.log import open_log
from plinian.replay.ingest import IngestOptions, ingest
from plinian.replay.truth import build_index

from . import corpus
from .measure import Result


def run(folder: Path, *, scale: float) -> list[Result]:  # noqa: ARG001 # sizes are the recording's
    """Ingest the shipped recording's watch streams and compare sizes."""
    given = 0
    for line in corpus.recorded_lines():
        document = msgspec.json.decode(line)
        document["object"].get("metadata", {}).pop("managedFields", None)
        given += len(msgspec.json.encode(document)) + 1
    log = folder / "space.db"
    with as_file(files("plinian.replay") / "recordings" / "quickstart") as recording:
        paths = sorted(str(path) for path in recording.glob("watch-*"))
        with open_log(str(log), create=True) as store:
            ingest(store, paths, IngestOptions(), None)
            build_index(store, cluster="default")
    stored = log.stat().st_size
    return [
        Result(
            benchmark="space",
            figure="log, as a share of the recording's watch streams",
            value=stored / given,
            unit="×",
            limit=0.25,
            note=f"{stored / 1e6:.2f} of {given / 1e6:.2f} MB, indexes and facts included",
        ),
    ]
