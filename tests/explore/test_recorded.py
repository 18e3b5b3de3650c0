"""A moment of a log as a scenario: what existed, what users wrote, and what is assumed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from machine_cases import BREAKS, workload

from plinian.engine.errors import UsageError
from plinian.engine.events import Event, Reference, canonical_json
from plinian.engine.events.payloads import ScenarioDeclared
from plinian.engine.ingest.objects.version_events import version_event
from plinian.engine.kubernetes.api_server import ObjectKey, place_of
from plinian.engine.machine.cluster_machine import COMPONENTS
from plinian.engine.machine.natural import USER, Natural
from plinian.replay.explore.explored_scenario import parse_machine_case
from plinian.replay.explore.recorded_orders import case_at, is_user
from plinian.replay.explore.scenario_world import server_in, world_of
from plinian.replay.logs.log import Log, opened

ADMIN, CONTROLLER = "kubernetes-admin", "system:serviceaccount:kube-system:replicaset-controller"
AMOUNTS = {"cpu": "8", "memory": "16Gi", "pods": "110"}


def owned(document: Any, owner: Any) -> Any:
    """Return an object with a controller."""
    reference = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
    }
    metadata = {**document["metadata"], "ownerReferences": [reference]}
    return {**document, "metadata": metadata}


def stored(document: Any, name: str, **spec: Any) -> Any:
    """Return an object of a name, with a uid, and other fields of its spec."""
    metadata = {**document["metadata"], "name": name, "uid": f"u-{document['kind']}-{name}"}
    return {**document, "metadata": metadata, "spec": {**document.get("spec", {}), **spec}}


def pod(name: str, node: str = "n1", group: str = "") -> Any:
    """Return a running pod that asks for one CPU."""
    annotations = {"scheduling.k8s.io/group-name": group} if group else {}
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "uid": f"u-{name}"}
        | ({"annotations": annotations} if annotations else {}),
        "spec": {"schedulerName": "volcano", "nodeName": node, "containers": [container]},
        "status": {"phase": "Running"},
    }


WEB = stored(workload(1, "Deployment"), "web")
OTHER = stored(workload(2, "Deployment"), "other")
TEMPLATE = WEB["spec"]["template"]
HASHED = {**TEMPLATE, "metadata": {"labels": {"app": "web", "pod-template-hash": "x"}}}
SET = owned(stored({**workload(1, "ReplicaSet")}, "web-x", template=HASHED), WEB)
POD = owned(pod("web-x-a", group="podgroup-web"), SET)
GROUP = owned(
    {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "podgroup-web", "namespace": "default", "uid": "u-group"},
        "spec": {"minMember": 1, "queue": "default"},
        "status": {"phase": "Running"},
    },
    SET,
)
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1", "uid": "u-n1"},
    "status": {"allocatable": AMOUNTS, "capacity": AMOUNTS},
}
STRANGE = pod("strange")
BEGIN = (NODE, WEB, OTHER, SET, POD, GROUP, STRANGE)
DOWN = stored(WEB, "web", replicas=0)


class Recording:
    """Appends versions to a log, one revision after the other."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.revision = 0

    def write(self, document: Any, verb: str, actor: str = "") -> None:
        """Append a version."""
        self.revision += 1
        metadata = {**document["metadata"], "resourceVersion": str(self.revision)}
        event: Event = version_event(
            {**document, "metadata": metadata}, verb=verb, source="test", line=0, actor=actor
        )
        self.log.store.append([msgspec.structs.replace(event, earliest=None)])

    def declare(self) -> None:
        """Say that the log has the whole history of the cluster."""
        payload = canonical_json(ScenarioDeclared(until=self.revision))
        reference = Reference(kind="Scenario")
        event = Event(
            kind="scenario.declared", reference=reference, payload=payload, source="test", line=0
        )
        self.log.store.append([event])


@pytest.fixture
def recording(tmp_path: Path) -> Iterator[Recording]:
    """Return a log in which some objects exist by ``rv:7``."""
    with opened(tmp_path / "log.db", create=True) as log:
        made = Recording(log)
        for document in BEGIN:
            made.write(document, "created", CONTROLLER)
        yield made


def told(found: Any) -> list[tuple[str, ObjectKey]]:
    """Return the writes of users as verbs and places."""
    return [(act.verb, place_of(act.document)) for act in found.case.writes]


def test_what_belongs_to_the_writes_of_users_exists_and_nothing_else(recording: Recording) -> None:
    recording.write(DOWN, "updated", ADMIN)
    found = case_at(recording.log, "rv:7", BREAKS)
    (act,) = found.case.writes
    assert (act.verb, act.document["spec"]) == ("MODIFIED", {"replicas": 0})
    names = [one["metadata"]["name"] for one in found.case.existing]
    assert names == ["n1", "web", "web-x", "podgroup-web", "web-x-a"]
    said = " ".join(found.assumed)
    assert "scales Deployment web to 0" in said
    assert "2 of 6 objects are left out" in said
    assert "the room that 1 pod takes is" in said


def test_pods_that_are_left_out_keep_their_room(recording: Recording) -> None:
    recording.write(DOWN, "updated", ADMIN)
    node = case_at(recording.log, "rv:7", BREAKS).case.existing[0]
    assert node["status"]["allocatable"] == {"cpu": "7", "memory": "16Gi", "pods": "109"}
    assert node["status"]["capacity"] == AMOUNTS


def test_writes_of_components_are_no_writes_of_users(recording: Recording) -> None:
    recording.write(DOWN, "updated", "system:kube-controller-manager")
    recording.write(stored(OTHER, "other", replicas=0), "updated", ADMIN)
    assert told(case_at(recording.log, "rv:7", BREAKS)) == [
        ("MODIFIED", ObjectKey("Deployment", "default/other"))
    ]


