"""Names of inputs as answers show them: without the folders of the machine that ingested them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

RECORDED = "record:"
"""What the names of a recorder's streams begin with, as those of inputs; the stream follows."""

_FOLDERS = re.compile(r"(?:(?:[A-Za-z]:)?|\.\.)[/\\](?:[^/\\\n]*[/\\])*")

_PARTS = re.compile(r"[^/\\\n]+")


def without_folders(name: str) -> str:
    """Return the name of an input without folders, if its path is absolute or leads upwards."""
    match = _FOLDERS.match(name)
    return name[match.end() :] if match else name


def distinct_names(paths: Iterable[str]) -> dict[str, str]:
    """Return the names of inputs by their paths, each of another input.

    A path that is absolute or leads upwards is shown without its folders. Of several with one name,
    these are the shortest ends of their paths that differ: ``a/conf.yaml`` and ``b/conf.yaml``.
    """
    short = {path: without_folders(path) for path in paths}
    depth = 1
    while same := _with_one_name(short):
        depth += 1
        longer = {path: _end_of(path, depth) for path in same}
        # Nothing is left to add: the paths are relative, or have no more folders.
        if all(short[path] == name for path, name in longer.items()):
            return short
        short |= longer
    return short


def _with_one_name(names: Mapping[str, str]) -> list[str]:
    counts = Counter(names.values())
    return [path for path, name in names.items() if counts[name] > 1]


def _end_of(path: str, parts: int) -> str:
    """Return the last parts of a path that is absolute or leads upwards; another as it is."""
    folders = _FOLDERS.match(path)
    return "/".join(_PARTS.findall(path)[-parts:]) if folders else path


class InputNames:
    """Names of inputs without folders, each of another input: a second ``pods.json`` has a number.

    They are given in the order in which inputs are seen.
    """

    def __init__(self) -> None:
        self._shown: dict[str, str] = {}
        self._given: dict[str, int] = {}

    def shown(self, source: str) -> str:
        """Return the name of an input."""
        if source not in self._shown:
            name = without_folders(source)
            self._given[name] = self._given.get(name, 0) + 1
            count = self._given[name]
            self._shown[source] = name if count == 1 else f"{name} ({count})"
        return self._shown[source]
