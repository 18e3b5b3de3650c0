"""Which arguments plugins and actions read, of which type, and in which releases.

Arguments are not behaviours: where a release does not read an argument, it has no effect. A person
who writes a configuration wants to know that.

Source: ``pkg/scheduler/plugins/*`` and ``pkg/scheduler/actions/*`` at every release, wherever
arguments are read; pkg/scheduler/framework/arguments.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from types import MappingProxyType

import msgspec

from .arguments import is_int, is_number, truth_value
from .releases import FIRST, DatedChange, final_release, landed
from .session.behaviours import Behaviours


class ArgumentType(StrEnum):
    """The type of an argument, as a user would call it."""

    INT = "an integer"
    NUMBER = "a number"
    BOOL = "true or false"
    TEXT = "a text"
    DURATION = "a duration such as 1m30s"
    MAP = "a map"
    LIST = "a list"


class Argument(msgspec.Struct, frozen=True):
    """One argument.

    :param owner: the plugin or the action.
    :param name: one that ends with ``*`` means all names with that beginning.
    :param since: the first release with it. :param gone: the first without it again, or None.
    :param crashes: whether a value of another type crashes the scheduler; else it is ignored.
    :param least: lower numbers are ignored; None if all numbers are valid.
    :param simulated: whether a session simulates it; if not, the session's errors report it.
    """

    owner: str
    name: str
    kind: ArgumentType
    since: DatedChange = FIRST
    gone: DatedChange | None = None
    crashes: bool = False
    least: float | None = None
    simulated: bool = True

    def matches(self, name: str) -> bool:
        """Return whether it is the argument of that name."""
        if self.name.endswith("*"):
            return name.startswith(self.name[:-1])
        return name == self.name


_V1_9, _V1_10, _V1_12 = landed("v1.9.0"), landed("v1.10.0"), landed("v1.12.0")
_V1_13, _V1_14, _V1_15 = landed("v1.13.0"), landed("v1.14.0"), landed("v1.15.0")


def _of(
    owner: str,
    kind: ArgumentType,
    *names: str,
    since: DatedChange = FIRST,
    gone: DatedChange | None = None,
    crashes: bool = False,
    least: float | None = None,
    simulated: bool = True,
) -> tuple[Argument, ...]:
    return tuple(
        Argument(owner, name, kind, since, gone, crashes, least, simulated) for name in names
    )


_WEIGHTS = ("leastrequested", "mostrequested", "nodeaffinity", "podaffinity")
_MORE_WEIGHTS = ("balancedresource", "tainttoleration", "imagelocality", "podtopologyspread")
_FILTERS = ("NodeAffinity", "NodePorts", "TaintToleration", "PodAffinity", "NodeVolumeLimits")
_VERBS = ("onSessionOpen", "onSessionClose", "predicate", "prioritize", "preemptable")
_MORE_VERBS = ("reclaimable", "queueOverused", "jobEnqueueable", "jobReady")
_CARDS = ("GPUSharingEnable", "GPUNumberEnable", "NodeLockEnable", "VGPUEnable")
_TOPOLOGY = "network-topology-aware"
_FIT = "resource-strategy-fit"
_CACHE = "predicateErrorCacheEnable"

ARGUMENTS: tuple[Argument, ...] = (
    *_of("binpack", ArgumentType.INT, "binpack.weight"),
    *_of(
        "binpack", ArgumentType.INT, "binpack.cpu", "binpack.memory", "binpack.resources.*", least=0
    ),
    *_of("binpack", ArgumentType.TEXT, "binpack.resources"),
    *_of("capacity", ArgumentType.INT, "ancestorReclaimLevel", since=_V1_15),
    *_of(
        *("capacity", ArgumentType.BOOL),
        *("capacity.DynamicResourceAllocationEnable", "capacity.DRAConsumableCapacityEnable"),
        since=_V1_15,
    ),
    *_of("deviceshare", ArgumentType.BOOL, *(f"deviceshare.{name}" for name in _CARDS)),
    *_of("deviceshare", ArgumentType.TEXT, "deviceshare.SchedulePolicy", gone=_V1_13, crashes=True),
    *_of("deviceshare", ArgumentType.TEXT, "deviceshare.SchedulePolicy", since=_V1_13),
    *_of("deviceshare", ArgumentType.INT, "deviceshare.ScheduleWeight", gone=_V1_13),
    *_of("deviceshare", ArgumentType.INT, "deviceshare.ScheduleWeight", since=_V1_13),
    *_of("deviceshare", ArgumentType.TEXT, "deviceshare.KnownGeometriesCMName", since=_V1_12),
    *_of("deviceshare", ArgumentType.TEXT, "deviceshare.KnownGeometriesCMNamespace", since=_V1_12),
    *_of(
        *("deviceshare", ArgumentType.BOOL),
        *("deviceshare.AscendMindClusterVNPUEnable", "deviceshare.AscendHAMiVNPUEnable"),
        since=_V1_14,
        simulated=False,
    ),
    *_of(
        *("deviceshare", ArgumentType.LIST, "deviceshare.GPUExclusiveRules"),
        since=_V1_15,
        simulated=False,
    ),
    *_of("extender", ArgumentType.TEXT, "extender.urlPrefix"),
    *_of("extender", ArgumentType.DURATION, "extender.httpTimeout"),
    *_of("extender", ArgumentType.BOOL, "extender.ignorable"),
    *_of(
        "extender", ArgumentType.TEXT, *(f"extender.{name}Verb" for name in (*_VERBS, *_MORE_VERBS))
    ),
    *_of(
        *(
            "extender",
            ArgumentType.TEXT,
            "extender.allocateFuncVerb",
            "extender.deallocateFuncVerb",
        ),
        since=_V1_13,
    ),
    *_of(
        *("extender", ArgumentType.LIST, "extender.managedResources"),
        since=_V1_13,
        crashes=True,
    ),
    *_of(_TOPOLOGY, ArgumentType.INT, "weight", gone=_V1_14),
    *_of(_TOPOLOGY, ArgumentType.INT, "weight", since=_V1_14, least=0),
    *_of(
        *(_TOPOLOGY, ArgumentType.INT, "hypernode.binpack.cpu", "hypernode.binpack.memory"),
        "hypernode.binpack.resources.*",
        since=_V1_14,
        least=0,
    ),
    *_of(_TOPOLOGY, ArgumentType.TEXT, "hypernode.binpack.resources", since=_V1_14),
    *_of(_TOPOLOGY, ArgumentType.BOOL, "hypernode.binpack.normal-pod.enable", since=_V1_14),
    *_of(
        _TOPOLOGY, ArgumentType.NUMBER, "hypernode.binpack.normal-pod.fading", since=_V1_14, least=0
    ),
    *_of(
        _TOPOLOGY,
        ArgumentType.INT,
        "hypernode.gradient.evict.max-hypernodes",
        since=_V1_15,
        least=1,
    ),
    *_of("nodegroup", ArgumentType.BOOL, "strict", since=_V1_13),
    *_of("nodegroup", ArgumentType.BOOL, "enablePreferredOrder", since=_V1_15),
    *_of(
        "nodeorder", ArgumentType.INT, *(f"{name}.weight" for name in (*_WEIGHTS, *_MORE_WEIGHTS))
    ),
    *_of("nodeorder", ArgumentType.INT, "selectorspread.weight", gone=_V1_9, simulated=False),
    *_of("numa-aware", ArgumentType.INT, "weight"),
    *_of("overcommit", ArgumentType.NUMBER, "overcommit-factor", least=1),
    *_of("predicates", ArgumentType.BOOL, *(f"predicate.{name}Enable" for name in _FILTERS)),
    *_of("predicates", ArgumentType.BOOL, "predicate.VolumeZoneEnable"),
    *_of(
        "predicates",
        ArgumentType.BOOL,
        "predicate.PodTopologySpreadEnable",
        "predicate.CacheEnable",
    ),
    *_of(
        "predicates",
        ArgumentType.BOOL,
        *(f"predicate.{name}" for name in _CARDS),
        gone=_V1_9,
        simulated=False,
    ),
    *_of("predicates", ArgumentType.BOOL, "predicate.ProportionalEnable", gone=_V1_13),
    *_of("predicates", ArgumentType.NUMBER, "predicate.resources.*", gone=_V1_13, least=0),
    *_of("predicates", ArgumentType.TEXT, "predicate.resources", gone=_V1_13),
    *_of("predicates", ArgumentType.BOOL, "predicate.VolumeBindingEnable", since=_V1_12),
    *_of(
        *("predicates", ArgumentType.BOOL, "predicate.DynamicResourceAllocationEnable"),
        since=_V1_12,
        gone=_V1_15,
        simulated=False,
    ),
    *_of("predicates", ArgumentType.INT, "volumebinding.weight", since=_V1_12, crashes=True),
    *_of(
        "predicates",
        ArgumentType.INT,
        "volumebinding.bindTimeoutSeconds",
        since=_V1_12,
        crashes=True,
    ),
    *_of("predicates", ArgumentType.LIST, "volumebinding.shape", since=_V1_12),
    *_of(
        "predicates",
        ArgumentType.INT,
        "dynamicresources.filterTimeoutSeconds",
        since=_V1_14,
        least=0,
    ),
    *_of("rescheduling", ArgumentType.DURATION, "interval", crashes=True),
    *_of("rescheduling", ArgumentType.TEXT, "metricsPeriod", crashes=True),
    *_of("rescheduling", ArgumentType.LIST, "strategies"),
    *_of(_FIT, ArgumentType.INT, "resourceStrategyFitWeight", crashes=True, least=0),
    *_of(_FIT, ArgumentType.MAP, "resources", "sra", "proportional", crashes=True),
    *_of("sla", ArgumentType.DURATION, "sla-waiting-time"),
    *_of("task-topology", ArgumentType.INT, "task-topology.weight"),
    *_of("tdm", ArgumentType.TEXT, "tdm.revocable-zone.*", crashes=True),
    *_of("tdm", ArgumentType.DURATION, "tdm.evict.period", crashes=True),
    *_of("usage", ArgumentType.INT, "usage.weight"),
    *_of(
        "usage", ArgumentType.INT, "cpu.weight", "memory.weight", since=landed("v1.8.2", "v1.9.0")
    ),
    *_of("usage", ArgumentType.MAP, "thresholds"),
    # Actions.
    *_of("allocate", ArgumentType.BOOL, _CACHE, since=_V1_10),
    *_of("backfill", ArgumentType.BOOL, _CACHE, since=_V1_10),
    *_of("preempt", ArgumentType.BOOL, _CACHE, since=_V1_10),
    *_of("preempt", ArgumentType.BOOL, "enableTopologyAwarePreemption", since=_V1_13),
    *_of("preempt", ArgumentType.INT, "topologyAwarePreemptWorkerNum", since=_V1_13),
    *_of("preempt", ArgumentType.INT, "minCandidateNodesPercentage", since=_V1_13),
    *_of("preempt", ArgumentType.INT, "minCandidateNodesAbsolute", since=_V1_13),
    *_of("preempt", ArgumentType.INT, "maxCandidateNodesAbsolute", since=_V1_13),
    *_of("reclaim", ArgumentType.BOOL, _CACHE, since=_V1_14),
    *_of("gangpreempt", ArgumentType.INT, "maxDomains", since=_V1_15),
    *_of("gangpreempt", ArgumentType.BOOL, "allowWholeBundle", since=_V1_15),
    *_of("gangreclaim", ArgumentType.INT, "maxDomains", since=_V1_15),
    *_of("gangreclaim", ArgumentType.BOOL, "allowWholeBundle", since=_V1_15),
)
"""All arguments; if several match a name, the first one counts."""


_BY_OWNER: Mapping[str, tuple[Argument, ...]] = MappingProxyType(
    {
        owner: tuple(argument for argument in ARGUMENTS if argument.owner == owner)
        for owner in dict.fromkeys(argument.owner for argument in ARGUMENTS)
    }
)


@cache
def arguments_of(owner: str, release: str) -> tuple[Argument, ...]:
    """Return the arguments that a plugin or an action reads in a release, which must be known."""
    at = final_release(release)
    return tuple(
        argument
        for argument in _BY_OWNER.get(owner, ())
        if argument.since.reached(at)
        and not (argument.gone is not None and argument.gone.reached(at))
    )


def is_of(value: object, kind: ArgumentType, behaviours: Behaviours) -> bool:
    """Return whether a release accepts a YAML value as a value of a type."""
    if kind is ArgumentType.BOOL:
        return truth_value(value, texts=behaviours.bool_texts) is not None
    if kind is ArgumentType.INT:
        return is_int(value)
    if kind is ArgumentType.NUMBER:
        return is_number(value)
    if kind is ArgumentType.MAP:
        return isinstance(value, dict)
    if kind is ArgumentType.LIST:
        return isinstance(value, list)
    return isinstance(value, str)
