"""The skills for agents as tests read them: what a SKILL.md says, and what it names."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tree import ROOT

FOLDER = ROOT / "skills"
PLACEHOLDER = re.compile(r"(?<![\w-])[A-Z]{2,}(?![\w-])")
"""A word that an agent replaces."""

_FRONT = re.compile(r"---\n(.*?)\n---\n\n(.*)", re.DOTALL)
_SPAN = re.compile(r"`([^`\n]+)`")
_CALL = re.compile(r"([a-z_]+) (\{.*\})")
_STEP = re.compile(r"^\| (\d+)\. [^|]+\|([^|]*)\|([^|]*)\|$", re.MULTILINE)


class Call(NamedTuple):
    """A tool with its arguments, in which words may have to be replaced."""

    tool: str
    arguments: dict[str, Any]

    def filled(self, words: Mapping[str, str]) -> Call:
        """Return the call with the words of a person."""
        return Call(self.tool, _filled(self.arguments, words))


class Step(NamedTuple):
    """A question of a skill: the tool and the command that answer it; either may be missing."""

    number: int
    call: Call | None
    command: str | None


class Skill(NamedTuple):
    """A skill.

    :param front: its front matter. :param text: what follows.
    """

    name: str
    front: dict[str, Any]
    text: str

    @property
    def spans(self) -> list[str]:
        """Return all that stands in backquotes."""
        return _SPAN.findall(self.text)

    @property
    def commands(self) -> list[str]:
        """Return the commands that it names."""
        return [span for span in self.spans if span.startswith("plinian ")]

    @property
    def calls(self) -> list[Call]:
        """Return the calls of tools that it names."""
        return [call for call in map(call_of, self.spans) if call is not None]

    @property
    def steps(self) -> list[Step]:
        """Return its questions in their order."""
        return [
            Step(int(number), _first_call(tool), _first_command(command))
            for number, tool, command in _STEP.findall(self.text)
        ]

    def section(self, heading: str) -> str:
        """Return the text below a heading."""
        (found,) = re.findall(
            rf"^## {heading}\n\n(.*?)(?=^## |\Z)", self.text, re.MULTILINE | re.DOTALL
        )
        return str(found)


def names() -> list[str]:
    """Return the names of all skills: those of their folders."""
    return sorted(path.name for path in FOLDER.iterdir())


@cache
def skill(name: str) -> Skill:
    """Return a skill."""
    text = Path(FOLDER, name, "SKILL.md").read_text("utf-8")
    found = _FRONT.fullmatch(text)
    assert found, f"{name}: no front matter"
    return Skill(name, yaml.safe_load(found[1]), found[2])


def call_of(span: str) -> Call | None:
    """Return the call that a text is; None if it is none."""
    found = _CALL.fullmatch(span)
    return None if found is None else Call(found[1], json.loads(found[2]))


def filled(text: str, words: Mapping[str, str]) -> str:
    """Return a text with the words of a person.

    :raises KeyError: there is none for a placeholder.
    """
    return PLACEHOLDER.sub(lambda found: words[found[0]], text)


def arguments_of(command: str, words: Mapping[str, str]) -> list[str]:
    """Return the arguments of a command, with the words of a person."""
    return [filled(part, words) for part in shlex.split(command)[1:]]


def placeholders(text: str) -> Iterator[str]:
    """Yield the words of a command or of a call that an agent replaces."""
    yield from PLACEHOLDER.findall(text)


def _filled(value: Any, words: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return filled(value, words)
    if isinstance(value, list):
        return [_filled(one, words) for one in value]
    if isinstance(value, dict):
        return {name: _filled(one, words) for name, one in value.items()}
    return value


def _first_call(cell: str) -> Call | None:
    return next((call for call in map(call_of, _SPAN.findall(cell)) if call), None)


def _first_command(cell: str) -> str | None:
    return next((span for span in _SPAN.findall(cell) if span.startswith("plinian ")), None)
