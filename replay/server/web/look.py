"""A look: what a page shows of the log, all of it in the URL.

``/@1042/nodes?sel=node/n7&vs=@980`` is the page ``nodes`` at position 1042, with node n7 selected
and position 980 to compare with. Names in the query mean the same on every page.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote, urlencode

from ....engine.errors import UsageError
from ...moments.times import time_text
from ...moments.zones import UTC_ZONE, Zone, zone_of

SHARED = ("release", "tz", "vs", "sel", "lanes", "from", "to")
"""Names of the query that a link to another page keeps."""

COMMON = ("part", "wait", "standalone", "missed")
"""Names of the query that every page reads, and no link keeps."""

POINTS = ("vs", "from", "to")
"""Names of the query whose values are points: any form that the head of a page accepts."""

MISSED = "missed"
"""In the query: the step from here that leads nowhere, as in ``session/next``. No link keeps it."""

TWIN = ".json"
"""At the end of a path: the data of the page before it.

So the page of an object whose name ends so has a slash at the end of its path, and its data the
suffix twice.
"""

_POSITION = re.compile(r"@?([0-9]{1,18})")
_SAFE = "/:@,.*~!$'()"
"""Characters that a query or a path shows as they are."""


class Look(NamedTuple):
    """What a page shows of the log.

    :param position: events up to it count. :param last: the last position of the log.
    :param path: of the page, as in ``nodes`` or ``pod/ml/train-0``; empty for the timeline.
    :param query: the names and values of the query, in order; of equal names the last counts.
    :param usual_release: the release that is meant where the query has none.
    :param is_assumed: neither a person nor the log named it.
    :param prefix: what stands before every path of this server; usually nothing.
    """

    position: int
    last: int
    path: str = ""
    query: tuple[tuple[str, str], ...] = ()
    usual_release: str = ""
    is_assumed: bool = False
    prefix: str = ""

    def get(self, name: str, usual: str = "") -> str:
        """Return a value of the query."""
        return next((value for key, value in reversed(self.query) if key == name), usual)

    def number(self, name: str) -> int | None:
        """Return the position that a value of the query names, as ``@980`` or ``980``."""
        match = _POSITION.fullmatch(self.get(name))
        return min(int(match[1]), self.last) if match else None

    @property
    def at(self) -> str:
        """Return the position as a point."""
        return f"@{self.position}"

    @property
    def select(self) -> str:
        """Return the selected object, as in ``pod/ml/train-0``; empty if there is none."""
        return self.get("sel")

    @property
    def lanes(self) -> list[str]:
        """Return the objects that have a lane in the timeline."""
        return list(dict.fromkeys(filter(None, self.get("lanes").split(","))))

    @property
    def versus(self) -> int | None:
        """Return the position to compare with."""
        return self.number("vs")

    @property
    def begin(self) -> int:
        """Return the first position of the window."""
        return self._window[0]

    @property
    def end(self) -> int:
        """Return the last position of the window."""
        return self._window[1]

    @property
    def _window(self) -> tuple[int, int]:
        begin, end = self.number("from"), self.number("to")
        low, high = (1 if begin is None else max(begin, 1)), (self.last if end is None else end)
        return (low, high) if low < high else (1, self.last)

    @property
    def release(self) -> str:
        """Return the release of Volcano that answers are about."""
        return self.get("release") or self.usual_release

    @property
    def named_release(self) -> str | None:
        """Return the release if it was named; None if it is assumed."""
        return self.get("release") or (None if self.is_assumed else self.usual_release)

    @property
    def filter(self) -> str:
        """Return the text of the filter box."""
        return self.get("q").strip()

    @property
    def zone(self) -> Zone | None:
        """Return the time zone in which the page says times; None is UTC."""
        found = _zone_in(self.get("tz"))
        return None if found == UTC_ZONE else found

    def notices(self, panes: Sequence[str] = (), takes: Sequence[str] = ()) -> list[str]:
        """Return a sentence for each value of the query that cannot be used.

        :param panes: the panes that the page has. :param takes: names of its query beside those
            that all pages share.
        """
        sentences = [
            f"{name}={self.get(name)} is not a moment of the log, so it is ignored."
            for name in POINTS
            if self.get(name) and self.number(name) is None
        ]
        zone, pane = self.get("tz"), self.get("pane")
        if zone and _zone_in(zone) is None:
            sentences.append(f"tz={zone} is no time zone, so times are in UTC.")
        if panes and pane and pane not in panes:
            sentences.append(f"There is no pane {pane}; there is {', '.join(panes)}.")
        known = {*SHARED, *COMMON, *takes}
        others = dict.fromkeys(name for name, _ in self.query if name not in known)
        sentences += [f"This page knows no {name}, so it is ignored." for name in others]
        return sentences

    def here(self, *, at: int | str | None = None, **changes: str | int | None) -> str:
        """Return the link to this page with another position or other values.

        :param changes: values by name; None and empty ones are left out. ``from_`` is ``from``.
        """
        return self._link(self.path, at, dict(self.query), changes)

    def link(
        self, path: str = "", *, at: int | str | None = None, **changes: str | int | None
    ) -> str:
        """Return the link to another page, with the values that all pages share."""
        return self._link(path, at, self._shared, changes)

    def object(self, name: str, **changes: str | int | None) -> str:
        """Return the link to the page of an object, as in ``pod/ml/train-0``."""
        return self._link(name, None, self._shared, changes)

    @property
    def _shared(self) -> dict[str, str]:
        return {name: value for name, value in self.query if name in SHARED}

    def _link(
        self,
        path: str,
        at: int | str | None,
        values: dict[str, str],
        changes: dict[str, str | int | None],
    ) -> str:
        # These are about one answer, and not about where it leads. ``changes`` may set them again.
        for name in (MISSED, "standalone"):
            values.pop(name, None)
        for name, value in changes.items():
            values[name.rstrip("_")] = "" if value is None else str(value)
        # A link leads to a whole page.
        values.pop("part", None)
        query = urlencode({k: v for k, v in values.items() if v}, safe=_SAFE, quote_via=quote)
        place = f"{self.prefix}/@{self.position if at is None else at}"
        place += f"/{quote(path, safe=_SAFE)}" if path else ""
        place += "/" if path.endswith(TWIN) else ""
        return f"{place}?{query}" if query else place


@lru_cache(maxsize=64)  # A page asks often, and to refuse a wrong name takes long.
def _zone_in(text: str) -> Zone | None:
    try:
        return zone_of(text or UTC_ZONE.name)
    except UsageError:
        return None


def seconds(micros: int | None) -> str:
    """Return a time for a page: RFC 3339 in UTC; empty if it is not known."""
    return "" if micros is None else time_text(micros)
