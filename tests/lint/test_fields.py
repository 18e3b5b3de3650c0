"""Fields that a kind does not have are found, with the name that may be meant."""

from __future__ import annotations

from typing import Any

import pytest
from linting import (
    Document,
    flow,
    found,
    group,
    hypernode,
    job,
    member,
    node,
    pod,
    priority_class,
    queue,
    task,
    template,
)

from plinian.engine.kubernetes.objects import Queue
from plinian.replay.lint.findings import FilePlace
from plinian.replay.lint.lint_fields import odd_fields
from plinian.replay.lint.objects import Manifest


def odd(document: Document) -> list[tuple[str, str]]:
    """Return (path, similar name) of the fields that an object's kind has in no release."""
    manifest = Manifest(document, FilePlace("a.yaml", 1, 1))
    return [(one.path, one.like) for one in odd_fields(manifest) if not one.since]


def later(document: Document) -> dict[str, str]:
    """Return since when fields exist that not all releases have."""
    manifest = Manifest(document, FilePlace("a.yaml", 1, 1))
    return {one.path: one.since for one in odd_fields(manifest) if one.since}


def with_pod(**spec: Any) -> Document:
    return job("j", task("w", 1, pod=spec))


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (queue("a", parrent="root", weigth=1, capabilty={}), {"parent", "weight", "capability"}),
        (queue("a", guarantee={"resources": {"cpu": 1}}), {"resource"}),
        (group("g", minMembers=2), {"minMember"}),
        (job("j", task("w", 1, replica=2), minAvailabe=1), {"replicas", "minAvailable"}),
        (job("j", task("w", 1), networkTopology={"highestTierAlowed": 1}), {"highestTierAllowed"}),
        (with_pod(nodeSelectors={"a": "b"}), {"nodeSelector"}),
        (pod("p", nodSelector={}), {"nodeSelector"}),
        (hypernode("h", 1, {"type": "Node", "selectors": {}}), {"selector"}),
        (template("t"), set()),
        ({**queue("a"), "sepc": {}}, {"spec"}),
        ({**queue("a"), "metadata": {"name": "a", "lables": {}}}, {"labels"}),
        ({**priority_class("p"), "globalDefualt": True}, {"globalDefault"}),
    ],
)
def test_a_misspelt_field_is_told_with_the_name_that_is_meant(
    document: Document, expected: set[str]
) -> None:
    assert {like for _, like in odd(document)} == expected


DEEP: Document = {
    "hostIpc": True,
    "zebra": 1,
    "containers": [
        {
            "name": "main",
            "envVars": [],
            "resources": {"requests": {"acme.example/card": 1}, "request": {}},
            "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "kei": "k"}}}],
        }
    ],
    "volumes": [
        {"name": "v", "emptyDirectory": {}},
        {"name": "e", "ephemeral": {"volumeClaimTemplate": {"metadata": {"labels": {"a": "b"}}}}},
    ],
    "affinity": {"nodeAffinity": {"required": {}}},
}
ODD = {
    *("hostIpc", "zebra", "containers[0].envVars", "containers[0].resources.request"),
    *("containers[0].env[0].valueFrom.secretKeyRef.kei", "volumes[0].emptyDirectory"),
    "affinity.nodeAffinity.required",
}


def test_fields_of_pods_are_checked_without_a_near_name_too() -> None:
    template = "spec.tasks[0].template.spec"
    assert {path for path, _ in odd(with_pod(**DEEP))} == {f"{template}.{one}" for one in ODD}
    assert {path for path, _ in odd(pod("p", **DEEP))} == {f"spec.{one}" for one in ODD}


def test_metadata_of_templates_has_the_fields_of_metadata() -> None:
    document = with_pod()
    own = document["spec"]["tasks"][0]["template"]
    own["metadata"] = {"labels": {"zebra": "x"}, "annotations": {"a": "b"}, "zebra": 1}
    assert odd(document) == [("spec.tasks[0].template.metadata.zebra", "")]


def test_fields_of_hypernodes_and_flows_are_checked_too() -> None:
    wrong = hypernode("h", 1, {"type": "Node", "selector": {"exactMach": {"name": "n"}}})
    assert odd(wrong) == [("spec.members[0].selector.exactMach", "exactMatch")]
    flows = flow("f", a=[])
    flows["spec"]["flows"][0]["dependOn"] = {}
    assert odd(flows) == [("spec.flows[0].dependOn", "dependsOn")]


def test_names_that_people_choose_are_no_fields() -> None:
    sound = (
        queue("a", capability={"example.com/anything": 1}, annotations={"x": "y"}),
        group("g", minResources={"foo": 1}, minTaskMember={"worker": 1}),
        job("j", task("w", 1), plugins={"ssh": [], "anything": []}),
        with_pod(nodeSelector={"any": "label"}, overhead={"acme.example/x": 1}),
        pod("p", schedulingGroup={"podGroupName": "a"}),
        node("n"),
        hypernode("h", 1, member(labelMatch={"matchLabels": {"rack": "a"}})),
    )
    for document in sound:
        assert odd(document) == [], document["kind"]


def test_a_field_of_a_later_release_says_since_when() -> None:
    assert later(queue("a", parent="b", dequeueStrategy="fifo")) == {
        "spec.parent": "v1.9.0",
        "spec.dequeueStrategy": "v1.14.0",
    }
    assert later(hypernode("h", 1, member("n")))["kind"] == "v1.12.0"
    (finding,) = found(queue("a", dequeueStrategy="fifo"), rule="field-of-later-release")
    assert (finding.severity, finding.releases[-1]) == ("note", "v1.13.3")
    assert found(queue("a", dequeueStrategy="fifo"), rule="field-unknown") == []


def test_every_field_that_a_scheduler_reads_of_a_queue_is_listed() -> None:
    spec: dict[str, Any] = {name: {} for name in _camel(Queue().spec.__struct_fields__)}
    assert [path for path, _ in odd(queue("a", **spec))] == []


def _camel(names: tuple[str, ...]) -> list[str]:
    parts = [name.split("_") for name in names]
    return [first + "".join(word.title() for word in rest) for first, *rest in parts]
