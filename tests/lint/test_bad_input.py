"""Whatever people write is checked: nothing that is given makes the check itself fail."""

from __future__ import annotations

import json
from itertools import cycle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linting import (
    PROPORTION,
    RELEASES,
    TREE,
    conf_of,
    group,
    inputs_of,
    job,
    node,
    pod,
    queue,
    task,
)
from scenarios import scenario_document

from plinian.replay.lint.findings import FilePlace
from plinian.replay.lint.lint_inputs import LintInputs
from plinian.replay.lint.lint_rules import RULES
from plinian.replay.lint.lint_run import lint
from plinian.replay.lint.objects import TYPES, Manifest, amounts_in
from plinian.replay.render.documents import plain

NEWEST, MIDDLE, OLDEST = RELEASES[-1], RELEASES[len(RELEASES) // 2], RELEASES[0]
KNOWN = frozenset(rule.name for rule in RULES)
SOME = (OLDEST, MIDDLE, NEWEST)

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(
        ("1", "-2", "4Gi", "x", "", "root", "a", "1e30", "Closed", "scheduling.k8s.io")
    ),
)
fields = st.sampled_from(
    (
        *("name", "namespace", "parent", "capability", "deserved", "guarantee", "resource", "cpu"),
        *("minMember", "minResources", "queue", "tasks", "replicas", "minAvailable", "template"),
        *(
            "spec",
            "status",
            "state",
            "allocatable",
            "containers",
            "resources",
            "requests",
            "weight",
        ),
        *("annotations", "volcano.sh/hierarchy", "minTaskMember", "nvidia.com/gpu", "memory"),
    )
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(fields, inner, max_size=4),
    max_leaves=12,
)


@st.composite
def manifests(draw: st.DrawFn) -> Manifest:
    """Return an object of a kind that is looked at, with anything in it."""
    group, kind = draw(st.sampled_from(sorted(TYPES)))
    document: dict[str, Any] = {
        "apiVersion": f"{group}/v1" if group else "v1",
        "kind": kind,
        "metadata": draw(st.one_of(values, st.fixed_dictionaries({"name": scalars}))),
        "spec": draw(values),
        "status": draw(values),
    }
    return Manifest(document, FilePlace("a.yaml", 1, 1))


@pytest.mark.slow
@settings(max_examples=150)
@given(st.lists(manifests(), max_size=5))
def test_any_manifest_can_be_checked(given: list[Manifest]) -> None:
    found = lint(LintInputs(given), SOME)
    assert found == lint(LintInputs(given), SOME)
    assert {finding.rule for finding in found} <= KNOWN
    for finding in found:
        document = plain(finding.document)
        assert json.loads(json.dumps(document)) == document


def test_a_queue_whose_metadata_cannot_be_read_may_be_below_another_one() -> None:
    below = {"metadata": {"name": "team", "labels": 5}, "spec": {"parent": "a"}}
    unnamed = {"metadata": {"name": 5}, "spec": {"parent": "a"}}
    written = [
        Manifest(
            {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", **one},
            FilePlace("a.yaml", number, number),
        )
        for number, one in enumerate((unnamed, below, {"metadata": {"name": "a"}}), start=1)
    ]
    found = [one for one in lint(LintInputs(written), SOME) if one.rule == "queue-before-parent"]
    assert [one.issue.subject.name for one in found] == ["5"]


@settings(max_examples=150)
@given(st.dictionaries(st.sampled_from(("actions", "tiers", "configurations", "x")), values))
def test_any_configuration_can_be_checked(conf: dict[str, Any]) -> None:
    found = lint(LintInputs([], [conf_of(json.dumps(conf))]), SOME)
    # JSON is YAML: how the text is laid out changes no finding, only the lines.
    again = lint(LintInputs([], [conf_of(json.dumps(conf, indent=1))]), SOME)
    assert {each.rule for each in found} == {each.rule for each in again}
    assert {each.rule for each in found} <= KNOWN


@given(st.text())
@settings(max_examples=100)
def test_any_text_can_be_checked_as_a_configuration(text: str) -> None:
    found = lint(LintInputs([], [conf_of(text)]), (NEWEST,))
    assert found == lint(LintInputs([], [conf_of(text)]), (NEWEST,))
    assert {each.rule for each in found} <= KNOWN


def test_clusters_with_what_nobody_should_write_can_be_checked() -> None:
    findings = 0
    for seed in range(60):
        document = scenario_document(seed)
        objects = [
            Manifest(event["object"], None)
            for step in document["steps"]
            for event in step["events"]
            if isinstance(event.get("object"), dict)
        ]
        found = lint(LintInputs(objects, [conf_of(document["conf"])]), SOME)
        assert found == lint(LintInputs(objects, [conf_of(document["conf"])]), SOME)
        findings += len(found)
    assert findings


ASKS = {"requests": {"cpu": "1"}, "limits": {"cpu": "1", "nvidia.com/gpu": "1"}}
SPEC = {
    "containers": [{"name": "a", "resources": ASKS}],
    "initContainers": [{"name": "b", "resources": ASKS}],
    "overhead": {"cpu": "1"},
    "resources": ASKS,
}
AMOUNTS = {"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": "1"}
CLAIM = {"mountPath": "/a", "volumeClaim": {"resources": {"requests": {"storage": "1Gi"}}}}
WITH_AMOUNTS = (
    queue("a", capability=AMOUNTS, deserved=AMOUNTS, guarantee={"resource": AMOUNTS}),
    queue("b", parent="a", capability=AMOUNTS, deserved=AMOUNTS, guarantee={"resource": AMOUNTS}),
    group("g", "b", minMember=1, minResources=AMOUNTS),
    job("j", task("w", 1, pod=SPEC), task("v", 1), queue="b", minAvailable=3, volumes=[CLAIM]),
    job("numa", task("w", 1, topologyPolicy="restricted"), queue="b", minAvailable=3),
    pod("p", "g", **SPEC),
    {
        **node("n", **{"nvidia.com/gpu": "1"}),
        "status": {"allocatable": AMOUNTS, "capacity": AMOUNTS},
    },
)
MALFORMED = ("4GB", "1x", "", "3c", "½", True, [], {}, float("nan"), float("inf"), "1e999999999")


PLACES = [
    (at, number, name)
    for at, document in enumerate(WITH_AMOUNTS)
    for number, (_, amounts) in enumerate(amounts_in(Manifest(document, None)))
    for name in amounts
]


@pytest.mark.parametrize("conf", [None, TREE, PROPORTION], ids=["none", "tree", "proportion"])
def test_an_amount_that_is_no_quantity_is_found_wherever_it_is(conf: str | None) -> None:
    for (at, number, name), value in zip(PLACES, cycle(MALFORMED), strict=False):
        wrong = json.loads(json.dumps(WITH_AMOUNTS[at]))
        path, amounts = list(amounts_in(Manifest(wrong, None)))[number]
        amounts[name] = value
        among = (*WITH_AMOUNTS[:at], wrong, *WITH_AMOUNTS[at + 1 :])
        found = lint(inputs_of(*among, conf=conf), (NEWEST,))
        about = {one.issue.field for one in found if one.rule == "quantity-malformed"}
        assert about == {f"{path}.{name}"}, value
        if wrong["kind"] == "Job" and isinstance(value, str):
            assert "job-min-available-unreachable" in {one.rule for one in found}
