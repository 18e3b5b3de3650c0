"""Names of inputs without the folders that they were in: clients learn no path of this machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ...engine.errors import PlinianError
from ...engine.events.input_names import without_folders
from ...engine.log.location import parse_location
from ..facade.log import Log
from ..logs.logged_confs import confs_at
from ..moments.moment import Moment

_NAMING = frozenset({"source", "conf", "configurations"})
"""Fields that name inputs."""


class Withheld:
    """Texts in which no folder of this machine is named.

    :param names: the inputs of a log, as it names them: paths, where they were files.
    :param place: the path or URL of the log; empty if no text names it.
    """

    def __init__(self, names: Iterable[str], place: str = "") -> None:
        shown = {name: without_folders(name) for name in names}
        self._shown = {name: short for name, short in shown.items() if short != name}
        if place:
            self._shown |= dict.fromkeys((place, parse_location(place).shown), "LOG")
        # Most texts have none of the folders: one look at these few avoids a look for each name.
        self._folders = frozenset(
            name.removesuffix(short) or name for name, short in self._shown.items()
        )

    def document(self, value: Any) -> Any:
        """Return a document with the names of inputs instead of their paths."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.document(member) for member in value]
        if isinstance(value, dict):
            return {self.text(name): self.document(member) for name, member in value.items()}
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

    def fault(self, fault: PlinianError) -> None:
        """Replace the paths in the texts of an error."""
        for part in ("what", "where", "now"):
            setattr(fault, part, self.text(getattr(fault, part)))


def confs_of(log: Log, moment: Moment | None) -> Iterator[str]:
    """Yield the names of configurations of a log."""
    if moment is not None:
        yield from (conf.source for conf in confs_at(log.store, moment))


def inputs_named(value: Any) -> Iterator[str]:
    """Yield the inputs that fields of a document name."""
    if isinstance(value, list):
        for member in value:
            yield from inputs_named(member)
    elif isinstance(value, dict):
        for name, member in value.items():
            if name in _NAMING:
                names = member if isinstance(member, list) else [member]
                yield from (each for each in names if isinstance(each, str))
            yield from inputs_named(member)
