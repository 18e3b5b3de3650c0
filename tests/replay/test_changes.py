"""Two versions of an object differ in fields; elements of lists are matched by who they are."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plinian.engine.events import canonical_json
from plinian.replay.changes import Change, changes, payload_changes

NONE = msgspec.UNSET


def told(old: Any, new: Any, *ignore: str) -> list[tuple[str, Any, Any]]:
    """Return changes as (path, old, new)."""
    return [(one.path, one.old, one.new) for one in changes(old, new, ignore=ignore)]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 2}, [("a", 1, 2)]),
        ({"a": 1}, {}, [("a", 1, NONE)]),
        ({}, {"a": None}, [("a", NONE, None)]),
        ({}, {"a": {"b": 1, "c": {}}}, [("a.b", NONE, 1), ("a.c", NONE, {})]),
        ({"a": {"b": 1}}, {"a": [1]}, [("a", {"b": 1}, [1])]),
        ({"a.b/c": 1}, {"a.b/c": 2}, [("['a.b/c']", 1, 2)]),
        ({"m": {"x.y": 1}}, {"m": {"x.y": 2}}, [("m['x.y']", 1, 2)]),
        ({"l": [1, 2]}, {"l": [1, 3, 4]}, [("l[1]", 2, 3), ("l[2]", NONE, 4)]),
    ],
)
def test_fields_that_differ(old: Any, new: Any, expected: list[Any]) -> None:
    assert told(old, new) == expected


def test_conditions_are_matched_by_type_whatever_their_order() -> None:
    old = {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Full", "status": "No"}]}
    new = {"conditions": [{"type": "Full", "status": "Yes"}, {"type": "Ready", "status": "True"}]}
    assert told(old, new) == [("conditions[Full].status", "No", "Yes")]


def test_elements_without_an_identity_are_matched_by_place() -> None:
    old = {"l": [{"name": "a"}, {"name": "a"}]}
    new = {"l": [{"name": "a"}, {"name": "b"}]}
    assert told(old, new) == [("l[1].name", "a", "b")]


def test_the_version_itself_is_no_change_and_more_can_be_left_out() -> None:
    old = {"metadata": {"resourceVersion": "1", "labels": {"x": "1"}}, "status": {"a": 1, "b": 1}}
    new = {"metadata": {"resourceVersion": "2", "labels": {"x": "2"}}, "status": {"a": 2, "b": 2}}
    assert [path for path, _, _ in told(old, new)] == ["metadata.labels.x", "status.a", "status.b"]
    assert [path for path, _, _ in told(old, new, "status")] == ["metadata.labels.x"]
    assert [path for path, _, _ in told(old, new, "*.b", "metadata.*")] == ["status.a"]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(2, 5) | st.sampled_from(["a", "b"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "x", "y.z"]), inner, max_size=3)
    ),
    max_leaves=8,
)
DOCUMENTS = st.dictionaries(st.sampled_from(["a", "b", "c"]), VALUES, max_size=3)


@given(DOCUMENTS, DOCUMENTS)
def test_no_change_means_equal_and_the_way_back_is_the_mirror(old: Any, new: Any) -> None:
    there, back = changes(old, new), changes(new, old)
    mirrored = [Change(path=one.path, old=one.new, new=one.old) for one in back]
    key = lambda one: one.path  # noqa: E731
    assert sorted(there, key=key) == sorted(mirrored, key=key)
    assert changes(old, old) == []


def strict(value: Any) -> Any:
    """Return a value that equals another only if types are equal too, and lists as sets."""
    return msgspec.json.encode(value, order="sorted")


@given(DOCUMENTS, DOCUMENTS)
def test_payloads_differ_as_their_documents_do(old: Any, new: Any) -> None:
    assert payload_changes(canonical_json(old), canonical_json(new)) == changes(old, new)


@given(DOCUMENTS, DOCUMENTS)
def test_what_differs_other_than_by_order_of_named_elements_is_told(old: Any, new: Any) -> None:
    if not changes(old, new):
        assert sorted(strict(old)) == sorted(strict(new))
