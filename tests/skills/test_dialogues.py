"""An agent that does what a skill says finds out what is the case, with commands and with tools."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from agent_dialogues import DIALOGUES, FILES, Dialogue
from asking_tools import ask
from click.testing import Result
from mcp.client.client import Client

from skills import Step, arguments_of, names, skill

Terminal = Callable[..., Result]
"""Runs a command on a log."""

CODES = {"lint": {0, 1}, "bisect": {0, 1}}
"""The exit codes of commands that an answer has; others have 0."""


def asked(dialogue: Dialogue) -> Iterator[tuple[Step, tuple[str, ...]]]:
    """Yield the steps of a dialogue with what their answers must have."""
    for step in skill(dialogue.skill).steps:
        if step.number in dialogue.facts:
            yield step, dialogue.facts[step.number]


def title(dialogue: Dialogue) -> str:
    """Return how a test is called."""
    return f"{dialogue.skill}-{dialogue.log}"


@pytest.mark.slow
@pytest.mark.parametrize("dialogue", DIALOGUES, ids=title)
def test_the_commands_of_a_skill_find_the_facts(
    dialogue: Dialogue, logs: Mapping[str, Path], terminal: Terminal
) -> None:
    for name, text in FILES.items():
        Path(name).write_text(text)
    for step, facts in asked(dialogue):
        assert step.command
        words = arguments_of(step.command, dialogue.words)
        done = terminal(logs[dialogue.log], *words)
        said = f"{' '.join(words)}\n{done.stdout}\n{done.stderr}"
        assert done.exit_code in CODES.get(words[0], {0}), said
        assert [fact for fact in facts if fact not in said.partition("\n")[2]] == [], said


@pytest.mark.slow
@pytest.mark.parametrize("dialogue", DIALOGUES, ids=title)
def test_the_tools_of_a_skill_find_the_same_facts(
    dialogue: Dialogue, logs: Mapping[str, Path]
) -> None:
    calls = [
        (step.call.filled(dialogue.words), facts) for step, facts in asked(dialogue) if step.call
    ]

    async def answers(client: Client) -> list[Any]:
        return [await client.call_tool(*call) for call, _ in calls]

    for (call, facts), found in zip(calls, ask(logs[dialogue.log], answers), strict=True):
        said = found.content[0].text
        assert not found.is_error, f"{call}: {said}"
        assert [fact for fact in facts if fact not in said] == [], f"{call}: {said}"


def test_every_step_of_every_skill_is_asked() -> None:
    done = {(one.skill, number) for one in DIALOGUES for number in one.facts}
    assert done == {(name, step.number) for name in names() for step in skill(name).steps}


def test_a_tool_that_is_named_in_passing_is_asked_in_a_step_of_some_skill() -> None:
    steps = [step.call for name in names() for step in skill(name).steps]
    in_steps = {call.tool for call in steps if call is not None}
    assert {call.tool for name in names() for call in skill(name).calls} == in_steps


SAID = [(one.skill, text) for one in DIALOGUES for text in one.says]
_STOP = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "for",
        "from",
        "has",
        "have",
        "how",
        "i",
        "if",
        "in",
        "is",
        "it",
        "its",
        "me",
        "my",
        "of",
        "on",
        "or",
        "our",
        "that",
        "the",
        "their",
        "this",
        "to",
        "us",
        "was",
        "we",
        "were",
        "what",
        "when",
        "which",
        "who",
        "why",
        "with",
        "would",
        "you",
    ]
)


def words_of(text: str) -> set[str]:
    """Return the words of a text that mean something, without the endings of plurals."""
    found = re.findall(r"[a-z]+", text.lower())
    return {re.sub(r"(?<=[a-z]{3})s$", "", word) for word in found if word not in _STOP}


def chosen(text: str) -> list[str]:
    """Return the skills whose descriptions have most in common with a text.

    A word counts the more, the fewer descriptions have it.
    """
    described = {name: words_of(skill(name).front["description"]) for name in names()}
    having = Counter(word for words in described.values() for word in words)
    said = words_of(text)
    scores = {
        name: sum(math.log(len(described) / having[word]) for word in sorted(words & said))
        for name, words in described.items()
    }
    best = max(scores.values())
    return [name for name, score in scores.items() if score == best]


@pytest.mark.parametrize(("name", "text"), SAID)
def test_the_words_of_a_person_lead_to_the_skill(name: str, text: str) -> None:
    assert chosen(text) == [name]
