"""The page of what is wrong at a moment, at which a visit begins."""

from __future__ import annotations

from functools import partial

from ...answers.assumed_confs import unnamed
from ...facade.log import Log
from ...render.overview import overview_sections
from ..reach import reach_cache
from .blocks import BlockPage
from .look import Look
from .notes import filled_in, sentences
from .page import page

RECENT = "10m"


@page("overview", "Overview", nav="Overview", key="a", long=True, takes=("recent",))
def overview(log: Log, look: Look) -> BlockPage:
    """Return what is wrong at the moment, the worst first.

    :raises UsageError: ``recent`` of the query is no duration.
    """
    moment = log.moment(look.at)
    reach_cache(log, moment, [look.release])
    recent = look.get("recent") or RECENT
    found = log.overview(at=moment, release=look.named_release, recent=recent)
    return BlockPage(
        "Overview",
        partial(overview_sections, found, look.zone),
        found,
        assumed=tuple(line for line in found.asked.assumed if line != unnamed(look.release)),
        not_known=(*sentences(found.not_known), *filled_in(log, moment)),
    )
