"""Draw a picture with matplotlib, as PNG or SVG; equal pictures have equal bytes."""

from __future__ import annotations

import io
import textwrap
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ...engine.errors import UsageError
from ..series.period import Period
from .compose import shown_levels
from .picture import (
    CORDONED,
    LEVELS,
    NOT_READY,
    Cells,
    Chart,
    NumberLine,
    Panel,
    Picture,
    RangesPanel,
    Role,
)
from .picture_words import amounts_on_axis, duration, durations_on_axis, period_text, times_on_axis
from .themes import COLOURS, Colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PNG, SVG = "png", "svg"

_WIDTH = 9.0
"""Inches; the heights below too."""
_HEAD, _AXIS, _GAP, _NOTE = 0.7, 0.32, 0.34, 0.17
_CHART, _ROW, _FEW = 0.95, 0.17, 0.5
_LEFT, _RIGHT = 0.75, 0.35
_LETTER = 0.068
"""The width of a letter of a label, about."""
_NOTE_LETTERS = 135
_DOTS_PER_INCH = 144

_SETTINGS: Mapping[Any, Any] = MappingProxyType(
    {
        "svg.fonttype": "none",
        "svg.hashsalt": "plinian",
        "font.family": "sans-serif",
        "font.sans-serif": ("DejaVu Sans",),
        "font.size": 8,
        "text.parse_math": False,
        "axes.unicode_minus": False,
        "path.simplify": True,
        "hatch.linewidth": 0.8,
    }
)

_DASHES: Mapping[Role, Any] = MappingProxyType(
    {
        Role.DESERVED: (0, (5, 2)),
        Role.CAPABILITY: "solid",
        Role.GUARANTEE: (0, (1, 1.5)),
        Role.NEEDED: (0, (4, 2)),
        Role.CHANGED: "solid",
    }
)


def image_of(picture: Picture, form: str, theme: str) -> bytes:
    """Return a picture as an image.

    :param form: :data:`PNG` or :data:`SVG`. :param theme: light or dark.
    :raises UsageError: matplotlib is not installed.
    """
    with _matplotlib():
        figure = _figure(picture, COLOURS[theme])
        out = io.BytesIO()
        # None leaves a field out: a date would make equal pictures differ.
        names = ("Date", "Creator", "Format", "Type") if form == SVG else ("Software",)
        figure.savefig(
            out,
            format=form,
            dpi=72 if form == SVG else _DOTS_PER_INCH,
            facecolor=COLOURS[theme].paper,
            metadata=dict.fromkeys(names),
        )
    return out.getvalue()


def can_draw() -> bool:
    """Return whether matplotlib is installed."""
    try:
        import matplotlib as mpl  # noqa: PLC0415, F401 -- an extra
    except ImportError:
        return False
    return True


@contextmanager
def _matplotlib() -> Iterator[None]:
    """Set matplotlib up for equal bytes anywhere: no user's settings, no user's fonts."""
    try:
        import matplotlib as mpl  # noqa: PLC0415 -- an extra
        import matplotlib.figure  # noqa: PLC0415
    except ImportError as fault:
        raise UsageError(
            "drawing an image needs matplotlib, which is not installed",
            now="pip install 'plinian[plot]', or leave out -o to draw in characters",
        ) from fault
    with mpl.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # A box is drawn for it.
        mpl.rcdefaults()
        mpl.rcParams.update(dict(_SETTINGS))
        yield


def _height(panel: Panel) -> float:
    if isinstance(panel, Chart):
        return _CHART
    return max(_ROW * len(panel.rows), _FEW)


def _gap(panel: Panel) -> float:
    """Return the height above a panel; numbers of incidents stand below its title."""
    numbered = isinstance(panel, Chart | Cells) and any(mark.number for mark in panel.marks)
    return _GAP + 0.1 if numbered else _GAP


def _figure(picture: Picture, colours: Colours) -> Figure:
    from matplotlib.figure import Figure  # noqa: PLC0415 -- an extra

    notes = [line for note in picture.notes for line in textwrap.wrap(note, _NOTE_LETTERS)]
    entries = _entries(picture, colours)
    head = _HEAD if entries else _HEAD - 0.22
    bodies = sum(_height(panel) + _gap(panel) for panel in picture.panels) or _FEW
    total = head + bodies + _AXIS + _NOTE * len(notes) + 0.1
    figure = Figure(figsize=(_WIDTH, total))
    left = max(_LEFT, *(_label_width(panel) for panel in picture.panels)) if picture.panels else 0.2

    def words(x: float, y: float, text: str, **how: Any) -> None:
        figure.text(x / _WIDTH, 1 - y / total, text, **{"va": "top", "color": colours.ink, **how})

    words(0.2, 0.12, picture.title, fontsize=10.5, fontweight="bold")
    words(0.2, 0.34, f"{picture.log}, {period_text(picture.period)}", color=colours.soft)
    top = head
    for panel in picture.panels:
        top += _gap(panel)
        height = _height(panel)
        axes = figure.add_axes(
            (
                left / _WIDTH,
                1 - (top + height) / total,
                1 - (left + _RIGHT) / _WIDTH,
                height / total,
            )
        )
        _frame(axes, colours)
        words(left, top - _gap(panel) + 0.13, panel.title, fontweight="bold")
        _draw(axes, panel, picture.period, colours)
        top += height
        if panel is not picture.panels[-1] and not isinstance(panel, RangesPanel):
            axes.tick_params(labelbottom=False)
    if picture.empty:
        words(0.2, top, picture.empty)
        top += _FEW
    for place, note in enumerate(notes):
        words(0.2, top + _AXIS + _NOTE * place, note, color=colours.soft, fontsize=7.5)
    if entries:
        _legend(figure, entries, colours, 1 - 0.56 / total)
    return figure


