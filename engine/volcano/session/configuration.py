"""The scheduler's configuration: which plugins and actions exist, and how arguments are read."""

from __future__ import annotations

from enum import StrEnum

from ..releases import FIRST, behaviour, since, subject


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


_WITH_CAPACITY = frozenset({"capacity", "deviceshare", "nodegroup", "pdb"})
_WITH_TOPOLOGY = _WITH_CAPACITY | {"network-topology-aware"}
_WITH_STRATEGIES = _WITH_TOPOLOGY | {"resource-strategy-fit"}
_PLUGIN_MISSING = (
    "A plugin that the configuration names is not in the release, and its checks are left out."
)


@subject
class ConfigurationBehaviours:
    """The scheduler's configuration: what differs between releases."""

    plugins: frozenset[str] = behaviour(
        "Plugins that exist beyond those that all releases have.",
        since(FIRST, frozenset()).means(
            "A configuration that names a plugin of a later release runs without it.",
            fault=_PLUGIN_MISSING,
        ),
        since("v1.9.0", _WITH_CAPACITY, pull=3283).means(
            "New: capacity, deviceshare, nodegroup and pdb.", fault=_PLUGIN_MISSING
        ),
        since("v1.12.0", _WITH_TOPOLOGY, pull=4310).means(
            "New: network-topology-aware; a job's pods are placed near each other.",
            fault=_PLUGIN_MISSING,
        ),
        since("v1.13.0", _WITH_STRATEGIES).means(
            "New: resource-strategy-fit; each resource can be packed or spread by itself.",
            source="plugins/resource-strategy-fit",
        ),
        source="plugins/factory.go",
    )

    unknown_action: UnknownAction = behaviour(
        "What happens to a configuration that names an unknown action.",
        since(FIRST, UnknownAction.REJECTS_AS_IGNORED).means(
            "A misspelt action keeps the old configuration in force; the log says otherwise."
        ),
        since("v1.12.0", UnknownAction.IGNORED, pull=3994).means(
            "A misspelt action is an error in the log, and the rest of the configuration works."
        ),
        since("v1.14.0", UnknownAction.REJECTS, pull=4661).means(
            "Again, a misspelt action keeps the old configuration in force."
        ),
        source="util.go UnmarshalSchedulerConf",
    )

    gang_eviction_actions: bool = behaviour(
        "The actions ``gangpreempt`` and ``gangreclaim`` exist.",
        since(FIRST, False).means(
            "A configuration that names gangpreempt names an unknown action."
        ),
        since("v1.15.0", True, pull=5250).means("Separate actions can evict whole gangs."),
        source="actions/factory.go",
    )

    bool_texts: bool = behaviour(
        "Arguments of plugins and actions that are true or false may be written as texts.",
        since(FIRST, False).means('An argument "false" counts as not given.'),
        since("v1.15.0", True, pull=5058).means(
            'An argument "false" is false; so are "0", "f", "F", "False" and "FALSE".'
        ),
        source="framework/arguments.go GetBool",
    )
