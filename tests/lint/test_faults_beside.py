"""A fault of an object hides no other: what does not rest on it is found, the rest is named."""

from __future__ import annotations

from linting import FILE, PROPORTION, RELEASES, TREE, found, names, node, queue

from plinian.replay.lint.findings import FilePlace, FindingSeverity
from plinian.replay.lint.lint_task import LintTask, check
from plinian.replay.lint.manifest_reading import WrittenFiles
from plinian.replay.lint.objects import Manifest


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


def test_one_panic_of_a_division_is_one_finding_in_the_form_of_kubernetes() -> None:
    guarantee = {"resource": {"cpu": 3}}
    root = queue("root", guarantee=guarantee)
    told = found(node("n", "4"), root, queue("a", guarantee=guarantee), queue("b"), conf=PROPORTION)
    (one,) = (each for each in told if each.rule == "guarantees-break-division")
    assert one.issue.subject.name == "a"
    assert (one.releases[0], one.releases[-1]) == ("v1.8.0", "v1.11.2")
    assert one.message == (
        "when queues request all they may use, the scheduler panics: it divides cpu 5, "
        "but cpu 4 is left"
    )


def test_findings_of_one_severity_are_in_the_order_of_files_and_lines() -> None:
    told = found(
        queue("a", capability={"cpu": "8 cores"}, wieght=2),
        queue("b", parent="lost"),
        queue("c", deserved={"cpu": "x"}),
        conf=TREE,
    )
    errors = [one.issue.subject.place for one in told if one.severity is FindingSeverity.ERROR]
    places = [place for place in errors if place is not None]
    assert places == errors
    assert len(places) >= 4
    assert places == sorted(places)


def test_a_number_that_another_queue_s_fault_decides_is_marked() -> None:
    guarantee = {"resource": {"cpu": 3}}
    told = found(
        node("n", "4"),
        queue("a", guarantee=guarantee),
        queue("b", capability={"cpu": "8 cores"}),
        conf=PROPORTION,
    )
    (one,) = (each for each in told if each.rule == "guarantees-break-division")
    assert one.message.endswith("is left (with small values for those that cannot be read)")


def test_a_name_that_cannot_be_read_is_not_made_up() -> None:
    told = found(queue("a", parent=5), conf=TREE)
    assert "object-malformed" in names(told)
    assert "queue-parent-missing" not in names(told)
    assert not [one for one in told if "unread-" in one.message]
