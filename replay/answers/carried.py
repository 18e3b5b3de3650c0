"""Answers that the data cannot carry: what a reason needs to be known, and what is said instead."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...engine.kubernetes.resources import plural_of
from ...engine.state.log_coverage import Pair
from .amounts import joined
from .answering_session import (
    CLAIM,
    CSI_NODE,
    NODE,
    NUMA,
    POD,
    PODGROUP,
    QUEUE,
    STORAGE_CLASS,
    VOLUME,
    Run,
)
from .finding import GANG_SHORT, Blocked, SessionFinding, causes_of
from .records import Note, Recorded
from .target import Target

_ALL = (NODE, QUEUE, PODGROUP, POD)
_FULL = (NODE, QUEUE, PODGROUP)
"""What is full without any pod is full with them, too."""

_NEEDS: Mapping[str, tuple[Pair, ...]] = MappingProxyType(
    {
        "queue-full": _FULL,
        "queue-overused": _FULL,
        "queue-tree": (NODE, QUEUE),
        "overcommitted": _FULL,
        "no-queue": (QUEUE,),
        "no-node": (NODE, POD),
        "no-hypernode": (NODE, POD),
        "no-claim": (CLAIM,),
        "unbound-claim": (CLAIM, STORAGE_CLASS),
        "no-volume": (VOLUME,),
        "no-numatopology": (NUMA, NODE, POD),
        "attach-limit": (*_FULL, CSI_NODE),
        GANG_SHORT: (NODE, POD),
        "gang-lacks-pods": (POD,),
        "no-pods": (POD,),
        "no-priority-class": (POD,),
        "no-podgroup": (PODGROUP,),
        "not-reached": _ALL,
        "next-session": _ALL,
        "releasing": _ALL,
        "to-be-evicted": _ALL,
        "panic": _ALL,
        "idle": (PODGROUP, POD),
        "open": (POD,),
        "unknown": (),
    }
)
"""By cause: the kinds of which the log must hold a list."""


def carries(run: Run, blocked: Blocked) -> bool:
    """Return whether the log holds all kinds that a reason needs."""
    return not _lacking(run, blocked)


def _lacking(run: Run, reason: SessionFinding | Blocked) -> list[Pair]:
    """Return the kinds that a cause needs, and of which the log holds no list."""
    needed = (pair for cause in causes_of(reason) for pair in _NEEDS.get(cause, ()))
    return [pair for pair in dict.fromkeys(needed) if run.never_listed(pair)]


def carried(run: Run, finding: SessionFinding, target: Target) -> SessionFinding:
    """Return a finding, or what is known instead if the log lacks a kind that it needs."""
    lacking = _lacking(run, finding)
    if not lacking:
        return finding
    kinds = joined((plural_of(*pair) for pair in lacking), "or")
    # What blocks is concluded from the kinds that are lacking; what was only read is still true.
    known = tuple(link for link in finding.chain if not link.blocks)
    recorded = next((link for link in known if isinstance(link, Recorded)), None)
    asked = f"why {target.title} waits"
    # A node or a queue does not wait itself.
    if target.pair in {NODE, QUEUE}:
        asked = f"what waits for {target.title}"
    # No guess: what the log lacks may be just what holds the object back.
    sentence = f"it is not known {asked}: the log holds no {kinds}"
    if recorded is not None:
        sentence += f'; the cluster\'s scheduler wrote into {recorded.about}: "{recorded.message}"'
    note = Note(text=f"sessions need {kinds}, of which the log holds no list", blocks=True)
    return SessionFinding(sentence, None, "unknown", (*known, note), finding.about)
