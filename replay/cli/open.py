"""``plinian open``: what a pack is, and whether it still gives the expected answer."""

from __future__ import annotations

import sys
from typing import Annotated

from ..questions.fields import Field
from . import options
from .answers import write_answer
from .command import command
from .shell import shows_progress, style


@command("open")
def open(  # noqa: A001 -- it is the command's name
    file: Annotated[str, Field("A pack, as plinian pack writes it.", "FILE")],
    *,
    map_file: Annotated[
        str | None, Field("Show the original names, from this map of names.", "FILE", name="map")
    ] = None,
    output: options.TextWideOrJson = "text",
) -> None:
    """Check a pack, run its session again, and compare with the expected answer.

    Exits with 1 if the session decides otherwise than when the pack was written, and with 2 if the
    pack is damaged. Every command reads a pack with --log FILE.
    """
    from ..pack.opened import open_pack
    from ..pack.pack_lines import opened_lines
    from ..render.progress import counting

    with counting("verifying", visible=shows_progress()) as progress:
        pack = open_pack(file, map_file=map_file, progress=progress)
    write_answer(pack, opened_lines(pack, style=style()), output, indent=2)
    if not pack.as_expected:
        sys.stdout.flush()
        raise SystemExit(1)
