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
from .releases import FIRST, Change, final_release, landed
from .session.behaviours import Behaviours


class Kind(StrEnum):
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
    kind: Kind
    since: Change = FIRST
    gone: Change | None = None
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
    kind: Kind,
    *names: str,
    since: Change = FIRST,
    gone: Change | None = None,
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
    *_of("binpack", Kind.INT, "binpack.weight"),
    *_of("binpack", Kind.INT, "binpack.cpu", "binpack.memory", "binpack.resources.*", least=0),
    *_of("binpack", Kind.TEXT, "binpack.resources"),
    *_of("capacity", Kind.INT, "ancestorReclaimLevel", since=_V1_15),
    *_of(
        *("capacity", Kind.BOOL),
        *("capacity.DynamicResourceAllocationEnable", "capacity.DRAConsumableCapacityEnable"),
        since=_V1_15,
    ),
    *_of("deviceshare", Kind.BOOL, *(f"deviceshare.{name}" for name in _CARDS)),
    *_of("deviceshare", Kind.TEXT, "deviceshare.SchedulePolicy", gone=_V1_13, crashes=True),
    *_of("deviceshare", Kind.TEXT, "deviceshare.SchedulePolicy", since=_V1_13),
    *_of("deviceshare", Kind.INT, "deviceshare.ScheduleWeight", gone=_V1_13),
    *_of("deviceshare", Kind.INT, "deviceshare.ScheduleWeight", since=_V1_13),
    *_of("deviceshare", Kind.TEXT, "deviceshare.KnownGeometriesCMName", since=_V1_12),
    *_of("deviceshare", Kind.TEXT, "deviceshare.KnownGeometriesCMNamespace", since=_V1_12),
    *_of(
        *("deviceshare", Kind.BOOL),
        *("deviceshare.AscendMindClusterVNPUEnable", "deviceshare.AscendHAMiVNPUEnable"),
        since=_V1_14,
        simulated=False,
    ),
    *_of(
        *("deviceshare", Kind.LIST, "deviceshare.GPUExclusiveRules"),
        since=_V1_15,
        simulated=False,
    ),
    *_of("extender", Kind.TEXT, "extender.urlPrefix"),
    *_of("extender", Kind.DURATION, "extender.httpTimeout"),
    *_of("extender", Kind.BOOL, "extender.ignorable"),
    *_of("extender", Kind.TEXT, *(f"extender.{name}Verb" for name in (*_VERBS, *_MORE_VERBS))),
    *_of(
        *("extender", Kind.TEXT, "extender.allocateFuncVerb", "extender.deallocateFuncVerb"),
        since=_V1_13,
    ),
    *_of(
        *("extender", Kind.LIST, "extender.managedResources"),
        since=_V1_13,
        crashes=True,
    ),
    *_of(_TOPOLOGY, Kind.INT, "weight", gone=_V1_14),
    *_of(_TOPOLOGY, Kind.INT, "weight", since=_V1_14, least=0),
    *_of(
        *(_TOPOLOGY, Kind.INT, "hypernode.binpack.cpu", "hypernode.binpack.memory"),
        "hypernode.binpack.resources.*",
        since=_V1_14,
        least=0,
    ),
    *_of(_TOPOLOGY, Kind.TEXT, "hypernode.binpack.resources", since=_V1_14),
    *_of(_TOPOLOGY, Kind.BOOL, "hypernode.binpack.normal-pod.enable", since=_V1_14),
    *_of(_TOPOLOGY, Kind.NUMBER, "hypernode.binpack.normal-pod.fading", since=_V1_14, least=0),
    *_of(_TOPOLOGY, Kind.INT, "hypernode.gradient.evict.max-hypernodes", since=_V1_15, least=1),
    *_of("nodegroup", Kind.BOOL, "strict", since=_V1_13),
    *_of("nodegroup", Kind.BOOL, "enablePreferredOrder", since=_V1_15),
    *_of("nodeorder", Kind.INT, *(f"{name}.weight" for name in (*_WEIGHTS, *_MORE_WEIGHTS))),
    *_of("nodeorder", Kind.INT, "selectorspread.weight", gone=_V1_9, simulated=False),
    *_of("numa-aware", Kind.INT, "weight"),
    *_of("overcommit", Kind.NUMBER, "overcommit-factor", least=1),
    *_of("predicates", Kind.BOOL, *(f"predicate.{name}Enable" for name in _FILTERS)),
    *_of("predicates", Kind.BOOL, "predicate.VolumeZoneEnable"),
    *_of("predicates", Kind.BOOL, "predicate.PodTopologySpreadEnable", "predicate.CacheEnable"),
    *_of(
        "predicates",
        Kind.BOOL,
        *(f"predicate.{name}" for name in _CARDS),
        gone=_V1_9,
        simulated=False,
    ),
    *_of("predicates", Kind.BOOL, "predicate.ProportionalEnable", gone=_V1_13),
    *_of("predicates", Kind.NUMBER, "predicate.resources.*", gone=_V1_13, least=0),
    *_of("predicates", Kind.TEXT, "predicate.resources", gone=_V1_13),
    *_of("predicates", Kind.BOOL, "predicate.VolumeBindingEnable", since=_V1_12),
    *_of(
        *("predicates", Kind.BOOL, "predicate.DynamicResourceAllocationEnable"),
        since=_V1_12,
        gone=_V1_15,
        simulated=False,
    ),
    *_of("predicates", Kind.INT, "volumebinding.weight", since=_V1_12, crashes=True),
    *_of("predicates", Kind.INT, "volumebinding.bindTimeoutSeconds", since=_V1_12, crashes=True),
    *_of("predicates", Kind.LIST, "volumebinding.shape", since=_V1_12),
    *_of("predicates", Kind.INT, "dynamicresources.filterTimeoutSeconds", since=_V1_14, least=0),
    *_of("rescheduling", Kind.DURATION, "interval", crashes=True),
    *_of("rescheduling", Kind.TEXT, "metricsPeriod", crashes=True),
    *_of("rescheduling", Kind.LIST, "strategies"),
    *_of(_FIT, Kind.INT, "resourceStrategyFitWeight", crashes=True, least=0),
    *_of(_FIT, Kind.MAP, "resources", "sra", "proportional", crashes=True),
    *_of("sla", Kind.DURATION, "sla-waiting-time"),
    *_of("task-topology", Kind.INT, "task-topology.weight"),
    *_of("tdm", Kind.TEXT, "tdm.revocable-zone.*", crashes=True),
    *_of("tdm", Kind.DURATION, "tdm.evict.period", crashes=True),
    *_of("usage", Kind.INT, "usage.weight"),
    *_of("usage", Kind.INT, "cpu.weight", "memory.weight", since=landed("v1.8.2", "v1.9.0")),
    *_of("usage", Kind.MAP, "thresholds"),
    # Actions.
    *_of("allocate", Kind.BOOL, _CACHE, since=_V1_10),
    *_of("backfill", Kind.BOOL, _CACHE, since=_V1_10),
    *_of("preempt", Kind.BOOL, _CACHE, since=_V1_10),
    *_of("preempt", Kind.BOOL, "enableTopologyAwarePreemption", since=_V1_13),
    *_of("preempt", Kind.INT, "topologyAwarePreemptWorkerNum", since=_V1_13),
    *_of("preempt", Kind.INT, "minCandidateNodesPercentage", since=_V1_13),
    *_of("preempt", Kind.INT, "minCandidateNodesAbsolute", since=_V1_13),
    *_of("preempt", Kind.INT, "maxCandidateNodesAbsolute", since=_V1_13),
    *_of("reclaim", Kind.BOOL, _CACHE, since=_V1_14),
    *_of("gangpreempt", Kind.INT, "maxDomains", since=_V1_15),
    *_of("gangpreempt", Kind.BOOL, "allowWholeBundle", since=_V1_15),
    *_of("gangreclaim", Kind.INT, "maxDomains", since=_V1_15),
    *_of("gangreclaim", Kind.BOOL, "allowWholeBundle", since=_V1_15),
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


def is_of(value: object, kind: Kind, behaviours: Behaviours) -> bool:
    """Return whether a release accepts a YAML value as a value of a type."""
    if kind is Kind.BOOL:
        return truth_value(value, texts=behaviours.bool_texts) is not None
    if kind is Kind.INT:
        return is_int(value)
    if kind is Kind.NUMBER:
        return is_number(value)
    if kind is Kind.MAP:
        return isinstance(value, dict)
    if kind is Kind.LIST:
        return isinstance(value, list)
    return isinstance(value, str)
