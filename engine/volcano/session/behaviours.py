"""How the sessions of a release behave: one complete record, put together from its subjects.

Code reads a field and never compares releases. A field's name says what an operator can see, and
its effect explains the values. Each subject is a module with kinds of values, and behaviours with
their histories. Only the complete record has generated methods: methods of subjects would cost
start-up time.
"""

from __future__ import annotations

from dataclasses import dataclass

from .allocate import AllocateBehaviours
from .backfill import BackfillBehaviours
from .configuration import ConfigurationBehaviours
from .devices import DeviceBehaviours
from .enqueue import EnqueueBehaviours
from .evictions import EvictionBehaviours
from .filters import FilterBehaviours
from .gangs import GangBehaviours
from .nodes import NodeBehaviours
from .pods import PodBehaviours
from .preempt import PreemptBehaviours
from .queue_tree import QueueTreeBehaviours
from .queues import QueueBehaviours
from .reclaim import ReclaimBehaviours
from .scores import ScoreBehaviours
from .status import StatusBehaviours
from .topology import TopologyBehaviours


@dataclass(frozen=True)
class Behaviours(
    ConfigurationBehaviours,
    EnqueueBehaviours,
    AllocateBehaviours,
    BackfillBehaviours,
    PreemptBehaviours,
    ReclaimBehaviours,
    EvictionBehaviours,
    QueueBehaviours,
    QueueTreeBehaviours,
    GangBehaviours,
    PodBehaviours,
    NodeBehaviours,
    FilterBehaviours,
    ScoreBehaviours,
    TopologyBehaviours,
    DeviceBehaviours,
    StatusBehaviours,
):
    """What the sessions of a release do where releases differ."""

    release: str
    """The release of this record, or of the record that fields were changed in."""
