"""Plots: what can be drawn of a log, and a drawn one that can be saved or shown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING

from ...engine.errors import UsageError
from ...engine.kubernetes.counts import counted
from ...engine.kubernetes.units import SECOND_US, format_time
from ...engine.log.location import log_name
from ...engine.state.clock import Clock
from ...engine.state.log_coverage import KnownGap
from ..answers.answer import Why
from ..answers.records import Link, PodGroupState, QueuePath, QueueTree
from ..export import write_file
from ..logs.log import Log, Progress
from ..moments.moment import Moment
from ..series.gang_counts_over_time import GangOverTime, gang
from ..series.node_use import node_use
from ..series.period import ShownPeriod, span_of
from ..series.queue_shares import queue_shares
from ..series.session_runs import session_runs
from ..series.waits import waits
from ..truth.points import Point
from . import compose
from .asked import GANG, KINDS, NODES, QUEUES, SESSIONS, WAITS, PlotRequest
from .characters import lines_of_picture
from .image import PNG, SVG, can_draw, image_of
from .picture import Picture
from .picture_words import clock_text, period_text
from .themes import AUTO, COLOURS, DARK, LIGHT, THEMES, pairs

if TYPE_CHECKING:
    from ..fidelity.report import Fidelity
    from ..forecast.forecast_outcome import Forecast

_LEAST_US = 60 * SECOND_US


def plot_of_why(log: Log, why: Why, moment: Moment) -> PlotRequest:
    """Return what to draw.

    Of a queue its shares, of a node its use. Of a pod, a job or a PodGroup the queue that is full,
    if that is the answer, and else how its gang comes together. The picture ends at the moment. It
    begins with the log, or as long before the object began to wait as it has waited.

    :raises UsageError: the object is a pod without a PodGroup, or the log has one time only.
    """
    clock = log.clock(moment)
    if clock.first() == clock.last():
        raise UsageError(
            "the log has one time only", now="ingest a watch or an audit log to see it over time"
        )
    kind, name = why.asked.kind, why.asked.name
    full = _full([link for link in why.chain if link.blocks])
    if kind == "node":
        return PlotRequest(NODES, (name,), None, moment)
    if kind == "queue":
        return PlotRequest(QUEUES, (name,), None, moment, full[1] if full is not None else None)
    if full is not None:
        return PlotRequest(QUEUES, full[:1], _begin(log, why, moment), moment, full[1])
    if kind == "pod":
        groups = [link.podgroup for link in why.chain if isinstance(link, PodGroupState)]
        kind, name = "podgroup", groups[0] if groups else ""
    namespace, _, name = name.rpartition("/")
    if not name:
        raise UsageError(
            f"pod {why.asked.name} has no PodGroup, so it has no gang to draw",
            now="plinian plot queues draws all queues",
        )
    return PlotRequest(GANG, (f"{kind}/{name}",), None, moment, None, namespace or None)


def _full(blocking: list[Link]) -> tuple[str, str] | None:
    """Return the queue that keeps an object waiting, and the resource that it lacks."""
    queues = [link for link in blocking if isinstance(link, (QueuePath, QueueTree))]
    last = queues[-1] if queues else None
    if isinstance(last, QueueTree) and last.exceeded:
        return last.queue, last.exceeded[0]
    if isinstance(last, QueuePath):
        for account in last.accounts:
            if account.checked and account.exceeded:
                return account.queue, account.exceeded[0]
    return None


def _begin(log: Log, why: Why, moment: Moment) -> Point | None:
    clock = log.clock(moment)
    revision = None if why.began is None else why.began.revision
    began = None if revision is None else clock.time_of(revision)
    first, last = clock.first(), moment.time or clock.time_of(moment.revision)
    if began is None or first is None or last is None:
        return None
    # As long before as after, so that the change can be seen.
    begin = began - max(last - began, _LEAST_US)
    return format_time(begin) if begin > first else None


_SVG, _HEAD_ENDS = "<svg ", ">"
_INDENT = re.compile(r"^ +", re.MULTILINE)
_CHARACTERS = 100
"""The width of the picture in characters, for those who cannot see it."""


def svg_of(picture: Picture, theme: str = AUTO) -> str:
    """Return a picture as SVG.

    :param theme: ``auto`` follows the reader's; a program that cannot gets the light one.
    """
    drawn = image_of(picture, SVG, LIGHT if theme == AUTO else theme).decode()
    # What comes before the element, and the spaces before lines, say nothing.
    head, end, body = _INDENT.sub("", _SVG + drawn.partition(_SVG)[2]).partition(_HEAD_ENDS)
    said = f"<title>{escape(_title(picture))}</title>\n"
    said += f"<desc>{escape('; '.join(picture.notes or (picture.empty,)))}</desc>\n"
    if theme == AUTO:
        said += f"<style>{_dark_rules(drawn)}</style>"
    return f"{head}{end}\n{said}{body}"


def page_of(picture: Picture, theme: str = AUTO) -> str:
    """Return a picture as a page: the SVG, and the same in characters for screen readers."""
    light, dark = (COLOURS[name] for name in (LIGHT, DARK))
    chosen = light if theme == AUTO else COLOURS[theme]
    style = f"body{{margin:1.5rem;background:{chosen.paper};color:{chosen.ink};"
    style += "font-family:sans-serif}svg{max-width:100%;height:auto}pre{overflow:auto}"
    if theme == AUTO:
        style += f"@media (prefers-color-scheme:dark){{body{{background:{dark.paper};"
        style += f"color:{dark.ink}}}}}"
    words = escape("".join(lines_of_picture(picture, width=_CHARACTERS)))
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width">\n'
        f'<meta name="color-scheme" content="{"light dark" if theme == AUTO else theme}">\n'
        f"<title>{escape(_title(picture))}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"{svg_of(picture, theme)}"
        f"<details><summary>In characters</summary><pre>{words}</pre></details>\n</body>\n</html>\n"
    )


def _title(picture: Picture) -> str:
    return f"{picture.title} ({picture.log}, {period_text(picture.period)})"


def _dark_rules(drawn: str) -> str:
    """Return rules that replace each light colour in an SVG by its dark one."""
    rules = (
        f'[style*="{attribute}: {light}"]{{{attribute}:{dark}!important}}'
        for light, dark in pairs().items()
        for attribute in ("fill", "stroke")
        if f"{attribute}: {light}" in drawn
    )
    return f"@media (prefers-color-scheme:dark){{{''.join(rules)}}}"


_GAPS = 3
"""Gaps that a note names; further ones are only counted."""

_SEEN = 10
"""In a picture one sees whether something happened this many parts of the period earlier."""

_LOOKED_AT = 1000
"""Changes of a gap that are looked at, to see whether their times are known."""

_FORMS: Mapping[str, str] = MappingProxyType({".png": PNG, ".svg": "svg", ".html": "html"})


class Plot:
    """A picture of a log; notebooks show it by themselves.

    :ivar picture: what it shows, as data.
    """

    def __init__(self, picture: Picture) -> None:
        self.picture = picture

    def save(self, path: str | Path, *, theme: str | None = None) -> None:
        """Write it to a file: PNG, SVG or HTML, by the file's suffix.

        :param theme: ``light``, ``dark``, or ``auto`` for that of the reader, which a PNG cannot
            know: a PNG is light by default, the others are ``auto``.
        :raises UsageError: there is no such form or theme, or matplotlib is not installed.
        """
        data = self.data(form_of(str(path), theme), theme)

        def write(out: object) -> int:
            return out.write(data)  # type: ignore[attr-defined, no-any-return]

        write_file(Path(path), write)

    def data(self, form: str, theme: str | None = None) -> bytes:
        """Return it as ``png``, ``svg`` or ``html``."""
        if form == PNG:
            return image_of(self.picture, PNG, theme or LIGHT)
        make = svg_of if form == "svg" else page_of
        return make(self.picture, theme or AUTO).encode()

    def text(self, *, width: int = 80, ascii_only: bool = False) -> str:
        """Return it in characters."""
        return "".join(lines_of_picture(self.picture, width=width, ascii_only=ascii_only))

    def __str__(self) -> str:
        return self.text()

    def _repr_svg_(self) -> str | None:
        return svg_of(self.picture) if can_draw() else None

    def _repr_html_(self) -> str:
        drawn = self._repr_svg_() or f"<pre>{escape(self.text())}</pre>"
        return f"<figure>{drawn}</figure>"


def form_of(file: str, theme: str | None = None) -> str:
    """Return the form to write to a file of this name.

    :raises UsageError: there is no such form, or it cannot have the theme.
    """
    form = _FORMS.get(PurePath(file).suffix.lower())
    if form is None:
        raise UsageError(
            f"the suffix {PurePath(file).suffix or '(none)'} is of no picture",
            where=file,
            now=f"use {', '.join(_FORMS)}; without -o, the picture is drawn in characters",
        )
    if theme is not None and theme not in THEMES:
        raise UsageError(f"no theme {theme!r}", now=f"choose from: {', '.join(THEMES)}")
    if form == PNG and theme == AUTO:
        raise UsageError(
            "a PNG cannot follow the reader's theme", now="choose light or dark, or write an SVG"
        )
    return form


def plot(log: Log, asked: PlotRequest, *, place: str, progress: Progress | None = None) -> Plot:
    """Draw a log over time.

    :param place: the log's path or URL, for the title.
    :param progress: called with (position, last position).
    :raises UsageError: there is no such plot, period, resource or name, or options do not go
        together. :raises ObjectNotFound: there is no such gang.
    """
    if asked.what not in KINDS:
        raise UsageError(f"no plot {asked.what!r}", now=f"choose from: {', '.join(KINDS)}")
    if asked.resource is not None and asked.what not in {QUEUES, NODES}:
        raise UsageError(
            f"--resource does not go with {asked.what}", now="it is for queues and nodes"
        )
    if asked.namespace is not None and asked.what != GANG:
        raise UsageError(f"-n does not go with {asked.what}", now="it is for gang")
    span = span_of(log, asked.from_, asked.to, whole=asked.what == WAITS)
    picture = _drawn(log, span, asked, log_name(place), progress)
    if asked.what != SESSIONS and picture.panels:
        picture = picture._replace(notes=(*picture.notes, *_notes_of_gaps(log, picture, span)))
    return Plot(picture)


def _notes_of_gaps(log: Log, picture: Picture, span: ShownPeriod) -> list[str]:
    """Return between which times changes are drawn in the middle, as it is not known when."""
    from ..coverage.coverage import SCHEDULING, unknown_between  # noqa: PLC0415 -- only here

    period, clock = picture.period, log.clock(span.end)
    first = max(clock.revision_at(period.begin), 0)
    bounds = {
        (unknown.after_within.latest, unknown.before_within.latest)
        for unknown in unknown_between(log, first, span.end, SCHEDULING)
        if unknown.after_within is not None and unknown.before_within is not None
        if _has_unsure_times(clock, unknown.gap, _SEEN * period.step)
    }
    whole = sorted((low, high) for low, high in bounds if low is not None and high is not None)
    inside = [(low, high) for low, high in whole if low < period.end and high > period.begin]
    if not inside:
        return []
    zone = period.zone
    said = [f"{clock_text(low, zone)} and {clock_text(high, zone)}" for low, high in inside[:_GAPS]]
    more = f", and {counted(len(inside) - _GAPS, 'more gap')}" if inside[_GAPS:] else ""
    where = f"between {', '.join(said)}{more}"
    return [f"in a gap of the log, times of changes are not known, drawn in the middle: {where}"]


def _has_unsure_times(clock: Clock, gap: KnownGap, length: int) -> bool:
    """Return whether the time of a change in a gap, or of its end, is not known to a length."""
    revision, last = gap.after, gap.before
    for _ in range(_LOOKED_AT):
        revision = None if revision is None else clock.next_revision(revision)
        if revision is None or last is None or revision > last:
            return False
        span = clock.span_of(revision)
        if span.earliest is None or span.latest is None or span.latest - span.earliest > length:
            return True
    return False


def plot_of(
    log: Log,
    found: Why | Fidelity | Forecast,
    *,
    place: str,
    moment: Moment | None = None,
    progress: Progress | None = None,
) -> Plot:
    """Draw an answer of a log over time.

    :param place: the log's path or URL, for the title. :param moment: that of the answer to why.
    :param progress: called with (position, last position).
    :raises UsageError: there is nothing to draw.
    """
    if isinstance(found, Why):
        asked = plot_of_why(log, found, moment or log.moment(found.asked.at))
        return plot(log, asked, place=place, progress=progress)
    from ..fidelity.report import Fidelity  # noqa: PLC0415 -- only what is drawn
    from .answer_pictures import fidelity_picture, forecast_picture  # noqa: PLC0415

    name = log_name(place)
    if isinstance(found, Fidelity):
        return Plot(fidelity_picture(found, name, log.zone))
    return Plot(forecast_picture(found, name, log.zone))


def _drawn(
    log: Log, span: ShownPeriod, asked: PlotRequest, name: str, progress: Progress | None
) -> Picture:
    """Return a picture. :param name: of the log, for the title."""
    names, resource = asked.names, asked.resource or "cpu"
    if asked.what == QUEUES:
        shares = queue_shares(log, span, resource, names=names, progress=progress)
        return compose.queues_picture(shares, name)
    if asked.what == NODES:
        use = node_use(log, span, resource, names=names, progress=progress)
        return compose.nodes_picture(use, name)
    if asked.what == GANG:
        return compose.gang_picture(_gang(log, span, asked, progress), name)
    if asked.what == WAITS:
        return compose.waits_picture(waits(log, span, names=names, progress=progress), name)
    if names:
        raise UsageError(f"sessions has no {names[0]!r}", now="plinian plot sessions")
    return compose.sessions_picture(session_runs(log, span), name)


def _gang(
    log: Log, span: ShownPeriod, asked: PlotRequest, progress: Progress | None
) -> GangOverTime:
    if len(asked.names) != 1:
        raise UsageError("gang draws one job or PodGroup", now="plinian plot gang job/NAME")
    whole = asked.from_ is not None or asked.to is not None
    named = log.object(asked.names[0], span.end)
    return gang(log, span, named, namespace=asked.namespace, whole=whole, progress=progress)
