"""Which plugin limits the queues, where no configuration says so: read from what queues write.

``deserved`` and ``parent`` are read by ``capacity`` alone, ``weight`` by ``proportion`` alone. If
queues write for both, or write a guarantee, which both read, both are checked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import NamedTuple

from ...engine.kubernetes.objects import Queue
from ...engine.volcano.admission import DEFAULT_WEIGHT, queue_weight
from .lint_inputs import LintInputs
from .objects import ROOT


class LimitingPlugin(Enum):
    """A plugin that limits queues."""

    CAPACITY = "capacity"
    PROPORTION = "proportion"


class Assumption(NamedTuple):
    """The plugins that queues may be written for, and why.

    :param plugins: none if a configuration is known.
    :param because: what says so, in words; empty if nothing does.
    """

    plugins: tuple[LimitingPlugin, ...]
    because: str = ""

    @property
    def remark(self) -> str:
        """A sentence about what is assumed; empty if nothing is."""
        if not self.plugins:
            return ""
        subject = "the built-in configuration, with proportion"
        if LimitingPlugin.CAPACITY in self.plugins:
            subject = "capacity, with the queues as a tree"
            if LimitingPlugin.PROPORTION in self.plugins:
                subject += ", and for proportion; a finding for only one of them says so"
        elif self.because:
            subject = "proportion"
        because = f": {self.because}" if self.because else ""
        return f"no scheduler configuration was given (--conf); checked as for {subject}{because}"


def assumption(world: LintInputs) -> Assumption:
    """Return which plugins queues may be written for."""
    if world.in_force is not None:
        return Assumption(())
    queues = {name: queue for name, queue in world.queues.items() if name != ROOT}
    signs: dict[LimitingPlugin, str] = {}
    for name in sorted(queues):
        for plugin, field in _read_by_one(queues[name]):
            signs.setdefault(plugin, f"queue {name} has {field}, which only {plugin.value} reads")
    if signs:
        plugins = tuple(plugin for plugin in LimitingPlugin if plugin in signs)
        return Assumption(plugins, ", and ".join(signs[plugin] for plugin in plugins))
    # Both plugins read a guarantee, so it decides nothing: both are checked for.
    reserving = _guaranteed(queues)
    if reserving:
        because = f"queue {reserving} has guarantee, which both read"
        return Assumption((LimitingPlugin.CAPACITY, LimitingPlugin.PROPORTION), because)
    return Assumption((LimitingPlugin.PROPORTION,))


def _read_by_one(queue: Queue) -> Iterator[tuple[LimitingPlugin, str]]:
    """Yield fields that only one plugin reads."""
    spec = queue.spec
    if spec.parent not in ("", ROOT):
        yield LimitingPlugin.CAPACITY, "parent"
    # Only without a parent: one sign for capacity is enough to say.
    elif spec.deserved:
        yield LimitingPlugin.CAPACITY, "deserved"
    if queue_weight(spec.weight) != DEFAULT_WEIGHT:
        yield LimitingPlugin.PROPORTION, f"weight {spec.weight}"


def _guaranteed(queues: Mapping[str, Queue]) -> str:
    named = (name for name in sorted(queues) if queues[name].spec.guarantee.resource)
    return next(named, "")
