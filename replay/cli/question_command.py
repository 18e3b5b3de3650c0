"""The command of a question, made from its declaration."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any

import click

from ..questions.question import DeclaredField, Question, declared_fields, lacking
from . import options
from .coverage_warnings import note_assumed, warn_unknown
from .examples import epilog
from .shell import guarded, style, write_lines

_BEFORE = (options.log,)
_AFTER = (options.text_wide_json_or_yaml, options.as_known_at, options.cluster, options.branch)


def command_of(kind: type[Question[Any]]) -> click.Command:
    """Return the command that asks a question of a log, and prints the answer.

    Whoever reads the log may narrow it: to a branch, a cluster, and what was known at a position.
    """

    def run(
        *,
        log: str,
        output: str,
        as_known_at: str | None,
        cluster: str | None,
        branch: str,
        **given: Any,
    ) -> None:
        from .open_log import opened

        with opened(log, read_only=True, branch=branch, cluster=cluster) as opened_log:
            moment = opened_log.moment(given.pop("at"), as_known_at=as_known_at)
            question = kind(**given, at=moment)
            found = question.answer(opened_log)
            warn_unknown(lacking(found), strict=given["strict"])
            note_assumed(opened_log, moment)
        _write(question, found, output)

    run.__doc__ = inspect.getdoc(kind)
    made: Callable[..., Any] = guarded(run)
    for option in reversed([*_BEFORE, *map(_option, _in_order(kind)), *_AFTER]):
        made = option(made)
    return click.command(kind.command.rpartition(" ")[2], epilog=epilog(kind.examples))(made)


def _in_order(kind: type[Question[Any]]) -> list[DeclaredField]:
    """Return the fields of a question: what only few need is at the end."""
    return sorted(declared_fields(kind), key=lambda field: field.name == "strict")


def _option(field: DeclaredField) -> Callable[[Any], Any]:
    """Return the argument or the option of a field."""
    about = field.about
    if field.is_required:
        return click.argument(field.name, metavar=about.metavar, help=about.help)
    names = [f"--{field.name.replace('_', '-')}", *([f"-{about.short}"] if about.short else [])]
    if field.of is bool:
        return click.option(*names, field.name, help=about.help, is_flag=True)
    shown: dict[str, Any] = {"default": field.default, "show_default": field.default is not None}
    kept = {"multiple": True} if field.many else shown
    return click.option(*names, field.name, metavar=about.metavar, help=about.help, **kept)


def _write(question: Question[Any], found: Any, output: str) -> None:
    from ..render.documents import json_text, plain, write_yaml

    if output == "json":
        sys.stdout.write(json_text(question.document(found), indent=2) + "\n")
    elif output == "yaml":
        write_yaml(sys.stdout, [plain(question.document(found))], single=True)
    else:
        lines: Iterator[str] = question.lines(found, style())
        write_lines(lines)
