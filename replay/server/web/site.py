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
from ...moments.times import exact_text, known_text, span_of_day
from ..settings import ServerSettings
from .assets import assets
from .look import Look
from .page import Page
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


class Site(NamedTuple):
    """The frame of a page.

    :param log: the name of the log. :param digest: of the end of the log.
    :param when: between which times the state at the position came to be. :param nav: the pages.
    """

    title: str
    log: str
    branch: str
    digest: str
    version: str
    when: TimeSpan
    releases: Sequence[str]
    nav: Sequence[NavigationEntry]
    notices: Sequence[str]

    @property
    def time(self) -> str:
        """The time of the state, as tables print it; empty if it is not known."""
        return known_text(self.when)

    @property
    def of_day(self) -> str:
        """The same without the date."""
        return span_of_day(self.when)

    @property
    def exact(self) -> str:
        """The time for programs; empty if it is not one time."""
        return exact_text(self.when)

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
        releases=releases(),
        nav=navigation(look, page, pages),
        notices=[*look.notices(page.panes), *missed(look)],
    )


def navigation(look: Look, page: Page | None, pages: Sequence[Page]) -> list[NavigationEntry]:
    """Return the entries of the navigation. :param page: the one that is shown, if it is a page."""
    return [
        NavigationEntry(
            listed.nav,
            look.link(listed.path),
            listed.key,
            page is not None and listed.path == page.path,
        )
        for listed in pages
        if listed.nav
    ]


@cache
def releases() -> tuple[str, ...]:
    """Return the known releases, newest first."""
    return tuple(reversed([str(release) for release in RELEASES]))
