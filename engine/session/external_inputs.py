"""What sessions need beside the cluster's objects, and how plugins get it.

It comes from outside the scheduler, so a restart loses none of it. Plugins read it from the state
that the process keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from ..events import NO_TIME
from ..events.payloads import ExtenderAnswered, UsageMeasured
from ..volcano.conf import SchedulerConf
from .framework.process_parts import NodeUsage, ProcessState
from .plugins.deviceshare.device_config import device_config_map, read_device_config

FindConfigMap = Callable[[str, str], Mapping[str, Any] | None]
"""Returns the stored ConfigMap of a namespace and name, or None."""

_KIND_OF_PLUGIN = MappingProxyType(
    {
        "usage": "usage.measured",
        "rescheduling": "usage.measured",
        "extender": "extender.answered",
    }
)


def kinds_needed(conf: SchedulerConf) -> tuple[str, ...]:
    """Return the kinds of events that the plugins of a configuration need, sorted."""
    names = {option.name for tier in conf.tiers for option in tier}
    return tuple(sorted({kind for name, kind in _KIND_OF_PLUGIN.items() if name in names}))


class ExternalInputs:
    """The latest measurement of each node, and the latest answer to each extender request."""

    def __init__(self) -> None:
        self._usage: dict[str, tuple[UsageMeasured, int | None]] = {}
        self._answers: dict[tuple[str, str], dict[str, Any]] = {}
        self.last_observed = NO_TIME
        """When the latest input was observed, in microseconds since 1970."""

    def take(self, given: UsageMeasured | ExtenderAnswered, observed_at: int | None) -> None:
        """Add an input; it replaces the earlier one for the same subject.

        :param observed_at: microseconds since 1970; None is the moment of each session.
        """
        if observed_at is not None:
            self.last_observed = max(self.last_observed, observed_at)
        if isinstance(given, UsageMeasured):
            self._usage[given.node] = given, observed_at
        elif given.answer is None:
            self._answers.pop((given.verb, given.about), None)
        else:
            self._answers[given.verb, given.about] = given.answer

    def lend(
        self, process: ProcessState, conf: SchedulerConf, now: int, find: FindConfigMap
    ) -> None:
        """Give a process the inputs of its next session.

        The device configuration is read once, when a configuration first needs it: the process
        keeps it even if the ConfigMap changes.

        :param now: the moment of the session, in microseconds since 1970.
        """
        process.external.node_usage = {
            node: NodeUsage(now if time is None else time, given.cpu, given.memory)
            for node, (given, time) in self._usage.items()
        }
        process.external.extender_answers = dict(self._answers)
        asked = device_config_map(conf)
        if asked is not None and process.external.device_config is None:
            process.external.device_config = read_device_config(find(*asked))
