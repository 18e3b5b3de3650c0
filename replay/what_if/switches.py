"""Changes of the scheduler's configuration that may make a waiting object start."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import yaml

from ...engine.volcano.conf import ConfInvalid, parse_scheduler_conf
from ...engine.volcano.session.behaviours import Behaviours
from ..moments.scheduler_confs import ConfText

Configuration = dict[str, Any]
Edit = Callable[[Configuration], bool]
"""Changes a configuration; returns whether it did."""

_EVICTING = ("preempt", "reclaim")
_FACTORS = (2, 5)

VOTERS = ("priority", "gang", "conformance", "drf", "proportion", "capacity", "tdm", "pdb")
"""The plugins that choose victims."""


class Switch(NamedTuple):
    """A change of the configuration.

    :param combines: it may be made together with others.
    """

    text: str
    edit: Edit
    combines: bool = True


class Switches:
    """The configuration in force at a moment, and its changes.

    :param confs: of the scheduler, newest first. None of the changes can be made to the built-in
        configuration.
    """

    def __init__(self, confs: Sequence[ConfText], behaviours: Behaviours) -> None:
        self._behaviours = behaviours
        self._text = next((text for text, _ in confs if _is_accepted(text, behaviours)), "")
        self.singles = tuple(one for one in SWITCHES if self.changed((one,)) is not None)
        """Those that change the configuration."""

    @property
    def moves(self) -> tuple[Switch, ...]:
        """Return plugins that choose victims moved to other tiers: the first that choose decide."""
        every = _moves(self._text)
        return tuple(one for one in every if self.changed((one,)) is not None)

    def changed(self, some: Sequence[Switch]) -> ConfText | None:
        """Return the configuration with changes; None if one changes nothing, or it is rejected."""
        text = _changed(self._text, [one.edit for one in some]) if self._text else None
        if text is None or not _is_accepted(text, self._behaviours):
            return None
        return ConfText(text, said(some))


def said(some: Sequence[Switch]) -> str:
    """Return changes as text."""
    return " and ".join(one.text for one in some)


def _set(plugin: str, field: str, *, value: object) -> Edit:
    def edit(conf: Configuration) -> bool:
        some = [one for one in _plugins(conf, plugin) if one.get(field) is not value]
        for one in some:
            one[field] = value
        return bool(some)

    return edit


def _factor(factor: float) -> Edit:
    def edit(conf: Configuration) -> bool:
        some = [
            one
            for one in _plugins(conf, "overcommit")
            if _number((one.get("arguments") or {}).get("overcommit-factor")) < factor
        ]
        for one in some:
            one["arguments"] = {**(one.get("arguments") or {}), "overcommit-factor": factor}
        return bool(some)

    return edit


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _adding(action: str) -> Edit:
    def edit(conf: Configuration) -> bool:
        names = [name.strip() for name in str(conf.get("actions") or "").split(",")]
        if action in names or "allocate" not in names:
            return False
        names.insert(names.index("allocate") + 1, action)
        conf["actions"] = ", ".join(names)
        return True

    return edit


def _moves(text: str) -> Iterator[Switch]:
    """Yield moves of each plugin that chooses victims, and is in one tier, to each other tier."""
    try:
        conf = yaml.safe_load(text)
        tiers = [[one["name"] for one in tier["plugins"]] for tier in conf["tiers"]]
    except (yaml.YAMLError, LookupError, TypeError):
        return
    for plugin in VOTERS:
        places = [place for place, names in enumerate(tiers) if plugin in names]
        for other in range(len(tiers)) if len(places) == 1 else ():
            if other != places[0]:
                was = places[0] + 1
                text = f"plugin {plugin} in tier {other + 1} instead of {was}"
                yield Switch(text, _moving(plugin, other), combines=False)


def _moving(plugin: str, to: int) -> Edit:
    def edit(conf: Configuration) -> bool:
        (one,) = _plugins(conf, plugin)
        for tier in conf["tiers"]:
            tier["plugins"] = [other for other in tier["plugins"] if other is not one]
        conf["tiers"][to]["plugins"].append(one)
        return True

    return edit


def _plugins(conf: Configuration, name: str) -> Iterator[dict[str, Any]]:
    for tier in conf.get("tiers") or ():
        for one in (tier or {}).get("plugins") or ():
            if isinstance(one, dict) and one.get("name") == name:
                yield one


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


SWITCHES = (
    *(
        Switch(f"enable{does}: false on plugin gang", _set("gang", f"enable{does}", value=False))
        for does in ("Reclaimable", "Preemptable")
    ),
    *(
        Switch(f"overcommit-factor: {factor} on plugin overcommit", _factor(factor), combines=False)
        for factor in _FACTORS
    ),
    *(
        Switch(
            f"enableJobEnqueued: false on plugin {plugin}",
            _set(plugin, "enableJobEnqueued", value=False),
        )
        for plugin in ("overcommit", "proportion", "capacity")
    ),
    *(Switch(f"action {action} is added", _adding(action)) for action in _EVICTING),
)
