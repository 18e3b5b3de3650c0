"""What all pages share: their frame, with the position, the releases and the navigation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from ....engine.log.location import log_name
from ....engine.state.clock import TimeSpan
from ....engine.version import __version__
from ....engine.volcano.releases.release import RELEASES
from ...facade.log import Log
from ...moments.times import exact_text, known_text
from ...moments.zones import UTC_ZONE, Zone, time_of_day, times_in
from ..settings import ServerSettings
from .assets import assets
from .forms import POINT_FORMS
from .link_times import day_of
from .look import Look
from .page import NavGroup, Page
from .positions import time_at
from .steps import missed


class NavigationEntry(NamedTuple):
    """An entry of the navigation.

    :param key: opens it after ``g``. :param current: it is the page that is shown.
    """

    name: str
    link: str
    key: str
    current: bool


class NavigationGroup(NamedTuple):
    """Entries of the navigation that belong together. :param title: empty if they need none."""

    title: str
    entries: Sequence[NavigationEntry]

    @property
    def current(self) -> str:
        """The name of the page that is shown, if it is one of the group."""
        return next((entry.name for entry in self.entries if entry.current), "")


class Site(NamedTuple):
    """The frame of a page.

    :param log: the name of the log. :param grows: a recorder in this process appends to it.
    :param digest: of the end of the log.
    :param when: between which times the state at the position came to be. :param zone: of the
        times of the page; None is UTC. :param nav: the pages.
    """

    title: str
    log: str
    branch: str
    digest: str
    version: str
    when: TimeSpan
    zone: Zone | None
    releases: Sequence[str]
    nav: Sequence[NavigationGroup]
    notices: Sequence[str]
    grows: bool = False

    @property
    def time(self) -> str:
        """The time of the state, as tables print it; empty if it is not known."""
        return known_text(self.when)

    @property
    def of_day(self) -> str:
        """The same in the zone of the page, without the date."""
        return time_of_day(times_in(known_text(self.when), self.zone))

    @property
    def day(self) -> str:
        """The day of the time, as in ``2026-11-21``; empty if it is not known."""
        return day_of(self.when, self.zone)

    @property
    def zone_name(self) -> str:
        """The zone of the times, in words."""
        return (self.zone or UTC_ZONE).label(self.when.estimate or 0)

    @property
    def clock(self) -> str:
        """The time of day, in whole seconds if it is one time; empty if it is not known."""
        return self.of_day.partition(".")[0] if self.exact else self.of_day

    @property
    def exact(self) -> str:
        """The time for programs; empty if it is not one time."""
        return exact_text(self.when)

    @property
    def point_forms(self) -> str:
        """What the box for a moment takes."""
        return POINT_FORMS

    def static(self, name: str) -> str:
        """Return the path of a style sheet or a script."""
        return assets().path(name)


def site_of(
    log: Log,
    settings: ServerSettings,
    look: Look,
    page: Page,
    pages: Sequence[Page],
    *,
    digest: str,
) -> Site:
    """Return the frame of a page at a look."""
    return Site(
        title=page.title,
        log=log_name(settings.place),
        branch=log.branch,
        digest=digest,
        version=__version__,
        when=time_at(log, look.position),
        zone=look.zone,
        releases=releases(),
        nav=navigation(look, page, pages),
        notices=[*look.notices(page.panes, page.takes), *missed(look)],
        grows=settings.grows,
    )


def navigation(look: Look, page: Page | None, pages: Sequence[Page]) -> list[NavigationGroup]:
    """Return the groups of the navigation. :param page: the one that is shown, if it is a page."""
    groups: dict[NavGroup, list[NavigationEntry]] = {group: [] for group in NavGroup}
    for listed in pages:
        if listed.nav:
            is_current = page is not None and listed.path == page.path
            entry = NavigationEntry(listed.nav, look.link(listed.path), listed.key, is_current)
            groups[listed.group].append(entry)
    return [NavigationGroup(group, entries) for group, entries in groups.items()]


@cache
def releases() -> tuple[str, ...]:
    """Return the known releases, newest first."""
    return tuple(reversed([str(release) for release in RELEASES]))
