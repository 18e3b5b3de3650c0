"""``plinian export``: the log as files for other programs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from . import options
from .command import command
from .shell import note, shows_progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from ...engine.events import Recorded
    from ..moments.log import Log


@command("export")
@click.argument("file", metavar="FILE", help="The file to write; - is standard output.")
@options.log
@click.option(
    "--format",
    "form",
    metavar="ndjson|csv|parquet",
    help="By default from the file's suffix: .ndjson, .jsonl, .csv, .parquet, .pq.",
)
@options.cluster
@options.branch
def export(file: str, log: str, form: str | None, cluster: str | None, branch: str) -> None:
    """Write all events to JSON lines, CSV or Parquet.

    Payloads are included. The file's suffix chooses the format; without a suffix, and on standard
    output, it is JSON lines. The file appears only when it is complete. Times are microseconds
    since 1970 UTC. Parquet needs the extra plinian[parquet].
    """
    from pathlib import Path

    from ...engine.errors import UsageError
    from .. import export as writers
    from .open_log import opened

    form = writers.format_of(file, form)
    if Path(file).is_dir():
        raise UsageError(
            "this is a folder", where=file, now="name a file in it, as in events.ndjson"
        )
    write = {
        writers.NDJSON: writers.write_ndjson,
        writers.CSV: writers.write_csv,
        writers.PARQUET: writers.write_parquet,
    }[form]
    with (
        opened(log, read_only=True, branch=branch, cluster=cluster) as opened_log,
        _counted(opened_log, branch) as count,
    ):
        found: Iterator[Recorded] = opened_log.events()
        if file == "-":
            sys.stdout.flush()
            written = write(found, sys.stdout.buffer, progress=count)
            sys.stdout.buffer.flush()
        else:
            written = writers.write_file(Path(file), lambda out: write(found, out, progress=count))
    note(f"{written} events written to {'standard output' if file == '-' else file}")


def _counted(log: Log, branch: str) -> AbstractContextManager[Callable[[int], None] | None]:
    """Yield a function to call with the number of events done."""
    from contextlib import contextmanager

    from ..render.progress import counting

    @contextmanager
    def counted() -> Iterator[Callable[[int], None] | None]:
        with counting("exporting", visible=shows_progress()) as progress:
            if progress is None:
                yield None
                return
            total = log.store.last(branch)
            yield lambda done: progress(done, total)

    return counted()
