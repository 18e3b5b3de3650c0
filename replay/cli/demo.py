"""``plinian demo``: a tour of the tool on a real recording."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ..questions.fields import Field
from . import serving
from .command import command
from .shell import note, shows_progress, style, write_lines

if TYPE_CHECKING:
    from ..logs.log import Log
    from ..render.tables import Style

DEMO_LOG = "plinian-demo.db"


@command("demo")
def demo(
    *,
    log: Annotated[str, Field("Where to put the demo's log.", "FILE|URL")] = DEMO_LOG,
    files: Annotated[
        Path | None,
        Field(
            "Only copy the recording's files into this folder, to try ingest with: watches, "
            "an audit log, logs, a configuration.",
            "DIR",
        ),
    ] = None,
    serves: Annotated[
        bool, Field("Open the recording in a browser, and serve it there.", name="serve")
    ] = False,
) -> None:
    """Look at an incident in a real recording.

    The recording comes with Plinian: in a cluster with Volcano 1.12.1 a node is drained, and
    another is deleted while pods run on it. The demo ingests it and leaves the log for you to try
    other commands on. Running it again adds nothing. With --serve, look at it in a browser instead.
    """
    from ...engine.log.location import shown_place
    from .. import demo as recording
    from ..logs.log import opened
    from ..questions.diff import DiffQuestion
    from ..questions.history import HistoryQuestion
    from ..render.differences import diff_lines, history_lines

    if files is not None:
        sys.stdout.writelines(f"{path}\n" for path in recording.copy_inputs(files))
        return
    place = shown_place(log)
    with opened(log, create=True) as opened_log:
        _ingest(opened_log)
        if serves:
            _serve(log, place)
            return
        at, later = recording.BEFORE_INCIDENT, recording.AFTER_INCIDENT
        _shown(f"get nodes,queues,podgroups --at {at} --log {place}")
        _tables(opened_log, at)
        ignore = " ".join(f"--ignore {path}" for path in recording.QUIET)
        _shown(f"diff {at} {later} --kind nodes,podgroups {ignore} --log {place}")
        kinds = ("nodes", "podgroups")
        diff = DiffQuestion(at, later, kinds=kinds, ignore=recording.QUIET).answer(opened_log)
        write_lines(diff_lines(diff, style=_style()))
        _shown(f"history {recording.JOB} {ignore} --log {place}")
        past = HistoryQuestion(recording.JOB, ignore=recording.QUIET).answer(opened_log)
        write_lines(history_lines(past, style=style()))
    _print_next_steps(place)


def _ingest(log: Log) -> None:
    from .. import demo as recording
    from ..ingest.ingest_run import ingest
    from ..render.progress import phases
    from ..truth.points import only_cluster
    from ..truth.truth import build_index

    with (
        recording.recorded_inputs() as paths,
        phases(visible=shows_progress()) as progress,
    ):
        ingest(log.store, [str(path) for path in paths], progress=progress)
    build_index(log.store, cluster=only_cluster(log.store, None))
    note(f"a recording of a real cluster is now in the log: {log.store.last()} events")


def _serve(log: str, place: str) -> None:
    """Serve the log at the incident until it is interrupted.

    :param place: the log as it is printed.
    """
    from .. import demo as recording
    from ..server.running import AddressUnavailable, Serving
    from ..server.settings import ServerSettings

    def ready(listening: ServerSettings, _: Sequence[str]) -> None:
        note(f"plinian: serving {place} at {listening.origin}/ (Ctrl-C ends it)")
        serving.open_in_browser(f"{listening.origin}/")

    settings = ServerSettings(place=log, at=recording.BEFORE_INCIDENT, port=serving.DEFAULT_PORT)
    try:
        server = Serving(settings, ready=ready)
    except AddressUnavailable as fault:
        note(f"plinian: {fault.where}: {fault.what}, so another port is used")
        server = Serving(settings._replace(port=0), ready=ready)
    server.run()


def _tables(log: Log, at: str) -> None:
    from ..coverage.coverage import NotListed
    from ..render.columns import TableContext, short_names, table_of
    from ..render.tables import write_table

    context = TableContext(log.truth(at), not_listed=NotListed(log, log.moment(at)))
    for kind in ("nodes", "queues", "podgroups"):
        pair = log.kind(kind, at)
        entries = log.entries(pair, at=at)
        table = table_of(context, *pair, entries, short=short_names(*pair, entries))
        write_table(sys.stdout, table, style=_style())
        sys.stdout.write("\n")


def _style() -> Style:
    """Return the style of what another command prints: that has ``-o wide``."""
    from msgspec.structs import replace

    return replace(style(), advice="with -o wide this command shows all")


def _shown(arguments: str) -> None:
    """Write the command that prints what follows."""
    write_lines(["\n", style().bold(f"$ plinian {arguments}") + "\n"])


def _print_next_steps(place: str) -> None:
    from ..demo import AFTER_INCIDENT

    sys.stdout.write(
        f"""
Now try, with PLINIAN_LOG={place}:

    plinian overview --at {AFTER_INCIDENT}
    plinian why job/gpu-2 --at {AFTER_INCIDENT}
    plinian history pod/train-a-worker-0      (four pods had this name)
    plinian events --kind pod.bound
    plinian serve --open

and with your own cluster:

    kubectl get nodes,pods,podgroups,queues,vcjob -A -o json > now.json
    plinian ingest now.json audit.log scheduler.log
    plinian record
"""
    )
