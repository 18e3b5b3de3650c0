"""Arguments of plugin ``predicates``: which filters run.

Source: pkg/scheduler/plugins/predicates/predicates.go enablePredicate.
"""

from __future__ import annotations

import msgspec

from ....volcano.conf import Arguments
from ..shared.proportional import CardRate

_RESOURCES = "predicate.resources"


class PredicateOptions(msgspec.Struct, frozen=True):
    """Which filters run; ``NodeUnschedulable`` and the number of pods are always checked.

    :param rates: by resource, what is reserved per card; checked if ``proportional``.
    """

    node_affinity: bool
    node_ports: bool
    taint_toleration: bool
    pod_affinity: bool
    volume_limits: bool
    volume_zone: bool
    topology_spread: bool
    volume_binding: bool
    cache: bool
    proportional: bool
    rates: dict[str, CardRate]


def read_options(arguments: Arguments) -> PredicateOptions:
    """Return the options that arguments give."""
    return PredicateOptions(
        node_affinity=arguments.get_bool("predicate.NodeAffinityEnable", default=True),
        node_ports=arguments.get_bool("predicate.NodePortsEnable", default=True),
        taint_toleration=arguments.get_bool("predicate.TaintTolerationEnable", default=True),
        pod_affinity=arguments.get_bool("predicate.PodAffinityEnable", default=True),
        volume_limits=arguments.get_bool("predicate.NodeVolumeLimitsEnable", default=True),
        volume_zone=arguments.get_bool("predicate.VolumeZoneEnable", default=True),
        topology_spread=arguments.get_bool("predicate.PodTopologySpreadEnable", default=True),
        volume_binding=arguments.get_bool("predicate.VolumeBindingEnable", default=True),
        cache=arguments.get_bool("predicate.CacheEnable", default=False),
        proportional=arguments.get_bool("predicate.ProportionalEnable", default=False),
        rates=_rates(arguments),
    )


def _rates(arguments: Arguments) -> dict[str, CardRate]:
    listed = arguments.get_str(_RESOURCES, default="")
    rates = {}
    for name in filter(None, map(str.strip, listed.split(","))):
        cpu = arguments.get_float(f"{_RESOURCES}.{name}.cpu", default=1.0)
        memory = arguments.get_float(f"{_RESOURCES}.{name}.memory", default=1.0)
        rates[name] = CardRate(cpu if cpu >= 0 else 1.0, memory if memory >= 0 else 1.0)
    return rates
