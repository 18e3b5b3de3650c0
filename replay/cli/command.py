"""How a function with options becomes a command of ``plinian``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import click

from .examples import epilog_of
from .shell import guarded

LINE = 100
"""The longest sentence in a list of commands; longer ones are cut."""


def command(name: str, *, hidden: bool = False) -> Callable[[Callable[..., None]], click.Command]:
    """Make a function a command: its docstring is the help, and it ends as a shell expects.

    :param name: the full name, as in ``release list``; its examples are at the end of the help.
    """

    def make(function: Callable[..., None]) -> click.Command:
        last = name.rpartition(" ")[2]
        return click.command(last, epilog=epilog_of(name), hidden=hidden)(guarded(function))

    return make


class Group(click.Group):
    """A command that has commands; its help lists them in their order, with whole sentences."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; without any, help is what was asked for, as with kubectl."""
        return super().parse_args(ctx, args or (["--help"] if self.no_args_is_help else []))

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Return the names of the commands in their order."""
        return list(self.commands)

    def summaries(self) -> Mapping[str, str]:
        """Return the first sentence of each command's help, by name."""
        return {name: one.get_short_help_str(LINE) for name, one in self.commands.items()}

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.summaries().items()))


def group_command(
    name: str, function: Callable[..., None], end: str | None, *commands: click.Command
) -> click.Command:
    """Return a function as a command that also has commands, as ``session`` has ``list``.

    :param function: it ends as a shell expects. :param end: of the help.
    """

    @wraps(function)
    def run(**given: Any) -> None:
        if click.get_current_context().invoked_subcommand is None:
            function(**given)

    made = click.group(name, cls=Group, epilog=end, invoke_without_command=True)(run)
    for one in commands:
        made.add_command(one)
    return made


def group(name: str, about: str, *commands: click.Command) -> Group:
    """Return a command that has commands, as ``release`` has ``list`` and ``show``."""
    return Group(name, list(commands), help=about, no_args_is_help=True, epilog=epilog_of(name))
