"""Names of inputs as answers show them: without the folders of the machine that ingested them."""

from __future__ import annotations

import re

_FOLDERS = re.compile(r"(?:[A-Za-z]:)?[/\\](?:[^/\\\n]*[/\\])*")


def without_folders(name: str) -> str:
    """Return the name of an input without the folders of an absolute path."""
    found = _FOLDERS.match(name)
    return name[found.end() :] if found else name


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
