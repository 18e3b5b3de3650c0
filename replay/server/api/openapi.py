"""The OpenAPI document of the JSON API, made from the table of questions."""

from __future__ import annotations

from typing import Any

import msgspec

from ....engine.version import __version__
from .answer import ROOT, Answer
from .operation import Operation
from .parameters import Parameter
from .shapes import result_schema, shape_schemas, shapes_in
from .table import OPERATIONS

_REF = "#/components/schemas/{name}"
_FAULTS = (
    ("400", "A parameter is wrong, missing or unknown, or the answer is too large."),
    ("404", "There is no such object or moment."),
    ("409", "The log does not know enough to answer."),
    ("503", "The server is busy, the answer took too long, or the log cannot be read."),
)
"""The errors that a question can have."""


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """What went wrong, where, and what to do now."""

    what: str
    where: str
    now: str


class FaultAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """An error."""

    error: Fault


def document_of_api() -> dict[str, Any]:
    """Return the OpenAPI 3.1 document."""
    (_, _), components = msgspec.json.schema_components([Answer, FaultAnswer], ref_template=_REF)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Plinian",
            "version": __version__,
            "description": "The past of a cluster that runs Volcano. All questions only read. "
            "What Secrets contain is never in a log.",
        },
        "paths": {f"{ROOT}/{one.url}": {"get": _operation(one)} for one in OPERATIONS},
        "components": {"schemas": {**components, **shape_schemas(ref=_REF)}},
    }


def answer_schema(operation: Operation, *, closed: bool = False) -> dict[str, Any]:
    """Return the JSON schema of the answer to a question, complete in itself.

    :param closed: fields of the result that are not named are errors.
    """
    name, ref = operation.name, "#/$defs/{name}"
    (_,), components = msgspec.json.schema_components([Answer], ref_template=ref)
    answer = components.pop("Answer")
    answer["properties"]["result"] = result_schema(
        name, is_list=operation.is_list, ref=ref, closed=closed
    )
    return {
        **answer,
        "$defs": {**components, **shape_schemas(shapes_in(name), ref=ref, closed=closed)},
    }


def input_schema(operation: Operation, *, limit: int) -> dict[str, Any]:
    """Return the JSON schema of the parameters of a question.

    :param limit: how many members a list has by default.
    """
    fields = {one.name: {**one.schema(), "description": one.about} for one in operation.parameters}
    fields["limit"]["default"] = limit
    return {
        "type": "object",
        "properties": fields,
        "required": [one.name for one in operation.parameters if one.required],
        "additionalProperties": False,
    }


def _operation(one: Operation) -> dict[str, Any]:
    result = result_schema(one.name, is_list=one.is_list, ref=_REF)
    answer = {
        "allOf": [
            {"$ref": _REF.format(name="Answer")},
            {"type": "object", "properties": {"result": result}},
        ]
    }
    fault = {"application/json": {"schema": {"$ref": _REF.format(name="FaultAnswer")}}}
    return {
        "operationId": one.name,
        "summary": one.about,
        "parameters": [_parameter(parameter) for parameter in one.parameters],
        "responses": {
            "200": {
                "description": "The answer.",
                "content": {"application/json": {"schema": answer}},
            },
            **{status: {"description": text, "content": fault} for status, text in _FAULTS},
        },
    }


def _parameter(one: Parameter) -> dict[str, Any]:
    return {
        "name": one.name,
        "in": "path" if one.in_path else "query",
        "description": one.about,
        "required": one.required,
        "schema": one.schema(),
        **({"style": "form", "explode": True} if one.many else {}),
    }
