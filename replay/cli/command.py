"""How a function becomes a command of ``plinian``: its parameters declare its options."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from ..questions.fields import DeclaredField, declared_parameters
from .doubts import verbose_option
from .examples import epilog_of
from .shell import guarded, zone_option

LINE = 100
"""The longest sentence in a list of commands; longer ones are cut."""


def command(name: str, *, hidden: bool = False) -> Callable[[Callable[..., None]], click.Command]:
    """Make a function a command: its docstring is the help, and it ends as a shell expects.

    Parameters that it takes by position are arguments, the others options.

    :param name: the full name, as in ``release list``; its examples are at the end of the help.
    """

    def make(function: Callable[..., None]) -> click.Command:
        last, end = name.rpartition(" ")[2], epilog_of(name)
        params = [parameter_of(field) for field in declared_parameters(function)]
        params += [verbose_option()] * any(field.name == "log" for field in params)
        params.append(zone_option())
        made = click.command(last, cls=SingleCommand, params=params, epilog=end, hidden=hidden)
        return made(guarded(function))

    return make


class SingleCommand(click.Command):
    """A command that refuses an option whose last value would silently win."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments."""
        _refuse_repeated(self, ctx, args)
        return super().parse_args(ctx, args)


_MAY_STAND_BEFORE = frozenset({"log", "namespace", "cluster", "branch", "output", "out", "tz"})
"""Options that an alias of the program may have, which another value on the command line beats."""


def _refuse_repeated(command: click.Command, ctx: click.Context, args: list[str]) -> None:
    """Refuse several values of an option that takes one: several may compare in other commands.

    :raises click.BadParameter: an option has several.
    """
    _, _, order = command.make_parser(ctx).parse_args(args=list(args))
    for option, times in Counter(order).items():
        is_single = isinstance(option, click.Option) and not (
            option.multiple or option.count or option.is_flag
        )
        if times > 1 and is_single and option.name not in _MAY_STAND_BEFORE:
            message = f"it is given {times} times, and this command takes one value"
            raise click.BadParameter(message, ctx=ctx, param=option)


def parameter_of(field: DeclaredField) -> click.Parameter:
    """Return the argument or the option of a command that a field is."""
    about, name = field.about, field.about.name or field.name
    given: dict[str, Any] = {"metavar": about.metavar or None, "type": _type_of(field)}
    if about.choices:
        noun = "output form" if name == "output" else name.replace("_", " ")
        given["callback"] = _one_of(noun, about.choices)
        given["metavar"] = about.metavar or f"[{'|'.join(about.choices)}]"
    if field.is_argument:
        return _argument(field, given)
    option = f"--{name.replace('_', '-')}"
    names = [option, *([f"-{about.short}"] if about.short else []), field.name]
    if field.of is bool:
        given = {"is_flag": True, "default": field.default, "hidden": about.is_hidden}
        # Without a default the command sees whether the flag was given at all, so it has an
        # opposite.
        if field.default is None:
            names[0] = f"{option}/--no-{name}"
    # A number without a value is counted, as in -vv.
    elif field.of is int and not about.metavar:
        given = {"count": True}
    elif field.many or about.repeatable:
        given |= {"multiple": True, "required": field.is_required}
    elif field.is_required:
        given["required"] = True
    else:
        is_shown = field.default not in {None, ""} and "by default" not in about.help
        given |= {"default": field.default, "show_default": is_shown}
    if about.variable:
        given |= {"envvar": about.variable, "show_envvar": True}
    return click.Option(names, help=about.help + _TO_COMPARE * about.repeatable, **given)


_TO_COMPARE = " Repeatable, to compare."


def _type_of(field: DeclaredField) -> Any:
    """Return what reads a value of a field, as click has it."""
    least, most = field.about.least, field.about.most
    if field.of is Path:
        return click.Path(path_type=Path)
    if field.of is int and (least, most) != (None, None):
        return click.IntRange(least, most)
    return field.of if field.of is int else str


def _argument(field: DeclaredField, given: Mapping[str, Any]) -> click.Argument:
    """Return the argument of a field, which a command takes without a name.

    :param given: what options of a value have, too.
    """
    about, more = field.about, {}
    text = about.help
    if about.in_words:
        text = f"{about.help.removesuffix('.')}; KIND NAME works too."
    if field.many or about.in_words:
        more["nargs"] = -1
    elif not field.is_required:
        more["default"] = field.default
    return click.Argument(
        [field.name], required=field.is_required, help=text or None, **given, **more
    )


def _one_of(what: str, choices: Sequence[str]) -> Callable[..., Any]:
    """Return what refuses values that are none of some. :param what: they are, in words."""

    def check(_ctx: click.Context, _option: click.Parameter, given: Any) -> Any:
        for value in given if isinstance(given, tuple) else (given,):
            if value is not None and value not in choices:
                known = f"{', '.join(choices[:-1])} or {choices[-1]}"
                raise click.BadParameter(f"no {what} {value!r}; choose {known}")
        return given

    return check


class Group(click.Group):
    """A command that has commands; its help lists them in their order, with whole sentences."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; without any, help is what was asked for, as with kubectl."""
        if self.params:
            _refuse_repeated(self, ctx, args)
        return super().parse_args(ctx, args or (["--help"] if self.no_args_is_help else []))

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Return the names of the commands in their order."""
        return list(self.commands)

    def summaries(self) -> Mapping[str, str]:
        """Return the first sentence of each command's help, by name."""
        return {name: below.get_short_help_str(LINE) for name, below in self.commands.items()}

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.summaries().items()))


def group_command(
    name: str,
    function: Callable[..., None],
    params: list[click.Parameter],
    end: str | None,
    *commands: click.Command,
) -> click.Command:
    """Return a function as a command that also has commands, as ``session`` has ``list``.

    :param function: it ends as a shell expects. :param end: of the help.
    """

    def run(**given: Any) -> None:
        # With a command below it, click calls both; only the lower one is meant.
        if click.get_current_context().invoked_subcommand is None:
            function(**given)

    return Group(
        name,
        list(commands),
        invoke_without_command=True,
        params=params,
        callback=run,
        help=function.__doc__,
        epilog=end,
    )


def group(name: str, about: str, *commands: click.Command) -> Group:
    """Return a command that has commands, as ``release`` has ``list`` and ``show``."""
    return Group(name, list(commands), help=about, no_args_is_help=True, epilog=epilog_of(name))
