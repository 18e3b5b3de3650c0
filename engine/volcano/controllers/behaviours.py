"""What the controllers of a release do (vc-controller-manager): one record, as for sessions."""

from __future__ import annotations

from dataclasses import dataclass

from .garbage_collector import GarbageCollectorBehaviours
from .job import JobBehaviours
from .job_writes import JobWriteBehaviours
from .jobflow import JobFlowBehaviours
from .podgroup import PodGroupBehaviours
from .process import ProcessBehaviours
from .queue import QueueControllerBehaviours


@dataclass(frozen=True)
class ControllerBehaviours(
    PodGroupBehaviours,
    JobBehaviours,
    JobWriteBehaviours,
    QueueControllerBehaviours,
    GarbageCollectorBehaviours,
    JobFlowBehaviours,
    ProcessBehaviours,
):
    """What the controllers of a release do where releases differ."""

    release: str
    """The release of this record, or of the record that fields were changed in."""
