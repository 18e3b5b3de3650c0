"""Which commands ``plinian`` has; each is a module that is imported when the command is needed.

So no command waits for another's imports, and help and completion wait for none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Any, cast

import click

from ..questions.table import QUESTIONS, question_named
from .absent_commands import absent
from .arguments import arranged, options_of
from .command import Group
from .shell import fail

_LISTED: Mapping[str, str] = MappingProxyType(
    {
        "ingest": "Append files, folders and archives to a log.",
        "record": "Record a live cluster into the log, until it is stopped.",
        "status": "Show what a log holds and lacks.",
        "overview": QUESTIONS["overview"].help,
        "events": "List the events of the log.",
        "get": "Show objects as they were at a moment.",
        "describe": "Describe objects as they were at a moment.",
        "history": QUESTIONS["history"].help,
        "diff": QUESTIONS["diff"].help,
        "digest": "Print the digest of the state at a moment.",
        "belief": QUESTIONS["belief"].help,
        "drift": QUESTIONS["drift"].help,
        "check": QUESTIONS["check"].help,
        "session": QUESTIONS["session"].help,
        "fidelity": QUESTIONS["fidelity"].help,
        "bisect": QUESTIONS["bisect"].help,
        "why": QUESTIONS["why"].help,
        "path": QUESTIONS["path"].help,
        "shares": QUESTIONS["shares"].help,
        "blame": QUESTIONS["blame"].help,
        "what-if": QUESTIONS["what-if"].help,
        "try": QUESTIONS["try"].help,
        "upgrade-check": QUESTIONS["upgrade-check"].help,
        "simulate": "Run scenarios as releases of Volcano would run them.",
        "explore": "Search for an order of a cluster's steps that ends badly.",
        "step": "Walk through a run of a scenario by hand, one step at a time, forward and back.",
        "lint": "Check queues, jobs and configurations before applying them.",
        "release": "List, show and compare releases of Volcano.",
        "verify": "Check that the log has not changed since it was written.",
        "head": "Print the hash of the end of each branch.",
        "pack": "Write the part of a log around a moment to one file, to send it to somebody.",
        "open": "Check a pack, run its session again, and compare with the expected answer.",
        "report": "Write all answers about one moment as one HTML page.",
        "export": "Write events, or the state over time or at a moment, for other programs.",
        "plot": "Draw the log over time, to a file or in the terminal.",
        "serve": "Serve the past over HTTP: a page for browsers, an API for programs and kubectl.",
        "mcp": "Answer the questions of agents about a log, by the Model Context Protocol.",
        "kubeconfig": "Write a kubeconfig for the Kubernetes API of plinian serve: two contexts "
        "for each moment.",
        "play": "Steer the moment that plinian serve serves to kubectl and other clients.",
        "branch": "Create and list branches of a log.",
        "checkpoint": "Build, list, drop stored states, which make commands faster.",
        "db": "Upgrade, downgrade, describe a log's tables.",
        "demo": "Look at an incident in a real recording.",
        "completion": "Print a completion script for a shell.",
        "version": "Print versions: Plinian, Python, platform.",
    }
)
COMMANDS: Mapping[str, str] = MappingProxyType(
    {**_LISTED, **{name: question.help for name, question in QUESTIONS.items() if question.help}}
)
"""The commands that help lists, each with the first sentence of its help."""

COMPLETE = "__complete"
"""The hidden command that shells run to complete a word."""

_FIRST_PAGE = "__first_page"
"""The hidden command of ``plinian`` alone, and of options that say which log."""

_HIDDEN: Mapping[str, tuple[str, str]] = MappingProxyType(
    {COMPLETE: ("completion", "candidates"), _FIRST_PAGE: ("first_page", "first_page")}
)
"""The commands that help does not list, each with its module and its name there."""


class CommandTable(Mapping[str, click.Command]):
    """Commands by name; ``what-if`` is ``what_if`` in the module of that name."""

    def __init__(self) -> None:
        self._made: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._made:
            if name not in self:
                raise KeyError(name)
            self._made[name] = self._command(name)
        return self._made[name]

    def _command(self, name: str) -> click.Command:
        if name in QUESTIONS:
            from .question_command import command_of

            below = [
                question_name for question_name, listed in QUESTIONS.items() if listed.under == name
            ]
            return command_of(question_named(name), *map(question_named, below))
        attribute = name.replace("-", "_")
        module, attribute = _HIDDEN.get(name, (attribute, attribute))
        return cast("click.Command", getattr(import_module(f".{module}", __package__), attribute))

    def __contains__(self, name: object) -> bool:
        return name in COMMANDS or name in _HIDDEN

    def __iter__(self) -> Iterator[str]:
        yield from (*COMMANDS, *_HIDDEN)

    def __len__(self) -> int:
        return len(COMMANDS) + len(_HIDDEN)


class Commands(Group):
    """The program: it imports a command when it is named, and reads arguments as kubectl does."""

    def __init__(self, name: str | None = None, **attributes: Any) -> None:
        super().__init__(name, **attributes)
        self.commands = CommandTable()  # type: ignore[assignment] # click only reads it

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments, in the order and form that the parser expects."""
        return super().parse_args(ctx, arranged(self, args) or self._first_page(args))

    def _first_page(self, args: Sequence[str]) -> list[str]:
        """Return what runs without a command: the first page, or help for other options."""
        words = arranged(self, [_FIRST_PAGE, *args])
        known = options_of(self.commands[_FIRST_PAGE])
        options = (word.partition("=")[0] for word in words[1:] if word.startswith("-"))
        return words if all(option in known for option in options) else ["--help"]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that arguments name; of one that kubectl has, say what is instead."""
        fault = absent(args[0])
        if fault is not None:
            fail(fault)
        return super().resolve_command(ctx, args)

    def summaries(self) -> Mapping[str, str]:
        """Return :data:`COMMANDS`: help of the program imports no command."""
        return COMMANDS
