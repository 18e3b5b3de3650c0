"""Configurations of the scheduler within other values: the data of a ConfigMap, values of Helm."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ...engine.ingest.objects import scheduler_conf
from .findings import FilePlace, Subject
from .inputs import Configuration

_FILE = "volcano-scheduler.conf"
_DEEPEST = 20


def nested_confs(
    value: Any, place: FilePlace, blocks: Mapping[str, int]
) -> Iterator[Configuration]:
    """Yield the configurations in a value that is no object: texts, and mappings with tiers.

    :param blocks: the line before each block of text.
    """
    for path, text in _found(value, ()):
        subject = Subject("", "SchedulerConfiguration", ".".join(path), place)
        yield Configuration(text, subject, blocks.get(text, -1))


def _found(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if len(path) > _DEEPEST:
        return
    if isinstance(value, dict):
        if path and isinstance(value.get("actions"), str) and isinstance(value.get("tiers"), list):
            yield path, json.dumps(value)
            return
        for key, inner in value.items():
            if isinstance(inner, str) and _is_conf(key, inner):
                yield (*path, key), inner
            else:
                yield from _found(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _found(inner, (*path, str(number)))


def _is_conf(key: str, text: str) -> bool:
    return key == _FILE or scheduler_conf.FORMAT.sniff(text.encode("utf-8", "replace"), key)
