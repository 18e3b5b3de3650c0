"""The page of the JSON API and of the tools of agents, from the table of questions."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from markup import cell, documented, prose, table
from plinian.replay.server.api.answer import ROOT, Answer, At, EvidencePositions
from plinian.replay.server.api.openapi import Fault, answer_schema
from plinian.replay.server.api.operation import Operation
from plinian.replay.server.api.pages import DEFAULT_LIMIT, MOST_BYTES, MOST_LIMIT, Cut
from plinian.replay.server.api.parameters import Parameter, ParameterType
from plinian.replay.server.api.table import OPERATIONS
from plinian.replay.server.mcp import tools as limits


def http() -> Iterator[str]:
    """Yield the page of the JSON API."""
    yield from ("# The JSON API", "")
    yield (
        f"`plinian serve` answers these {len(OPERATIONS)} questions over HTTP, with `GET`; nothing "
        "can be written. The same as an OpenAPI 3.1 document: "
        f"`{ROOT}/openapi.json`. Most are also tools of [`plinian mcp`](../how-to/agents.md), "
        "where `-` in a name is `_`. How to serve safely: [how-to](../how-to/serve.md)."
    )
    yield ""
    yield (
        f"`{ROOT}/about` says which log is served, and lists the questions. An unknown parameter "
        "is an error. A parameter that may be repeated is repeated in the query: "
        "`?kind=pods&kind=nodes`. What Secrets contain is never in a log, so no answer has it."
    )
    yield from ("", "## The answer", "")
    for struct in (Answer, At, EvidencePositions, Cut):
        yield from (f"### {struct.__name__}", "", *documented(struct))
        yield from table(("field", "type"), _fields(struct))
    yield (
        f"A list has at most `limit` members: {DEFAULT_LIMIT} unless a request says otherwise "
        f"({limits.LIMIT} for tools), {MOST_LIMIT} at most. `next` is the `cursor` of the next "
        "page, which is of the same state of the log. An answer has at most "
        f"{MOST_BYTES >> 20} MiB ({limits.MOST_BYTES >> 10} KiB for tools); a larger one is an "
        "error that says how to narrow the question."
    )
    yield from ("", "## Errors", "")
    yield (
        'An error is `{"error": {"what", "where", "now"}}`. What is refused before the API reads a '
        "request (401, 403, 421) is one line of text."
    )
    yield ""
    yield from documented(Fault)
    yield from table(
        ("status", "meaning"),
        (
            ("400", "a parameter is wrong, missing or unknown, or the answer is too large"),
            ("401", "the server needs its token"),
            ("403, 421", "another site asks, or the name of the server is not known to it"),
            ("404", "there is no such object, moment or path"),
            ("409", "the log does not know enough, and `strict` is set"),
            ("503", "the server is busy, the answer took too long, or the log cannot be read"),
        ),
    )
    for one in OPERATIONS:
        yield from _about(one)


def _about(one: Operation) -> Iterator[str]:
    yield from (f"## {one.name}", "", f"`GET {ROOT}/{one.url}`", "", prose(one.about), "")
    command = f"; `plinian {' '.join(one.command)}` in the terminal" if one.command else ""
    tool = f"; the tool `{one.name.replace('-', '_')}`" if one.is_tool else ""
    yield f"As `{one.method}` in Python{command}{tool}."
    yield ""
    yield from table(
        ("parameter", "values", "default", "meaning"),
        ((f"`{each.name}`", *_values(each), cell(each.about)) for each in one.parameters),
    )
    of = "each member of `result`" if one.is_list else "`result`"
    schema = answer_schema(one)
    result = schema["properties"]["result"]
    result = result.get("items", result)
    shape = schema["$defs"][result["$ref"].rpartition("/")[2]]
    fields = ", ".join(f"`{name}`" for name in shape["properties"])
    yield from (f"Fields of {of}: {fields}.", "")


def _values(one: Parameter) -> tuple[str, str]:
    words = {ParameterType.TEXT: "text", ParameterType.FLAG: "`true` or `false`"}.get(
        one.kind, one.bounds()
    )
    if one.choices:
        words = ", ".join(f"`{choice}`" for choice in one.choices)
    if one.many:
        words += "; may be repeated"
    default = "required" if one.required else "" if one.default is None else f"`{one.default}`"
    return words, default


def _fields(struct: type[msgspec.Struct]) -> Iterator[tuple[str, str]]:
    for field in msgspec.structs.fields(struct):
        name = getattr(field.type, "__name__", str(field.type))
        shown = str(field.type) if "[" in str(field.type) or "|" in str(field.type) else name
        shown = re.sub(r"\b[a-z_.]+\.(?=[A-Z])", "", shown)
        yield f"`{field.encode_name}`", f"`{shown}`".replace("|", "\\|")
