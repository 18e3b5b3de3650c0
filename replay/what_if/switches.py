"""Changes of the scheduler's configuration that may make a waiting object start."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import ceil
from typing import Any, NamedTuple

import yaml

from ...engine.cache.cache import SchedulerCache
from ...engine.kubernetes.quantity_lists import amounts
from ...engine.volcano.conf import ConfInvalid, parse_scheduler_conf
from ...engine.volcano.session.behaviours import Behaviours
from ..answers.amounts import amounts_of
from ..answers.evicting import EVICTING
from ..answers.records import Link, Overcommitted
from ..lint.victim_tiers import blind_actions
from ..logs.logged_confs import ConfText

Configuration = dict[str, Any]
Edit = Callable[[Configuration], bool]
"""Changes a configuration; returns whether it did."""

_ADDED = ("preempt", "reclaim")
FACTORS = (2.0, 5.0)
"""Factors of ``overcommit`` that are tried if none was computed."""

_SLACK = 1e-9
_OVERCOMMIT = "overcommit"

VOTERS = ("priority", "gang", "conformance", "drf", "proportion", "capacity", "tdm", "pdb")
"""The plugins that choose victims."""


class Switch(NamedTuple):
    """A change of the configuration.

    :param combines: it may be made together with others.
    :param exposes: with it, gangs do not protect their pods.
    :param milder_than: the text of another change that does more of the same.
    """

    text: str
    edit: Edit
    combines: bool = True
    exposes: bool = False
    milder_than: str = ""


class Switches:
    """The configuration in force at a moment, and its changes.

    :param confs: of the scheduler, newest first. None of the changes can be made to the built-in
        configuration.
    :param factors: of ``overcommit``, to try. :param enqueueing: whether the object is enqueued, or
        has to be: else no switch of that is tried.
    """

    def __init__(
        self,
        confs: Sequence[ConfText],
        behaviours: Behaviours,
        factors: Sequence[float] = FACTORS,
        *,
        enqueueing: bool = True,
    ) -> None:
        self._behaviours = behaviours
        # With an invalid configuration, loadSchedulerConf returns, and the previous one stays in
        # force.
        self._text = next((text for text, _ in confs if _is_accepted(text, behaviours)), "")
        every = (*PROTECTION, *(enqueue_switches(factors) if enqueueing else ()), *ACTIONS)
        self.singles = tuple(switch for switch in every if self.changed((switch,)) is not None)
        """Those that change the configuration."""

    @property
    def evicting(self) -> tuple[str, ...]:
        """Return the actions of the configuration that evict."""
        if not self._text:
            return ()
        actions = parse_scheduler_conf(self._text, self._behaviours).actions
        return tuple(name for name in actions if name in EVICTING)

    @property
    def moves(self) -> tuple[Switch, ...]:
        """Return plugins that choose victims moved to other tiers: the first that choose decide."""
        every = _moves(self._text)
        return tuple(switch for switch in every if self.changed((switch,)) is not None)

    def blind(self, conf: ConfText) -> str:
        """Return that queues may lose pods below what they deserve with a changed configuration.

        Empty if they may not, or may also with the configuration in force.
        """
        how = self._behaviours
        before, after = (
            {
                blind_action.action
                for blind_action in blind_actions(parse_scheduler_conf(text, how), how)
            }
            for text in (self._text, conf.text)
        )
        return " (queues can then lose pods below what they deserve)" if after - before else ""

    def changed(self, some: Sequence[Switch]) -> ConfText | None:
        """Return the configuration with changes; None if one changes nothing, or it is rejected."""
        text = _changed(self._text, [switch.edit for switch in some]) if self._text else None
        if text is None or not _is_accepted(text, self._behaviours):
            return None
        return ConfText(text, said(some))


def factors_for(chain: Iterable[Link], cache: SchedulerCache) -> tuple[float, ...]:
    """Return the least factor of ``overcommit`` that leaves what is wanted, in tenths.

    The plugin compares what is reserved with factor * total - used, of all nodes.
    """
    link = next((link for link in chain if isinstance(link, Overcommitted)), None)
    if link is None:
        return FACTORS
    reserved, least = amounts(link.reserved), 0.0
    for name in link.exceeded:
        nodes = [info for info in cache.nodes.values() if not info.reason]
        total = sum(node.allocatable.get(name) for node in nodes)
        used = sum(node_info.used.get(name) for node_info in nodes)
        if not total or name not in reserved:
            return ()  # No factor makes more of nothing.
        parts = amounts(amounts_of({name: total}))[name], amounts(amounts_of({name: used}))[name]
        needed = reserved[name].billionths + parts[1].billionths
        least = max(least, ceil(10 * needed / parts[0].billionths - _SLACK) / 10)
    return (least,)


def said(some: Sequence[Switch]) -> str:
    """Return changes as text."""
    return " and ".join(switch.text for switch in some)


def _set(plugin: str, field: str, *, value: object) -> Edit:
    def edit(conf: Configuration) -> bool:
        entries = [entry for entry in _plugins(conf, plugin) if entry.get(field) is not value]
        for entry in entries:
            entry[field] = value
        return bool(entries)

    return edit


def _factor(factor: float) -> Edit:
    def edit(conf: Configuration) -> bool:
        entries = [
            plugin
            for plugin in _plugins(conf, _OVERCOMMIT)
            if _number((plugin.get("arguments") or {}).get("overcommit-factor")) < factor
        ]
        for entry in entries:
            entry["arguments"] = {**(entry.get("arguments") or {}), "overcommit-factor": factor}
        return bool(entries)

    return edit


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _adding(action: str) -> Edit:
    def edit(conf: Configuration) -> bool:
        names = [name.strip() for name in str(conf.get("actions") or "").split(",")]
        if action in names or "allocate" not in names:
            return False
        # After allocate, so that what is idle is given away before anything is evicted for it.
        names.insert(names.index("allocate") + 1, action)
        conf["actions"] = ", ".join(names)
        return True

    return edit


def _moves(text: str) -> Iterator[Switch]:
    """Yield moves of each plugin that chooses victims, and is in one tier, to each other tier."""
    try:
        conf = yaml.safe_load(text)
        tiers = [[entry["name"] for entry in tier["plugins"]] for tier in conf["tiers"]]
    except (yaml.YAMLError, LookupError, TypeError):
        return
    for plugin in VOTERS:
        places = [place for place, names in enumerate(tiers) if plugin in names]
        for target in range(len(tiers)) if len(places) == 1 else ():
            if target != places[0]:
                was = places[0] + 1
                text = f"plugin {plugin} in tier {target + 1} instead of {was}"
                yield Switch(text, _moving(plugin, target), combines=False)


def _moving(plugin: str, to: int) -> Edit:
    def edit(conf: Configuration) -> bool:
        (entry,) = _plugins(conf, plugin)
        for tier in conf["tiers"]:
            tier["plugins"] = [
                other_entry for other_entry in tier["plugins"] if other_entry is not entry
            ]
        conf["tiers"][to]["plugins"].append(entry)
        return True

    return edit


def _plugins(conf: Configuration, name: str) -> Iterator[dict[str, Any]]:
    for tier in conf.get("tiers") or ():
        for entry in (tier or {}).get("plugins") or ():
            if isinstance(entry, dict) and entry.get("name") == name:
                yield entry


def _changed(text: str, edits: Sequence[Edit]) -> str | None:
    """Return a configuration with changes, as JSON, which is YAML; None if one changes nothing."""
    try:
        conf = yaml.safe_load(text)
        if not isinstance(conf, dict) or not all(edit(conf) for edit in edits):
            return None
        return json.dumps(conf)
    except (yaml.YAMLError, AttributeError, TypeError, ValueError):
        return None  # Go reads what this reader does not: the text cannot be changed.


def _is_accepted(text: str, behaviours: Behaviours) -> bool:
    try:
        parse_scheduler_conf(text, behaviours)
    except ConfInvalid:
        return False
    return bool(text.strip())


PROTECTION = tuple(
    Switch(
        f"enable{does}: false on plugin gang",
        _set("gang", f"enable{does}", value=False),
        exposes=True,
    )
    for does in ("Reclaimable", "Preemptable")
)
"""With these, gangs do not protect their pods."""

ACTIONS = tuple(Switch(f"action {action} is added", _adding(action)) for action in _ADDED)


def enqueue_switches(factors: Sequence[float]) -> Iterator[Switch]:
    """Yield changes of what decides whether a job is enqueued."""
    for factor in factors:
        text, off = (
            f"overcommit-factor: {factor:g} on plugin overcommit",
            _not_enqueueing(_OVERCOMMIT),
        )
        yield Switch(text, _factor(factor), combines=False, milder_than=off)
    for plugin in (_OVERCOMMIT, "proportion", "capacity"):
        yield Switch(_not_enqueueing(plugin), _set(plugin, "enableJobEnqueued", value=False))


def _not_enqueueing(plugin: str) -> str:
    return f"enableJobEnqueued: false on plugin {plugin}"
