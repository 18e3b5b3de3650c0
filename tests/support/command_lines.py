"""The commands and options of the command line, and command lines that name others."""

from __future__ import annotations

import re
import shlex
from functools import cache
from typing import Any

import reference
from plinian.replay.cli.arguments import arranged


@cache
def commands() -> dict[str, Any]:
    """Return every command of the command line by its full name."""
    return dict(reference.walk(reference.command_tree()))


def options_of(command: Any) -> set[str]:
    """Return how the options of a command are written, long and short."""
    return {
        written
        for item in command.params
        if item.param_type_name == "option"
        for written in (*item.opts, *item.secondary_opts)
    }


def misnamed(line: str) -> list[str]:
    """Return what a command line names that the command line does not have."""
    words = shlex.split(re.sub(r"\s[<>]\s.*|\s#.*|[…]", "", line))[1:]
    words = arranged(reference.command_tree(), words)
    plain = [word for word in words if not word.startswith("-")]
    written = {word.partition("=")[0] for word in words if re.match(r"--?[A-Za-z]", word)}
    if not plain or plain[0].isupper():
        return []
    name = " ".join(plain[:2]) if " ".join(plain[:2]) in commands() else plain[0]
    if name not in commands():
        return [f"no command {name}: {line}"]
    known = options_of(commands()[name]) | {"--help", "-h"}
    return [f"no option {option}: {line}" for option in sorted(written - known)]
