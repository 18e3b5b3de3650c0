"""What one line of an input becomes, for people."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...engine.kubernetes.counts import counted
from .figures import pair_lines
from .tables import PLAIN, Style, Table, lines_of

if TYPE_CHECKING:
    from ..ingest.explain import BecameEvent, Explanation

_SAID = 160
"""Characters of a payload that are shown; ``-o json`` has all of it."""


def explanation_lines(found: Explanation, *, style: Style = PLAIN) -> Iterator[str]:
    """Yield what a line becomes: its format, its record, and the events or why it is skipped."""
    without = "".join(f", read without {removed}" for removed in found.removed)
    record = "no record begins on this line or before it"
    if found.record:
        record = f"begins on line {found.record}, and this line continues it"
        record = "begins on this line" if found.record == found.line else record
    yield from pair_lines(
        [
            ("line", f"{found.source}:{found.line}"),
            ("format", f"{found.format}{without}"),
            ("record", record),
            *(("skipped", reason) for reason in found.skipped),
            *(("concludes", kind) for kind in found.concludes),
        ],
        style=style,
    )
    if found.events:
        yield "\n"
        rows = [(one.kind, _object(one), _said(one)) for one in found.events]
        yield from lines_of(Table(("EVENT", "OBJECT", "WHAT IT SAYS"), rows), style=style)
        more = found.total - len(found.events)
        if more:
            yield f"and {counted(more, 'more event')}\n"
    elif not found.skipped and not found.concludes:
        yield "no event\n"


def _object(one: BecameEvent) -> str:
    about = one.object
    name = about.full_name
    return " ".join(part for part in (about.kind.lower(), name) if part) or "<none>"


def _said(one: BecameEvent) -> str:
    if one.resource_version:  # The payload is the object.
        return f"version {one.resource_version}"
    text = json.dumps(one.payload, ensure_ascii=False)
    return text if len(text) <= _SAID else f"{text[:_SAID]}…"
