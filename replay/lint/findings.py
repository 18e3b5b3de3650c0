"""Findings: severity, object, place in the files, and releases.

The severity is the effect in a release, not how wrong something looks: the same queue stops all
scheduling in one release and is a log line in another.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import msgspec


class FindingSeverity(StrEnum):
    """The severity of a finding."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class FaultEffect(StrEnum):
    """The effect of a fault in a release."""

    CRASHES = "crashes the scheduler"
    STOPS = "stops all scheduling"
    REFUSED = "is rejected"
    NEVER = "is never scheduled"
    UNKNOWN = "does not exist"
    INVALID = "is probably a mistake"
    UNREAD = "is not checked"
    DIFFERS = "does not do what it says"
    IGNORED = "has no effect"
    LATER = "needs a later release"
    ODD = "works, but is unusual"

    @property
    def severity(self) -> FindingSeverity:
        """Return the severity of this effect."""
        if self in (FaultEffect.ODD, FaultEffect.LATER):
            return FindingSeverity.NOTE
        if self in (FaultEffect.DIFFERS, FaultEffect.IGNORED):
            return FindingSeverity.WARNING
        return FindingSeverity.ERROR

    @property
    def fatal(self) -> bool:
        """Return whether the effect stops all scheduling, not only the object's."""
        return self in (FaultEffect.CRASHES, FaultEffect.STOPS)


class FilePlace(NamedTuple):
    """The place of an entry in a file.

    :param document: the number of the document in the file, from 1.
    """

    file: str
    line: int
    document: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


FILE = "File"
"""The kind of a file that is no object."""


class FindingSubject(NamedTuple):
    """The subject of a finding.

    :param name: with its namespace, as in ``ml/train``.
    :param place: None for an object in a log, or one that does not exist yet.
    """

    group: str
    kind: str
    name: str
    place: FilePlace | None = None

    def __str__(self) -> str:
        return f"{self.kind} {self.name}" if self.name else self.kind


class Issue(NamedTuple):
    """A rule's result for an object in one release.

    :param field: the path in the object, as in ``spec.capability.cpu``; empty for all of it.
    :param now: what to do about it.
    """

    subject: FindingSubject
    field: str
    effect: FaultEffect
    message: str
    now: str = ""


class SubjectName(msgspec.Struct, frozen=True, kw_only=True):
    """The object that a finding is about."""

    group: str
    kind: str
    namespace: str
    name: str


class FindingDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A finding, as answers show it.

    :param file: and ``line`` and ``document``: its place; null for an object of a log.
    :param plugin: the plugin that must limit queues for this to hold; null if any may.
    :param now: what to do about it.
    """

    rule: str
    severity: FindingSeverity
    effect: FaultEffect
    object: SubjectName
    file: str | None
    line: int | None
    document: int | None
    field: str
    message: str
    plugin: str | None
    now: str
    releases: tuple[str, ...]


class Finding(NamedTuple):
    """An issue, its rule, and the releases that it applies to, oldest first.

    :param plugin: the plugin that must limit queues for this to hold; empty if any may.
    """

    rule: str
    issue: Issue
    releases: tuple[str, ...]
    plugin: str = ""

    @property
    def message(self) -> str:
        """What was found, and for which plugin if it is so for one only."""
        return f"{self.issue.message} (with {self.plugin})" if self.plugin else self.issue.message

    @property
    def severity(self) -> FindingSeverity:
        """The severity in these releases."""
        return self.issue.effect.severity

    @property
    def document(self) -> FindingDocument:
        """What answers show of it."""
        issue, place = self.issue, self.issue.subject.place
        namespace, _, name = issue.subject.name.rpartition("/")
        return FindingDocument(
            rule=self.rule,
            severity=self.severity,
            effect=issue.effect,
            object=SubjectName(
                group=issue.subject.group,
                kind=issue.subject.kind,
                namespace=namespace,
                name=name,
            ),
            file=None if place is None else place.file,
            line=None if place is None else place.line,
            document=None if place is None else place.document,
            field=issue.field,
            message=self.message,
            plugin=self.plugin or None,
            now=issue.now,
            releases=self.releases,
        )
