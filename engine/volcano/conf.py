"""The scheduler's configuration: ``volcano-scheduler.conf`` as a release reads it.

Source: pkg/scheduler/conf/scheduler_conf.go; pkg/scheduler/util.go UnmarshalSchedulerConf;
pkg/scheduler/plugins/defaults.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec.structs import replace

from .arguments import Arguments
from .conf_yaml import ConfInvalid, Decoder, FieldType, Struct
from .session.behaviours import Behaviours
from .session.configuration import UnknownAction

__all__ = [
    "CONFIGURATION",
    "DEFAULT_CONF",
    "Arguments",
    "ConfInvalid",
    "PluginOption",
    "SchedulerConf",
    "conf_in_force",
    "known_actions",
    "parse_scheduler_conf",
]

DEFAULT_CONF = """
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
  - name: predicates
  - name: proportion
  - name: nodeorder
"""
"""The built-in configuration of all releases, used without a file."""

SWITCHES = MappingProxyType(
    {
        "enableJobOrder": "JobOrder",
        "enableJobReady": "JobReady",
        "enableJobPipelined": "JobPipelined",
        "enableJobEnqueued": "JobEnqueued",
        "enableTaskOrder": "TaskOrder",
        "enablePreemptable": "Preemptable",
        "enableReclaimable": "Reclaimable",
        "enablePreemptive": "Preemptive",
        "enableQueueOrder": "QueueOrder",
        "enablePredicate": "Predicate",
        "enableBestNode": "BestNode",
        "enableNodeOrder": "NodeOrder",
        "enableTargetJob": "TargetJob",
        "enableReservedNodes": "ReservedNodes",
        "enabledVictim": "Victim",
        "enableJobStarving": "JobStarving",
        "enabledOverused": "Overused",
        "enabledAllocatable": "Allocatable",
        "enabledHyperNodeOrder": "HyperNodeOrder",
        "enabledSubJobReady": "SubJobReady",
        "enabledSubJobPipelined": "SubJobPipelined",
        "enabledSubJobOrder": "SubJobOrder",
        "enabledHyperNodeGradient": "HyperNodeGradient",
    }
)
"""A plugin's switches, by their keys: some begin with ``enabled``. All are on by default.

