"""The scheduler's configuration: which plugins and actions exist, and how arguments are read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..releases import FIRST, Row, landed


class UnknownAction(StrEnum):
    """What happens to a configuration that names an action which does not exist."""

    REJECTS_AS_IGNORED = "rejects, and says that it ignores it"
    """The whole configuration is rejected, but the error says that the action is ignored."""
    REJECTS = "rejects"
    """The whole configuration is rejected; the old one stays in force."""
    IGNORED = "ignored"
    """An error is logged, and the other actions run."""

    @property
    def rejects(self) -> bool:
        """Whether the whole configuration is rejected, whatever the error says."""
        return self is not UnknownAction.IGNORED


@dataclass(frozen=True, init=False, repr=False, eq=False)
class ConfigurationBehaviours:
    """The scheduler's configuration: what differs between releases."""

    plugins: frozenset[str]
    """Plugins that exist beyond those that all releases have."""

    unknown_action: UnknownAction
    """What happens to a configuration that names an unknown action."""

    gang_eviction_actions: bool
    """The actions ``gangpreempt`` and ``gangreclaim`` exist."""

    bool_texts: bool
    """Arguments of plugins and actions that are true or false may be written as texts."""


ROWS: tuple[Row, ...] = (
    Row(
        "plugins",
        frozenset(),
        FIRST,
        source="plugins/factory.go",
        why="A configuration that names a plugin of a later release runs without it.",
        fault="A plugin that the configuration names is not in the release, and its checks are "
        "left out.",
    ),
    Row(
        "plugins",
        frozenset({"capacity", "deviceshare", "nodegroup", "pdb"}),
        landed("v1.9.0"),
        source="plugins/factory.go",
        why="New: capacity, deviceshare, nodegroup and pdb.",
        fault="A plugin that the configuration names is not in the release, and its checks are "
        "left out.",
        pull=3283,
    ),
    Row(
        "plugins",
        frozenset({"capacity", "deviceshare", "network-topology-aware", "nodegroup", "pdb"}),
        landed("v1.12.0"),
        source="plugins/factory.go",
        why="New: network-topology-aware; a job's pods are placed near each other.",
        fault="A plugin that the configuration names is not in the release, and its checks are "
        "left out.",
        pull=4310,
    ),
    Row(
        "plugins",
        frozenset(
            {
                *("capacity", "deviceshare", "network-topology-aware", "nodegroup", "pdb"),
                "resource-strategy-fit",
            }
        ),
        landed("v1.13.0"),
        source="plugins/resource-strategy-fit",
        why="New: resource-strategy-fit; each resource can be packed or spread by itself.",
    ),
    Row(
        "unknown_action",
        UnknownAction.REJECTS_AS_IGNORED,
        FIRST,
        source="util.go UnmarshalSchedulerConf",
        why="A misspelt action keeps the old configuration in force; the log says otherwise.",
    ),
    Row(
        "unknown_action",
        UnknownAction.IGNORED,
        landed("v1.12.0"),
        source="util.go UnmarshalSchedulerConf",
        why="A misspelt action is an error in the log, and the rest of the configuration works.",
        pull=3994,
    ),
    Row(
        "unknown_action",
        UnknownAction.REJECTS,
        landed("v1.14.0"),
        source="util.go UnmarshalSchedulerConf",
        why="Again, a misspelt action keeps the old configuration in force.",
        pull=4661,
    ),
    Row(
        "gang_eviction_actions",
        False,
        FIRST,
        source="actions/factory.go",
        why="A configuration that names gangpreempt names an unknown action.",
    ),
    Row(
        "gang_eviction_actions",
        True,
        landed("v1.15.0"),
        source="actions/factory.go",
        why="Separate actions can evict whole gangs.",
        pull=5250,
    ),
    Row(
        "bool_texts",
        False,
        FIRST,
        source="framework/arguments.go GetBool",
        why='An argument "false" counts as not given.',
    ),
    Row(
        "bool_texts",
        True,
        landed("v1.15.0"),
        source="framework/arguments.go GetBool",
        why='An argument "false" is false; so are "0", "f", "F", "False" and "FALSE".',
        pull=5058,
    ),
)
"""The rows of each behaviour, oldest first; behaviours in the order of the fields above."""
