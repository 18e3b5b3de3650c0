"""Which plugins have a say at the extension points, for a trace that keeps the path of a pod."""

from __future__ import annotations

from .session import Session
from .vote_details import RegisteredPlugins

POINTS = "points"
"""What the plugins are kept under."""
_KEPT = ("JobValid", "JobEnqueueable", "JobOrder", "Overused", "Allocatable", "PrePredicate")


def keep_points(ssn: Session) -> None:
    """Keep, by extension point and tier, the plugins that have a say."""
    by_point = {
        point: tuple(
            tuple(plugin for plugin, _ in tier) for tier in ssn.registry.functions(point) if tier
        )
        for point in _KEPT
    }
    ssn.trace.detail(POINTS, "", RegisteredPlugins(by_point))
