"""The page of what a log knows: what it has from which input, how far, and with which holes."""

from __future__ import annotations

from collections.abc import Iterator

from ...facade.log import Log
from ...logs.log_status import status_of
from ...render.blocks import Section
from ...render.figures import status_pairs, status_sections
from ...render.tables import Table
from .blocks import BlockPage
from .look import Look
from .page import NavGroup, page


@page("status", "What the log knows", nav="Log", group=NavGroup.CHECK, key="l", long=True)
def status(log: Log, look: Look) -> BlockPage:
    """Return what the log held by the moment; what was appended later is left out."""
    found = status_of(log, log.moment(look.at))

    def sections() -> Iterator[Section]:
        by_title = {section.title: section for section in status_sections(found)}
        # What ends, lags or has a hole comes first, where something is recorded.
        streams = by_title.pop("Streams", None)
        yield from [] if streams is None else [streams]
        yield Section([Table(("WHAT", "VALUE"), status_pairs(found))], "The log")
        yield from by_title.values()

    return BlockPage("What the log knows", sections, found)
