"""Configurations of Volcano's scheduler: their YAML, and those in a ConfigMap."""

from __future__ import annotations

import io
from typing import Any

import yaml

from .yaml import YamlFault, YamlReader

CONF_FILE = "volcano-scheduler.conf"
"""The key of a ConfigMap that the scheduler reads."""


def configs_in(configmap: dict[str, Any]) -> list[tuple[str, str, Any]]:
    """Return (key, text, parsed) of every scheduler configuration in a ConfigMap.

    The key ``volcano-scheduler.conf`` always counts (``parsed`` is None if it is not YAML: the
    scheduler reads it all the same); another key that ends in ``.conf`` counts if it has tiers.
    """
    data = configmap.get("data")
    if not isinstance(data, dict):
        return []
    confs = []
    # The key that the scheduler reads comes first: callers name later ones after their keys.
    for key in sorted(data, key=lambda key: (key != CONF_FILE, key)):
        text = data[key]
        if not (key.endswith(".conf") and isinstance(text, str)):
            continue
        try:
            parsed = parse_conf(text)
        except YamlFault:
            parsed = None
        if key == CONF_FILE or (isinstance(parsed, dict) and "tiers" in parsed):
            confs.append((key, text, parsed))
    return confs


def is_scheduler_conf(parsed: Any) -> bool:
    """Say whether a parsed document has the keys of a scheduler configuration."""
    return isinstance(parsed, dict) and ("actions" in parsed or "tiers" in parsed)


def parse_conf(text: str) -> Any:
    """Return a configuration's YAML (its first document) as JSON values.

    :raises YamlFault: it is not YAML.
    """
    reader = YamlReader(io.BytesIO(text.encode()))
    while not isinstance(event := reader.next(), yaml.DocumentStartEvent):
        if isinstance(event, yaml.StreamEndEvent):
            return None
    return reader.value(reader.next())
