"""How a release behaves: one record, complete, with a field for every effect that differs.

Code asks a field and never a release. A field is named by what an operator can see; its docstring
says what that is in either case.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class UnknownAction(StrEnum):
    """What becomes of a configuration that names an action which does not exist."""

    REJECTS = "rejects"
    """The whole configuration is refused; the one before stays in force."""
    IGNORED = "ignored"
    """An error is logged, and the other actions run."""


class RunningWhen(StrEnum):
    """Which tasks make a PodGroup Running, if there are as many as its minMember."""

    PLACED = "placed"
    """Those that hold resources, also if this session gave them, and completed ones."""
    BOUND = "bound"
    """Those that are bound, run or are completed: a group bound now is Running one session later."""


class RootQueueSpec(StrEnum):
    """What a session writes into the root queue's spec."""

    TOTAL = "total"
    """``deserved`` is all that the cluster has, ``guarantee`` the sum of what queues are guaranteed."""
    DESERVED = "deserved"
    """Both are what the capacity plugin took for them; nothing without its hierarchy."""
    KEPT = "kept"
    """Nothing: it stays as it is."""


@dataclass(frozen=True, slots=True)
class Behaviours:
    """What a release's scheduler does where releases differ."""

    release: str
    """The release that this is the behaviour of, or was before single fields were changed."""

    unknown_action: UnknownAction
    """What becomes of a configuration that names an unknown action."""

    gang_eviction_actions: bool
    """The actions ``gangpreempt`` and ``gangreclaim`` exist."""

    root_queue: bool
    """The scheduler creates a queue ``root`` when it starts, and queues have parents."""

    running_when: RunningWhen
    """Which tasks make a PodGroup Running."""

    root_queue_spec: RootQueueSpec
    """What is written into the root queue's spec."""

    nominated_node_may_free: bool
    """A pod's nominated node is tried first also if it only has room when what is released is gone."""

    negative_scores_win: bool
    """A node, or hypernode, is taken however low the best score is; else it must exceed -1."""

    maximum_keeps_zeros: bool
    """Scalars that a queue deserves nothing of, but names, stay named in what it deserves."""
