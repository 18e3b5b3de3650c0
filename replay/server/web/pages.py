"""All pages, in the order of the navigation; of two that fit a path, the first counts."""

from __future__ import annotations

from collections.abc import Sequence

from .page import Page
from .timeline import timeline

PAGES: Sequence[Page] = (timeline,)
"""The pages of a log."""
