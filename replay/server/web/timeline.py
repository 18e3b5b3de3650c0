"""The timeline: time on top, events at the left, the state at the right, all at one position.

It is no page of blocks: scripts replace its parts, and its rows move with the position.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import msgspec
from markupsafe import Markup

from ...facade.log import Log
from ...pages.why_sections import why_part
from .axis import axis_of
from .lanes import LanesDrawing, drawing_of
from .look import Look
from .page import page
from .pane import LONG_PANES, PANES, Pane, pane_of, selected
from .rows import EventRows, rows_around

_EVENTS_PART, _PANE_PART, _TIME_PART = "events", "panel", "time"


class TimelinePage(msgspec.Struct, frozen=True, kw_only=True):
    """What the timeline shows; with ``part`` in the query, only what that part needs.

    :param command: prints the same in a terminal.
    """

    object: str
    drawing: LanesDrawing | None
    events: EventRows | None
    pane: Pane | None
    command: str

    @property
    def panes(self) -> Sequence[str]:
        """The panes that the panel can show."""
        return PANES

    @property
    def why(self) -> Markup | None:
        """The answer that the panel shows; None if it shows another pane."""
        why = None if self.pane is None else self.pane.why
        return None if why is None else why_part(why, "why")


@page(
    "",
    "Timeline",
    template="timeline-page.html",
    nav="Timeline",
    key="t",
    panes=PANES,
    long_panes=LONG_PANES,
    takes=("pane", "q"),
)
def timeline(log: Log, look: Look) -> TimelinePage:
    """Return the timeline at a position."""
    part = look.get("part")
    named = selected(log, look)
    empty = not look.last
    return TimelinePage(
        object=named,
        drawing=None
        if empty or part not in {"", _TIME_PART}
        else drawing_of(log, look, axis_of(log, look.begin, look.end), named),
        events=rows_around(log, look) if part in {"", _EVENTS_PART} else None,
        pane=pane_of(log, look, named) if part in {"", _PANE_PART} else None,
        command=command_of(look, named),
    )


def command_of(look: Look, named: str) -> str:
    """Return the command that prints what the panel shows."""
    pane = look.get("pane", "diff")
    at = ("--at", look.at)
    if pane == "drift":
        words = ["drift", *at, "--release", look.release]
    elif not named:
        words = ["events", "--until", look.at]
    elif pane == "why":
        # An answer says that its release is assumed, so the command must not name it.
        release = look.named_release
        words = ["why", named, *at, *(("--release", release) if release else ())]
    elif pane == "diff" and look.versus is None:
        words = ["history", named, *at]
    elif pane == "diff":
        words = ["diff", f"@{look.versus}", look.at, "--kind", named.partition("/")[0]]
    else:
        words = ["get", *_as_arguments(named), *at, "-o", "yaml"]
    return shlex.join(["plinian", *words])


def _as_arguments(named: str) -> list[str]:
    kind, _, rest = named.partition("/")
    namespace, _, name = rest.rpartition("/")
    return [kind, name, *(["-n", namespace] if namespace else [])]
