"""All pages, in the order of the navigation; of two that fit a path, the first counts."""

from __future__ import annotations

from collections.abc import Sequence

from . import (
    behaviours,
    blame,
    check,
    compare,
    difference,
    help_page,
    jobs,
    nodes,
    one_object,
    over_time,
    queues,
    races,
    session,
    sessions,
    what_if,
    why,
)
from .find import find_among
from .page import Page
from .timeline import timeline

_NAMED: Sequence[Page] = (
    timeline,
    *(page for pages in (jobs, queues, nodes, over_time) for page in pages.PAGES),
    *(page for pages in (why, blame, sessions, session, compare) for page in pages.PAGES),
    *(page for pages in (difference, what_if, check, behaviours, races) for page in pages.PAGES),
    *help_page.PAGES,
)

PAGES: Sequence[Page] = (*_NAMED, find_among(_NAMED), *one_object.PAGES)
"""The pages of a log."""
