"""What a skill says is short, names only what exists, and is found by the words of a person."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from command_lines import commands, misnamed, options_of

from plinian.engine.events.kinds import KINDS
from plinian.engine.session.plugins import BUILDERS
from plinian.replay.server.api.answer import Answer
from plinian.replay.server.mcp.tools import tools_of
from plinian.replay.server.settings import ServerSettings
from skills import PLACEHOLDER, Skill, call_of, names, placeholders, skill
from tree import ROOT

TOOLS = {tool.name: tool for tool in tools_of(ServerSettings("no.db"))}
FIELDS = json.loads((ROOT / "tests/server/api/documents-v1.json").read_text("utf-8"))
"""The types of the fields of all answers, by their paths and by the question."""

ENVELOPE = set(Answer.__struct_encode_fields__)
OF_LACKS = {"by", "actor", "remedy", "release", "cursor", "limit"}
"""What the shared part names: fields and parameters that many tools have, and not all."""


def every_skill() -> list[Skill]:
    """Return all skills."""
    return [skill(name) for name in names()]


@pytest.mark.parametrize("name", names())
def test_its_front_matter_is_in_the_open_form(name: str) -> None:
    front = skill(name).front
    assert set(front) == {"name", "description"}
    assert front["name"] == name
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
    assert len(name) <= 64
    assert 0 < len(front["description"]) <= 1024
    assert "Plinian" in front["description"]
    assert " Use when " in front["description"]


@pytest.mark.parametrize("name", names())
def test_it_is_short_as_it_is_loaded_whole(name: str) -> None:
    raw = Path(ROOT, "skills", name, "SKILL.md").read_text("utf-8")
    assert len(raw) < 6_000
    assert max(map(len, skill(name).section("Read the answer").splitlines())) <= 500


def unknown_commands(one: Skill) -> list[str]:
    """Return what the command lines and options of a skill name that does not exist."""
    known = {option for command in commands().values() for option in options_of(command)}
    written = [span.split()[0] for span in one.spans if span.startswith("-")]
    faults = [fault for line in one.commands for fault in misnamed(line)]
    return faults + [option for option in written if option not in known]


def unknown_calls(one: Skill) -> list[str]:
    """Return the calls of a skill that a tool does not take."""
    return [
        f"{call.tool} {call.arguments}"
        for call in one.calls
        if call.tool not in TOOLS or not takes(TOOLS[call.tool].input_schema, call.arguments)
    ]


def takes(schema: dict[str, Any], arguments: dict[str, Any]) -> bool:
    """Say whether a tool takes some arguments."""
    return bool(jsonschema.Draft202012Validator(schema).is_valid(arguments))


def types_of(tools: Iterable[str]) -> dict[str, str]:
    """Return the types of the fields of some tools' answers by their paths."""
    found: dict[str, str] = {}
    for tool in tools:
        found |= FIELDS[tool.replace("_", "-")]
    return found


def unknown_field(span: str, types: dict[str, str]) -> bool:
    """Say whether a path such as ``result.stages[].since`` is no field, or is no list."""
    path = span.removeprefix("result.")
    kind = types.get(path.removesuffix("[]"))
    return kind is None or path.endswith("[]") != kind.startswith("[")


def unknown_names(one: Skill) -> list[str]:
    """Return what a skill has in backquotes that nothing is called."""
    tools = {call.tool for call in one.calls if call.tool in TOOLS}
    types = types_of(tools)
    parameters = {name for tool in tools for name in TOOLS[tool].input_schema["properties"]}
    fields = {re.split(r"[.\[{]", path.rstrip("[]{}"))[-1] for path in types}
    known = {*TOOLS, *parameters, *fields, *ENVELOPE, *OF_LACKS, *names(), *BUILDERS}
    known |= set(KINDS)
    return [span for span in one.spans if is_unknown(span, known, types)]


def is_unknown(span: str, known: set[str], types: dict[str, str]) -> bool:
    """Say whether a text in backquotes is none of what a skill may name."""
    if span.startswith(("plinian ", "-")) or call_of(span) or PLACEHOLDER.fullmatch(span):
        return False
    return unknown_field(span, types) if span.startswith("result.") else span not in known


LAWS = (unknown_commands, unknown_calls, unknown_names)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", names())
def test_every_command_tool_and_field_that_it_names_exists(
    name: str, law: Callable[[Skill], list[str]]
) -> None:
    assert law(skill(name)) == []


@pytest.mark.parametrize(
    ("law", "right", "wrong"),
    [
        (unknown_commands, "`plinian why OBJECT", "`plinian whence OBJECT"),
        (unknown_commands, "--what-would-help", "--what-helps"),
        (unknown_commands, "`--release`", "`--releese`"),
        (unknown_calls, '`why {"object"', '`whence {"object"'),
        (unknown_calls, '`why {"object"', '`why {"objekt"'),
        (unknown_calls, '"number": "idle.RESOURCE"', '"number": ["idle.RESOURCE"]'),
        (unknown_names, "`result.sentence`", "`result.sentense`"),
        (unknown_names, "`result.chain[]`", "`result.chain`"),
        (unknown_names, "`result.waits`", "`result.waits[]`"),
        (unknown_names, "`not_known`", "`unknown`"),
    ],
)
def test_a_name_that_does_not_exist_is_noticed(
    law: Callable[[Skill], list[str]], right: str, wrong: str
) -> None:
    good = skill("why-pending")
    assert right in good.text
    assert law(good._replace(text=good.text.replace(right, wrong)))


@pytest.mark.parametrize("name", names())
def test_every_word_to_replace_is_explained(name: str) -> None:
    one = skill(name)
    asked = [*one.commands, *(json.dumps(call.arguments) for call in one.calls)]
    used = {word for text in asked for word in placeholders(text)}
    assert used - {span for span in one.spans if PLACEHOLDER.fullmatch(span)} == set()


@pytest.mark.parametrize("name", names())
def test_every_step_names_a_command_and_a_tool_or_says_that_there_is_none(name: str) -> None:
    steps = skill(name).steps
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    assert all(step.command for step in steps)
    assert steps[0].call
    rows = [line for line in skill(name).text.splitlines() if re.match(r"\| \d+\. ", line)]
    without = [line for line, step in zip(rows, steps, strict=True) if step.call is None]
    assert all("| no tool |" in line or "` of " in line for line in without)


def test_what_all_skills_have_in_common_is_the_same_in_all() -> None:
    """Whoever mends it in one mends it in all."""
    asking = {one.section("Ask").partition("\n\n")[0] for one in every_skill()}
    lacks = {
        one.section("If the log lacks something").rpartition("- `not_known`")[2]
        for one in every_skill()
    }
    assert (len(asking), len(lacks)) == (1, 1)
    assert all("capitals:" in text for text in asking)
    assert all("`assumed`" in text and "`actor`" in text for text in lacks)


@pytest.mark.parametrize("name", names())
def test_its_sections_are_in_one_order(name: str) -> None:
    headings = re.findall(r"^## (.*)$", skill(name).text, re.MULTILINE)
    assert headings == ["Ask", "Read the answer", "Say", "If the log lacks something"]
