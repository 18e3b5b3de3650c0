"""JSON patches: each operation, and what does not fit."""

from __future__ import annotations

from typing import Any

import pytest

from plinian.engine.kubernetes.api_errors import Invalid
from plinian.engine.kubernetes.json_patch import fault_of_operations, patched

POD = {"metadata": {"labels": {"a/b": "1", "c~d": "2"}}, "spec": {"tolerations": ["x", "y"]}}


def op(name: str, path: str, **rest: Any) -> dict[str, Any]:
    """Return an operation."""
    return {"op": name, "path": path, **rest}


@pytest.mark.parametrize(
    ("operation", "labels", "tolerations"),
    [
        (op("add", "/spec/tolerations/1", value="z"), None, ["x", "z", "y"]),
        (op("add", "/spec/tolerations/-", value="z"), None, ["x", "y", "z"]),
        (op("replace", "/spec/tolerations/0", value="z"), None, ["z", "y"]),
        (op("remove", "/spec/tolerations/0"), None, ["y"]),
        (op("remove", "/metadata/labels/a~1b"), {"c~d": "2"}, None),
        (op("remove", "/metadata/labels/c~0d"), {"a/b": "1"}, None),
        (
            op("move", "/metadata/labels/e", **{"from": "/metadata/labels/c~0d"}),
            {"a/b": "1", "e": "2"},
            None,
        ),
        (
            op("copy", "/spec/tolerations/-", **{"from": "/metadata/labels/a~1b"}),
            None,
            ["x", "y", "1"],
        ),
        (op("test", "/spec/tolerations/1", value="y"), None, None),
    ],
)
def test_an_operation_changes_what_it_names(
    operation: dict[str, Any], labels: Any, tolerations: Any
) -> None:
    made = patched(POD, [operation])
    assert made["metadata"]["labels"] == (labels or POD["metadata"]["labels"])
    assert made["spec"]["tolerations"] == (tolerations or POD["spec"]["tolerations"])
    assert POD["spec"]["tolerations"] == ["x", "y"]


@pytest.mark.parametrize(
    "operation",
    [
        op("test", "/spec/tolerations/0", value="y"),
        op("remove", "/spec/none"),
        op("remove", "/spec/tolerations/2"),
        op("add", "/spec/tolerations/3", value="z"),
        op("add", "/spec/tolerations/01x", value="z"),
        op("replace", "/spec/none/deeper", value=1),
        op("move", "/spec/a", **{"from": "/spec/none"}),
        op("copy", "/spec/a", **{"from": "/spec/tolerations/9"}),
        op("add", "/metadata/labels/c~0d/deeper", value=1),
    ],
)
def test_what_does_not_fit_is_invalid(operation: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        patched(POD, [operation])


@pytest.mark.parametrize(
    "value",
    [
        {},
        [1],
        [op("add", "/a")],
        [op("move", "/a")],
        [op("remove", "a")],
        [op("forget", "/a")],
        [op("remove", "/a")] * 10_001,
    ],
)
def test_what_is_no_patch_is_named(value: Any) -> None:
    assert fault_of_operations(value)


def test_a_patch_of_all_operations_is_fine() -> None:
    names = [op("add", "/a", value=1), op("copy", "/b", **{"from": "/a"}), op("remove", "/a")]
    assert not fault_of_operations(names)
    assert patched({}, names) == {"b": 1}
