"""Records of lists that were skipped: why a list does not count as complete."""

from __future__ import annotations

from ...events import Event, Reference, canonical_json
from ...events.payloads import ListBroken
from ...kubernetes.resources import GroupKind

_LONGEST = 300
"""Characters of a fault that are stored."""


class BrokenLists:
    """The kinds of which records were skipped, in one list or in several inputs.

    The kind of a record may not be known; then any kind may lack it.
    """

    def __init__(self) -> None:
        self._counts: dict[GroupKind | None, tuple[int, str]] = {}

    def __bool__(self) -> bool:
        return bool(self._counts)

    def add(self, pair: GroupKind | None, fault: str, records: int = 1) -> None:
        """Take a skipped record. :param pair: its kind, if known. :param fault: with its place."""
        count, first = self._counts.get(pair, (0, fault[:_LONGEST]))
        self._counts[pair] = count + records, first

    def merge(self, other: BrokenLists) -> None:
        """Take the records of another one."""
        for pair, (count, first) in other._counts.items():
            self.add(pair, first, count)

    def breaks(self, pair: GroupKind) -> bool:
        """Say whether a record of a kind may have been skipped."""
        return pair in self._counts or None in self._counts

    def kinds(self) -> list[GroupKind]:
        """Return the kinds that are known to lack a record."""
        return sorted(pair for pair in self._counts if pair is not None)

    def event(
        self, pair: GroupKind, revision: int, *, source: str, line: int, cluster: str
    ) -> Event:
        """Return the event that says why a list of a kind is not complete.

        :param revision: of the list, or the greatest among its items.
        """
        # A record of an unknown kind may have been of this one.
        counts = [self._counts[key] for key in (pair, None) if key in self._counts]
        broken = ListBroken(
            group=pair[0],
            listed=pair[1],
            revision=revision,
            records=sum(count for count, _ in counts),
            first=counts[0][1],
        )
        return Event(
            kind="list.broken",
            reference=Reference(*pair),
            payload=canonical_json(broken),
            source=source,
            line=line,
            cluster=cluster,
        )
