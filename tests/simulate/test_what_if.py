"""Scenarios as they would be with other objects or another configuration."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decisions import case_of
from plinian.engine.errors import UsageError
from plinian.engine.volcano.session.history import resolve
from plinian.replay.simulate.changed_scenario import (
    NOTHING,
    ScenarioChanges,
    changed,
    merged,
    parse_patch,
)
from plinian.replay.simulate.simulation import simulate

LOST = "001-node-lost-back"


def objects(case: Any, kind: str, name: str) -> list[dict[str, Any]]:
    """Return the versions that a scenario tells of an object."""
    events = [event["object"] for step in case.steps for event in step.events if "object" in event]
    return [o for o in events if (o["kind"], o["metadata"]["name"]) == (kind, name)]


def test_every_version_of_an_object_is_patched_and_no_other() -> None:
    case = case_of("000-allocatable-shrinks")
    patch = parse_patch('node/n1={"status":{"allocatable":{"cpu":"3"}},"spec":null}')
    after = changed(case, ScenarioChanges(patches=[patch]))
    found = objects(after, "Node", "n1")
    assert [node["status"]["allocatable"]["cpu"] for node in found] == ["3", "3"]
    assert all("spec" not in node for node in found)
    assert objects(after, "Node", "n2") == objects(case, "Node", "n2")
    assert [o["status"]["allocatable"]["cpu"] for o in objects(case, "Node", "n1")] == [
        "4000m",
        "1000m",
    ]


def test_a_patch_can_change_what_is_decided() -> None:
    case = case_of(LOST)
    lower = parse_patch('queue/test-queue={"spec":{"capability":{"cpu":"20","memory":"15Gi"}}}')
    before = simulate(case, resolve("v1.12.1"))
    after = simulate(changed(case, ScenarioChanges(patches=[lower])), resolve("v1.12.1"))
    assert [len(step["binds"]) for step in before] == [0, 0, 2, 0]
    assert [len(step["binds"]) for step in after] == [0, 2, 0, 0]


def test_a_configuration_replaces_the_one_of_every_step() -> None:
    case = case_of(LOST)
    after = changed(case, ScenarioChanges(conf="actions: allocate\n"))
    assert after.conf == "actions: allocate\n"
    assert {step.conf for step in after.steps} == {None}
    assert case.conf != after.conf


def test_nothing_changes_nothing() -> None:
    case = case_of(LOST)
    assert changed(case, NOTHING) is case


def test_objects_of_a_namespace_are_named_with_it() -> None:
    case = case_of("000-allocatable-shrinks")
    here = parse_patch('pod/default/a={"spec":{"nodeName":"n2"}}')
    after = changed(case, ScenarioChanges(patches=[here]))
    assert {pod["spec"]["nodeName"] for pod in objects(after, "Pod", "a")} == {"n2"}
    elsewhere = parse_patch('pod/other/a={"spec":{"nodeName":"n2"}}')
    with pytest.raises(UsageError, match="the scenario has no Pod a"):
        changed(case, ScenarioChanges(patches=[elsewhere]))


@pytest.mark.parametrize(
    "text",
    ["queue/q", "queue/q=", "queue/q=[1]", "queue/q={", "q={}", "nothing/q={}", "queue/a/b/c={}"],
)
def test_what_is_no_patch_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_patch(text)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("node/n1", "it is not of the form TYPE/NAME=JSON"),
        ("=", "it is not of the form TYPE/NAME=JSON"),
        ("node/n1=", "it is not of the form TYPE/NAME=JSON"),
        ("node/n1={", "what follows the = is not JSON"),
        ("node/n1=[1]", "what follows the = is not a JSON object"),
    ],
)
def test_a_refusal_says_what_a_patch_lacks(text: str, what: str) -> None:
    with pytest.raises(UsageError, match=what):
        parse_patch(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=1), inner),
    max_leaves=6,
)


def without_nulls(document: Any) -> Any:
    """Return a document without the members that are null, at any depth of objects."""
    if not isinstance(document, dict):
        return document
    return {name: without_nulls(part) for name, part in document.items() if part is not None}


@given(document=JSON, change=JSON)
def test_a_merge_patch_holds_and_holds_twice(document: Any, change: Any) -> None:
    after = merged(document, change)
    assert merged(after, change) == after
    assert merged(None, change) == without_nulls(change)
    if isinstance(change, dict):
        for name, part in change.items():
            assert (name in after) == (part is not None)


@pytest.mark.parametrize(
    ("document", "change", "after"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_merge_patches_are_those_of_rfc_7386(document: Any, change: Any, after: Any) -> None:
    assert merged(document, change) == after
