"""``plinian verify``: prove that the log is what was committed."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from . import options
from .shell import guarded, shows_progress


@guarded
def verify(
    log: options.Place = options.DEFAULT_LOG,
    output: options.JsonOrText = "text",
    branch: Annotated[
        str | None, typer.Option("--branch", metavar="NAME", help="Only this branch.")
    ] = None,
) -> None:
    """Prove that the log is what was written.

    Recomputes every hash, and names the first position that cannot be trusted, if there is one.
    Keep the head that this prints in another place: whoever can write to the database can make a
    log that is whole in itself, but not one with the same head.
    """
    from ..render.documents import json_text
    from ..render.progress import counting
    from .opening import opened

    with (
        opened(log, read_only=True) as opened_log,
        counting("verifying", visible=shows_progress()) as progress,
    ):
        report = opened_log.store.verify(branch=branch, progress=progress)
    if output == "json":
        fields = {"events": report.events, "batches": report.batches, "head": report.head}
        sys.stdout.write(json_text(fields) + "\n")
    else:
        sys.stdout.write(
            f"{report.events} events in {report.batches} batches are what was committed\n"
            f"head {report.head}\n"
        )
