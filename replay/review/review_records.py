"""A review: what was checked, and what was found, whatever the command and the form."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Any, NamedTuple


class Level(StrEnum):
    """How severe a result is, in the words of SARIF."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class ReviewRule(NamedTuple):
    """What is checked.

    :param id: stays the same from version to version. :param about: one sentence.
    :param more: further explanation. :param page: of the documentation, with the place on it.
    """

    id: str
    about: str
    more: str
    page: str


class FileRegion(NamedTuple):
    """A place in a file. :param column: from 1; None is the whole line."""

    file: str
    line: int
    column: int | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Result(NamedTuple):
    """Something that was found.

    :param key: what stays the same while the message and the line change; unique with the rule.
    :param kind, name: of the object; both are empty if it is about none.
    :param message: sentences. :param now: what to do; empty if that is not known.
    :param region: None if it is in no file. :param fails: the command counts it as a failure.
    :param more: further facts by name.
    """

    rule: str
    level: Level
    key: str
    kind: str
    name: str
    message: str
    now: str = ""
    region: FileRegion | None = None
    fails: bool = True
    more: dict[str, Any] = {}  # noqa: RUF012 -- nothing changes it

    @property
    def object(self) -> str:
        """Its kind and name, as in ``Queue training``."""
        return f"{self.kind} {self.name}".rstrip()


class Skipped(NamedTuple):
    """A rule that was not checked, and why."""

    rule: str
    why: str


class Review(NamedTuple):
    """What a command checked and found.

    :param command: as in ``lint``. :param title: what was checked, in a few words.
    :param skipped: the rules that were not checked.
    :param unknown: why the command has no answer; empty if it has one.
    """

    command: str
    title: str
    rules: tuple[ReviewRule, ...]
    results: tuple[Result, ...]
    skipped: tuple[Skipped, ...] = ()
    unknown: str = ""

    def passed(self) -> Iterator[ReviewRule]:
        """Yield the rules that were checked, and of which nothing was found."""
        reported = {result.rule for result in self.results} | {
            skipped.rule for skipped in self.skipped
        }
        yield from (rule for rule in self.rules if rule.id not in reported)
