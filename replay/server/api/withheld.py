"""Names of files without the folders that they are in: those are only this machine's business."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any

_FOLDERS = re.compile(r"^(?:[A-Za-z]:)?[/\\](?:[^/\\\n]*[/\\])*")


def without_folders(name: str) -> str:
    """Return the name of an input without the folders of an absolute path."""
    return _FOLDERS.sub("", name)


class Withheld:
    """Texts in which no folder of this machine is named.

    :param names: the inputs of a log, as it names them: paths, where they were files.
    :param place: the path or URL of the log.
    """

    def __init__(self, names: Iterable[str], place: str) -> None:
        shown = {name: without_folders(name) for name in names}
        self._shown = {name: short for name, short in shown.items() if short != name}
        self._shown[place] = "LOG"
        self._folders = _folders(self._shown)

    def document(self, value: Any) -> Any:
        """Return a document with the names of inputs instead of their paths."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.document(one) for one in value]
        if isinstance(value, dict):
            return {self.text(name): self.document(one) for name, one in value.items()}
        return value

    def text(self, text: str) -> str:
        """Return a text with the names of inputs instead of their paths."""
        if text in self._shown:
            return self._shown[text]
        if not any(folder in text for folder in self._folders):
            return text
        for name, short in self._shown.items():
            text = text.replace(name, short)
        return text


def _folders(names: Collection[str]) -> frozenset[str]:
    """Return what any of the names begins with: a quick look at a text tells most apart."""
    return frozenset(found[0] if (found := _FOLDERS.match(name)) else name for name in names)
