"""The OpenAPI document of the JSON API, made from the table of questions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Any, get_type_hints

import msgspec

from ....engine.version import __version__
from ...tabular.record_columns import Time
from .answer import ROOT, Answer
from .operation import Operation
from .parameters import Parameter
from .table import OPERATIONS
from .words import LONGEST_IN_ADDRESS

_PARAM = re.compile(r":param (\w+): ")
"""What begins the text of a field in a docstring."""

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
    results, components = _schemas([Answer, FaultAnswer, *map(_result, OPERATIONS)], _REF)
    paths = {
        f"{ROOT}/{operation.url}": _methods(operation, result)
        for operation, result in zip(OPERATIONS, results[2:], strict=True)
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Plinian",
            "version": __version__,
            "description": "The past of a cluster that runs Volcano. All questions only read. "
            "What Secrets contain is never in a log.",
        },
        "paths": paths,
        "components": {"schemas": components},
    }


def answer_schema(operation: Operation) -> dict[str, Any]:
    """Return the JSON schema of the answer to a question, complete in itself, without texts."""
    (_, result), components = _schemas([Answer, _result(operation)], "#/$defs/{name}", texts=False)
    answer = components.pop("Answer")
    answer["properties"]["result"] = result
    return {**answer, "$defs": components}


def _result(operation: Operation) -> Any:
    """Return the type of the answer to a question."""
    from .results import RESULTS  # noqa: PLC0415 -- loads much

    kind = RESULTS.get(operation.name, dict[str, Any])
    return list[kind] if operation.is_list else kind  # type: ignore[valid-type]


def _schemas(
    kinds: Sequence[Any], ref: str, *, texts: bool = True
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the schemas of types, and those of the records that they consist of, by name.

    All fields of a record are in its document but those that may be unset.
    """
    shown: dict[Any, Any] = {}

    def schema_of(kind: Any) -> dict[str, Any]:
        if kind is Time:
            return {"type": "string"}
        shown[kind] = get_type_hints(kind.document.fget)["return"]
        return {"$ref": ref.format(name=shown[kind].__name__)}

    schemas = partial(msgspec.json.schema_components, ref_template=ref, schema_hook=schema_of)
    # Once to learn which types have a document, and once more with the types of these documents.
    schemas(kinds)
    all_schemas, components = schemas([*kinds, *shown.values()])
    for schema in components.values():
        _complete(schema, texts=texts)
    return list(all_schemas[: len(kinds)]), components


def _complete(schema: dict[str, Any], *, texts: bool) -> None:
    """Describe the fields of a record by its docstring, and say which are always there."""
    said, fields = _parted(schema.pop("description", ""))
    if texts and said:
        schema["description"] = said
    for name, field in schema.get("properties", {}).items():
        # msgspec does not require a field with a default, but documents have all fields. ``schema``
        # stands for no default.
        if field.pop("default", schema) is not schema:
            schema["required"].append(name)
        if texts and name in fields:
            field["description"] = fields[name]


def _parted(docstring: str) -> tuple[str, dict[str, str]]:
    """Return what a record's docstring says of the record, and of its fields by name."""
    said, *rest = _PARAM.split(" ".join(docstring.split()))
    texts = zip(rest[::2], rest[1::2], strict=True)
    return said.strip(), {name: text.strip() for name, text in texts}


def input_schema(operation: Operation, *, limit: int, at: str) -> dict[str, Any]:
    """Return the JSON schema of the parameters of a question.

    :param limit: how many members a list has by default. :param at: the moment of the server.
    """
    fields = {
        parameter.name: {**parameter.schema(), "description": parameter.about}
        for parameter in operation.parameters
    }
    fields["limit"]["default"] = limit
    if operation.point in fields and not operation.is_whole:
        fields[operation.point]["default"] = operation.default or at
    return {
        "type": "object",
        "properties": fields,
        "required": [parameter.name for parameter in operation.parameters if parameter.required],
        "additionalProperties": False,
    }


def _methods(operation: Operation, result: dict[str, Any]) -> dict[str, Any]:
    """Return how a question is asked: with POST if a parameter may be the body of the request."""
    get = _operation(operation, result)
    body = operation.body
    if body is None:
        return {"get": get}
    given = {"required": True, "description": body.about}
    given["content"] = {"application/yaml": {"schema": {"type": "string"}}}
    parameters = [parameter for parameter in get["parameters"] if parameter["name"] != body.name]
    post = {"operationId": f"{operation.name}-of-body", "parameters": parameters}
    return {"get": get, "post": {**get, **post, "requestBody": given}}


def _operation(operation: Operation, result: dict[str, Any]) -> dict[str, Any]:
    answer = {
        "allOf": [
            {"$ref": _REF.format(name="Answer")},
            {"type": "object", "properties": {"result": result}},
        ]
    }
    fault = {"application/json": {"schema": {"$ref": _REF.format(name="FaultAnswer")}}}
    return {
        "operationId": operation.name,
        "summary": operation.about,
        "parameters": [_parameter(parameter) for parameter in operation.parameters],
        "responses": {
            "200": {
                "description": "The answer.",
                "content": {"application/json": {"schema": answer}},
            },
            **{status: {"description": text, "content": fault} for status, text in _FAULTS},
        },
    }


def _parameter(parameter: Parameter) -> dict[str, Any]:
    if parameter.in_body:
        longest = min(parameter.longest, LONGEST_IN_ADDRESS)
        parameter = msgspec.structs.replace(parameter, longest=longest)
    return {
        "name": parameter.name,
        "in": "path" if parameter.in_path else "query",
        "description": parameter.about,
        "required": parameter.required,
        "schema": parameter.schema(),
        **({"style": "form", "explode": True} if parameter.many else {}),
    }
