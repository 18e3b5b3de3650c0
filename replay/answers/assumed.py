"""Answers that rest on a configuration that was not given: they say so in their sentence."""

from __future__ import annotations

from collections.abc import Sequence

from ...engine.kubernetes.objects import Queue
from .finding import Finding
from .run import Run

_HIERARCHY = "capacity"
_ROOT = "root"
_WITHOUT = frozenset(
    {
        *("ended", "runs", "bound", "deleting", "aborting", "completing", "terminating"),
        *("restarting", "no-podgroup", "no-pods", "no-queue", "other-scheduler", "gated"),
        *("gang-lacks-pods", "unread", "stale-cache", "unknown"),
        *("open", "cordoned", "tainted", "not-ready", "out-of-sync"),
    }
)
"""The causes, by their first word, that are the same with every configuration."""


def marked(run: Run, finding: Finding, *, built_in: bool) -> str:
    """Return the sentence of a finding, with the configuration that it assumes.

    :param built_in: whether the log holds no configuration, and none was given.
    """
    if not built_in or finding.cause.partition(" ")[0] in _WITHOUT:
        return finding.sentence
    ignored = _ignored(run)
    mark = f"assuming the built-in configuration of {run.answer.release}"
    if ignored:
        mark += f", which ignores that queues have {ignored}"
    return f"{finding.sentence} ({mark})"


def _ignored(run: Run) -> str:
    """Return what queues have that only a plugin reads that the configuration lacks."""
    if any(one.name == _HIERARCHY for tier in run.conf.tiers for one in tier):
        return ""
    queues: Sequence[Queue] = [
        one for one in run.cache.stores.of("Queue").values() if isinstance(one, Queue)
    ]
    own = [one for one in queues if one.name != _ROOT]
    if any(one.spec.parent not in {"", _ROOT} for one in own):
        return "parents"
    return "deserved amounts" if any(one.spec.deserved for one in own) else ""
