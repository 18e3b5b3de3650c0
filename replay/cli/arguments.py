"""Arguments in kubectl's style, rearranged for the command line's parser.

kubectl's options are those of pflag: ``-n=ml``, ``-nml`` and ``-n ml`` are the same, a flag may
have a value (``--no-headers=false``), and options may stand before the command they belong to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import click

_SPAN = re.compile(r"-\d+(?:\.\d+)?(?:d|h|ms|us|µs|m|s)(?:\d+(?:\.\d+)?(?:d|h|ms|us|µs|m|s))*")

_TRUTHS: Mapping[str, bool] = MappingProxyType(
    dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True)
    | dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False)
)
"""The values that a flag may have, as in Go's strconv.ParseBool."""

_HELP = frozenset({"-h", "--help"})

Options = Mapping[str, Any]
"""Options by how they are written, as in ``-o`` and ``--output``."""


def arranged(root: Any, arguments: Sequence[str]) -> list[str]:
    """Return arguments with the command first, and each value apart from its option.

    ``help get`` is ``get --help``. What no command knows stays as it is; the parser reports it.

    :raises click.BadParameter: a flag has a value that is neither true nor false.
    """
    command, rest = root, list(arguments)
    if rest[:1] == ["help"]:
        rest = [*rest[1:], "--help"]
    path: list[str] = []
    before: list[str] = []
    while rest and hasattr(command, "commands"):
        word = rest[0]
        if word in command.commands:
            command = command.commands[word]
            path.append(rest.pop(0))
        # Help needs nothing of what follows; a command that runs alone reads its options itself.
        elif word in _HELP or (word in options_of(command) and not runs_alone(command)):
            return [*path, word]
        # No command has this name: what follows stays as it is, for the parser's message.
        elif not _is_option(word):
            return [*path, *rest, *before]
        else:
            # All commands load for an option that may be of any; mostly it is one of this command.
            options = _options_below(command) if path else {}
            if _option(word, options) is None:
                options = _options_below(root)
            if _option(word, options) is None:
                return [*path, *rest, *before]
            taken = 2 if _takes_value(word, options) else 1
            before += rest[:taken]
            del rest[:taken]
    # A group cannot run: its help is shown, whatever options were given.
    if hasattr(command, "commands") and not runs_alone(command):
        return path
    return [*path, *_separated([*before, *rest], options_of(command))]


def runs_alone(command: Any) -> bool:
    """Return whether a command that has commands also does something without one of them."""
    return bool(getattr(command, "invoke_without_command", False)) and len(command.params) > 0


def command_of(root: Any, arguments: Sequence[str]) -> tuple[Any, list[str], list[str]]:
    """Return the command that arguments name, its name, and what is left of them.

    For completion: arguments may end in the middle of something.
    """
    try:
        rest = arranged(root, arguments)
    except click.BadParameter:
        rest = list(arguments)
    command, path = root, []
    while rest and hasattr(command, "commands") and rest[0] in command.commands:
        command = command.commands[rest[0]]
        path.append(rest.pop(0))
    return command, path, rest


def options_of(command: Any) -> dict[str, Any]:
    """Return a command's options by how they are written."""
    return {
        written: item
        for item in command.params
        if item.param_type_name == "option"
        for written in (*item.opts, *item.secondary_opts)
    }


def _options_below(group: Any) -> Options:
    """Return the options of all commands of a group, and its own if it runs without one of them.

    A test checks that an option is the same in each.
    """
    options: dict[str, Any] = options_of(group) if runs_alone(group) else {}
    for command in group.commands.values():
        options |= _options_below(command) if hasattr(command, "commands") else options_of(command)
    return options


def _is_option(word: str) -> bool:
    return len(word) > 1 and word[0] == "-" and word != "--" and not _SPAN.fullmatch(word)


def _option(word: str, options: Options) -> Any:
    """Return the option that a word begins with, or None."""
    return options.get(word.partition("=")[0] if word.startswith("--") else word[:2])


def _takes_value(word: str, options: Options) -> bool:
    """Return whether the value of the last option in a word is the next word."""
    if word.startswith("--"):
        return "=" not in word and not is_flag(options[word])
    for place, letter in enumerate(word[1:], start=1):
        item = options.get(f"-{letter}")
        if item is None or letter == "=":
            return False
        if not is_flag(item):
            return place == len(word) - 1
    return False


def is_flag(item: Any) -> bool:
    """Return whether an option has no value; one that is counted, as in ``-vv``, has none."""
    return bool(item.is_flag or item.count)


def _separated(arguments: Sequence[str], options: Options) -> Iterator[str]:
    """Yield arguments with every value separated from its option, and points marked.

    A point such as ``-5m`` gets a space before it: white space is stripped when it is read, and a
    word that begins with a space is not an option.
    """
    rest = iter(arguments)
    for word in rest:
        if word == "--":
            yield word
            yield from rest
        elif _SPAN.fullmatch(word):
            yield f" {word}"
        elif word.startswith("--"):
            yield from _long(word, rest, options)
        elif _is_option(word):
            yield from _letters(word[1:], rest, options)
        else:
            yield word


def _long(word: str, rest: Iterator[str], options: Options) -> Iterator[str]:
    name, equals, value = word.partition("=")
    item = options.get(name)
    if item is not None and is_flag(item) and equals:
        yield from _flag(item, name, value)
        return
    yield word
    if item is not None and not is_flag(item) and not equals:
        yield from _next(rest)


def _letters(letters: str, rest: Iterator[str], options: Options) -> Iterator[str]:
    """Yield the options of a word such as ``-Ao=json``: flags, then possibly one with a value."""
    while letters:
        item = options.get(f"-{letters[0]}")
        if item is None:
            yield f"-{letters}"
            return
        name, letters = f"-{letters[0]}", letters[1:]
        if is_flag(item) and letters.startswith("="):
            yield from _flag(item, name, letters[1:])
            return
        yield name
        if not is_flag(item):
            yield from (letters.removeprefix("="),) if letters else _next(rest)
            return


def _next(rest: Iterator[str]) -> Iterator[str]:
    """Yield the value that is a separate word; it may have any form."""
    for value in rest:
        yield value
        return


def _flag(item: Any, name: str, value: str) -> Iterator[str]:
    """Yield a flag without its value: the flag, its opposite, or nothing."""
    if value not in _TRUTHS:
        raise click.BadParameter(f"{name}={value}: a flag is true or false")
    if _TRUTHS[value]:
        yield name
    elif name not in item.secondary_opts:
        yield from item.secondary_opts[:1]
    else:
        yield item.opts[0]
