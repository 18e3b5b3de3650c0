"""Pictures in characters, for ``plot`` and the option ``--plot`` of other commands."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from .shell import note, shows_progress, style

if TYPE_CHECKING:
    from ..answers.answer import Why
    from ..fidelity.report import Fidelity
    from ..forecast.forecast_outcome import Forecast
    from ..logs.log import Log
    from ..moments.moment import Moment
    from ..plot.asked import PlotRequest
    from ..plot.picture import Picture

_WIDTH = 80
_TEXT = frozenset({"", "text", "table", "wide"})


def check_plot(output: str, *, plot: bool) -> None:
    """Refuse ``--plot`` with an output form that is not for people.

    :raises UsageError: it is given with such a form.
    """
    from ...engine.errors import UsageError

    if plot and output not in _TEXT:
        raise UsageError(
            f"--plot draws in characters, which -o {output} cannot hold",
            now="leave out -o, or draw a file with: plinian plot … -o FILE",
        )


def write_answer_plot(
    log: Log, place: str, found: Why | Fidelity | Forecast, moment: Moment | None = None
) -> None:
    """Print the picture of an answer below it; or note why there is none."""
    from ...engine.errors import ObjectNotFound, UsageError
    from ..plot.plot_run import plot_of
    from ..render.progress import counting

    try:
        with counting("reading", visible=shows_progress()) as progress:
            drawn = plot_of(log, found, place=place, moment=moment, progress=progress)
    except (ObjectNotFound, UsageError) as fault:
        note(f"nothing is drawn: {fault.what}")
        return
    sys.stdout.write("\n")
    write_picture(drawn.picture)


def write_plot(log: Log, place: str, asked: PlotRequest) -> None:
    """Print a picture of a log below what a command prints."""
    from ..plot.plot_run import plot
    from ..render.progress import counting

    with counting("reading", visible=shows_progress()) as progress:
        drawn = plot(log, asked, place=place, progress=progress)
    sys.stdout.write("\n")
    write_picture(drawn.picture)


def write_picture(picture: Picture) -> None:
    """Print a picture as wide as the terminal, in ASCII where it shows nothing else.

    Without a terminal it has 80 columns, or fewer if COLUMNS says so.
    """
    from ..plot.characters import lines_of_picture

    stream = getattr(sys.stdout, "raw", sys.stdout)  # A screen itself accepts everything.
    encoding = (getattr(stream, "encoding", None) or "ascii").lower().replace("-", "")
    named = os.environ.get("COLUMNS", "")
    piped = min(int(named), _WIDTH) if named.isdecimal() and int(named) else _WIDTH
    width = style().width or piped
    ascii_only = not encoding.startswith("utf")
    sys.stdout.writelines(lines_of_picture(picture, width=width, ascii_only=ascii_only))
