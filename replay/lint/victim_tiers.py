"""Tiers of plugins that choose victims: the first tier that chooses any pod decides alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from ...engine.volcano.conf import PluginOption, SchedulerConf
from .linted_queues import exists

if TYPE_CHECKING:
    from ...engine.volcano.session.behaviours import Behaviours

_DESERVING = frozenset({"capacity", "proportion"})
"""Plugins that know what queues deserve; drf does too, with ``enableHierarchy``."""

VOTERS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "reclaim": frozenset({"gang", "conformance", "pdb", "cdp", "capacity", "proportion"}),
        "gangreclaim": frozenset({"gang", "conformance", "priority", "capacity"}),
    }
)
"""The plugins that choose victims for an action; of ``reclaim`` also extender and drf can."""


class PlacedPlugin(NamedTuple):
    """A plugin, and its place in the configuration."""

    tier: int
    number: int
    option: PluginOption

    @property
    def path(self) -> tuple[str | int, ...]:
        """The path of its entry."""
        return ("tiers", self.tier, "plugins", self.number)


class Blind(NamedTuple):
    """An action that may evict pods of a queue below what it deserves.

    :param knows: the first plugin that knows what queues deserve. :param above: the plugins that
        choose victims in a tier above it.
    """

    action: str
    knows: PlacedPlugin
    above: Sequence[PlacedPlugin]


def placed_plugins(conf: SchedulerConf) -> list[PlacedPlugin]:
    """Return the plugins of all tiers, in order."""
    return [
        PlacedPlugin(tier, number, option)
        for tier, options in enumerate(conf.tiers)
        for number, option in enumerate(options)
    ]


def blind_actions(conf: SchedulerConf, how: Behaviours) -> Iterator[Blind]:
    """Yield the actions that ask a plugin that knows what queues deserve only after others."""
    for action in (voter for voter in VOTERS if voter in conf.actions):
        voters = [
            placed
            for placed in placed_plugins(conf)
            if exists(placed.option.name, how) and _votes(placed.option, action)
        ]
        knows = next((voter for voter in voters if knows_deserved(voter.option)), None)
        above = [plugin for plugin in voters if knows is not None and plugin.tier < knows.tier]
        if knows is not None and above:
            yield Blind(action, knows, above)


def knows_deserved(option: PluginOption) -> bool:
    """Return whether a plugin knows what queues deserve."""
    return option.name in _DESERVING or (option.name == "drf" and option.enabled_hierarchy)


def _votes(option: PluginOption, action: str) -> bool:
    """Return whether a plugin chooses victims for an action."""
    if action != "reclaim":
        return option.name in VOTERS[action]
    if "Reclaimable" not in option.enabled:
        return False
    if option.name == "extender":
        return bool(option.arguments.get_str("extender.reclaimableVerb", ""))
    return option.name in VOTERS[action] or knows_deserved(option)
