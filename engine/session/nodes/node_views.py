"""The views on a session's nodes that its actions share.

They belong to one session, and follow the changes of its nodes.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from .eviction_candidates import EvictionCandidates
from .node_selection import NodeSelection

if TYPE_CHECKING:
    from ..framework.session import Session


class NodeViews:
    """Creates each view when an action first needs it; then all plugins are open."""

    def __init__(self, ssn: Session) -> None:
        self._ssn = ssn

    @cached_property
    def selection(self) -> NodeSelection:
        """The filters and scores of nodes."""
        return NodeSelection(self._ssn)

    @cached_property
    def candidates(self) -> EvictionCandidates:
        """The tasks on the nodes that could be evicted."""
        return EvictionCandidates(self._ssn)
