"""Answers that rest on a configuration that was not given, or not run: their sentence says so."""

from __future__ import annotations

from collections.abc import Sequence

from ...engine.kubernetes.objects import Queue
from ...engine.session.plugins import BUILDERS
from .amounts import joined
from .answering_session import Run
from .finding import SessionFinding

_HIERARCHY = "capacity"
_ROOT = "root"
_WITHOUT = frozenset(
    {
        *("ended", "runs", "bound", "deleting", "aborting", "completing", "terminating"),
        *(
            "restarting",
            "no-podgroup",
            "no-pods",
            "no-queue",
            "no-priority-class",
            "other-scheduler",
            "gated",
        ),
        *("gang-lacks-pods", "unread", "undecodable", "stale-cache", "unknown"),
        *("open", "cordoned", "tainted", "not-ready", "out-of-sync"),
    }
)
"""The causes that are the same with every configuration."""


def unnamed(release: str) -> str:
    """Return the sentence that says that a release is assumed."""
    return f"no release was named: the answer is that of {release}"


def marked(
    run: Run, finding: SessionFinding, *, built_in: bool, assumed: Sequence[str] = ()
) -> str:
    """Return the sentence of a finding, with the release and the configuration that it assumes.

    :param built_in: whether the log holds no configuration, and none was given.
    :param assumed: what the caller assumed, as sentences.
    """
    if finding.cause in _WITHOUT:
        return finding.sentence
    release, marks = run.answer.release, []
    if unnamed(release) in assumed:
        marks.append(f"as {release}, which is assumed")
    if built_in:
        ignored = ignored_of_queues(run)
        but = f", which ignores that queues have {ignored}" if ignored else ""
        marks.append(f"assuming the built-in configuration of {release}{but}")
    if missing := _unknown_plugins(run):
        plugins = f"plugin{'s' if len(missing) > 1 else ''} {joined(missing)}"
        marks.append(f"without the {plugins}, which no release of Volcano has")
    return f"{finding.sentence} ({'; '.join(marks)})" if marks else finding.sentence


def _unknown_plugins(run: Run) -> list[str]:
    """Return the plugins of the configuration without which the session ran, as it has none such.

    A scheduler of somebody's own may have them, and decide otherwise.
    """
    named = (option.name for tier in run.conf.tiers for option in tier)
    return list(dict.fromkeys(name for name in named if name not in BUILDERS))


def ignored_of_queues(run: Run) -> str:
    """Return what queues have that only a plugin reads that the configuration lacks."""
    if any(option.name == _HIERARCHY for tier in run.conf.tiers for option in tier):
        return ""
    queues: Sequence[Queue] = [
        queue for queue in run.cache.stores.of("Queue").values() if isinstance(queue, Queue)
    ]
    # The scheduler creates root itself, so that it exists says nothing of parents in use.
    own = [queue for queue in queues if queue.name != _ROOT]
    if any(queue.spec.parent not in {"", _ROOT} for queue in own):
        return "parents"
    return "deserved amounts" if any(queue.spec.deserved for queue in own) else ""
