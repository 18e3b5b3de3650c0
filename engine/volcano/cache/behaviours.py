"""What the scheduler's cache of a release does besides sessions: one record, as for sessions.

What decides a session is in :class:`~..session.behaviours.Behaviours`. These fields are for code
that runs the cache's work queues and its writes.
"""

from __future__ import annotations

from dataclasses import dataclass

from .binding import BindingBehaviours
from .device_list import DeviceListBehaviours
from .nodes import CacheNodeBehaviours
from .start import StartBehaviours
from .status import CacheStatusBehaviours
from .work_queues import WorkQueueBehaviours


@dataclass(frozen=True)
class CacheBehaviours(
    WorkQueueBehaviours,
    BindingBehaviours,
    CacheNodeBehaviours,
    DeviceListBehaviours,
    CacheStatusBehaviours,
    StartBehaviours,
):
    """What the scheduler's cache of a release does where releases differ, besides sessions."""

    release: str
    """The release of this record, or of the record that fields were changed in."""
