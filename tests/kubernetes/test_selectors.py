"""Selectors match what Kubernetes says they match, and refuse what it refuses."""

from __future__ import annotations

import pytest

from plinian.engine.kubernetes.expressions import selectors
from plinian.engine.kubernetes.expressions.selectors import (
    NOTHING,
    SelectorError,
    exactly,
    label_selector,
    node_term,
    requirement,
)
from plinian.engine.kubernetes.objects import LabelSelector, NodeSelectorTerm, Requirement


@pytest.mark.parametrize(
    ("operator", "values", "value", "holds"),
    [
        ("In", ("a", "b"), "b", True),
        ("In", ("a", "b"), "c", False),
        ("In", ("a",), None, False),
        ("NotIn", ("a",), "a", False),
        ("NotIn", ("a",), "b", True),
        ("NotIn", ("a",), None, True),
        ("Exists", (), "", True),
        ("Exists", (), None, False),
        ("DoesNotExist", (), None, True),
        ("DoesNotExist", (), "x", False),
        ("Gt", ("5",), "6", True),
        ("Gt", ("5",), "5", False),
        ("Lt", ("5",), "-7", True),
        ("Lt", ("5",), "six", False),
        ("Lt", ("5",), None, False),
    ],
)
def test_a_requirement_holds_for_a_value(
    operator: str, values: tuple[str, ...], value: str | None, *, holds: bool
) -> None:
    assert requirement("key", operator, values).holds(value) is holds


def test_a_number_that_go_does_not_parse_is_none() -> None:
    """Python would take underscores, blanks and any size."""
    above = requirement("key", "Gt", ("1",))
    assert not any(above.holds(text) for text in ("1_000", " 7", "7 ", "9" * 30))
    assert above.holds("+7")


def test_a_missing_selector_matches_nothing_and_an_empty_one_everything() -> None:
    assert label_selector(None) == NOTHING
    assert not label_selector(None).matches({})
    assert label_selector(LabelSelector()).matches({"any": "thing"})
    assert label_selector(LabelSelector()).empty
    assert not NOTHING.empty


def test_all_of_a_selector_must_match() -> None:
    selector = label_selector(
        LabelSelector(
            match_labels={"app": "a"},
            match_expressions=(Requirement(key="tier", operator="NotIn", values=("x",)),),
        )
    )
    assert selector.matches({"app": "a"})
    assert not selector.matches({"app": "a", "tier": "x"})
    assert not selector.matches({"tier": "y"})


def test_nothing_stays_nothing_whatever_is_added() -> None:
    assert NOTHING.add(exactly({"a": "b"}).requirements) == NOTHING


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (Requirement(key="a", operator="Near"), '"Near" is not a valid label selector operator'),
        (
            Requirement(key="a", operator="In"),
            "values: Invalid value: []string{}: for 'in', 'notin' operators,",
        ),
        (
            Requirement(key="a", operator="Exists", values=("b",)),
            'values: Invalid value: []string{"b"}: values set must be empty for exists',
        ),
        (Requirement(key="a b", operator="Exists"), "must be a valid label key"),
        (Requirement(key="a", operator="In", values=("no blanks",)), "must be a valid label value"),
    ],
)
def test_what_kubernetes_refuses_is_refused(expression: Requirement, message: str) -> None:
    with pytest.raises(SelectorError) as caught:
        label_selector(LabelSelector(match_expressions=(expression,)))
    assert message in str(caught.value)


def test_an_empty_term_matches_no_node() -> None:
    assert node_term(NodeSelectorTerm()) is None


@pytest.mark.parametrize(
    "source",
    [
        NodeSelectorTerm(match_expressions=(Requirement(key="a", operator="Near"),)),
        NodeSelectorTerm(match_expressions=(Requirement(key="a", operator="Gt", values=("x",)),)),
        NodeSelectorTerm(
            match_fields=(Requirement(key="metadata.name", operator="In", values=("a", "b")),)
        ),
        NodeSelectorTerm(match_fields=(Requirement(key="metadata.name", operator="Exists"),)),
    ],
)
def test_a_term_that_does_not_parse_is_an_error(source: NodeSelectorTerm) -> None:
    with pytest.raises(SelectorError):
        node_term(source)


def test_a_key_may_have_a_domain() -> None:
    assert requirement("topology.kubernetes.io/zone", selectors.EXISTS, ()).holds("z")
