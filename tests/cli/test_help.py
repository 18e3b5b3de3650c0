"""Every command's help has an example that works, and a first line that fits."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import Result

import reference
from plinian.replay.cli.arguments import command_of
from plinian.replay.cli.examples import EXAMPLES
from plinian.replay.questions.table import QUESTIONS, question_named

Run = Callable[..., Result]

COMMANDS = dict(reference.walk(reference.command_tree()))
EVERY = ("", *COMMANDS)
EXAMPLES_OF = {
    **EXAMPLES,
    **{kind.command: kind.examples for kind in map(question_named, QUESTIONS) if kind.examples},
}
"""The examples of each command; questions declare their own."""


@pytest.mark.parametrize("name", EVERY)
def test_every_help_has_an_example_and_cuts_no_first_line(run: Run, name: str) -> None:
    result = run(*name.split(), "--help", env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"})
    assert result.exit_code == 0
    head, found, examples = result.stdout.partition("Example")
    assert found, "write an example in replay/cli/examples.py"
    assert "plinian" in examples
    listed = head.partition("Commands:\n")[2]
    assert not [line for line in listed.splitlines() if line.rstrip().endswith("...")]
    for line in EXAMPLES_OF[name]:
        assert f"  {line}\n" in result.stdout


@pytest.mark.parametrize("name", ["db", "release"])
def test_a_command_that_needs_another_shows_its_whole_help(run: Run, name: str) -> None:
    bare, asked = run(*name.split()), run(*name.split(), "--help")
    assert (bare.exit_code, bare.stdout, bare.stderr) == (0, asked.stdout, "")


def names_in_braces(text: str) -> list[str]:
    """Return what would be a value, had the string in the code its prefix ``f``."""
    return re.findall(r"\{\w+\}", text)


@pytest.mark.parametrize("name", EVERY)
def test_no_help_prints_the_name_of_a_value_in_place_of_the_value(run: Run, name: str) -> None:
    assert names_in_braces(run(*name.split(), "--help").stdout) == []


def test_the_name_of_a_value_in_a_help_would_be_found() -> None:
    assert names_in_braces("else {_SAMPLE} of the moments, as in {.status.phase}") == ["{_SAMPLE}"]


def test_a_first_line_that_is_too_long_would_be_noticed() -> None:
    command: Any = COMMANDS["get"]
    assert command.get_short_help_str(20).endswith("...")


def test_no_example_is_of_a_command_that_is_not_there() -> None:
    assert set(EXAMPLES_OF) == set(EVERY)


@pytest.mark.parametrize(
    ("name", "line"), [(name, line) for name, lines in EXAMPLES_OF.items() for line in lines]
)
def test_an_example_names_its_command_and_options_that_it_has(name: str, line: str) -> None:
    words = shlex.split(line.replace("<(", " "))
    rest = words[words.index("plinian") + 1 :]
    command, path, given = command_of(reference.command_tree(), [w.strip(")") for w in rest])
    assert not name or " ".join(path) == name or name in " ".join(path)
    known = {written for item in command.params for written in (*item.opts, *item.secondary_opts)}
    options = [word for word in given if word[:1] == "-" and word.lstrip("-")[:1].isalpha()]
    assert [word for word in options if word not in known] == []
