"""What ``plinian`` alone says: what the log holds, what is wrong, and what to ask next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..overview.problems import ProblemKind
from .tables import PLAIN, Style, paragraph

if TYPE_CHECKING:
    from ..logs.log_summary import LogSummary
    from ..overview.problems import Overview

_NEXT = (
    ("plinian overview", "what is wrong, the worst first"),
    ("plinian get pods -A --at -5m", "what there was five minutes before the end"),
    ("plinian diff -5m end", "what changed since then"),
    ("plinian shares", "what queues are entitled to, and what they hold"),
    ("plinian status", "what the log lacks"),
    ("plinian serve --open", "all of it in a browser"),
)

_BEGIN = (
    ("plinian demo", "an incident of a real cluster"),
    ("plinian ingest dump.tar.gz", "make a log of files that you have"),
    ("kubectl get FILES | plinian ingest -", "make one of what kubectl prints"),
)

_HELP = ("plinian --help", "all commands")

Commands = Sequence[tuple[str, str]]


def summary_lines(
    summary: LogSummary,
    objects: Sequence[str],
    overview: Overview | None,
    option: str = "",
    style: Style = PLAIN,
) -> Iterator[str]:
    """Yield what a log holds, what is wrong at its end, and what to ask next.

    :param objects: how many there are at the end, by kind; empty if they were not counted.
    :param overview: of the end; None if it would take long.
    :param option: with which commands find the log, as in `` --log cluster.db``.
    """
    yield from paragraph(f"{summary.sentence}.", style)
    if objects:
        yield from paragraph(f"At the end there are {_joined(objects)}.", style)
    if overview is not None:
        said = overview.sentence
        yield from paragraph(f"{said[:1].upper()}{said[1:]}.", style)
    if not summary.cluster:
        yield from paragraph(f"Choose one with --cluster: {', '.join(summary.clusters)}.", style)
    yield "\nAsk next:\n"
    yield from _commands([*_worst(overview), *_NEXT, _HELP], option, style)


def beginning_lines(place: str, others: Sequence[str], style: Style = PLAIN) -> Iterator[str]:
    """Yield how to begin where no log is found.

    :param place: where it was looked for. :param others: files that may be logs.
    """
    yield "Plinian shows the recorded history of a cluster with Volcano.\n"
    yield from paragraph(f"There is no log at {place} yet.", style)
    found = [(f"plinian --log {name}", "what this log holds") for name in others]
    yield "\nBegin with one of these:\n"
    yield from _commands([*found, *_BEGIN, _HELP], "", style)


def _worst(overview: Overview | None) -> Commands:
    """Return the question about what is worst, of a job that waits."""
    for problem in () if overview is None else overview.problems:
        if ProblemKind(problem.kind) is ProblemKind.WAITING and problem.objects:
            return ((f"plinian why {problem.objects[0]}", "why it waits"),)
    return ()


def _joined(texts: Sequence[str]) -> str:
    return f"{', '.join(texts[:-1])} and {texts[-1]}" if len(texts) > 1 else texts[0]


def _commands(commands: Commands, option: str, style: Style) -> Iterator[str]:
    """Yield commands, each with what it shows beside it, or below it in a narrow terminal."""
    texts = [(f"{command}{option}", about) for command, about in commands]
    longest = max(len(command) for command, _ in texts)
    width = style.width or 80
    for command, about in texts:
        if longest + len(about) + 5 <= width:
            yield f"  {command:{longest}}   {about}\n"
        else:
            yield from (f"  {command}\n", f"      {about}\n")
