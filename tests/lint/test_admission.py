"""What the admission webhook refuses, by release, as its source has it."""

from __future__ import annotations

from typing import Any

import pytest
from linting import FLAT, RELEASES, TREE, Document, found, inputs_of, names, queue

from plinian.replay.lint.findings import FaultEffect
from plinian.replay.lint.lint_run import lint

NEVER: tuple[str, ...] = ()
NAMES = [how.release for how in RELEASES]


def since(first: str, last: str = "") -> tuple[str, ...]:
    """Return the releases of a range."""
    return tuple(NAMES[NAMES.index(first) : NAMES.index(last) + 1 if last else None])


def refusing(rule: str, *documents: Document, conf: str | None = None) -> tuple[str, ...]:
    """Return the releases whose webhook refuses any of some queues."""
    issues = found(*documents, conf=conf, rule=rule)
    assert all(one.issue.effect is FaultEffect.REFUSED for one in issues)
    releases = {release for one in issues for release in one.releases}
    return tuple(name for name in NAMES if name in releases)


def amounts(
    guarantee: Any = None, deserved: Any = None, capability: Any = None, **more: Any
) -> Document:
    """Return a queue with some of its amounts."""
    spec = {"deserved": deserved, "capability": capability}
    given = {name: value for name, value in spec.items() if value is not None}
    if guarantee is not None:
        given["guarantee"] = {"resource": guarantee}
    return queue(more.pop("name", "a"), **given, **more)


CPU, BOTH = {"cpu": 4}, {"cpu": 4, "memory": "4Gi"}


@pytest.mark.parametrize(
    ("document", "releases"),
    [
        (amounts(deserved={"cpu": 5}, capability=CPU), since("v1.13.0")),
        (amounts(guarantee={"cpu": 5}, deserved=CPU), since("v1.13.0")),
        (amounts(guarantee={"cpu": 5}, deserved={"cpu": 5}, capability=CPU), since("v1.13.0")),
        (amounts(deserved=BOTH, capability=CPU), since("v1.13.0", "v1.14.1")),
        (amounts(guarantee=CPU), since("v1.14.0")),
        (amounts(guarantee=BOTH, deserved=CPU), since("v1.13.0")),
        (amounts(guarantee=CPU, capability={"memory": "1Gi"}), since("v1.13.0")),
        (amounts(guarantee=CPU, deserved=BOTH), NEVER),
        (amounts(guarantee=CPU, deserved=CPU, capability=CPU), NEVER),
        (amounts(deserved=BOTH), NEVER),
        (amounts(), NEVER),
    ],
)
def test_amounts_of_a_queue_are_compared_as_the_release_does(
    document: Document, releases: tuple[str, ...]
) -> None:
    assert refusing("queue-refused-for-amounts", document) == releases


def below(parent: Document, *children: Document) -> tuple[str, ...]:
    return refusing("queue-refused-below-parent", parent, *children)


def child(name: str = "b", **spec: Any) -> Document:
    return amounts(name=name, parent="a", **spec)


def test_a_capability_is_compared_with_the_parent_and_later_with_the_nearest_that_has_one() -> None:
    assert below(amounts(capability=CPU), child(capability={"cpu": 5})) == since("v1.14.0")
    assert below(amounts(), child(capability=CPU)) == since("v1.14.0", "v1.14.1")
    middle = amounts(name="b", parent="a")
    leaf = amounts(name="c", parent="b", capability={"cpu": 5})
    assert below(amounts(capability=CPU), middle, leaf) == since("v1.14.0")
    (late,) = [
        one
        for one in found(amounts(capability=CPU), middle, leaf, rule="queue-refused-below-parent")
        if "v1.15.1" in one.releases
    ]
    assert "of 'a' above it" in late.issue.message
    assert late.issue.subject.name == "c"


def test_sums_of_children_are_compared_with_the_parents_own_amount() -> None:
    two = [child(name, deserved={"cpu": 3}) for name in ("b", "c")]
    assert below(amounts(deserved={"cpu": 5}), *two) == since("v1.14.0")
    assert below(amounts(deserved={"cpu": 6}), *two) == NEVER
    assert below(amounts(), *two) == since("v1.14.2")
    assert below(amounts(capability={"cpu": 6}), *two) == since("v1.14.2")
    assert below(amounts(guarantee=CPU), child(guarantee={"cpu": 5})) == since("v1.14.0")


def test_queues_below_the_root_are_not_compared_with_it() -> None:
    root = queue("root", capability=CPU)
    assert below(root, amounts(parent="root", capability={"cpu": 5})) == NEVER


def test_six_levels_are_too_many_and_five_are_not() -> None:
    chain = [queue("q1"), *(queue(f"q{at}", parent=f"q{at - 1}") for at in range(2, 7))]
    assert refusing("queue-refused-for-depth", *chain[:5]) == NEVER
    assert refusing("queue-refused-for-depth", *chain) == since("v1.14.2")
    assert refusing("queue-refused-for-depth", queue("a", parent="a")) == since("v1.14.0")


def test_a_parent_that_does_not_exist_is_refused_whatever_plugin_reads_it() -> None:
    rule, lost = "queue-refused-without-parent", queue("a", parent="b")
    assert refusing(rule, lost, conf=FLAT) == since("v1.11.0")
    assert refusing(rule, lost, conf=TREE) == since("v1.11.0")
    assert refusing(rule, queue("a", parent="root"), conf=FLAT) == NEVER


def test_with_no_configuration_the_refusal_holds_for_each_plugin() -> None:
    told = found(queue("a", parent="b", weight=2))
    (refused,) = (one for one in told if one.rule == "queue-refused-without-parent")
    (stopped,) = (one for one in told if one.rule == "queue-parent-missing")
    assert refused.plugin == ""
    assert stopped.plugin == "capacity"
    assert "if no webhook refuses it, nothing is enqueued" in stopped.message


def test_a_queue_that_is_there_without_its_parent_stops_all_scheduling() -> None:
    (told,) = lint(inputs_of(queue("a", parent="b"), conf=TREE, stored=True), RELEASES[-1:])
    assert "webhook" not in told.message


def test_a_queue_after_its_parent_is_a_matter_of_the_order_of_files() -> None:
    (finding,) = found(queue("a", parent="b"), queue("b"), rule="queue-before-parent")
    assert finding.issue.effect is FaultEffect.ODD
    assert finding.releases == since("v1.11.0")
    assert found(queue("a", parent="b"), rule="queue-before-parent") == []


def test_queues_of_a_log_were_admitted_already() -> None:
    stored = inputs_of(
        amounts(capability=CPU, deserved={"cpu": 9}),
        child(capability={"cpu": 9}, deserved={"cpu": 10}),
        queue("c", parent="d"),
        queue("d", parent="d"),
        stored=True,
    )
    rules = {
        name for name in names(lint(stored, RELEASES)) if "refused" in name or "before" in name
    }
    assert rules == set()
