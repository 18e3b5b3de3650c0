"""What the job cache and the node cache share."""

from __future__ import annotations

from typing import NamedTuple

from ..model.task import TaskBuilder
from .dirty_marks import DirtyMarks
from .informers import Stores
from .rules import CacheRules
from .scheduler_flags import CacheOptions


class CacheContext(NamedTuple):
    """What the caches of jobs and of nodes use.

    :param stores: what informers hold. :param changes: what changed since the last snapshot.
    :param builder: makes tasks of pods. :param options: the process's flags.
    :param rules: what the release does.
    """

    stores: Stores
    changes: DirtyMarks
    builder: TaskBuilder
    options: CacheOptions
    rules: CacheRules
