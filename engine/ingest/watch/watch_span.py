"""The range of revisions for which a watch is complete, noted while the stream is read.

A watch is complete from the bookmark on that ends its initial list. kubectl prints no bookmarks.
Then the initial list shows by its order, which is that of names: somewhere a revision is less than
the one before. If the revisions of the first ADDED lines only rise, the objects may also have been
created in this order, so they prove nothing.
"""

from __future__ import annotations

from ...events import Reference
from ...events.payloads import WatchFollowed
from ..lists.listing import scope
from ..reading.formats import Context

MARKED, UNMARKED, RESUMED, CHANGES = "marked", "unmarked", "resumed", "changes"


class WatchSpan:
    """What one stream covers since it last began.

    ``since`` is the revision from which on it is complete, None while that is not known; ``top`` is
    its greatest revision. A caller may raise ``top`` directly once ``since`` is known. ``silent``
    is set when the stream covers nothing more.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._bookmarks = self._quiet = False
        self.silent = False
        self.top = -1
        self.since: int | None = None
        self.restart()
        if context.asked is not None and context.asked.since is not None:
            self._continue(context.asked.since)

    def restart(self, *, sure: bool = True) -> None:
        """Begin again: the stream repeats its initial list.

        :param sure: False if a record was skipped, so that the list is not complete.
        """
        self.top = self._first = -1
        self.since = None
        self._begin = ""
        self._falls = False
        self._sure = sure

    def _continue(self, revision: int) -> None:
        """Continue from a revision up to which everything is covered already."""
        self.since = self.top = revision
        self._begin = RESUMED
        self._bookmarks, self._quiet = True, False

    def grow(self, group: str, kind: str, namespaces: list[str], *, line: int) -> None:
        """Leave what the stream covers so far; what follows continues it."""
        if self.since is None or self.silent:
            return
        if self._begin != RESUMED or self.top > self.since or self._quiet:
            self.end(group, kind, namespaces, line=line)
            self._continue(self.top)

    def fall_silent(self) -> None:
        """Cover nothing more: streams of several kinds are mixed."""
        self.silent = True

    def added(self, revision: int) -> None:
        """Note an ADDED object."""
        if self.since is None:
            if revision < self.top:
                self._falls = True
            if self._first < 0:
                self._first = revision
        if revision > self.top:  # noqa: PLR1730 -- runs for every line, and a call takes longer
            self.top = revision

    def changed(self, revision: int) -> None:
        """Note a change or a deletion."""
        if self.since is None:
            self._open(revision)
        if revision > self.top:  # noqa: PLR1730 -- runs for every line, and a call takes longer
            self.top = revision

    def bookmark(self, revision: int) -> None:
        """Note that nothing else happened up to a revision."""
        self._bookmarks = self._quiet = True
        self.changed(revision)

    def listed(self, revision: int) -> None:
        """Note that the objects so far are all that exist at a revision."""
        self._bookmarks = True
        self.since, self._begin = revision, MARKED if self._sure else CHANGES
        self.top = max(self.top, revision)

    def _open(self, revision: int) -> None:
        """Decide what the first ADDED lines were, at the first line of another type."""
        if self._falls and self._sure:
            self.since, self._begin = self.top, UNMARKED
        # Without any ADDED the watch began at a revision that its client knew.
        elif self._first < 0:
            self.since, self._begin = revision, RESUMED if self._sure else CHANGES
        # What was ADDED may be the list or creations; only what follows is certain.
        else:
            self.since, self._begin = self.top, CHANGES

    def end(
        self, group: str, kind: str, namespaces: list[str], *, line: int, interrupted: bool = False
    ) -> None:
        """Leave what the stream covers since it began, if anything.

        :param namespaces: of all its objects, sorted.
        """
        since, context, asked = self.since, self._context, self._context.asked
        spaces = scope(group, kind, namespaces) if asked is None else asked.namespaces
        if self.silent or since is None or not kind or spaces is None or context.partial_lists:
            return
        # Without bookmarks a missing begin looks like a resumed watch.
        begin = CHANGES if self._begin == RESUMED and not self._bookmarks else self._begin
        followed = WatchFollowed(
            group=group,
            listed=kind,
            namespaces=spaces,
            since=since,
            until=self.top,
            begin=begin,
            interrupted=interrupted,
            until_at=context.line_received(line),
        )
        reference = Reference(group, kind, spaces[0] if spaces else "")
        context.span(since, reference, followed, line=line)
