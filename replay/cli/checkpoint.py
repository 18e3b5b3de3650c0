"""``plinian checkpoint``: stored states, which only make seeking fast."""

from __future__ import annotations

import sys

import typer

from . import options
from .shell import guarded, note, shows_progress, style

app = typer.Typer(
    help="Build, list, drop what makes seeking fast.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command()
@guarded
def build(
    log: options.Place = options.DEFAULT_LOG,
    cluster: options.Cluster = None,
    branch: options.Branch = "main",
) -> None:
    """Bring the index and the checkpoints up to the end of the log.

    What is damaged of them is made anew.
    """
    from ...engine.log import open_log
    from ..points import only_cluster
    from ..render.progress import counting
    from ..truth import build_index

    with open_log(log) as store, counting("indexing", visible=shows_progress()) as progress:
        for damage in store.mend_derived():
            note(f"plinian: {damage}")
        names = [only_cluster(store, cluster)] if cluster else store.clusters()
        for name in names:
            build_index(store, branch=branch, cluster=name, progress=progress)
        info = store.info()
    note(f"{info.fact_blocks} fact blocks, {info.checkpoints} checkpoints")


@app.command("list")
@guarded
def list_checkpoints(
    log: options.Place = options.DEFAULT_LOG, output: options.JsonOrText = "text"
) -> None:
    """List the checkpoints of a log."""
    from ...engine.log import open_log
    from ..render.documents import json_text
    from ..render.figures import bytes_text
    from ..render.tables import Table, write_table

    with open_log(log, read_only=True) as store:
        found = list(store.checkpoints())
    if output == "json":
        names = ("branch", "cluster", "revision", "known", "bytes")
        sys.stdout.write(json_text([dict(zip(names, row, strict=True)) for row in found]) + "\n")
        return
    rows = [
        [branch, cluster, f"rv:{revision}", f"@{known}", bytes_text(size)]
        for branch, cluster, revision, known, size in found
    ]
    headers = ("BRANCH", "CLUSTER", "REVISION", "KNOWN", "SIZE")
    write_table(sys.stdout, Table(headers, rows), style=style())


@app.command()
@guarded
def drop(log: options.Place = options.DEFAULT_LOG) -> None:
    """Delete the fact sidecar and all checkpoints.

    plinian checkpoint build makes them again.
    """
    from ...engine.log import open_log

    with open_log(log) as store:
        store.drop_derived()
    note("dropped; plinian checkpoint build makes them again")