A release without an extension point ignores its switch.
"""

_CLUSTER_ORDER = "EnabledClusterOrder"
_HIERARCHY = "enableHierarchy"
"""These two are off when left out."""

_TEXTS_KEPT = 8

_ACTIONS = frozenset({"reclaim", "allocate", "backfill", "preempt", "enqueue", "shuffle"})
_GANG_ACTIONS = frozenset({"gangpreempt", "gangreclaim"})

CONFIGURATION = Struct(
    "conf.SchedulerConfiguration",
    {
        "actions": FieldType.TEXT,
        "tiers": [
            Struct(
                "conf.Tier",
                {
                    "plugins": [
                        Struct(
                            "conf.PluginOption",
                            {
                                "name": FieldType.TEXT,
                                **dict.fromkeys(
                                    (*SWITCHES, _CLUSTER_ORDER, _HIERARCHY), FieldType.BOOL
                                ),
                                "arguments": FieldType.VALUES,
                            },
                        )
                    ]
                },
            )
        ],
        "configurations": [
            Struct("conf.Configuration", {"name": FieldType.TEXT, "arguments": FieldType.VALUES})
        ],
        "metrics": FieldType.TEXTS,
    },
)
"""The keys of a configuration, and the types of their values; other keys are ignored."""


class PluginOption(msgspec.Struct, frozen=True):
    """A plugin in a tier.

    :param enabled: extension points at which its functions are called: ``JobOrder``, ``NodeOrder``.
    :param enabled_hierarchy: it treats queues as a tree (drf, capacity).
    """

    name: str
    enabled: frozenset[str]
    enabled_hierarchy: bool
    arguments: Arguments


class SchedulerConf(msgspec.Struct, frozen=True):
    """A configuration that is in force.

    :param actions: in the order in which they run; an action may occur twice.
    :param tiers: plugins by tier, in order.
    :param configurations: (action, its arguments), in order.
    :param errors: what the release logs when it reads the text.
    """

    actions: tuple[str, ...]
    tiers: tuple[tuple[PluginOption, ...], ...]
    configurations: tuple[tuple[str, Arguments], ...]
    metrics: Mapping[str, str]
    errors: tuple[str, ...] = ()

    def action_arguments(self, action: str) -> Arguments:
        """Return the arguments of an action: those of the first entry with its name.

        Source: pkg/scheduler/framework/arguments.go GetArgOfActionFromConf.
        """
        return next((a for name, a in self.configurations if name == action), Arguments())


def parse_scheduler_conf(text: str, behaviours: Behaviours) -> SchedulerConf:
    """Return the configuration that a release reads from a text.

    An empty text is a valid configuration without actions and plugins.

    :raises ConfInvalid: the release rejects it; the old one stays in force.

    Source: pkg/scheduler/util.go UnmarshalSchedulerConf.
    """
    read = _read(text)
    bool_texts = behaviours.bool_texts
    tiers = tuple(_tier(tier, bool_texts=bool_texts) for tier in read["tiers"])
    actions, errors = _actions(read["actions"], behaviours)
    configurations = tuple(
        (entry["name"], Arguments(entry["arguments"], bool_texts=bool_texts))
        for entry in read["configurations"]
    )
    return SchedulerConf(actions, tiers, configurations, read["metrics"], tuple(errors))


@lru_cache(maxsize=_TEXTS_KEPT)
def _read(text: str) -> dict[str, Any]:
    """Return a parsed text, the same for all releases; the result must not be changed."""
    return Decoder(text).decode(CONFIGURATION)


def conf_in_force(text: str, behaviours: Behaviours) -> SchedulerConf:
    """Return the configuration of a scheduler that starts with a file of this text.

    Without a file, or if the release rejects it, that is the built-in one; ``errors`` says why.

    Source: pkg/scheduler/scheduler.go loadSchedulerConf.
    """
    if not text.strip():
        return parse_scheduler_conf(DEFAULT_CONF, behaviours)
    try:
        return parse_scheduler_conf(text, behaviours)
    except ConfInvalid as fault:
        default = parse_scheduler_conf(DEFAULT_CONF, behaviours)
        return replace(default, errors=(f"Scheduler config {text.strip()} is invalid: {fault}",))


def names_in(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the actions and the plugins that a text names, in order, whatever a release knows.

    :raises ConfInvalid: no release can read it.
    """
    read = _read(text)
    plugins = tuple(plugin["name"] for tier in read["tiers"] for plugin in tier["plugins"])
    return tuple(name.strip() for name in read["actions"].split(",")), plugins


def known_actions(behaviours: Behaviours) -> frozenset[str]:
    """Return the names of the actions that a release has."""
    return _ACTIONS | _GANG_ACTIONS if behaviours.gang_eviction_actions else _ACTIONS


def _tier(read: dict[str, Any], *, bool_texts: bool) -> tuple[PluginOption, ...]:
    names = {plugin["name"] for plugin in read["plugins"]}
    # Checked tier by tier: in two tiers both are accepted.
    hdrf = any(plugin["name"] == "drf" and plugin[_HIERARCHY] for plugin in read["plugins"])
    if hdrf and "proportion" in names:
        raise ConfInvalid("proportion and drf with hierarchy enabled conflicts")
    return tuple(_option(plugin, bool_texts=bool_texts) for plugin in read["plugins"])


def _option(read: dict[str, Any], *, bool_texts: bool) -> PluginOption:
    # None: the switch was left out.
    enabled = {point for key, point in SWITCHES.items() if read[key] is not False}
    if read[_CLUSTER_ORDER]:
        enabled.add("ClusterOrder")
    return PluginOption(
        name=read["name"],
        enabled=frozenset(enabled),
        enabled_hierarchy=bool(read[_HIERARCHY]),
        arguments=Arguments(read["arguments"], bool_texts=bool_texts),
    )


def _actions(text: str, behaviours: Behaviours) -> tuple[tuple[str, ...], list[str]]:
    known = known_actions(behaviours)
    actions, errors = [], []
    for name in text.split(","):
        if name.strip() in known:
            actions.append(name.strip())
        elif behaviours.unknown_action.rejects:
            as_ignored = behaviours.unknown_action is UnknownAction.REJECTS_AS_IGNORED
            # The message has the name as it is written, with its blanks.
            raise ConfInvalid(f"failed to find Action {name}{', ignore it' if as_ignored else ''}")
        else:
            errors.append(f"Failed to find Action {name}, ignore it")
    return tuple(actions), errors
