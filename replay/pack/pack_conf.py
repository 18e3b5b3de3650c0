"""Redacts a configuration of the scheduler: plugins and numbers stay, names in it are new."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from ...engine.events import canonical_json
from ...engine.session.plugins import BUILDERS
from ...engine.volcano.argument_table import ARGUMENTS
from .api_words import EVENT_WORDS, is_amount, is_numbers
from .pack_names import Renaming

_ZONE = "tdm.revocable-zone."
_RESOURCES = ("binpack.resources.", "resources.")
"""Beginnings of arguments that end in the name of a resource, or of a zone."""

_WORDS = frozenset(
    {
        *("", "true", "false", "yes", "no", "binpack", "spread", "hard", "soft", "none"),
        *("cpu", "memory", "pods", "ephemeral-storage", "storage", "LeastAllocated"),
        *("MostAllocated", "RequestedToCapacityRatio", "Guaranteed", "Burstable", "BestEffort"),
    }
)
"""Words of a configuration that are the same everywhere."""


_ENABLED = (
    *("Hierarchy", "Predicate", "PreferredOrder", "JobStarving", "Victim", "SubJobReady"),
    *("SubJobPipelined", "SubJobOrder", "Overused", "HyperNodeOrder", "HyperNodeGradient"),
    *("Allocatable", "TaskOrder", "TargetJob", "ReservedNodes", "Reclaimable", "QueueOrder"),
    *("Preemptive", "Preemptable", "NodeOrder", "JobReady", "JobPipelined", "JobOrder"),
    *("JobEnqueued", "BestNode", "ClusterOrder", "NamespaceOrder"),
)
_FIELDS = frozenset(
    {
        *("actions", "tiers", "plugins", "name", "arguments", "configurations", "metrics"),
        *(f"{begin}{name}" for begin in ("enable", "enabled") for name in _ENABLED),
    }
)
"""Fields of a configuration; those of others are somebody's own."""

_ACTIONS = frozenset(
    {
        *("enqueue", "allocate", "backfill", "preempt", "reclaim", "shuffle", "gangpreempt"),
        *("gangreclaim", "init-params", ""),
    }
)


class ConfRedacted(NamedTuple):
    """A configuration with new names: as text, and as JSON."""

    text: str
    parsed: Any


class NewNames(Protocol):
    """Gives new names."""

    renaming: Renaming
    kept: set[str]

    def resource(self, name: str) -> str:
        """Return the new name of a resource."""


def redacted_conf(parsed: Any, names: NewNames) -> ConfRedacted:
    """Return a configuration with new names; JSON is YAML, so the text is JSON.

    :param parsed: the configuration as JSON; None if it is no YAML.
    """
    if not isinstance(parsed, dict):
        return ConfRedacted("[redacted]", None)
    fields = {name: _entry(name, value, names) for name, value in parsed.items() if name in _FIELDS}
    return ConfRedacted(canonical_json(fields).decode(), fields)


def _entry(name: str, value: Any, names: NewNames) -> Any:
    """Return the value of a field; only arguments and the address of metrics can hold names."""
    # Whatever stays is noted, so that the search for names that are left does not report it.
    names.kept.add(name)
    if name == "arguments" and isinstance(value, dict):
        return {
            _argument(key, names): _given(key, argument, names) for key, argument in value.items()
        }
    if name == "metrics" and isinstance(value, dict):
        known = {key: str(value[key]) for key in ("type", "interval") if key in value}
        return {key: _word(text, names) for key, text in known.items()}
    if isinstance(value, dict):
        known_fields = {key: inner for key, inner in value.items() if key in _FIELDS}
        return {key: _entry(key, inner, names) for key, inner in known_fields.items()}
    if isinstance(value, list):
        return [_entry("", entry, names) for entry in value]
    if isinstance(value, str):
        return ", ".join(_plugin(part.strip(), names) for part in value.split(","))
    return value


def _plugin(name: str, names: NewNames) -> str:
    """Return the name of an action or of a plugin; those that Volcano does not have are new."""
    if name in BUILDERS or name in _ACTIONS or name in _WORDS:
        names.kept.add(name)
        return name
    return names.renaming.name(name)


def _argument(key: str, names: NewNames) -> str:
    if key.startswith(_ZONE):
        return f"{_ZONE}{names.renaming.name(key.removeprefix(_ZONE))}"
    for prefix in _RESOURCES:
        if key.startswith(prefix):
            return f"{prefix}{names.resource(key.removeprefix(prefix))}"
    if not any(argument.matches(key) for argument in ARGUMENTS):
        return names.renaming.name(key)
    names.kept.add(key)
    return key


def _given(key: str, value: Any, names: NewNames) -> Any:
    """Return the value of an argument."""
    if isinstance(value, dict):
        return {names.resource(name): _given(key, amount, names) for name, amount in value.items()}
    if isinstance(value, list):
        return [_given(key, part, names) for part in value]
    if not isinstance(value, str):
        return value
    return ", ".join(_word(part.strip(), names) for part in value.split(","))


def _word(text: str, names: NewNames) -> str:
    if text in _WORDS or text in EVENT_WORDS or is_amount(text) or is_numbers(text):
        return text
    return names.resource(text) if text.count("/") == 1 else names.renaming.name(text)
