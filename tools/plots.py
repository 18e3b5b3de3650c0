"""Draw the plots that the documents show, from the recordings that come with the project.

``python tools/plots.py`` writes them; ``--check`` writes nothing, and exits 1 if one is stale. It
needs the release of matplotlib that the extra ``dev`` names: another one may draw otherwise.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import plinian
from plinian.replay.demo import recorded_inputs

DOCS = Path(__file__).resolve().parent.parent / "docs"

MOST_BYTES = 60_000
"""A picture in a document is small: a clone downloads it."""


class Drawn(NamedTuple):
    """A picture of the documents.

    :param file: below ``docs``. :param recording: below ``docs``; empty for that of the demo.
    :param what: and ``names``: as after ``plinian plot``. :param resource: None is the default.
    :param from_: where to begin; None is the usual begin.
    """

    file: str
    recording: str
    what: str
    names: Sequence[str] = ()
    resource: str | None = None
    from_: str | None = None


DRAWN = (
    Drawn("plots/queues.svg", "", "queues"),
    Drawn("plots/nodes.svg", "", "nodes"),
    Drawn("plots/gang.svg", "", "gang", ["job/train-a"]),
    Drawn("plots/sessions.svg", "", "sessions"),
    Drawn("plots/waits.svg", "", "waits"),
    Drawn("articles/000-nodes.svg", "articles/000-recording.tar.gz", "nodes"),
    Drawn("articles/001-queues.svg", "articles/001-recording.tar.gz", "queues"),
    Drawn(
        "articles/002-gang.svg",
        "articles/002-recording.tar.gz",
        "gang",
        ["podgroup/podgroup-97e9e731-d7e1-41b5-aea7-df031b6edee8"],
        from_="2026-11-21T02:14:40Z",
    ),
    Drawn("articles/004-gang.svg", "articles/004-recording.tar.gz", "gang", ["job/job-2"]),
)
"""The pictures, with those of one recording beside each other."""


@contextmanager
def log_of(recording: str, folder: Path) -> Iterator[plinian.Log]:
    """Yield the log of a recording."""
    name = Path(recording).name.partition(".")[0] if recording else "plinian-demo"
    with plinian.open(folder / f"{name}.db", create=True) as log:
        if recording:
            log.ingest([DOCS / recording])
        else:
            with recorded_inputs() as paths:
                log.ingest(paths)
        yield log


def pictures() -> Iterator[tuple[Path, bytes]]:
    """Yield every picture with its bytes."""
    with tempfile.TemporaryDirectory() as folder:
        for recording in dict.fromkeys(one.recording for one in DRAWN):
            with log_of(recording, Path(folder)) as log:
                for one in DRAWN:
                    if one.recording == recording:
                        period = {"from_": one.from_, "resource": one.resource}
                        plot = log.plot(one.what, one.names, **period)
                        yield DOCS / one.file, plot.data("svg")


def main() -> int:
    """Write the pictures, or with ``--check`` compare them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if stale")
    check = parser.parse_args().check
    failed = 0
    for path, data in pictures():
        if len(data) > MOST_BYTES:
            failed += 1
            print(f"{path.name} has {len(data):,} bytes, more than {MOST_BYTES:,}")
        if path.exists() and path.read_bytes() == data:
            continue
        if check:
            failed += 1
            print(f"{path.name} is stale: run python tools/plots.py")
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
