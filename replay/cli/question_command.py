"""The command of a question, made from its declaration."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import click
import msgspec

from ..questions.fields import DeclaredField, Door, PointText, declared_fields
from ..questions.question import (
    Question,
    QuestionOfMoment,
    QuestionOfRelease,
    lacking,
    taken,
    unsaid,
)
from . import options
from .command import group_command
from .coverage_warnings import (
    first_of,
    note_assumed,
    refuse_own_panic,
    warn_sessions,
    warn_unknown,
)
from .examples import epilog
from .reviews import REVIEWS, write_review
from .shell import fail, guarded, note, shows_progress, style, write_lines

if TYPE_CHECKING:
    from ..logs.log import Log
    from ..moments.unknown import Unknown

Kind: TypeAlias = type[Question[Any]]

_TEXT = "text|wide|json|yaml"

_NOT_USUAL = frozenset({"assume", "strict", "progress", "jobs"})
"""Fields that few people need, which help shows after the output form, and what is no option."""


class _Form(NamedTuple):
    """How an answer is written."""

    output: str
    no_headers: bool


def command_of(kind: Kind, *below: Kind) -> click.Command:
    """Return the command that asks a question of a log, and prints the answer.

    The log may be narrowed: to a branch, a cluster, and what was known at a position.

    :param below: questions whose commands are below it, as ``session list`` is below ``session``.
    """
    in_words = [field.name for field in declared_fields(kind) if field.about.in_words]

    def run(
        *,
        log: str,
        output: str,
        inputs: tuple[str, ...] = (),
        no_headers: bool = False,
        exit_code: bool = False,
        **given: Any,
    ) -> None:
        from .open_log import opened_or_read
        from .pictures import check_plot

        narrowed = {name: given.pop(name) for name in ("branch", "cluster", "as_known_at")}
        plot = given.pop("plot", False) if kind.is_drawn else given.get("plot", False)
        check_plot(output, plot=plot)
        given |= {name: "/".join(given[name]) for name in in_words}
        if "jobs" in given:
            given["jobs"] = given["jobs"] or os.cpu_count() or 1
        asked = kind.of_command(given)
        _check_releases(asked)
        log_of: AbstractContextManager[Any] = nullcontext()
        if asked.needs_log:
            log_of = opened_or_read(log, inputs, **narrowed)
        with log_of as opened_log:
            asked = _dated(asked, opened_log)
            question, found = _ask(asked, opened_log, "" if inputs else log)
            assumed = _assumed(asked)
            _write(question, found, assumed, _Form(output, no_headers))
            if plot:
                _draw(question, found, opened_log, ", ".join(inputs) or log)
        code = question.code(found, asked=exit_code)
        if code:
            sys.stdout.flush()
            raise SystemExit(code)

    ran = run if kind.needs_log else _without_log(kind)
    ran.__doc__ = " ".join(filter(None, (inspect.getdoc(kind), kind.in_terminal)))
    made: Callable[..., Any] = guarded(ran)
    for option in reversed(_options(kind)):
        made = option(made)
    name, end = kind.command.rpartition(" ")[2], epilog(kind.examples)
    if below:
        return group_command(name, made, end, *map(command_of, below))
    return click.command(name, epilog=end)(made)


def _without_log(kind: Kind) -> Callable[..., None]:
    """Return the function of a command that needs no log."""

    def run(*, output: str, **given: Any) -> None:
        nothing: Any = None
        question, found = _ask(kind.of_command(given), nothing, "")
        _write(question, found, {}, _Form(output, no_headers=False))

    return run


def _check_releases(question: Question[Any]) -> None:
    """Refuse a release that no session can run as, before the log is opened.

    :raises UsageError: it is not known, and nothing may be assumed.
    """
    if question.needs_log and isinstance(question, QuestionOfRelease):
        for name in question.named_releases:
            taken(name, unsaid, assume=question.assume)


def _options(kind: Kind) -> list[Callable[[Any], Any]]:
    """Return the options of a command: what is asked, then the form, then what few people need."""
    fields = declared_fields(kind)
    names = {field.name for field in fields}
    usual = [one for one in fields if one.has(Door.COMMAND) and one.name not in _NOT_USUAL]
    own = [field for field in usual if not field.has(Door.PYTHON)]
    if not kind.needs_log:
        form = options.form(kind.forms, kind.wide_adds)
        return [*map(_option, usual), form, *([options.assume] if "assume" in names else [])]
    found = [
        *(_option(field) for field in usual if field.is_required),
        options.log,
        *_usual(kind, [one for one in usual if not one.is_required and one not in own]),
        "jobs" in names and options.jobs,
        kind.exit_code and click.option("--exit-code", help=kind.exit_code, is_flag=True),
        *map(_option, own),
        kind.is_drawn and options.plot,
        options.form(kind.forms or ("table|wide|json|yaml" if kind.is_table else _TEXT)),
        kind.is_table and options.no_headers,
        "assume" in names and options.assume,
        options.as_known_at,
        "strict" in names and options.strict,
        options.cluster,
        options.branch,
    ]
    return [option for option in found if option]


def _usual(kind: Kind, fields: Sequence[DeclaredField]) -> Iterator[Callable[[Any], Any]]:
    """Yield the options of fields; files in place of a log follow the configuration."""
    for field in fields:
        yield _option(field)
        if field.name == "conf" and kind.reads_inputs:
            yield options.inputs


def _option(field: DeclaredField) -> Callable[[Any], Any]:
    """Return the option of a field, or its argument."""
    about = field.about
    if field.is_argument:
        return _argument(field)
    name = about.name or field.name
    names = [f"--{name.replace('_', '-')}", *([f"-{about.short}"] if about.short else [])]
    if field.of is bool:
        hidden = about.is_hidden
        return click.option(*names, field.name, help=about.help, is_flag=True, hidden=hidden)
    if field.of is int and not about.metavar:
        return click.option(*names, field.name, help=about.help, count=True)
    shown: dict[str, Any] = {"metavar": about.metavar, "help": about.help}
    if about.repeatable:
        shown["help"] += " Repeatable, to compare."
    if field.of is int:
        shown["type"] = click.IntRange(about.least, about.most)
    if about.choices:
        shown["callback"] = _one_of(name, about.choices)
    if field.is_required:
        return click.option(*names, field.name, required=True, **shown)
    if field.many or about.repeatable:
        return click.option(*names, field.name, multiple=True, **shown)
    is_shown = field.default not in {None, ""} and "by default" not in about.help
    return click.option(*names, field.name, default=field.default, show_default=is_shown, **shown)


def _argument(field: DeclaredField) -> Callable[[Any], Any]:
    """Return the argument of a field, which a command takes without a name."""
    about = field.about
    given: dict[str, Any] = {"metavar": about.metavar, "help": about.help}
    if about.in_words:
        text = f"{about.help.removesuffix('.')}; KIND NAME works too."
        given |= {"help": text, "nargs": -1, "required": True}
    if not field.is_required:
        given |= {"default": field.default, "required": False}
    if field.many:
        given["nargs"] = -1
    return click.argument(field.name, **given)


def _one_of(name: str, choices: Sequence[str]) -> Callable[..., Any]:
    """Return what refuses values of an option that are none of some."""

    def check(_ctx: click.Context, _option: click.Parameter, given: Sequence[str]) -> Sequence[str]:
        for value in given:
            if value not in choices:
                known = f"{', '.join(choices[:-1])} or {choices[-1]}"
                raise click.BadParameter(f"no {name} {value!r}; choose {known}")
        return given

    return check


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
        for text in question.remarks(log):
            note(text)
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
    unknown: Sequence[Unknown] = ()
    if ready.warns:
        bare, strict = ready.needs_conf, ready.strict
        unknown = warn_sessions(log, moment, ready.unknown(log), unconfigured=bare, strict=strict)
    ready.check(log)
    for text in ready.remarks(log):
        note(text)
    if place:
        store_beliefs(place, log, moment, ready.caches)
    if ready.work:
        with counting(ready.work, visible=shows_progress()) as progress:
            ready = msgspec.structs.replace(ready, progress=progress)
            found = ready.answer(log)
    else:
        found = ready.answer(log)
    refuse_own_panic(ready.sessions(found), unknown)
    return ready, found


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
    if is_document:
        document = question.document(found)
        if assumed:
            document = {**plain(document), **assumed}
        if form.output == "json":
            sys.stdout.write(json_text(document, indent=2) + "\n")
        else:
            write_yaml(sys.stdout, [plain(document)], single=True)
    elif form.output in REVIEWS:
        write_review(question.review(found), form.output)
    else:
        if question.is_table:
            _write_tables(question, found, no_headers=form.no_headers)
        else:
            write_lines(question.lines(found, style()))
        for text in question.beside_lines(found):
            sys.stdout.flush()
            note(text)


def _write_tables(question: Question[Any], found: Any, *, no_headers: bool) -> None:
    """Write tables for people; of empty ones, say so in a note."""
    from ..render.short_names import short
    from ..render.tables import write_table

    fitted, separator = style(), ""
    nothing = question.nothing(found)
    for table in question.tables(found, fitted):
        if table.rows or nothing is None:
            shown = table if fitted.wide else short(table)
            sys.stdout.write(separator)
            write_table(sys.stdout, shown, no_headers=no_headers, style=fitted)
            separator = "\n"
    if nothing and not separator:
        note(nothing)


def _draw(question: Question[Any], found: Any, log: Log, place: str) -> None:
    from .pictures import write_answer_plot, write_plot

    asked = question.drawing(log)
    if asked is None:
        write_answer_plot(log, place, found, getattr(question, "at", None))
    else:
        write_plot(log, place, asked)
