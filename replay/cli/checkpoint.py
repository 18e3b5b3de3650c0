"""``plinian checkpoint``: stored states, which only make commands faster."""

from __future__ import annotations

import sys
from functools import partial
from typing import Annotated

from ..questions.defaults import DEFAULT_RELEASE
from ..questions.fields import Field
from . import options
from .answers import write_json
from .command import command, group
from .shell import note, shows_progress, style


@command("checkpoint build")
def build(
    *,
    log: options.LogPlace = options.DEFAULT_LOG,
    cluster: options.Cluster = None,
    branch: options.Branch = options.MAIN,
    release: Annotated[
        tuple[str, ...],
        Field(
            "Also store the scheduler's cache of this release of Volcano; may be repeated. "
            f"By default {DEFAULT_RELEASE}.",
            "RELEASE",
        ),
    ] = (),
    no_beliefs: Annotated[bool, Field("Do not store the scheduler's cache.")] = False,
) -> None:
    """Bring the index and the checkpoints up to the end of the log.

    Checkpoints are states of the cluster and of a release's scheduler cache. Releases whose caches
    are the same share them. Commands that need more checkpoints store them. Damaged ones are
    rebuilt.
    """
    from ...engine.log import open_log
    from ...engine.volcano.session.history import resolve
    from ..belief.stored_belief import build_all
    from ..render.progress import phases
    from ..truth.points import only_cluster
    from ..truth.truth import build_index

    asked = [] if no_beliefs else [resolve(name) for name in release or [DEFAULT_RELEASE]]
    with open_log(log) as store, phases(visible=shows_progress()) as move:
        for damage in store.mend_derived():
            note(f"plinian: {damage}")
        names = [only_cluster(store, cluster)] if cluster else store.clusters()
        for name in names:
            report = None if move is None else partial(move, "index")
            build_index(store, branch=branch, cluster=name, progress=report)
            report = None if move is None else partial(move, "beliefs")
            build_all(store, asked, branch=branch, cluster=name, progress=report)
        info = store.info()
    note(f"{info.fact_blocks} fact blocks, {info.checkpoints} checkpoints")


@command("checkpoint list")
def list_checkpoints(
    *,
    log: options.LogPlace = options.DEFAULT_LOG,
    output: options.TextWideOrJson = "text",
) -> None:
    """List the checkpoints of a log."""
    from ...engine.log import open_log
    from ..belief.stored_belief import what_of
    from ..render.figures import bytes_text
    from ..render.tables import Table, write_table

    with open_log(log, read_only=True) as store:
        stored = [(*row[:5], what_of(row[5])) for row in store.checkpoints()]
    if output == "json":
        names = ("branch", "cluster", "revision", "known", "bytes", "of")
        write_json([dict(zip(names, row, strict=True)) for row in stored])
        return
    rows = [
        [branch, cluster, f"rv:{revision}", f"@{known}", bytes_text(size), of]
        for branch, cluster, revision, known, size, of in stored
    ]
    headers = ("BRANCH", "CLUSTER", "REVISION", "POSITION", "SIZE", "CONTENT")
    write_table(sys.stdout, Table(headers, rows), style=style())


@command("checkpoint drop")
def drop(
    *,
    log: options.LogPlace = options.DEFAULT_LOG,
) -> None:
    """Delete the index and all checkpoints.

    Both those of the cluster's state and those of the scheduler's cache. The events stay.
    """
    from ...engine.log import open_log

    with open_log(log) as store:
        store.drop_derived()
    note("dropped; plinian checkpoint build rebuilds them")


checkpoint = group(
    "checkpoint",
    "Build, list, drop stored states, which make commands faster.",
    build,
    list_checkpoints,
    drop,
)
