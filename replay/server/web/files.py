"""Pages as files: what a browser shows, as one file that opens without a server."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from os import PathLike
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from starlette.routing import compile_path

from ....engine.errors import UsageError
from ....engine.log import MAIN
from ...facade.log import Log, opened
from ...pages.blocks import words
from ...pages.one_file import one_file
from ...pages.templates import rendered, rendered_block
from ...questions.defaults import DEFAULT_RELEASE
from ...render.blocks import Words, moment_ref
from ..settings import ServerSettings
from ..withheld import Withheld
from .answers import LaterAnswer, MovedPoint, PageAnswer, PageRequest, inputs_of, look_up
from .assets import assets
from .blocks import BlockPage, page_blocks
from .link_times import day_of, in_zone, with_times, without_day
from .page import Page
from .pages import PAGES

CONTENT = "<main"
"""Where the content of a page begins: what is before it does not depend on the answer."""

_PLACE = re.compile(r"/@(?P<point>[^/]+)(?P<rest>/.*)?")


def html_of(log: Log, page: Page, answer: PageAnswer) -> str:
    """Return a page as HTML; inputs are named without their folders."""
    return _finished(log, answer, rendered(page.template, **_values(answer)))


def frame_of(log: Log, later: LaterAnswer) -> str:
    """Return a page as HTML up to its content, with a line that says that it is made."""
    answer = PageAnswer("", later.look, None, later.site, inputs_of(log))
    frame = _finished(log, answer, rendered("waiting.html", look=later.look, site=later.site))
    return frame.partition(CONTENT)[0] + str(rendered("working.html"))


def part_of(log: Log, page: Page, answer: PageAnswer, part: str) -> str:
    """Return a part of a page as HTML, as :func:`html_of` does."""
    return _finished(log, answer, rendered_block(page.template, part, **_values(answer)))


def _values(answer: PageAnswer) -> dict[str, Any]:
    look, record = answer.look, answer.record
    values = {"page": record, "look": look, "site": answer.site}
    if isinstance(record, BlockPage):
        then = answer.site.when
        # A time of which one bound is known begins with "after" or "before".
        at = "at " if (then.earliest is None) == (then.latest is None) else ""
        when = Words(at, moment_ref(look.position)) if record.when is None else record.when
        values |= {"blocks": page_blocks(look, record.sections()), "when": words(when, look)}
    return values


def _finished(log: Log, answer: PageAnswer, page: object) -> str:
    look, site = answer.look, answer.site
    timed = with_times(log, str(page), look, site.when)
    shown = without_day(in_zone(timed, look.zone), day_of(site.when, look.zone))
    return _withheld(answer, shown)


def _withheld(answer: PageAnswer, text: object) -> str:
    # In HTML a name is escaped, so it is replaced in both forms.
    return Withheld({*answer.inputs, *map(escape, answer.inputs)}).text(str(text))


def file_of(log: Log, page: Page, answer: PageAnswer) -> str:
    """Return a page as one file."""
    return one_file(html_of(log, page, answer), lambda name: assets().files[name].decode())


def web_page(
    log: str | PathLike[str],
    page: str,
    *,
    at: str = "end",
    release: str = DEFAULT_RELEASE,
    branch: str = MAIN,
    cluster: str | None = None,
) -> str:
    """Return a page of ``plinian serve`` as one file: HTML that needs nothing else, and no script.

    :param log: its path or URL.
    :param page: as a browser has it in its address, as in ``queues``, ``jobs?queue=gold`` or
        ``http://127.0.0.1:8001/@1042/why/job/ml/train``.
    :param at: the point, if the address has none.
    :param release: of Volcano, unless the address names one.
    :param cluster: None if the log holds only one.
    :raises UsageError: there is no such page, or a value of it is wrong.
    :raises ObjectNotFound: there is no such object.
    """
    place = str(log)
    settings = ServerSettings(place=place, branch=branch, cluster=cluster, at=at, release=release)
    with opened(place, read_only=True, branch=branch, cluster=cluster) as read:
        return page_file(read, settings, page)


def page_file(log: Log, settings: ServerSettings, link: str) -> str:
    """Return a page of a server as one file; parameters and errors are those of ``web_page``."""
    parts = urlsplit(link)
    place = _PLACE.fullmatch(parts.path)
    point, rest = (
        (place["point"], place["rest"] or "") if place else (settings.at.removeprefix("@"), "")
    )
    path = rest.strip("/") if place else parts.path.strip("/")
    page, named = _page_of(path)
    # Panes that take long are computed at once: in a file no script asks for them later.
    query = (*parse_qsl(parts.query), ("wait", "1"))
    asked = PageRequest(settings, page, point, f"/{path}", named, query, tag="")
    answer = look_up(log, asked)
    if isinstance(answer, MovedPoint):
        answer = look_up(log, asked._replace(point=str(answer.position)))
    if isinstance(answer, LaterAnswer):
        record = page.data(log, answer.look, **named)
        answer = PageAnswer("", answer.look, record, answer.site, inputs_of(log))
    assert isinstance(answer, PageAnswer), "no browser has the page yet"
    return file_of(log, page, answer)


def _page_of(path: str) -> tuple[Page, Mapping[str, Any]]:
    """Return the page of a path, and the parts of the path by name.

    :raises UsageError: there is none.
    """
    for page in PAGES:
        expression, _, convertors = compile_path(f"/{page.path}")
        match = expression.match(f"/{path}")
        if match is not None:
            named = {
                name: convertors[name].convert(text) for name, text in match.groupdict().items()
            }
            return page, named
    names = ", ".join(listed.path for listed in PAGES if listed.path and "{" not in listed.path)
    raise UsageError(
        f"there is no page {path!r}",
        now=f"choose from {names}, why/KIND/NAME, KIND/NAME, or give an address of plinian serve",
    )
