"""The command of a question, made from its declaration."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import click
import msgspec

from ..questions.fields import (
    DeclaredField,
    Door,
    Field,
    PointText,
    declared_fields,
    declared_parameters,
)
from ..questions.question import (
    Question,
    QuestionOfMoment,
    QuestionOfRelease,
    lacking,
    taken,
    unsaid,
)
from . import options
from .answers import REVIEWS, marked, write_answer, write_review
from .command import SingleCommand, group_command, parameter_of
from .coverage_warnings import (
    first_of,
    note_assumed,
    refuse_own_panic,
    warn_sessions,
    warn_unknown,
)
from .doubts import ASSUMED, doubt, verbose_option
from .examples import epilog
from .shell import (
    before_output,
    fail,
    guarded,
    log_option,
    note,
    shows_progress,
    style,
    write_lines,
    zone_option,
)

if TYPE_CHECKING:
    from ..logs.log import Log
    from ..moments.unknown import Unknown

Kind: TypeAlias = type[Question[Any]]

_TEXT = "text|wide|json|yaml"
_TABLES = "table|wide|json|yaml"

_NOT_USUAL = frozenset({"assume", "strict", "progress", "jobs"})
"""Fields that few people need, which help shows after the output form, and what is no option."""


def command_of(kind: Kind, *below: Kind) -> click.Command:
    """Return the command that asks a question of a log, and prints the answer.

    The log may be narrowed: to a branch, a cluster, and what was known at a position.

    :param below: questions whose commands are below it, as ``session list`` is below ``session``.
    """

    def run(**given: Any) -> None:
        _run(kind, **given)

    run.__doc__ = " ".join(filter(None, (inspect.getdoc(kind), kind.in_terminal)))
    guarded_run: Callable[..., None] = guarded(run)
    name, end = kind.command.rpartition(" ")[2], epilog(kind.examples)
    params = [*map(parameter_of, _parameters(kind)), zone_option()]
    # why has an option of this name, which says more of the answer, too.
    if kind.needs_log and not any(option.name == "verbose" for option in params):
        params.insert(-1, verbose_option())
    if below:
        return group_command(name, guarded_run, params, end, *map(command_of, below))
    return click.command(name, cls=SingleCommand, params=params, epilog=end)(guarded_run)


def _run(
    kind: Kind,
    /,
    *,
    log: options.LogPlace = options.DEFAULT_LOG,
    inputs: options.Inputs = (),
    exit_code: Annotated[bool, Field("")] = False,
    plot: options.Plot = False,
    output: Annotated[str, Field("")],
    no_headers: options.NoHeaders = False,
    as_known_at: options.AsKnownAt = None,
    cluster: options.Cluster = None,
    branch: options.Branch = options.MAIN,
    **given: Any,
) -> None:
    """Ask a question of a log, and print the answer."""
    from .open_log import opened_or_read
    from .pictures import check_plot

    check_plot(output, plot=plot)
    for field in declared_fields(kind):
        if field.about.in_words:
            given[field.name] = "/".join(given[field.name])
        if field.name == "plot":
            given["plot"] = plot
    # 0 is one process for each processor.
    if "jobs" in given:
        given["jobs"] = given["jobs"] or os.cpu_count() or 1
    asked = kind.of_command(given)
    log_of: AbstractContextManager[Any] = nullcontext()
    if asked.needs_log:
        _check_releases(asked)
        log_of = opened_or_read(
            log, inputs, branch=branch, cluster=cluster, as_known_at=as_known_at
        )
    option = _given(inputs) or log_option(log)
    with log_of as opened_log:
        asked = _dated(asked, opened_log)
        question, answer = _ask(asked, opened_log, "" if inputs else log)
        _write(asked, question, answer, output, no_headers=no_headers, option=option)
        if plot:
            _draw(question, answer, opened_log, ", ".join(inputs) or log)
    code = question.code(answer, asked=exit_code)
    if code:
        sys.stdout.flush()
        raise SystemExit(code)


def _check_releases(question: Question[Any]) -> None:
    """Refuse a release that no session can run as, before the log is opened.

    :raises UsageError: it is not known, and nothing may be assumed.
    """
    if isinstance(question, QuestionOfRelease):
        for name in question.named_releases:
            taken(name, unsaid, assume=question.assume)


def _parameters(kind: Kind) -> list[DeclaredField]:
    """Return what a command takes: what is asked, then the form, then what few people need."""
    shared = {parameter.name: parameter for parameter in declared_parameters(_run)}
    fields = {field.name: field for field in declared_fields(kind)}
    jobs, strict, assume = (fields.get(name) for name in ("jobs", "strict", "assume"))
    usual = [
        declared_field
        for name, declared_field in fields.items()
        if declared_field.has(Door.COMMAND) and name not in _NOT_USUAL
    ]
    form = options.form(kind.forms or (_TABLES if kind.is_table else _TEXT), kind.wide_adds)
    output = shared["output"]._replace(about=form, default=form.choices[0])
    if not kind.needs_log:
        return [*usual, output, *([assume] if assume else [])]
    declared = [
        *(field for field in usual if field.is_required),
        shared["log"],
        *_with_inputs(usual, shared["inputs"] if kind.reads_inputs else None),
        jobs and jobs._replace(about=options.JOBS, default=0),
        kind.exit_code and shared["exit_code"]._replace(about=Field(kind.exit_code)),
        *(field for field in usual if not field.has(Door.PYTHON)),
        kind.is_drawn and shared["plot"],
        output,
        kind.is_table and shared["no_headers"],
        assume,
        shared["as_known_at"],
        strict and strict._replace(about=options.STRICT),
        shared["cluster"],
        shared["branch"],
    ]
    # A part that this question does not have is None, False or an empty text.
    return [field for field in declared if isinstance(field, DeclaredField)]


def _with_inputs(
    usual: Sequence[DeclaredField], inputs: DeclaredField | None
) -> Iterator[DeclaredField]:
    """Yield the fields that Python has, too; files in place of a log follow the configuration."""
    for field in usual:
        if not field.is_required and field.has(Door.PYTHON):
            yield field
            if field.name == "conf" and inputs:
                yield inputs


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
    question = question.prepared(log, lambda text: doubt("", text))
    if not isinstance(question, QuestionOfRelease):
        for text in question.remarks(log):
            note(text)
        answer = question.answer(log)
        if isinstance(question, QuestionOfMoment):
            warn_unknown(lacking(answer), strict=question.strict)
            note_assumed(log, log.moment(question.at), question.kinds(answer))
        fault = question.fault(log, answer)
        if fault is not None:
            fail(fault)
        return question, answer
    from ..render.progress import counting
    from .store_beliefs import store_beliefs

    ready, moment = question, question.moment(log)
    unknown: Sequence[Unknown] = ()
    if ready.warns:
        bare, strict = ready.needs_conf, ready.strict
        unknown = warn_sessions(log, moment, ready.unknown(log), unconfigured=bare, strict=strict)
    ready.check(log)
    for text in ready.assumptions():
        doubt(ASSUMED, text)
    for text in ready.remarks(log):
        note(text)
    # It may take long to answer.
    before_output()
    # A log that exists only for this question has no place to store anything in.
    if place:
        store_beliefs(place, log, moment, ready.caches)
    if ready.work:
        with counting(ready.work, visible=shows_progress()) as progress:
            ready = msgspec.structs.replace(ready, progress=progress)
            answer = ready.answer(log)
    else:
        answer = ready.answer(log)
    refuse_own_panic(ready.sessions(answer), unknown)
    return ready, answer


def _given(inputs: Sequence[str]) -> str:
    from shlex import quote

    return "".join(f" --input {quote(path)}" for path in inputs)


def _write(
    asked: Question[Any],
    question: Question[Any],
    answer: Any,
    output: str,
    *,
    no_headers: bool,
    option: str,
) -> None:
    """Write an answer.

    :param asked: the question before it was prepared. :param option: with which a command finds
        what was asked.
    """
    is_document = output in {"json", "yaml"}
    for text in (
        *question.notes(answer),
        *(question.beside_document(answer) if is_document else ()),
    ):
        note(text)
    if is_document:
        document = question.document(answer)
        if isinstance(asked, QuestionOfRelease):
            document = marked(document, asked.named_releases, assume=asked.assume)
        write_answer(document, (), output, indent=2)
    elif output in REVIEWS:
        write_review(question.review(answer), output)
    else:
        if question.is_table:
            _write_tables(question, answer, no_headers=no_headers)
        else:
            write_lines(question.lines(answer, msgspec.structs.replace(style(), option=option)))
        for text in question.beside_lines(answer):
            sys.stdout.flush()
            note(text)


def _write_tables(question: Question[Any], answer: Any, *, no_headers: bool) -> None:
    """Write tables for people; of empty ones, say so in a note."""
    before_output()
    from ..render.short_names import short
    from ..render.tables import write_table

    fitted, separator = style(), ""
    nothing = question.nothing(answer)
    for table in question.tables(answer, fitted):
        if table.rows or nothing is None:
            shown = table if fitted.wide else short(table)
            sys.stdout.write(separator)
            write_table(sys.stdout, shown, no_headers=no_headers, style=fitted)
            separator = "\n"
    if nothing and not separator:
        note(nothing)


def _draw(question: Question[Any], answer: Any, log: Log, place: str) -> None:
    from .pictures import write_answer_plot, write_plot

    asked = question.drawing(log)
    if asked is None:
        write_answer_plot(log, place, answer, getattr(question, "at", None))
    else:
        write_plot(log, place, asked)
