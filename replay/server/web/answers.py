"""From a request for a page to its answer, where the log may be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from ....engine.errors import PlinianError
from ....engine.version import __version__
from ...facade.log import Log
from ..kept_answers import Sent
from ..settings import ServerSettings
from ..withheld import Withheld, confs_of
from ..works import WorkWatch
from .assets import assets
from .link_times import read_in
from .look import POINTS, TWIN, Look
from .page import Page
from .pages import PAGES
from .positions import fixed_position, position_of
from .site import Site, site_of


class PageRequest(NamedTuple):
    """A request for a page.

    :param rest: what follows the point in the path. :param parts: parts of the path by name.
    :param tag: what the browser has; empty if nothing.
    """

    settings: ServerSettings
    page: Page
    point: str
    rest: str
    parts: Mapping[str, str]
    query: tuple[tuple[str, str], ...]
    tag: str

    @property
    def is_work(self) -> bool:
        """Return whether the answer is worked on in the background."""
        return self.page.runs is not None and self.page.runs(Look(0, 0, query=self.query))


class MovedPoint(NamedTuple):
    """The point is this position."""

    position: int


class Same(NamedTuple):
    """The browser has the answer."""

    tag: str


class LaterAnswer(NamedTuple):
    """The answer is worked on in the background. :param site: the frame until it is there."""

    look: Look
    site: Site


class PageAnswer(NamedTuple):
    """The answer.

    :param tag: empty if a browser must not keep it.
    :param inputs: names of inputs that it can hold, with the folders that they were in.
    """

    tag: str
    look: Look
    record: Any
    site: Site
    inputs: tuple[str, ...]


def look_up(
    log: Log,
    asked: PageRequest,
    kept: Callable[[str], Sent | None] = lambda _: None,
    *,
    later: bool = False,
) -> MovedPoint | Same | Sent | LaterAnswer | PageAnswer:
    """Return the answer, or why there is none yet.

    :param kept: gives the answer of a tag that was sent before, if it is kept.
    :param later: make no answer now; return the frame that it will have.
    :raises PointUnknown: the position, or the one to compare with, is beyond the end of the log.
    """
    log = read_in(log, Look(0, 0, query=asked.query).zone)
    last = log.store.last(log.branch)
    position = fixed_position(asked.point, last)
    if position is None:
        return MovedPoint(position_of(log, asked.point))
    digest = next((head.hash for head in log.heads() if head.branch == log.branch), "")
    look = _look(asked, position, last)
    # Before anything else: pages know only positions.
    look = look._replace(query=tuple(_with_positions(log, look)))
    # Before the tag: what a work has found depends on when it was stopped, so it has none.
    if asked.is_work:
        return LaterAnswer(
            look, site_of(log, asked.settings, look, asked.page, PAGES, digest=digest)
        )
    tag = _tag(asked, digest)
    if asked.tag == tag:
        return Same(tag)
    sent = kept(tag)
    if sent is not None:
        return sent
    site = site_of(log, asked.settings, look, asked.page, PAGES, digest=digest)
    if later:
        return LaterAnswer(look, site)
    return PageAnswer(tag, look, _record(log, asked, look), site, inputs_of(log))


def _with_positions(log: Log, look: Look) -> Iterator[tuple[str, str]]:
    """Yield the names and values of the query, with positions for points of any form.

    An invalid point stays, and the page says so. A position beyond the end is refused.
    """
    for name, text in look.query:
        position = look.number(name) if name in POINTS else None
        if name in POINTS and text and position is None:
            try:
                position = position_of(log, text.strip())
            except PlinianError:
                position = None
        elif name == "vs" and position is not None:
            fixed_position(text.removeprefix("@"), look.last)
        yield name, text if position is None else f"@{position}"


def work(log: Log, asked: PageRequest, later: LaterAnswer, watch: WorkWatch) -> PageAnswer:
    """Return the answer of a page that reports how far it is.

    :raises Stopped: it must end.
    """
    record = _record(read_in(log, later.look.zone), asked, later.look, watch=watch)
    return PageAnswer("", later.look, record, later.site, inputs_of(log))


def inputs_of(log: Log) -> tuple[str, ...]:
    """Return the configurations of a log; they are the inputs that pages name."""
    return tuple(confs_of(log, log.moment("end")))


def _record(log: Log, asked: PageRequest, look: Look, **more: WorkWatch) -> Any:
    """Return the data of a page; faults name no folders."""
    try:
        return asked.page.data(log, look, **more, **asked.parts)
    except PlinianError as fault:
        Withheld(inputs_of(log)).fault(fault)
        raise


def _look(asked: PageRequest, position: int, last: int) -> Look:
    rest = asked.rest.removesuffix(TWIN).strip("/")
    return Look(
        position=position,
        last=last,
        path=rest if asked.parts else asked.page.path,
        query=asked.query,
        usual_release=asked.settings.used_release,
        is_assumed=asked.settings.release is None,
    )


def _tag(asked: PageRequest, digest: str) -> str:
    # The digest of the log's end stands for all events, as a log is only appended to. Another
    # Plinian, other scripts or settings may give another page of the same events.
    whole = sha256(
        repr(
            (__version__, assets().digest, digest, asked.settings, asked.point, asked.rest)
        ).encode()
    )
    whole.update(repr(asked.query).encode())
    return f'"{whole.hexdigest()[:24]}"'
