"""The columns of each resource, as an API server prints them.

Sources: k8s.io/kubernetes pkg/printers/internalversion/printers.go; k8s.io/apiextensions-apiserver
pkg/registry/customresource/tableconvertor; what the API server of a cluster with Volcano answered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import msgspec

from .....engine.errors import UsageError
from .....engine.kubernetes.expressions.jsonpath import find, parse_path
from .....engine.kubernetes.resources import GroupKind
from ..wire.api_resources import ApiResource, PrinterColumn
from ..wire.event_groups import EVENTS
from .cells import BUILT_IN
from .columns import AGE_COLUMN, CREATED, NAME_COLUMN, WIDE, Cell, TableColumn, TableObject
from .other_cells import OTHERS

_CUSTOM_AGE = TableColumn("Age", lambda row: row.age, "date", description=CREATED)


def _printed(name: str, path: str, kind: str = "string", priority: int = 0) -> PrinterColumn:
    return PrinterColumn(name=name, type=kind, json_path=path, priority=priority)


_QUEUE: GroupKind = ("scheduling.volcano.sh", "Queue")


def _number(row: TableObject, name: str) -> int | None:
    # Some releases write no counts: then there is none, and not 0.
    value = row.at("status", name)
    return value if isinstance(value, int) else None


def _held(row: TableObject) -> str:
    """Return what the pods of a queue hold, as its status says."""
    held = row.at("status", "allocated")
    if not isinstance(held, dict):
        return ""
    known = {name: _text(amount) for name, amount in held.items()}
    return ",".join(f"{name}={amount}" for name, amount in known.items() if amount != "0")


_OF_QUEUES = (
    TableColumn(
        "STATE",
        lambda row: row.at("status", "state") or "",
        description="Open takes jobs; Closing and Closed take no new ones. An addition of Plinian.",
    ),
    TableColumn(
        "ALLOCATED",
        _held,
        description="What the pods of the queue hold, as its status says. An addition of Plinian.",
    ),
    *(
        TableColumn(
            name,
            partial(_number, name=name.lower()),
            "integer",
            description=f"How many PodGroups of the queue are {name.title()}, as its status says.",
            priority=WIDE,
        )
        for name in ("PENDING", "INQUEUE", "RUNNING")
    ),
)
"""What a queue is doing; its definition in a cluster prints only the queue above it."""

_AGE = _printed("AGE", ".metadata.creationTimestamp", "date")
_PHASE = _printed("STATUS", ".status.state.phase")

VOLCANO: Mapping[GroupKind, tuple[PrinterColumn, ...]] = MappingProxyType(
    {
        ("batch.volcano.sh", "Job"): (
            _PHASE,
            _printed("minAvailable", ".status.minAvailable", "integer"),
            _printed("RUNNINGS", ".status.running", "integer"),
            _AGE,
            _printed("QUEUE", ".spec.queue", priority=1),
        ),
        ("scheduling.volcano.sh", "PodGroup"): (
            _printed("STATUS", ".status.phase"),
            _printed("minMember", ".spec.minMember", "integer"),
            _printed("RUNNINGS", ".status.running", "integer"),
            _AGE,
            _printed("QUEUE", ".spec.queue", priority=1),
        ),
        _QUEUE: (_printed("PARENT", ".spec.parent"),),
        ("flow.volcano.sh", "JobFlow"): (_PHASE, _AGE),
        ("topology.volcano.sh", "HyperNode"): (
            _printed("Tier", ".spec.tier"),
            _printed("NodeCount", ".status.nodeCount", "integer"),
            _AGE,
        ),
    }
)
"""The columns of Volcano's resources where the log has no definitions of them."""


def columns_of(resource: ApiResource) -> Sequence[TableColumn]:
    """Return the columns of a resource."""
    columns = _columns_of(resource)
    if resource.pair != _QUEUE:
        return columns
    names = {column.name.lower() for column in columns}
    return (*columns, *(column for column in _OF_QUEUES if column.name.lower() not in names))


def _columns_of(resource: ApiResource) -> Sequence[TableColumn]:
    columns = resource.columns
    if columns is None:
        columns = VOLCANO.get(resource.pair)
        built_in = BUILT_IN.get(resource.pair) or OTHERS.get(resource.pair)
        if built_in is None and columns is None and not resource.is_custom:
            built_in = (AGE_COLUMN,)
        if built_in is not None:
            return built_in if resource.pair in EVENTS else (NAME_COLUMN, *built_in)
    return (NAME_COLUMN, *(map(_custom, columns) if columns else [_CUSTOM_AGE]))


def _custom(column: PrinterColumn) -> TableColumn:
    said = column.description
    said = said or f"Custom resource definition column (in JSONPath format): {column.json_path}"
    return TableColumn(
        column.name,
        _by_path(column.json_path, column.type),
        column.type,
        column.format,
        said,
        column.priority,
    )


def _by_path(text: str, kind: str) -> Cell:
    try:
        path = parse_path(text)
    except UsageError:
        return lambda _row: None

    def cell(row: TableObject) -> Any:
        try:
            values = find(path, row.document, row.allowance)
        except UsageError:
            return None
        if not values:
            return None
        if kind == "string" and len(values) > 1:
            return " ".join(_text(value) for value in values)
        return _typed(values[0], kind, row)

    return cell


def _typed(value: Any, kind: str, row: TableObject) -> Any:
    """Return a value as the type of its column; one that does not fit is left out."""
    match kind:
        case "integer":
            fits = isinstance(value, int | float) and not isinstance(value, bool)
            return int(value) if fits else None
        case "number":
            return value if isinstance(value, int | float) else None
        case "boolean":
            return value if isinstance(value, bool) else None
        case "date":
            return row.age_of(value)
        case _:
            return _text(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
