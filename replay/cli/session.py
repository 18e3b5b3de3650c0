"""``plinian session``: one session at a point of a log."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import options
from .shell import guarded, style

if TYPE_CHECKING:
    from ..session import ConfText, SessionAnswer


def _form(value: str) -> str:
    if value not in {"table", "json", "yaml"}:
        raise typer.BadParameter(f"there is no output form {value!r}; choose table, json or yaml")
    return value


@guarded
def session(
    log: options.Place = options.DEFAULT_LOG,
    at: options.At = "end",
    release: Annotated[
        str,
        typer.Option("--release", metavar="RELEASE", help="The release of Volcano: v1.12.1."),
    ] = "v1.12.1",
    conf: Annotated[
        Path | None,
        typer.Option(
            "--conf",
            metavar="FILE",
            help="A volcano-scheduler.conf in place of what was applied in the log by then.",
        ),
    ] = None,
    trace: Annotated[
        bool, typer.Option("--trace", help="Also print every step, with what was compared.")
    ] = False,
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="table|json|yaml", help="How to print it.", callback=_form
        ),
    ] = "table",
    as_known_at: options.AsKnownAt = None,
    cluster: options.Cluster = None,
    branch: options.Branch = "main",
) -> None:
    """Run one scheduling session on the state at a point, and print what it would decide.

    The scheduler's cache is made as the release makes it of what the log tells by then; the session
    writes nothing. What the scheduler would crash on is an answer like any other.
    """
    from ..log import opened
    from ..session import session_at

    with opened(log, read_only=True, branch=branch, cluster=cluster) as opened_log:
        moment = opened_log.moment(at, as_known_at=as_known_at)
        given = None if conf is None else _read(conf)
        answer = session_at(opened_log, moment, release=release, conf=given, trace=trace)
    sys.stderr.write(f"session at {answer.at} as {answer.release}, configuration {answer.conf}\n")
    _write(answer, output, trace=trace)


def _read(path: Path) -> ConfText:
    from ...engine.errors import InputError
    from ..session import ConfText

    try:
        return ConfText(path.read_text(encoding="utf-8"), str(path))
    except UnicodeDecodeError as fault:
        raise InputError(f"not UTF-8: {fault}", where=str(path)) from fault


def _write(answer: SessionAnswer, output: str, *, trace: bool) -> None:
    from ..render.documents import json_text, write_yaml
    from ..render.session import session_lines, trace_lines
    from ..session import answer_document

    if output == "json":
        sys.stdout.write(json_text(answer_document(answer), indent=2) + "\n")
    elif output == "yaml":
        write_yaml(sys.stdout, [answer_document(answer)], single=True)
    else:
        sys.stdout.writelines(session_lines(answer, style=style()))
        if trace:
            sys.stdout.write("\n")
            sys.stdout.writelines(trace_lines(answer.result.trace, style=style()))