def _label_width(panel: Panel) -> float:
    if isinstance(panel, Chart):
        return _LEFT
    if isinstance(panel, RangesPanel):
        rows = [f"{row.label}  {row.said}" for row in panel.rows]
    else:
        rows = [row.label for row in panel.rows]
    return min(0.3 + _LETTER * max(map(len, rows)), _WIDTH / 2)


def _frame(axes: Axes, colours: Colours) -> None:
    axes.set_facecolor("none")
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(colours.soft)
    axes.tick_params(colors=colours.soft, length=2, width=0.6, labelsize=7.5)
    axes.tick_params(axis="y", length=0)


def _draw(axes: Axes, panel: Panel, period: Period, colours: Colours) -> None:
    if isinstance(panel, RangesPanel):
        _ranges(axes, panel, colours)
        return
    axes.set_xlim(0, period.parts)
    marks = times_on_axis(period, 10)
    axes.set_xticks([(time - period.begin) / period.step for time, _ in marks])
    axes.set_xticklabels([text for _, text in marks])
    if isinstance(panel, Chart):
        _chart(axes, panel, period, colours)
    else:
        _cells(axes, panel, colours)
        _marks(axes, panel, period, colours, 0)


def _chart(axes: Axes, chart: Chart, period: Period, colours: Colours) -> None:
    stacked = [0.0] * period.parts
    for line in chart.filled:
        below, stacked = (
            stacked,
            [low + (value or 0.0) for low, value in zip(stacked, line.values, strict=True)],
        )
        if any(line.values):
            (over, tops), (under, bottoms) = _steps(stacked), _steps(below)
            colour = colours.surfaces[line.role]
            corners = [*over, *reversed(under)], [*tops, *reversed(bottoms)]
            axes.fill(*corners, color=colour, linewidth=0, zorder=2)
    outlined = [line for line in chart.filled if line.role in colours.lines]
    for line in [*outlined, *chart.lines]:
        _line(axes, line, colours)
    known = [value for line in chart.lines for value in line.values if value is not None]
    highest = max([*known, *stacked, 0.0]) * 1.12
    axes.set_ylim(0, highest or 1)
    ticks = amounts_on_axis(chart.unit, highest)
    axes.set_yticks([amount for amount, _ in ticks])
    axes.set_yticklabels([text for _, text in ticks])
    axes.grid(axis="y", color=colours.grid, linewidth=0.6, zorder=0)
    _marks(axes, chart, period, colours, highest or 1)


def _line(axes: Axes, line: NumberLine, colours: Colours) -> None:
    done = 0
    for known, run in groupby(line.values, key=lambda value: value is not None):
        values = [value or 0.0 for value in run]
        # Where a value is not known the line ends, and another begins after it.
        if known:
            xs, ys = _steps(values)
            axes.plot(
                [done + x for x in xs],
                ys,
                color=colours.lines[line.role],
                linestyle=_DASHES.get(line.role, "solid"),
                linewidth=1.2,
                zorder=3,
            )
        done += len(values)


