"""Two versions of an object differ in fields; elements of lists are matched by who they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plinian.engine.events import canonical_json
from plinian.replay.objects.field_changes import FieldDifference, changes, payload_changes

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
    mirrored = [FieldDifference(path=one.path, old=one.new, new=one.old) for one in back]
    key = lambda one: one.path  # noqa: E731
    assert sorted(there, key=key) == sorted(mirrored, key=key)
    assert changes(old, old) == []


def strict(value: Any) -> Any:
    """Return a value that equals another only if types are equal too, and lists as sets."""
    return msgspec.json.encode(value, order="sorted")


KEYS = st.sampled_from(["resourceVersion", "managedFields", "é", "a/b", "x-1", "name", "type"])
ANY_VALUE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([0, 1, 1.0, "1", "", "{", "é\n"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
ANY_OBJECT = st.dictionaries(KEYS, ANY_VALUE, max_size=4)
ANY_DOCUMENT = st.fixed_dictionaries(
    {}, optional={"metadata": ANY_OBJECT, "status": ANY_OBJECT, "resourceVersions": ANY_VALUE}
)


@st.composite
def versions(draw: st.DrawFn) -> tuple[Any, Any]:
    """Return two documents that have much in common, as versions of an object have."""
    old = draw(ANY_DOCUMENT)
    return old, draw(altered(old))


@st.composite
def altered(draw: st.DrawFn, value: Any) -> Any:
    if isinstance(value, dict):
        kept = [key for key in value if draw(st.integers(0, 5))]
        more = draw(st.dictionaries(KEYS, ANY_VALUE, max_size=1))
        return {key: draw(altered(value[key])) for key in kept} | more
    if isinstance(value, list):
        return draw(st.permutations([draw(altered(element)) for element in value]))
    if isinstance(value, int) and abs(value) < 2**53 and draw(st.booleans()):
        return float(value)  # other bytes, and equal
    return value if draw(st.integers(0, 2)) else draw(ANY_VALUE)


def plain(path: str, old: Any, new: Any) -> Iterator[FieldDifference]:
    """Compare two values as simply as it can be said: everything, from the top, in order."""
    if old is NONE or new is NONE:
        value = new if old is NONE else old
        if not (isinstance(value, dict) and value):
            yield FieldDifference(path=path, old=old, new=new)
            return
    if isinstance(old, dict | msgspec.UnsetType) and isinstance(new, dict | msgspec.UnsetType):
        olds, news = (side if isinstance(side, dict) else {} for side in (old, new))
        for key in sorted(olds.keys() | news.keys()):
            named = f"{path}.{key}" if path else key
            place = named if key not in ("é", "a/b") else f"{path}['{key}']"
            yield from plain(place, olds.get(key, NONE), news.get(key, NONE))
    elif isinstance(old, list) and isinstance(new, list):
        yield from plain_elements(path, old, new)
    elif old != new:
        yield FieldDifference(path=path, old=old, new=new)


def plain_elements(path: str, old: list[Any], new: list[Any]) -> Iterator[FieldDifference]:
    olds, news = ({str(place): one for place, one in enumerate(side)} for side in (old, new))
    if all(isinstance(one, dict) for one in old + new):
        for field in ("name", "type"):
            sides = [[str(one.get(field, NONE)) for one in side] for side in (old, new)]
            if all(field in one for one in old + new) and all(
                len(set(names)) == len(names) for names in sides
            ):
                olds, news = (
                    dict(zip(*pair, strict=True)) for pair in zip(sides, (old, new), strict=True)
                )
                break
    for key in [*olds, *(key for key in news if key not in olds)]:
        if key in olds and key in news:
            yield from plain(f"{path}[{key}]", olds[key], news[key])
        else:
            yield FieldDifference(
                path=f"{path}[{key}]", old=olds.get(key, NONE), new=news.get(key, NONE)
            )


@given(versions() | st.tuples(ANY_DOCUMENT, ANY_DOCUMENT), st.sampled_from([-1, 1]))
def test_bytes_are_compared_to_the_same_end_as_values_one_by_one(pair: Any, indent: int) -> None:
    texts = [msgspec.json.format(canonical_json(side), indent=indent) for side in pair]
    old, new = (msgspec.json.decode(text) for text in texts)
    expected = [
        change
        for change in plain("", old, new)
        if not change.path.startswith(("metadata.resourceVersion", "metadata.managedFields"))
    ]
    assert strict(payload_changes(*texts)) == strict(expected)
    assert strict(changes(old, new)) == strict(expected)


@given(DOCUMENTS, DOCUMENTS)
def test_what_differs_other_than_by_order_of_named_elements_is_told(old: Any, new: Any) -> None:
    if not changes(old, new):
        assert sorted(strict(old)) == sorted(strict(new))
