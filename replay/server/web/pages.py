"""All pages, in the order of the navigation; of two that fit a path, the first counts."""

from __future__ import annotations

from collections.abc import Sequence

from . import over_time
from .behaviours import behaviours
from .blame import blame
from .check import check
from .compare import compare
from .difference import difference
from .find import find_among
from .help_page import help_page
from .jobs import jobs
from .nodes import nodes
from .one_object import one_object
from .overview import overview
from .page import Page
from .path import path
from .queues import queues
from .races import races
from .session import session
from .sessions import sessions
from .shares import shares
from .status import status
from .timeline import timeline
from .what_if import what_if
from .why import why

_NAMED: Sequence[Page] = (
    *(overview, timeline, jobs, queues, shares, nodes, *over_time.PAGES),
    *(why, path, blame, sessions, session, compare),
    *(difference, what_if, check, behaviours, races, status, help_page),
)

PAGES: Sequence[Page] = (*_NAMED, find_among(_NAMED), one_object)
"""The pages of a log."""
