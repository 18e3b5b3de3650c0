"""What a person should know of an answer before it is printed: in one line, or with ``-v`` in full.

All parts of a command add their doubts while they find them. They are said together, once, before
anything else is written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import click

_LONGEST = 160
"""The most characters of a sentence that stands in the one line as it is."""

_DOUBTS, _VERBOSE = "plinian.doubts", "plinian.verbose"
"""Keys of what click keeps of a command line."""

WARNING, ASSUMED, REMARK = "warning: ", "assumed: ", "plinian: "


class Doubt(NamedTuple):
    """Something that makes an answer uncertain, or that says how a question was understood.

    :param label: of which sort it is. :param brief: a few words, for the one line.
    :param lines: what ``-v`` says; without any, the brief words are all.
    """

    label: str
    brief: str
    lines: tuple[str, ...] = ()


def doubt(label: str, text: str, brief: str = "") -> None:
    """Add a doubt that is a sentence. :param brief: of a long one; a short one stands as it is."""
    if brief and len(text) > _LONGEST:
        add(Doubt(label, brief, (f"{label}{text}",)))
    else:
        add(Doubt(label, text))


def add(found: Doubt) -> None:
    """Add a doubt; what was added before is not said twice."""
    context = click.get_current_context(silent=True)
    if context is not None:
        context.meta.setdefault(_DOUBTS, {})[found] = True


def say_doubts(tell: Callable[[str], None]) -> None:
    """Say all doubts that were not said yet. :param tell: writes a line to standard error."""
    context = click.get_current_context(silent=True)
    found: list[Doubt] = [] if context is None else list(context.meta.pop(_DOUBTS, {}))
    if context is None or not found:
        return
    if context.meta.get(_VERBOSE) or context.params.get("verbose"):
        for each in found:
            for line in each.lines or (f"{each.label}{each.brief}",):
                tell(line)
        return
    # A single one that is a line needs no shorter form.
    if len(found) == len(found[0].lines) == 1:
        tell(found[0].lines[0])
        return
    labels = {each.label for each in found}
    label = next((one for one in (WARNING, REMARK, ASSUMED) if one in labels), "")
    more = " (-v says more)" if any(each.lines for each in found) else ""
    briefs = dict.fromkeys(each.brief for each in sorted(found, key=_by_weight))
    tell(f"{label}{'; '.join(briefs)}{more}")


def _by_weight(found: Doubt) -> bool:
    """Warnings come first: they are about the answer, and the others about the question."""
    return found.label != WARNING


def verbose_option() -> click.Option:
    """Return the option that says all doubts in full."""
    return click.Option(
        ["--verbose", "-v"],
        count=True,
        expose_value=False,
        callback=_keep_verbose,
        help="Say in full what makes the answer uncertain, and what to do; else it is one line.",
    )


def _keep_verbose(context: click.Context, _option: click.Parameter, count: int) -> None:
    if count:
        context.meta[_VERBOSE] = True
