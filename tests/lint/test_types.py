"""Each field with a wrong type is named, once, with what is there and what the API has."""

from __future__ import annotations

import json
from typing import Any

import pytest
from linting import Document, found, job, node, queue, task

from plinian.replay.lint.findings import Finding

RULES = {"object-malformed", "quantity-malformed"}


def faults(document: Document) -> list[Finding]:
    return [one for one in found(document) if one.rule in RULES]


@pytest.mark.parametrize("amount", ["2x", "", True, [1], {}, "4GB"])
@pytest.mark.parametrize("kind", ["queue", "job", "node"])
def test_a_malformed_amount_is_said_once_and_where_it_is(kind: str, amount: Any) -> None:
    made = {
        "queue": queue("a", capability={"cpu": amount, "memory": "1Gi"}),
        "job": job("j", task("w", 1, amount)),
        "node": node("n", amount),
    }[kind]
    (only,) = faults(made)
    assert only.rule == "quantity-malformed"
    assert only.issue.field.endswith(".cpu")
    assert only.message.startswith(f"{only.issue.field} is {json.dumps(amount)}")
    assert only.message.endswith(", not a quantity")


def test_an_amount_hides_no_other_fault() -> None:
    told = faults(queue("a", capability={"cpu": True, "memory": "x"}, weight="2", parent=[1]))
    assert [(one.rule, one.issue.field) for one in told] == [
        ("object-malformed", "spec.weight"),
        ("object-malformed", "spec.parent"),
        ("quantity-malformed", "spec.capability.cpu"),
        ("quantity-malformed", "spec.capability.memory"),
    ]


def test_every_field_with_a_wrong_type_is_named_with_what_it_has() -> None:
    made = queue("a", weight="2", reclaimable="yes", guarantee=3, parent=7, capability=["cpu"])
    made["metadata"]["labels"] = {"team": 3, "app.io/x": True, "fine": "b"}
    told = {one.issue.field: (one.message, one.issue.now) for one in faults(made)}
    assert told == {
        "metadata.labels.team": (
            "metadata.labels.team is 3, not text",
            'put it in quotes: "3"',
        ),
        "metadata.labels[app.io/x]": (
            "metadata.labels[app.io/x] is true, not text",
            'put it in quotes: "true"',
        ),
        "spec.weight": (
            'spec.weight is "2", not a whole number',
            "write it without quotes: 2",
        ),
        "spec.reclaimable": (
            'spec.reclaimable is "yes", not true or false',
            "write the field with the API's type",
        ),
        "spec.guarantee": (
            "spec.guarantee is 3, not a mapping",
            "write the field with the API's type",
        ),
        "spec.parent": (
            "spec.parent is 7, not text",
            'put it in quotes: "7"',
        ),
        "spec.capability": (
            'spec.capability is ["cpu"], not a mapping',
            "write the field with the API's type",
        ),
    }


def test_items_of_lists_keep_their_numbers() -> None:
    tasks: list[Any] = [3, task("w", 1), {**task("v", 1), "replicas": "many"}]
    fields = [one.issue.field for one in faults(job("j", *tasks))]
    assert fields == ["spec.tasks[0]", "spec.tasks[2].replicas"]


def test_a_number_that_does_not_fit_its_field_is_named_with_the_limit() -> None:
    (large,) = faults(queue("a", weight=99_999_999_999))
    assert large.message == "spec.weight is 99999999999, above 2147483647"
    assert large.issue.field == "spec.weight"


def test_a_document_with_a_wrong_type_at_its_root_is_still_checked() -> None:
    for part in ("metadata", "spec", "status"):
        made = {**queue("a"), part: [1]}
        assert {one.issue.field for one in faults(made)} <= {part}
