"""The command of a question, made from its declaration."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import click

from ..questions.question import (
    DeclaredField,
    Question,
    QuestionOfScheduler,
    declared_fields,
    lacking,
)
from . import options
from .assumption import ChosenReleases, chosen
from .coverage_warnings import note_assumed, warn_sessions, warn_unknown
from .examples import epilog
from .shell import guarded, note, shows_progress, style, write_lines

if TYPE_CHECKING:
    from ..logs.log import Log
    from ..moments.moment import Moment

Kind: TypeAlias = type[Question[Any]]

_SELDOM = frozenset({"assume", "strict"})
"""Fields that few people need: help shows them after the output form."""


class _Form(NamedTuple):
    """How an answer is written. :param exit_code: exit with 1 if it says that anything differs."""

    output: str
    no_headers: bool
    exit_code: bool


def command_of(kind: Kind) -> click.Command:
    """Return the command that asks a question of a log, and prints the answer.

    The log may be narrowed: to a branch, a cluster, and what was known at a position.
    """

    def run(
        *,
        log: str,
        output: str,
        as_known_at: str | None,
        cluster: str | None,
        branch: str,
        no_headers: bool = False,
        exit_code: bool = False,
        **given: Any,
    ) -> None:
        from .open_log import opened

        taken = _releases(kind, given)
        with opened(log, read_only=True, branch=branch, cluster=cluster) as opened_log:
            given["at"] = opened_log.moment(given["at"], as_known_at=as_known_at)
            if taken.names:
                given["release"] = taken.names[0]
                question, found = _ask_of_scheduler(kind, opened_log, given, log)
            else:
                question, found = _ask(kind, opened_log, given)
        _write(question, found, taken, _Form(output, no_headers, exit_code))

    run.__doc__ = inspect.getdoc(kind)
    made: Callable[..., Any] = guarded(run)
    for option in reversed(_options(kind)):
        made = option(made)
    return click.command(kind.command.rpartition(" ")[2], epilog=epilog(kind.examples))(made)


def _options(kind: Kind) -> list[Callable[[Any], Any]]:
    """Return the options of a command: what is asked, then the form, then what few people need."""
    fields = [field for field in declared_fields(kind) if not field.about.in_python]
    usual = [_option(field) for field in fields if field.name not in _SELDOM]
    seldom = [_option(field) for field in fields if field.name in _SELDOM]
    form = options.text_wide_json_or_yaml
    if kind.is_table:
        usual.append(options.table_json_or_yaml)
        form = options.no_headers
    if kind.exit_code:
        seldom.insert(0, click.option("--exit-code", help=kind.exit_code, is_flag=True))
    return [options.log, *usual, form, *seldom, *_NARROWING]


_NARROWING = (options.as_known_at, options.cluster, options.branch)


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


def _releases(kind: Kind, given: Mapping[str, Any]) -> ChosenReleases:
    """Return the release that a question is about; none if it is not about the scheduler."""
    if not issubclass(kind, QuestionOfScheduler):
        return ChosenReleases([], {})
    return chosen([given["release"]], assume=given["assume"])


def _ask(kind: Kind, log: Log, given: Mapping[str, Any]) -> tuple[Question[Any], Any]:
    """Ask a question, and warn of what makes the answer uncertain."""
    question = kind(**given)
    found = question.answer(log)
    warn_unknown(lacking(found), strict=given["strict"])
    note_assumed(log, given["at"])
    return question, found


def _ask_of_scheduler(
    kind: Kind, log: Log, given: Mapping[str, Any], place: str
) -> tuple[Question[Any], Any]:
    """Ask a question about the scheduler; its cache is stored if it takes long to rebuild."""
    from ..render.progress import counting
    from .store_beliefs import store_beliefs

    moment: Moment = given["at"]
    warn_sessions(log, moment, strict=given["strict"])
    store_beliefs(place, log, moment, [given["release"]])
    with counting(kind.work, visible=shows_progress()) as progress:
        question = kind(**{**given, "progress": progress})
        return question, question.answer(log)


def _write(question: Question[Any], found: Any, taken: ChosenReleases, form: _Form) -> None:
    from ..render.documents import json_text, plain, write_yaml

    for text in question.notes(found):
        note(text)
    if form.output == "json":
        document = taken.marked(dict(question.document(found)))
        sys.stdout.write(json_text(document, indent=2) + "\n")
    elif form.output == "yaml":
        document = taken.marked(dict(question.document(found)))
        write_yaml(sys.stdout, [plain(document)], single=True)
    elif question.is_table:
        _write_table(question, found, form)
    else:
        write_lines(question.lines(found, style()))
    if form.exit_code and question.differs(found):
        sys.stdout.flush()
        raise SystemExit(1)


def _write_table(question: Question[Any], found: Any, form: _Form) -> None:
    """Write a table for people; of an empty one, say so in a note."""
    from ..render.short_names import short
    from ..render.tables import write_table

    table = question.table(found)
    if table.rows:
        shown = table if form.output == "wide" else short(table)
        write_table(sys.stdout, shown, no_headers=form.no_headers, style=style())
    else:
        note(question.nothing(found))
