"""All pages, in the order of the navigation; of two that fit a path, the first counts."""

from __future__ import annotations

from collections.abc import Sequence

from . import behaviours, help_page, jobs, nodes, one_object, over_time, queues, races, sessions
from .blame import blame
from .check import check
from .compare import compare
from .difference import difference
from .find import find_among
from .page import Page
from .session import session
from .timeline import timeline
from .what_if import what_if
from .why import why

_NAMED: Sequence[Page] = (
    timeline,
    *(page for pages in (jobs, queues, nodes, over_time) for page in pages.PAGES),
    *(why, blame, *sessions.PAGES, session, compare, difference, what_if, check),
    *(*behaviours.PAGES, *races.PAGES, *help_page.PAGES),
)

PAGES: Sequence[Page] = (*_NAMED, find_among(_NAMED), *one_object.PAGES)
"""The pages of a log."""