def test_of_unknown_writers_only_changes_of_a_spec_are_a_users(recording: Recording) -> None:
    recording.write({**WEB, "status": {"replicas": 1}}, "updated")
    recording.write(stored(SET, "web-x", replicas=0), "updated")
    recording.write(DOWN, "updated")
    found = case_at(recording.log, "rv:7", BREAKS)
    assert told(found) == [("MODIFIED", ObjectKey("Deployment", "default/web"))]
    assert "Of 1 of them the log does not say who wrote" in " ".join(found.assumed)


@pytest.mark.parametrize("component", sorted(COMPONENTS))
def test_on_a_branch_components_are_no_users(component: str) -> None:
    assert not is_user(component)
    assert is_user(USER)


def test_a_deletion_begins_only_once(recording: Recording) -> None:
    metadata = {**STRANGE["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}
    ending = {**STRANGE, "metadata": metadata}
    recording.write(ending, "updated", ADMIN)
    recording.write(ending, "deleted", ADMIN)
    recording.write(STRANGE, "created", ADMIN)
    assert told(case_at(recording.log, "rv:7", BREAKS)) == [
        ("DELETED", ObjectKey("Pod", "default/strange")),
        ("ADDED", ObjectKey("Pod", "default/strange")),
    ]


def test_only_the_objects_that_are_named_and_only_until_a_moment(recording: Recording) -> None:
    recording.write(stored(OTHER, "other", replicas=0), "updated", ADMIN)
    recording.write(DOWN, "updated", ADMIN)
    recording.write(WEB, "updated", ADMIN)
    found = case_at(recording.log, "rv:7", BREAKS, until="rv:9", objects=["deployment/web"])
    assert told(found) == [("MODIFIED", ObjectKey("Deployment", "default/web"))]
    for objects in (["deployment/nothing"], ["replicaset/web-x"]):
        with pytest.raises(UsageError, match="no write of a user between"):
            case_at(recording.log, "rv:7", BREAKS, objects=objects)
    with pytest.raises(UsageError, match="a Node runs nothing"):
        case_at(recording.log, "rv:7", BREAKS, objects=["node/n1"])


def test_more_writes_than_can_be_searched_are_counted(recording: Recording) -> None:
    for number in range(8):
        recording.write(stored(WEB, "web", replicas=number), "updated", ADMIN)
    found = case_at(recording.log, "@7", BREAKS)
    assert len(found.case.writes) == 6
    assert "2 later writes of users are left out" in " ".join(found.assumed)


def test_the_machine_begins_with_the_world_as_it_was(recording: Recording) -> None:
    recording.write(DOWN, "updated", ADMIN)
    case = case_at(recording.log, "rv:7", BREAKS).case
    assert parse_machine_case(msgspec.json.encode(case.document())) == case
    world = world_of(case, BREAKS)
    held = server_in(world, world.start)
    assert held.get("Pod", "default/web-x-a")["metadata"]["uid"] == "u-web-x-a"
    assert [one["metadata"]["name"] for one in held.list("ReplicaSet")] == ["web-x"]
    end = server_in(world, Natural(world.machine).rest(scaled(world)).state)
    assert held.list("Pod")
    assert not end.list("Pod")


def scaled(world: Any) -> Any:
    """Return the state after the user's write."""
    (move,) = [
        one
        for one in Natural(world.machine).moves(world.start)
        if world.machine.step(one.step).part == "user"
    ]
    return move.state


@pytest.mark.parametrize(
    ("actor", "expected"),
    [
        ("kubernetes-admin", True),
        ("system:admin", True),
        ("system:serviceaccount:argo:deployer", True),
        ("user", True),
        (CONTROLLER, False),
        ("system:serviceaccount:volcano-system:volcano-controllers", False),
        ("system:kube-scheduler", False),
        ("system:node:n1", False),
        ("podgroups", False),
    ],
)
def test_who_is_a_user(actor: str, *, expected: bool) -> None:
    assert is_user(actor) is expected


def test_of_many_objects_the_one_that_users_wrote_most_is_taken(recording: Recording) -> None:
    for number in range(5):
        recording.write(stored(OTHER, "other", replicas=number), "updated", ADMIN)
    for number in (0, 2, 3, 4, 5, 6):
        recording.write(stored(WEB, "web", replicas=number), "updated", ADMIN)
    found = case_at(recording.log, "rv:7", BREAKS)
    assert set(told(found)) == {("MODIFIED", ObjectKey("Deployment", "default/web"))}
    assert "to 2 objects that do not belong together" in " ".join(found.assumed)
    assert "to Deployment web and what belongs to it, because users wrote to it most" in " ".join(
        found.assumed
    )


def test_few_writes_to_several_objects_are_all_taken(recording: Recording) -> None:
    recording.write(stored(OTHER, "other", replicas=0), "updated", ADMIN)
    recording.write(DOWN, "updated", ADMIN)
    found = case_at(recording.log, "rv:7", BREAKS)
    assert len(told(found)) == 2
    assert "do not belong together" not in " ".join(found.assumed)


def test_of_several_objects_the_one_that_the_log_later_shows_wrong_is_taken(
    recording: Recording,
) -> None:
    recording.write(stored(OTHER, "other", replicas=0), "updated", ADMIN)
    recording.write(DOWN, "updated", ADMIN)
    recording.write(GROUP, "deleted", CONTROLLER)
    recording.declare()
    found = case_at(recording.log, "rv:7", BREAKS)
    assert told(found) == [("MODIFIED", ObjectKey("Deployment", "default/web"))]
    assert "what belongs to it, because the log later shows I-04 for Pod web-x-a" in " ".join(
        found.assumed
    )
