"""A question that no release of Plinian has, asked at a door that its first argument names.

The question is declared before any door is imported, as if its module were one of Plinian's.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import msgspec

from plinian.replay.questions import table
from plinian.replay.questions.fields import Field
from plinian.replay.questions.question import QuestionOfMoment

if TYPE_CHECKING:
    from plinian.replay.logs.log import Log
    from plinian.replay.render.tables import Style


class Census(msgspec.Struct, frozen=True, kw_only=True):
    """How many objects of a kind there are."""

    kind: str
    objects: int


class CensusQuestion(QuestionOfMoment[Census], frozen=True):
    """Count the objects of a kind.

    Objects that are being deleted count.
    """

    command = "census"
    about = "How many objects of a kind there are."
    guide = "For a number alone."
    examples = ("plinian census pods --at -5m",)

    kind: Annotated[str, Field("The kind, as in pods.", metavar="KIND")]
    twice: Annotated[bool, Field("Count each object twice.")] = False

    def answer(self, log: Log) -> Census:
        """Return the number."""
        count = len(log.entries(self.kind, at=self.at))
        return Census(kind=self.kind, objects=2 * count if self.twice else count)

    def lines(self, found: Census, style: Style) -> Iterator[str]:
        """Yield the number for people."""
        yield f"{style.bold(str(found.objects))} {found.kind}\n"


def declare() -> None:
    """Add the question to those of Plinian."""
    listed = table.Listed("CensusQuestion", "Count the objects of a kind.")
    table.QUESTIONS = {**table.QUESTIONS, "census": listed}
    sys.modules[f"{table.__package__}.census"] = sys.modules[__name__]


def in_python(place: str) -> None:
    """Print the answer of the Python API."""
    import plinian  # noqa: PLC0415

    with plinian.open(place) as log:
        print(msgspec.json.encode(log.ask(CensusQuestion("nodes"))).decode())


def over_http(place: str) -> None:
    """Print the answer of the JSON API, its command, and the path in the OpenAPI document."""
    from starlette.testclient import TestClient  # noqa: PLC0415

    from plinian.replay.server.app import application  # noqa: PLC0415
    from plinian.replay.server.settings import ServerSettings  # noqa: PLC0415

    with TestClient(application(ServerSettings(place)), base_url="http://127.0.0.1:8002") as client:
        found = client.get("/plinian/v1/census", params={"kind": "nodes", "twice": "true"}).json()
        document = client.get("/plinian/v1/openapi.json").json()
        described = document["paths"]["/plinian/v1/census"]["get"]["parameters"]
        names = [one["name"] for one in described]
        print(json.dumps({**found["result"], "command": found["command"], "names": names}))


def as_tool(place: str) -> None:
    """Print the answer of the tool, and the texts of the tool and of its first parameter."""
    from mcp.client.client import Client  # noqa: PLC0415

    from plinian.replay.server.mcp.tools import server_of  # noqa: PLC0415
    from plinian.replay.server.readers import Readers  # noqa: PLC0415
    from plinian.replay.server.settings import ServerSettings  # noqa: PLC0415

    async def ask() -> None:
        settings = ServerSettings(place)
        readers = Readers(settings)
        async with Client(server_of(settings, readers)) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            result = await client.call_tool("census", {"kind": "nodes"})
        readers.close()
        assert result.structured_content is not None
        about = tools["census"].description
        kind = tools["census"].input_schema["properties"]["kind"]["description"]
        print(json.dumps({**result.structured_content["result"], "about": [about, kind]}))

    asyncio.run(ask())


if __name__ == "__main__":
    declare()
    door, *words = sys.argv[1:]
    if door == "command":
        from plinian.replay.cli.main import main

        sys.argv[1:] = words
        main()
    {"python": in_python, "http": over_http, "tool": as_tool}[door](words[0])
