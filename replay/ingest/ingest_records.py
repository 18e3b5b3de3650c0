"""What a caller says of the inputs of an ingestion, and its summary."""

from __future__ import annotations

import msgspec

from ...engine.log import MAIN


class IngestOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the caller knows about the inputs.

    :param cluster: the cluster that they come from.
    :param skip_malformed: skip and count malformed records, instead of storing nothing.
    :param partial_lists: lists are incomplete: an object that is not in one may exist.
    :param complete: the inputs hold all objects of each kind that they hold any of, though no list
        shows it: a backup, a must-gather.
    :param taken_at: the earliest and latest time of fetching, in microseconds: what the inputs hold
        had happened by the second; what they lack had not by the first.
    :param year: the year of the last line of a log without years. By default the year of the latest
        time in the other inputs of the call, or else in the log.
    :param redact: leave out what :data:`.redaction.RULES` name; the log records that.
    :param branch: the branch to append to.
    :param batch_size: the number of events that are committed together.
    """

    cluster: str = "default"
    skip_malformed: bool = False
    partial_lists: bool = False
    complete: bool = False
    taken_at: tuple[int, int] | None = None
    year: int | None = None
    redact: bool = False
    branch: str = MAIN
    batch_size: int = 1000


class SkippedFile(msgspec.Struct, frozen=True):
    """A file of a folder or an archive that was skipped, and why."""

    source: str
    reason: str


class IngestSummary(msgspec.Struct, kw_only=True):
    """The summary of one call.

    :param appended: the number of new events. :param known: the number of events that the log
        had before. One that brings the actor of a known version counts in both: a
        ``version.attributed`` event is appended.
    :param kinds: of ``appended``, by kind. :param formats: documents read, by format.
    :param skipped: skipped records, by reason; ``malformed`` are those with a fault.
    :param first_skipped: where the first record of each reason is, as in ``audit.log:17``.
    :param skipped_files: skipped files in folders and archives.
    :param malformed: the first faults, as messages.
    :param notes: further remarks, each with its input.
    :param first_revision: and ``last_revision``: least and greatest in the inputs.
    :param first_observed: and ``last_observed``: the same of times, RFC 3339.
    :param last_position: of the log's branch, afterwards.
    """

    appended: int = 0
    known: int = 0
    kinds: dict[str, int] = {}
    formats: dict[str, int] = {}
    skipped: dict[str, int] = {}
    first_skipped: dict[str, str] = {}
    skipped_files: list[SkippedFile] = []
    malformed: list[str] = []
    notes: list[str] = []
    first_revision: int | None = None
    last_revision: int | None = None
    first_observed: str | None = None
    last_observed: str | None = None
    last_position: int = 0

    def skip(self, reason: str, where: str, count: int = 1) -> None:
        """Count skipped records; keep where the first of a reason is."""
        self.skipped[reason] = self.skipped.get(reason, 0) + count
        self.first_skipped.setdefault(reason, where)
