"""A session with changes beside the original, as text."""

from __future__ import annotations

from collections.abc import Iterator

from ..coverage.coverage import unknown_text
from ..what_if.changed_sessions import WhatIf
from .comparison import decision_lines
from .session import panic_lines
from .tables import PLAIN, Style


def what_if_lines(found: WhatIf, *, style: Style = PLAIN, wide: bool = False) -> Iterator[str]:
    """Yield what is changed, and the decisions that are not the same.

    :param wide: print full names of PodGroups, and all decisions.
    """
    for side in found.sides[1:]:
        if side.texts != (side.name,):
            yield f"{style.bold(side.name)}: {'; '.join(side.texts)}\n"
    yield from panic_lines((side.name, side.answer.result) for side in found.sides)
    same = [
        side.name
        for place, side in enumerate(found.sides)
        if place and all(row.values[place] == row.values[0] for row in found.decisions)
    ]
    if found.decisions:
        yield "\n"
        labels = [side.name for side in found.sides]
        shown = None if wide else _SHOWN
        yield from decision_lines(found.decisions, labels, style=style, shown=shown, wide=wide)
    if same:
        known = f", with what is in the log, but {unknown_text(found.not_known)}"
        about = "" if len(found.sides) == 2 else f" with {', '.join(same)}"
        yield f"The session decides the same{about}{known if found.not_known else ''}.\n"


_SHOWN = 40
