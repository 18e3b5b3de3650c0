"""The command of a question, made from its declaration."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import click
import msgspec

from ..questions.question import (
    DeclaredField,
    Door,
    PointText,
    Question,
    QuestionOfMoment,
    QuestionOfRelease,
    declared_fields,
    lacking,
)
from . import options
from .coverage_warnings import first_of, note_assumed, warn_sessions, warn_unknown
from .examples import epilog
from .reviews import REVIEWS, write_review
from .shell import fail, guarded, note, shows_progress, style, write_lines

if TYPE_CHECKING:
    from ..logs.log import Log

Kind: TypeAlias = type[Question[Any]]

_NOT_USUAL = frozenset({"assume", "strict", "progress", "jobs"})
"""Fields that few people need, which help shows after the output form, and what is no option."""


class _Form(NamedTuple):
    """How an answer is written. :param exit_code: exit with 1 if it says that anything differs."""

    output: str
    no_headers: bool
    exit_code: bool


def command_of(kind: Kind) -> click.Command:
    """Return the command that asks a question of a log, and prints the answer.

    The log may be narrowed: to a branch, a cluster, and what was known at a position.
    """
    in_words = [field.name for field in declared_fields(kind) if field.about.in_words]

    def run(
        *,
        log: str,
        output: str,
        as_known_at: str | None,
        cluster: str | None,
        branch: str,
        inputs: tuple[str, ...] = (),
        no_headers: bool = False,
        exit_code: bool = False,
        **given: Any,
    ) -> None:
        from .open_log import opened_or_read
        from .pictures import check_plot, write_answer_plot

        plot = given.pop("plot", False) if kind.is_drawn else given.get("plot", False)
        check_plot(output, plot=plot)
        given |= {name: "/".join(given[name]) for name in in_words}
        if "jobs" in given:
            given["jobs"] = given["jobs"] or os.cpu_count() or 1
        asked = kind.of_command(given)
        narrowed: dict[str, Any] = {
            "branch": branch,
            "cluster": cluster,
            "as_known_at": as_known_at,
        }
        with opened_or_read(log, inputs, **narrowed) as opened_log:
            asked = _dated(asked, opened_log)
            question, found = _ask(asked, opened_log, "" if inputs else log)
            assumed = _assumed(asked)
            _write(question, found, assumed, _Form(output, no_headers, exit_code))
            if plot:
                moment = getattr(asked, "at", None)
                write_answer_plot(opened_log, ", ".join(inputs) or log, found, moment)

    run.__doc__ = " ".join(filter(None, (inspect.getdoc(kind), kind.in_terminal)))
    made: Callable[..., Any] = guarded(run)
    for option in reversed(_options(kind)):
        made = option(made)
    return click.command(kind.command.rpartition(" ")[2], epilog=epilog(kind.examples))(made)


def _options(kind: Kind) -> list[Callable[[Any], Any]]:
    """Return the options of a command: what is asked, then the form, then what few people need."""
    fields = declared_fields(kind)
    names = {field.name for field in fields}
    usual = [one for one in fields if one.has(Door.COMMAND) and one.name not in _NOT_USUAL]
    own = [field for field in usual if not field.has(Door.PYTHON)]
    found = [
        *(_option(field) for field in usual if field.is_required),
        options.log,
        *(_option(field) for field in usual if not field.is_required and field not in own),
        kind.reads_inputs and options.inputs,
        "jobs" in names and options.jobs,
        kind.exit_code and click.option("--exit-code", help=kind.exit_code, is_flag=True),
        *map(_option, own),
        kind.is_drawn and options.plot,
        options.table_json_or_yaml if kind.is_table else options.form(kind.forms),
        kind.is_table and options.no_headers,
        "assume" in names and options.assume,
        options.as_known_at,
        "strict" in names and options.strict,
        options.cluster,
        options.branch,
    ]
    return [option for option in found if option]


def _option(field: DeclaredField) -> Callable[[Any], Any]:
    """Return the argument or the option of a field."""
    about = field.about
    if field.is_argument:
        given: dict[str, Any] = {"metavar": about.metavar, "help": about.help}
        if about.in_words:
            text = f"{about.help.removesuffix('.')}; KIND NAME works too."
            given |= {"help": text, "nargs": -1, "required": True}
        if not field.is_required:
            given |= {"default": field.default, "required": False}
        return click.argument(field.name, **given)
    name = about.name or field.name
    names = [f"--{name.replace('_', '-')}", *([f"-{about.short}"] if about.short else [])]
    if field.of is bool:
        return click.option(*names, field.name, help=about.help, is_flag=True)
    if field.of is int and not about.metavar:
        return click.option(*names, field.name, help=about.help, count=True)
    shown: dict[str, Any] = {
        "default": field.default,
        "show_default": field.default not in {None, ""},
    }
    if field.is_required:
        shown = {"required": True}
    if field.of is int:
        shown["type"] = click.IntRange(about.least, about.most)
    kept = {"multiple": True} if field.many else shown
    return click.option(*names, field.name, metavar=about.metavar, help=about.help, **kept)


def _dated(question: Question[Any], log: Log) -> Question[Any]:
    """Return a question with the moments of its points, each read once, as reading may be noted."""
    moments, strict = {}, getattr(question, "strict", False)
    for field in declared_fields(type(question)):
        point = getattr(question, field.name)
        if field.of is PointText and point is not None:
            begins = field.about.begins
            moments[field.name] = (
                first_of(log, point, strict=strict) if begins else log.moment(point)
            )
    return msgspec.structs.replace(question, **moments)


def _ask(question: Question[Any], log: Log, place: str) -> tuple[Question[Any], Any]:
    """Ask a question, and say on standard error what it assumes, and what makes it uncertain.

    :param place: of the log; empty if it exists only for this question.
    """
    question = question.prepared(log, note)
    if not isinstance(question, QuestionOfRelease):
        found = question.answer(log)
        if isinstance(question, QuestionOfMoment):
            warn_unknown(lacking(found), strict=question.strict)
            note_assumed(log, log.moment(question.at), question.kinds(found))
        fault = question.fault(log, found)
        if fault is not None:
            fail(fault)
        return question, found
    from ..render.progress import counting
    from .store_beliefs import store_beliefs

    ready, moment = question, question.moment(log)
    bare, strict = ready.needs_conf, ready.strict
    warn_sessions(log, moment, ready.unknown(log), unconfigured=bare, strict=strict)
    for text in ready.remarks(log):
        note(text)
    if place:
        store_beliefs(place, log, moment, ready.caches)
    if not ready.work:
        return ready, ready.answer(log)
    with counting(ready.work, visible=shows_progress()) as progress:
        ready = msgspec.structs.replace(ready, progress=progress)
        return ready, ready.answer(log)


def _assumed(question: Question[Any]) -> Mapping[str, Any]:
    """Return what a document says of releases that stand for those that were named."""
    if not (isinstance(question, QuestionOfRelease) and question.assume):
        return {}
    from ..sessions.assumed import taken_release

    some = {name: taken_release(name, assume=True) for name in question.named_releases}
    found = {name: taken.release for name, taken in some.items() if taken.remark}
    return {"assumed": found} if found else {}


def _write(question: Question[Any], found: Any, assumed: Mapping[str, Any], form: _Form) -> None:
    from ..render.documents import json_text, plain, write_yaml

    is_document = form.output in {"json", "yaml"}
    for text in (*question.notes(found), *(question.beside_document(found) if is_document else ())):
        note(text)
    document = question.document(found)
    if assumed:
        document = {**plain(document), **assumed}
    if form.output == "json":
        sys.stdout.write(json_text(document, indent=2) + "\n")
    elif form.output == "yaml":
        write_yaml(sys.stdout, [plain(document)], single=True)
    elif question.is_table:
        _write_table(question, found, form)
    elif form.output in REVIEWS:
        write_review(question.review(found), form.output)
    else:
        write_lines(question.lines(found, style()))
        for text in question.beside_lines(found):
            note(text)
    code = question.code(found, asked=form.exit_code)
    if code:
        sys.stdout.flush()
        raise SystemExit(code)


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
