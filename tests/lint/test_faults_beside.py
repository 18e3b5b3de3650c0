"""A fault of an object hides no other: what does not rest on it is found, the rest is named."""

from __future__ import annotations

from linting import FILE, PROPORTION, RELEASES, TREE, found, names, queue

from plinian.replay.lint.findings import FilePlace
from plinian.replay.lint.objects import Manifest
from plinian.replay.lint.reading import WrittenFiles
from plinian.replay.lint.task import LintTask, check


def not_checked(document: dict[str, object]) -> dict[str, str]:
    """Return the rules that were left out for a fault, with why."""
    written = WrittenFiles((Manifest(document, FilePlace(FILE, 1, 1)),), ())
    report = check(LintTask(written), [RELEASES[-1].release])
    return {one.rule: one.reason for one in report.not_checked if "cannot be read" in one.reason}


def test_a_malformed_amount_hides_no_parent_that_is_missing() -> None:
    wrong = queue("newq", weight=2, parent="roott", capability={"cpu": "8 cores"})
    right = queue("newq", weight=2, parent="roott", capability={"cpu": 8})
    for conf in (TREE, PROPORTION):
        assert names(found(wrong, conf=conf)) == {
            *names(found(right, conf=conf)),
            "quantity-malformed",
        }


def test_a_wrong_type_hides_no_parent_that_is_missing() -> None:
    made = queue("newq", weight="two", parent="roott", reclaimable="yes")
    assert {"object-malformed", "queue-parent-missing"} <= names(found(made, conf=TREE))


def test_what_rests_on_a_malformed_amount_is_not_found_but_named() -> None:
    made = queue("a", deserved={"cpu": 9}, capability={"cpu": "8 cores"})
    told = names(found(made, conf=TREE))
    assert "quantity-malformed" in told
    assert "queue-deserved-above-capability" not in told
    left_out = not_checked(made)
    assert left_out["queue-deserved-above-capability"] == (
        "spec.capability.cpu of Queue a cannot be read"
    )
    assert "queue-parent-missing" not in left_out


def test_an_object_that_cannot_be_read_names_its_rules() -> None:
    left_out = not_checked(queue("a", parent="roott", capability=["cpu"]))
    assert left_out["queue-parent-missing"] == "spec.capability of Queue a cannot be read"
