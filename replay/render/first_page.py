"""What ``plinian`` alone says: what the log holds, what is wrong, and what to ask next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..answers.amounts import joined
from ..overview.problems import ProblemKind
from .tables import PLAIN, Style, paragraph, whole_sentence

if TYPE_CHECKING:
    from ..logs.log_summary import LogSummary
    from ..overview.problems import Overview

_OVERVIEW = ("plinian overview", "what is wrong, the worst first")
_NEXT = (
    ("plinian shares", "what queues deserve and hold"),
    ("plinian status", "what the log lacks"),
    ("plinian serve --open", "all of it in a browser"),
)

_AGO = ((300, "5m", "5 minutes"), (60, "1m", "a minute"), (10, "10s", "10 seconds"))

_BEGIN = (
    ("plinian demo", "an incident of a cluster"),
    ("plinian ingest dump.tar.gz", "a log of your files"),
    ("kubectl get no,po -A -o json | plinian ingest -", "a log of what it prints"),
    ("plinian record", "a log of a live cluster"),
)

_HELP = ("plinian --help", "all commands")

_WIDTH = 80
"""Of what is piped."""

Commands = Sequence[tuple[str, str]]


class FirstPage(NamedTuple):
    """What the first page says.

    :param objects: how many there are, by kind; empty if they were not counted.
    :param overview: what is wrong; None if it would take long to find out.
    :param at: the moment of both; empty is the end.
    :param option: with which commands find the log, as in `` --log cluster.db``.
    """

    summary: LogSummary
    objects: Sequence[str] = ()
    overview: Overview | None = None
    at: str = ""
    option: str = ""


def summary_lines(page: FirstPage, style: Style = PLAIN) -> Iterator[str]:
    """Yield what a log holds, what is wrong at a moment, and what to ask next."""
    summary, overview = page.summary, page.overview
    yield from paragraph(f"{summary.sentence}.", style)
    if page.objects:
        when = page.at or "the end"
        yield from paragraph(f"At {when} there are {joined(page.objects)}.", style)
    if overview is not None:
        yield from paragraph(whole_sentence(overview.sentence), style)
    if not summary.clusters:
        yield "\nFill it:\n"
        yield from _commands([*_BEGIN[1:], _HELP], page.option, style)
        return
    if not summary.cluster:
        yield from paragraph(f"Choose one with --cluster: {', '.join(summary.clusters)}.", style)
    yield "\nAsk next:\n"
    then = f" --at {page.at}" if page.at else ""
    first = [(f"{command}{then}", about) for command, about in (*_worst(overview), _OVERVIEW)]
    option = page.option
    if len(summary.clusters) > 1:
        option += f" --cluster {summary.cluster or summary.clusters[0]}"
    yield from _commands([*first, *_before(summary), *_NEXT, _HELP], option, style)


def beginning_lines(place: str, others: Sequence[str], style: Style = PLAIN) -> Iterator[str]:
    """Yield how to begin where no log is found.

    :param place: where it was looked for. :param others: files that may be logs.
    """
    yield "Plinian shows the recorded history of a cluster with Volcano.\n"
    yield from paragraph(f"There is no log at {place} yet.", style)
    found = [(f"plinian --log {name}", "what this log holds") for name in others]
    yield "\nBegin with one of these:\n"
    yield from _commands([*found, *_BEGIN, _HELP], "", style)


def _before(summary: LogSummary) -> Commands:
    """Return the questions about a moment before the end, if the log has one."""
    for seconds, point, words in _AGO:
        if seconds < summary.seconds:
            return (
                (f"plinian get pods -A --at -{point}", f"what there was {words} before"),
                (f"plinian diff -{point} end", "what changed since then"),
            )
    return ()


def _worst(overview: Overview | None) -> Commands:
    """Return the question about what is worst, of a job that waits."""
    for problem in () if overview is None else overview.problems:
        if ProblemKind(problem.kind) is ProblemKind.WAITING and problem.objects:
            return ((f"plinian why {problem.objects[0]}", "why it waits"),)
    return ()


def _commands(commands: Commands, option: str, style: Style) -> Iterator[str]:
    """Yield commands with what each shows: beside them, or where that is too wide below them."""
    texts = [
        (command if command == _HELP[0] else f"{command}{option}", about)
        for command, about in commands
    ]
    longest = max(len(command) for command, _ in texts)
    is_narrow = longest + max(len(about) for _, about in texts) + 5 > (style.width or _WIDTH)
    for command, about in texts:
        if not is_narrow:
            yield f"  {command:{longest}}   {about}\n"
        else:
            yield from (f"  {command}\n", f"      {about}\n")
