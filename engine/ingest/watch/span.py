"""From which revision to which a watch told everything, noted while the stream is read.

A watch is complete from a bookmark on that ends what it tells at first of what exists. Without such
a bookmark (kubectl prints none) what it tells at first is seen by its order, which is that of
names: a revision falls somewhere. A first run whose revisions only rise may as well be objects that
came one after the other, and proves nothing.
"""

from __future__ import annotations

from ...events import Reference
from ...events.payloads import WatchFollowed
from ..lists.listing import scope
from ..reading.formats import Context

MARKED, UNMARKED, RESUMED, CHANGES = "marked", "unmarked", "resumed", "changes"


class WatchSpan:
    """What one stream has told since it last began.

    ``since`` is the revision from which on it tells everything, None while that is not decided;
    ``top`` the greatest that it told. Whoever reads changes may raise ``top`` itself once ``since``
    is known. ``silent`` once nothing more is said.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._bookmarks = False
        self.silent = False
        self.top = -1
        self.since: int | None = None
        self.begin_anew()

    def begin_anew(self, *, sure: bool = True) -> None:
        """Forget what was told; the stream tells what exists again.

        :param sure: False if something was left out, so that no list can be made of it.
        """
        self.top = self._first = -1
        self.since = None
        self._begin = ""
        self._falls = False
        self._sure = sure

    def fall_silent(self) -> None:
        """Say no more: streams of several kinds are laid into each other."""
        self.silent = True

    def added(self, revision: int) -> None:
        """Note an object that the stream told as added."""
        if self.since is None:
            if revision < self.top:
                self._falls = True
            if self._first < 0:
                self._first = revision
        if revision > self.top:  # noqa: PLR1730 -- asked of every line, and a call takes longer
            self.top = revision

    def changed(self, revision: int) -> None:
        """Note a change or a deletion."""
        if self.since is None:
            self._open(revision)
        if revision > self.top:  # noqa: PLR1730 -- asked of every line, and a call takes longer
            self.top = revision

    def bookmark(self, revision: int) -> None:
        """Note that nothing else happened up to a revision."""
        self._bookmarks = True
        self.changed(revision)

    def listed(self, revision: int) -> None:
        """Note that what was told is all there is at a revision."""
        self._bookmarks = True
        self.since, self._begin = revision, MARKED if self._sure else CHANGES
        self.top = max(self.top, revision)

    def _open(self, revision: int) -> None:
        """Decide what the first run of added objects was, at the first thing that is another."""
        if self._falls and self._sure:
            self.since, self._begin = self.top, UNMARKED
        elif self._first < 0:
            self.since, self._begin = revision, RESUMED if self._sure else CHANGES
        else:
            self.since, self._begin = self.top, CHANGES

    def end(
        self, group: str, kind: str, namespaces: list[str], *, line: int, interrupted: bool = False
    ) -> None:
        """Leave what the stream told since it began, if it says anything.

        :param namespaces: of all objects that were told, sorted.
        """
        since, context = self.since, self._context
        spaces = scope(group, kind, namespaces)
        if self.silent or since is None or not kind or spaces is None or context.partial_lists:
            return
        begin = CHANGES if self._begin == RESUMED and not self._bookmarks else self._begin
        followed = WatchFollowed(
            group=group,
            listed=kind,
            namespaces=spaces,
            since=since,
            until=self.top,
            begin=begin,
            interrupted=interrupted,
        )
        reference = Reference(group, kind, spaces[0] if spaces else "")
        context.span(since, reference, followed, line=line)
