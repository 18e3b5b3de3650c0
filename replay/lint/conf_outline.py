"""The lines of a configuration's entries, and the keys that are not read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

import yaml

from ...engine.volcano.conf import CONFIGURATION
from ...engine.volcano.conf_yaml import FieldType, Struct

_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)

_TEXTS_KEPT = 8
"""Outlines of texts that are kept: rules ask of each release."""

Path = tuple[str | int, ...]


class OddKey(NamedTuple):
    """A key that configurations do not have, or that its mapping has twice.

    :param line: of the text, from 1.
    :param like: a key that may be meant; empty if none is similar.
    """

    path: Path
    line: int
    like: str = ""


class ConfOutline(NamedTuple):
    """The lines by path, unknown keys, and repeated keys."""

    lines: Mapping[Path, int]
    unknown: tuple[OddKey, ...]
    repeated: tuple[OddKey, ...]

    def line(self, *path: str | int) -> int:
        """Return the line of a path, or of the nearest entry around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


@lru_cache(maxsize=_TEXTS_KEPT)
def outline(text: str) -> ConfOutline:
    """Return the outline of a configuration; empty for text that is not YAML."""
    loader = _LOADER(text)
    try:
        node = loader.get_node() if loader.check_node() else None
    except (yaml.YAMLError, RecursionError):
        node = None
    finally:
        loader.dispose()
    walk = _Walk()
    if node is not None:
        walk.enter(node, CONFIGURATION, ())
    return ConfOutline(MappingProxyType(walk.lines), tuple(walk.unknown), tuple(walk.repeated))


class _Walk:
    """Visits a document, as deep as a configuration has a structure."""

    def __init__(self) -> None:
        self.lines: dict[Path, int] = {}
        self.unknown: list[OddKey] = []
        self.repeated: list[OddKey] = []

    def enter(self, node: yaml.Node, shape: Any, path: Path) -> None:
        """Visit a value that should have a given structure."""
        # A key's line is known already, and is where a person looks for it; else it is that of the
        # value.
        self.lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, yaml.SequenceNode):
            inner = shape[0] if isinstance(shape, list) else None
            for number, item in enumerate(node.value):
                self.enter(item, inner, (*path, number))
        elif isinstance(node, yaml.MappingNode):
            self._mapping(node, shape, path)

    def _mapping(self, node: yaml.MappingNode, shape: Any, path: Path) -> None:
        fields = shape.fields if isinstance(shape, Struct) else None
        seen: dict[str, None] = {}
        for key, value in _pairs(node):
            name = key.value
            here, line = (*path, name), key.start_mark.line + 1
            if name in seen:
                self.repeated.append(OddKey(here, line))
            seen[name] = None
            self.lines[here] = line
            # A merge key of YAML is no key of the configuration: the decoder resolves it.
            if fields is not None and name not in fields and name != "<<":
                like = get_close_matches(name, fields, n=1)
                self.unknown.append(OddKey(here, line, like[0] if like else ""))
            elif fields is not None and fields.get(name) is not FieldType.TEXT:
                self.enter(value, fields.get(name), here)


def _pairs(node: yaml.MappingNode) -> Iterator[tuple[yaml.ScalarNode, yaml.Node]]:
    yield from ((key, value) for key, value in node.value if isinstance(key, yaml.ScalarNode))


def shown(path: Path) -> str:
    """Return a path as text: ``tiers[0].plugins[2].arguments``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".")
