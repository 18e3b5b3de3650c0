"""What a tool says of itself leads an agent to it, and names nothing that agents do not have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from asking_tools import ask

from pages import text_of
from plinian.replay.questions.fields import Door, PointText, declared_fields
from plinian.replay.questions.table import QUESTIONS, question_named
from plinian.replay.server.api.answer import Answer
from plinian.replay.server.api.table import BY_NAME
from plinian.replay.server.mcp.tools import INSTRUCTIONS, tools_of
from plinian.replay.server.settings import ServerSettings

TOOLS = {tool.name: tool for tool in tools_of(ServerSettings("no.db"))}
NAMED = re.compile(r"`([^`]+)`")


def texts() -> Iterator[tuple[str, str]]:
    """Yield the descriptions of all tools and of all their parameters, each with its place."""
    for name, tool in TOOLS.items():
        yield name, tool.description
        for parameter, schema in tool.input_schema["properties"].items():
            yield f"{name}.{parameter}", schema["description"]


@pytest.mark.parametrize(("place", "text"), list(texts()))
def test_no_text_names_an_option_of_the_command_line(place: str, text: str) -> None:
    assert re.findall(r"--[a-z]|[Pp]rints?\b", text) == [], place


def fields_of_answers(schema: dict[str, Any]) -> set[str]:
    """Return the names of all fields in a schema of an answer."""
    shapes = [schema, *schema["$defs"].values()]
    return {name for shape in shapes for name in shape.get("properties", {})}


@pytest.mark.parametrize("name", TOOLS)
def test_what_a_description_names_exists(name: str) -> None:
    tool = TOOLS[name]
    fields = fields_of_answers(tool.output_schema)
    known = {*TOOLS, *tool.input_schema["properties"], *fields}
    assert set(NAMED.findall(tool.description)) - known == set()


@pytest.mark.parametrize("name", TOOLS)
def test_a_description_says_when_to_choose_the_tool(name: str) -> None:
    """More than what it is: when to ask it, what to ask instead, or what to read."""
    guide = BY_NAME[name.replace("_", "-")].guide
    assert guide
    assert TOOLS[name].description.endswith(guide)
    assert len(TOOLS[name].description) < 600


def test_every_tool_is_named_by_another_or_by_the_instructions() -> None:
    """A tool that nothing leads to is found only by its own name."""
    leading = [INSTRUCTIONS, *(f"{tool.name}\n{tool.description}" for tool in TOOLS.values())]
    found = {
        name
        for name in TOOLS
        if any(f"`{name}`" in text for text in leading if not text.startswith(f"{name}\n"))
    }
    assert found == set(TOOLS)


def test_the_instructions_name_only_what_exists() -> None:
    envelope = set(Answer.__struct_encode_fields__)
    parameters = {name for tool in TOOLS.values() for name in tool.input_schema["properties"]}
    assert set(NAMED.findall(INSTRUCTIONS)) - {*TOOLS, *envelope, *parameters} == set()


def points() -> Iterator[tuple[str, str]]:
    """Yield the parameters that are moments, with the tools that have them."""
    for kind in map(question_named, QUESTIONS):
        name = (kind.name or kind.command).replace("-", "_")
        for field in declared_fields(kind):
            if name in TOOLS and field.of is PointText and field.has(Door.API):
                yield name, field.about.name or field.name


@pytest.mark.parametrize(("tool", "parameter"), list(points()))
def test_every_moment_says_how_to_write_one(tool: str, parameter: str) -> None:
    """Not all programs show an agent the instructions of a server."""
    described = TOOLS[tool].input_schema["properties"][parameter]["description"]
    assert all(form in described for form in ("rv:", "time", "-5m", "@"))


@pytest.mark.parametrize(
    ("tool", "parameter", "form"),
    [
        ("bisect", "bound", "NAMESPACE/NAME"),
        ("bisect", "enqueued", "NAMESPACE/NAME"),
        ("bisect", "phase", "NAMESPACE/NAME=PHASE"),
        ("bisect", "releases", "R1..R2"),
        ("session", "choose", "least-name, recorded"),
        ("what_if", "count", "add_node"),
        ("bisect", "release", "with panic"),
        ("why", "object", "job/train"),
        ("blame", "object", "KIND/NAMESPACE/NAME"),
        ("what_if", "delete", "KIND/NAMESPACE/NAME"),
    ],
)
def test_a_parameter_with_a_form_says_it(tool: str, parameter: str, form: str) -> None:
    assert form in TOOLS[tool].input_schema["properties"][parameter]["description"]


@pytest.mark.parametrize("at", ["end", "rv:7"])
def test_the_moment_of_a_question_without_one_is_in_the_schema(at: str) -> None:
    tools = {tool.name: tool for tool in tools_of(ServerSettings("no.db", at=at))}

    def usual(tool: str, parameter: str) -> object:
        return tools[tool].input_schema["properties"][parameter].get("default")

    assert usual("why", "at") == at
    assert usual("state", "at") == at
    assert usual("lint", "at") == "end"
    assert usual("events", "until") == "end"
    assert usual("diff", "after") == "end"
    assert usual("check", "at") is None
    assert usual("fidelity", "at") is None
    assert "at" not in tools["log"].input_schema["properties"]


def test_a_client_gets_these_tools(demo_log: Path) -> None:
    assert ask(demo_log, lambda client: client.list_tools()).tools == list(TOOLS.values())


def test_the_page_for_agents_has_every_tool() -> None:
    table = re.findall(r"^\| (`.*?) \|", text_of("docs/how-to/agents.md"), re.MULTILINE)
    assert sorted(NAMED.findall(" ".join(table))) == sorted(TOOLS)
