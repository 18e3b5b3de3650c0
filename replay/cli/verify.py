"""``plinian verify``: check that the log has not changed since it was written."""

from __future__ import annotations

from typing import Annotated

from ..questions.fields import Field
from . import options
from .answers import write_json
from .command import command
from .shell import note, shows_progress, style, write_lines

_SHORT = 32
"""Characters of a hash that a narrow terminal shows."""


@command("verify")
def verify(
    *,
    log: options.LogPlace = options.DEFAULT_LOG,
    output: options.TextOrJson = "text",
    branch: Annotated[str | None, Field("Only this branch.", "NAME")] = None,
    heads: Annotated[
        tuple[str, ...],
        Field(
            "A hash that was kept in another place; the log must contain it. Repeatable.",
            "HASH",
            name="head",
        ),
    ] = (),
) -> None:
    """Check that the log has not changed since it was written.

    Recomputes every hash, lets the database check its own pages and indexes, and names the first
    position that cannot be trusted, if there is one. Keep the hashes that plinian head prints in
    another place: a person who can write to the database can make a consistent log with other
    events, or cut off its end, but then --head does not find the hash.
    """
    from ...engine.kubernetes.counts import counted
    from ..render.layout import shortened_word
    from ..render.progress import counting
    from .open_log import opened

    with (
        opened(log, read_only=True) as opened_log,
        counting("verifying", visible=shows_progress()) as progress,
    ):
        report = opened_log.store.verify(branch=branch, heads=heads or (), progress=progress)
    if output == "json":
        write_json(report)
        return
    write_lines([f"verified: no changes in {report.events} events ({report.batches} batches)\n"])
    width = style().width
    narrow = width is not None and width < len(f"head {report.head}")
    write_lines([f"head {shortened_word(report.head, _SHORT) if narrow else report.head}\n"])
    for head in report.held:
        where = f"batch {head.batch} of branch {head.branch}, up to @{head.position}"
        shown = shortened_word(head.hash, _SHORT) if narrow else head.hash
        write_lines([f"{shown} is {where}; {counted(head.later, 'event')} after it\n"])
    if narrow:
        note("the hash is shortened: plinian head -o wide prints it whole, to be copied")
    for text in report.damaged:
        note(f"plinian: {text}")
