"""``plinian export``: the log as files for other programs."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

from ..questions.fields import Field
from . import options
from .command import command
from .shell import note, shows_progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

    from ..logs.log import Log


@command("export")
def export(
    file: Annotated[str, Field("The file to write; - is standard output.", "FILE")],
    *,
    log: options.LogPlace = options.DEFAULT_LOG,
    form: Annotated[
        str | None,
        Field(
            "By default from the file's suffix: .ndjson, .jsonl, .csv, .parquet, .pq.",
            "ndjson|csv|parquet",
            name="format",
        ),
    ] = None,
    what: Annotated[
        str,
        Field(
            "Events; a table of the state over time; a timeline of sessions and pods; or the "
            "state at a moment for kube-scheduler-simulator or KWOK.",
            "events|queues|nodes|pods|podgroups|timeline|simulator|kwok",
        ),
    ] = "events",
    at: Annotated[
        str | None,
        Field("The moment of simulator or kwok, as for get; by default the end.", "POINT"),
    ] = None,
    every: Annotated[str, Field("Of a table: the time between two samples.", "DURATION")] = "10s",
    cluster: options.Cluster = None,
    branch: options.Branch = options.MAIN,
) -> None:
    """Write events, or the state over time or at a moment, for other programs.

    Payloads are included. The file's suffix chooses the format; without a suffix, and on standard
    output, it is JSON lines. The file appears only when it is complete. Times are microseconds
    since 1970 UTC. Parquet needs the extra plinian[parquet].

    A table of the state (--what queues, nodes, pods, podgroups) has one row for each object, or
    each resource of it, in each sample. A timeline (--what timeline, to a .json file) is in the
    Trace Event Format, which Perfetto and Chrome show: sessions, and what each pod did until its
    end.

    --what simulator writes what kube-scheduler-simulator imports (a .json file), and --what kwok
    manifests for a cluster of KWOK (a .yaml file). Standard error says what they cannot carry.
    """
    from pathlib import Path

    from ...engine.errors import UsageError
    from .. import export as writers
    from ..series.series_export import export_of
    from ..series.snapshots import NEEDED, SNAPSHOTS
    from .coverage_warnings import warn
    from .open_log import opened
    from .out_files import refuse_form

    if Path(file).is_dir():
        raise UsageError(
            "this is a folder", where=file, now="name a file in it, as in events.ndjson"
        )
    refuse_form(file, writes="events or a table", example="plinian export events.ndjson")
    chosen = export_of(what, file, form=form, every=every, at=at)
    with (
        opened(log, read_only=True, branch=branch, cluster=cluster) as opened_log,
        _counted(opened_log, branch) as count,
    ):
        if what in SNAPSHOTS:
            warn(opened_log, opened_log.moment(chosen.at), NEEDED)

        def write(out: BinaryIO) -> int:
            return chosen.write(
                opened_log, out, progress=count, remark=lambda text: note(f"not carried: {text}")
            )

        if file == "-":
            # What was printed before as text comes before the bytes.
            sys.stdout.flush()
            written = write(sys.stdout.buffer)
            sys.stdout.buffer.flush()
        else:
            written = writers.write_file(Path(file), write)
    place = "standard output" if file == "-" else file
    note(f"{written} {chosen.unit} written to {place}")


@contextmanager
def _counted(log: Log, branch: str) -> Iterator[Callable[[int], None] | None]:
    """Yield a function to call with the number of events done."""
    from ..render.progress import counting

    with counting("exporting", visible=shows_progress()) as progress:
        total = log.store.last(branch)
        yield progress and (lambda done: progress(done, total))
