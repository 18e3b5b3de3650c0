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


def test_copies_that_double_the_document_are_refused() -> None:
    """3 KB of operations would make it 2^60 times as large."""
    doubling = [op("copy", f"/c{n}", **{"from": f"/c{n - 1}"}) for n in range(1, 61)]
    nested = [op("add", "/c0", value={"text": "x" * 100})]
    nested += [op("copy", "/c0/a", **{"from": "/c0"}), op("copy", "/c0/b", **{"from": "/c0"})] * 30
    for operations in ([op("add", "/c0", value="x" * 200_000), *doubling], nested):
        with pytest.raises(Invalid, match="exceeding the limit"):
            patched({}, operations)


def test_what_is_copied_changes_alone() -> None:
    made = patched(
        {"a": {"b": [1]}},
        [op("copy", "/c", **{"from": "/a"}), op("add", "/c/b/-", value=2), op("remove", "/a/b/0")],
    )
    assert made == {"a": {"b": []}, "c": {"b": [1, 2]}}


def test_each_list_is_copied_once_for_all_operations() -> None:
    class Counted(list[int]):
        """A list that counts how often it is copied."""

        copies = 0

        def __iter__(self) -> Any:
            Counted.copies += 1
            return super().__iter__()

    held = {"list": Counted(range(5_000))}
    made = patched(held, [op("add", "/list/0", value=n) for n in range(5_000)])
    assert len(made["list"]) == 10_000
    assert len(held["list"]) == 5_000
    assert Counted.copies <= 1


def test_work_on_long_lists_is_bounded() -> None:
    held = {"list": list(range(150_000))}
    with pytest.raises(Invalid, match="moves more than"):
        patched(held, [op("add", "/list/0", value=1)] * 1_000)


@pytest.mark.parametrize("wrong", [5, None, ["add"], {"add": 1}, True])
def test_an_operation_of_another_type_is_named(wrong: Any) -> None:
    assert fault_of_operations([{"op": wrong, "path": "/a", "value": 1}])
