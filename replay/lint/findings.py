"""What a check can find: how bad it is, of which object, where that is written, in which releases.

The worst that a release makes of a fault is what counts, not how wrong it looks: the same queue
stops all scheduling under one release and is a line in the log of another.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple


class Severity(StrEnum):
    """How bad a finding is."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Effect(StrEnum):
    """What a release makes of a fault."""

    CRASHES = "crashes the scheduler"
    STOPS = "stops all scheduling"
    REFUSED = "is refused"
    NEVER = "is never scheduled"
    UNKNOWN = "does not exist"
    INVALID = "cannot be meant"
    DIFFERS = "does other than it says"
    IGNORED = "has no effect"
    ODD = "works, but is unusual"

    @property
    def severity(self) -> Severity:
        """Return how bad that is."""
        if self is Effect.ODD:
            return Severity.NOTE
        if self in (Effect.DIFFERS, Effect.IGNORED):
            return Severity.WARNING
        return Severity.ERROR

    @property
    def fatal(self) -> bool:
        """Say whether more than the object itself is hit: nothing at all is scheduled."""
        return self in (Effect.CRASHES, Effect.STOPS)


class Place(NamedTuple):
    """Where something is written.

    :param document: which of the file's documents, from 1.
    """

    file: str
    line: int
    document: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Subject(NamedTuple):
    """What a finding is about.

    :param name: with its namespace, as in ``ml/train``.
    :param place: None for what is in a log, or nowhere yet.
    """

    group: str
    kind: str
    name: str
    place: Place | None = None

    def __str__(self) -> str:
        return f"{self.kind} {self.name}" if self.name else self.kind


class Issue(NamedTuple):
    """What a rule says of an object under one release.

    :param field: the path in the object, as in ``spec.capability.cpu``; empty for all of it.
    :param now: what to do about it.
    """

    subject: Subject
    field: str
    effect: Effect
    message: str
    now: str = ""


class Finding(NamedTuple):
    """An issue, the rule that found it, and the releases in which it is one, oldest first."""

    rule: str
    issue: Issue
    releases: tuple[str, ...]

    @property
    def severity(self) -> Severity:
        """How bad it is in these releases."""
        return self.issue.effect.severity

    def document(self) -> dict[str, Any]:
        """Return the finding as JSON has it."""
        subject = self.issue.subject
        namespace, _, name = subject.name.rpartition("/")
        place = subject.place
        return {
            "rule": self.rule,
            "severity": self.severity.value,
            "effect": self.issue.effect.value,
            "object": {
                "group": subject.group,
                "kind": subject.kind,
                "namespace": namespace,
                "name": name,
            },
            "file": None if place is None else place.file,
            "line": None if place is None else place.line,
            "document": None if place is None else place.document,
            "field": self.issue.field,
            "message": self.issue.message,
            "now": self.issue.now,
            "releases": list(self.releases),
        }
