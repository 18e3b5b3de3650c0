"""What is asked of a session that it does not simulate: told, never passed over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ..volcano.history_arguments import arguments_of

if TYPE_CHECKING:
    from ..belief.queue import QueueInfo
    from ..volcano.conf import SchedulerConf

_OFF = ("", "false", "0", "none")
_CLASSES = "capacity.DynamicResourceAllocationEnable"
"""On if not given: whether quotas of device classes hold."""
_CLASS = "deviceclass/"


def quotas_not_simulated(
    conf: SchedulerConf, release: str, queues: Mapping[str, QueueInfo]
) -> Iterator[str]:
    """Yield a line for each queue that limits device classes, in a release that heeds it.

    Source: plugins/capacity/capacity.go parseDRAResourceList.
    """
    options = [option for tier in conf.tiers for option in tier if option.name == "capacity"]
    heeded = any(argument.matches(_CLASSES) for argument in arguments_of("capacity", release))
    if not heeded or not any(_is_on(each.arguments.raw.get(_CLASSES, True)) for each in options):
        return
    for name, queue in sorted(queues.items()):
        spec = queue.queue.spec
        limits = (spec.capability, spec.deserved, spec.guarantee.resource)
        if any(_CLASS in resource for limit in limits for resource in limit):
            yield f"capacity: what queue {name} may use of device classes is not simulated"


def not_simulated(conf: SchedulerConf, release: str) -> Iterator[str]:
    """Yield a line for each argument that a release heeds, is on, and is not simulated."""
    for tier in conf.tiers:
        for option in tier:
            for argument in arguments_of(option.name, release):
                for name in sorted(option.arguments.raw):
                    if (
                        not argument.simulated
                        and argument.matches(name)
                        and _is_on(option.arguments.raw[name])
                    ):
                        yield f"{option.name}: {name} is not simulated"


def _is_on(value: object) -> bool:
    return bool(value) and str(value).strip().lower() not in _OFF