def _steps(values: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return the corners of a line of steps; equal neighbours are one step."""
    xs: list[float] = []
    ys: list[float] = []
    done = 0
    for value, run in groupby(values):
        length = len(list(run))
        xs += [float(done), float(done + length)]
        ys += [value, value]
        done += length
    return xs, ys


def _marks(axes: Axes, panel: Chart | Cells, period: Period, colours: Colours, top: float) -> None:
    free = -1.0
    for mark in panel.marks:
        time, until = mark.incident.time, mark.incident.until
        begin = (time - period.begin) / period.step
        if until is not None:
            end = (min(until, period.end) - period.begin) / period.step
            axes.axvspan(begin, max(end, begin), color=colours.marked, linewidth=0, zorder=1)
        if isinstance(panel, Cells):  # A line must be seen on any level.
            axes.axvline(begin, color=colours.paper, linewidth=2.4, zorder=4)
        axes.axvline(begin, color=colours.mark, linewidth=0.8, zorder=4)
        if mark.number:
            free = max(begin, free)
            axes.text(
                free,
                top,
                str(mark.number),
                color=colours.mark,
                fontsize=7,
                fontweight="bold",
                ha="center",
                va="bottom",
            )
            free += period.parts / 60


def _cells(axes: Axes, panel: Cells, colours: Colours) -> None:
    for place, row in enumerate(panel.rows):
        done = 0
        for cell, run in groupby(row.cells):
            length = len(list(run))
            spot = [(done, length)]
            done += length
            if cell.level is not None:
                colour = colours.levels[cell.level]
                axes.broken_barh(spot, (place + 0.06, 0.88), facecolors=colour, linewidth=0)
            if cell.note is NOT_READY:
                axes.broken_barh(
                    spot, (place + 0.06, 0.88), facecolors=colours.not_ready, linewidth=0
                )
            elif cell.note is CORDONED:
                axes.broken_barh(
                    spot, (place + 0.7, 0.24), facecolors=colours.cordoned, linewidth=0
                )
    axes.set_ylim(len(panel.rows), 0)
    axes.set_yticks([place + 0.5 for place in range(len(panel.rows))])
    axes.set_yticklabels([row.label for row in panel.rows], fontsize=7)


def _ranges(axes: Axes, panel: RangesPanel, colours: Colours) -> None:
    blue, box, mark = (
        colours.lines[Role.ALLOCATED],
        colours.surfaces[Role.LOGGED],
        colours.lines[Role.CAPABILITY],
    )
    lengths = [value for row in panel.rows for value in (*(row.values or ()), *row.open)]
    shortest, longest = max(min(lengths, default=1000), 1000), max([*lengths, 2000])
    axes.set_xscale("log")
    axes.set_xlim(shortest / 1.5, longest * 1.5)
    for place, row in enumerate(panel.rows):
        middle = place + 0.5
        if row.values is not None:
            least, quarter, median, most_of, most = (max(value, 1000) for value in row.values)
            axes.plot([least, most], [middle, middle], color=blue, linewidth=1, zorder=2)
            axes.plot([least, least], [place + 0.3, place + 0.7], color=blue, linewidth=1)
            axes.plot([most, most], [place + 0.3, place + 0.7], color=blue, linewidth=1)
            axes.broken_barh(
                [(quarter, most_of - quarter)], (place + 0.2, 0.6), facecolors=box, zorder=3
            )
            axes.plot(
                [median, median],
                [place + 0.12, place + 0.88],
                color=colours.ink,
                linewidth=2,
                zorder=4,
            )
        open_ = [max(length, 1000) for length in row.open]
        axes.plot(open_, [middle] * len(open_), ">", color=mark, markersize=4, zorder=5)
    axes.set_ylim(len(panel.rows), 0)
    axes.set_yticks([place + 0.5 for place in range(len(panel.rows))])
    axes.set_yticklabels([f"{row.label}  {row.said}" for row in panel.rows])
    ticks = durations_on_axis(shortest / 1.5, longest * 1.5)
    axes.set_xticks(ticks, [duration(tick) for tick in ticks])
    axes.minorticks_off()
    axes.grid(axis="x", color=colours.grid, linewidth=0.6, zorder=0)


def _entries(picture: Picture, colours: Colours) -> dict[str, Any]:
    """Return the entries of the legend: what is drawn, by its label; incidents are the last."""
    from matplotlib.lines import Line2D  # noqa: PLC0415 -- an extra
    from matplotlib.patches import Patch  # noqa: PLC0415

    noted = {CORDONED: colours.cordoned, NOT_READY: colours.not_ready}
    entries: dict[str, Any] = {}
    for panel in picture.panels:
        if isinstance(panel, Chart):
            for line in panel.filled:
                edge = colours.lines.get(line.role, "none")
                entries[line.label] = Patch(facecolor=colours.surfaces[line.role], edgecolor=edge)
            for line in panel.lines:
                colour, dashes = colours.lines[line.role], _DASHES[line.role]
                entries[line.label] = Line2D([], [], color=colour, linestyle=dashes)
        elif isinstance(panel, Cells):
            levels, notes = shown_levels(panel)
            entries |= {
                LEVELS[level].label: Patch(facecolor=colours.levels[level]) for level in levels
            }
            entries |= {note.label: Patch(facecolor=noted[note]) for note in notes}
    drawn = [panel for panel in picture.panels if not isinstance(panel, RangesPanel)]
    marks = [mark.incident for panel in drawn for mark in panel.marks]
    if marks:
        entries["event, by number"] = Line2D([], [], color=colours.mark, linewidth=0.8)
    if any(incident.until is not None for incident in marks):
        entries["while it lasts"] = Patch(facecolor=colours.marked)
    return entries


def _legend(figure: Figure, entries: Mapping[str, Any], colours: Colours, top: float) -> None:
    figure.legend(
        list(entries.values()),
        list(entries),
        loc="upper left",
        bbox_to_anchor=(0.2 / _WIDTH, top),
        bbox_transform=figure.transFigure,
        borderaxespad=0,
        borderpad=0,
        ncols=len(entries),
        frameon=False,
        labelcolor=colours.ink,
        fontsize=7.5,
        handlelength=1.6,
        handleheight=0.8,
        columnspacing=1.4,
    )
