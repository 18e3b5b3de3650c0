"""Scenario files: what an API server fills in, and the order of changes, sessions and marks."""

from __future__ import annotations

import io
import json
from typing import Any

import msgspec
import pytest

from plinian.engine.errors import EventMalformed
from plinian.engine.events import Event
from plinian.engine.ingest.reading.formats import Context
from plinian.engine.ingest.scenario.scenario import FORMAT


def read(scenario: Any, **options: Any) -> tuple[list[Event], Context]:
    context = Context(source="race.case.json", **options)
    data = scenario if isinstance(scenario, bytes) else json.dumps(scenario).encode()
    return list(FORMAT.events(io.BytesIO(data), context)), context


def steps(*changes: list[dict[str, Any]], **scenario: Any) -> dict[str, Any]:
    """Return a scenario of one step per list of changes, without the default queues."""
    return {
        "name": "race",
        "options": {"noDefaultQueues": True},
        "steps": [{"events": each} for each in changes],
    } | scenario


def change(kind: str, what: str = "ADDED", name: str = "a", **fields: Any) -> dict[str, Any]:
    metadata = {"name": name} | fields.pop("metadata", {})
    versions = {"PodGroup": "scheduling.volcano.sh/v1beta1", "Queue": "scheduling.volcano.sh/v1"}
    document = {"apiVersion": versions.get(kind, "v1"), "kind": kind, "metadata": metadata}
    return {"type": what, "object": document | fields}


def objects(events: list[Event]) -> list[Event]:
    return [event for event in events if event.reference.kind]


def document(event: Event) -> Any:
    return msgspec.json.decode(event.payload)


class TestSniff:
    def test_a_scenario_is_told_from_a_result(self) -> None:
        assert FORMAT.sniff(json.dumps(steps([change("Node")])).encode(), "-")
        assert not FORMAT.sniff(b'{"name":"race","steps":[{"binds":[]}]}', "race.v1.12.1.json")

    def test_one_without_events_is_recognised_by_name(self) -> None:
        assert FORMAT.sniff(b'{"steps": [{}]}', "empty.case.json")
        assert not FORMAT.sniff(b'{"steps": [{}]}', "empty.json")


class TestFilledIn:
    def test_left_out_metadata_is_filled_in(self) -> None:
        events, _ = read(steps([change("Pod"), change("PodGroup"), change("Node", name="n1")]))
        pod, group, node = objects(events)
        assert (pod.reference.namespace, pod.reference.uid) == ("default", "default-a")
        assert group.reference.uid == "pg-default-a"
        assert (node.reference.namespace, node.reference.uid) == ("", "n1")

    @pytest.mark.parametrize(
        ("kind", "version"),
        [
            ("RuntimeClass", "node.k8s.io/v1"),
            ("CSIDriver", "storage.k8s.io/v1"),
            ("VolumeAttachment", "storage.k8s.io/v1"),
            ("ClusterRole", "rbac.authorization.k8s.io/v1"),
            ("DeviceClass", "v1"),
        ],
    )
    def test_no_namespace_is_filled_in_for_a_cluster_scoped_kind(
        self, kind: str, version: str
    ) -> None:
        added = change(kind, apiVersion=version)
        events, _ = read(steps([added]))
        (made,) = objects(events)
        assert (made.reference.namespace, made.reference.uid) == ("", "a")

    def test_a_recreated_object_has_a_uid_of_its_own(self) -> None:
        changes = [change("Pod"), change("Pod", "DELETED")] * 3
        uids = [event.reference.uid for event in objects(read(steps(changes))[0])]
        assert uids == ["default-a"] * 2 + ["default-a-2"] * 2 + ["default-a-3"] * 2

    def test_revisions_come_from_the_stores_own_counter(self) -> None:
        given = change("Pod", metadata={"resourceVersion": "900"})
        events, _ = read(steps([given, change("Pod", name="b")], [change("Pod", name="c")]))
        assert [event.revision for event in events] == [1, 2, 3, 4, 5]
        assert document(events[0])["metadata"]["resourceVersion"] == "1"

    def test_nothing_has_a_time(self) -> None:
        fields = [{"manager": "m", "time": "2025-01-01T00:00:00Z"}]
        events, _ = read(steps([change("Pod", metadata={"managedFields": fields})]))
        assert {event.observed_at for event in events} == {None}


class TestChanges:
    def test_added_for_an_object_that_exists_is_an_update(self) -> None:
        events, _ = read(steps([change("Pod"), change("Pod")]))
        assert [event.kind for event in objects(events)] == ["pod.created", "pod.updated"]

    def test_modified_for_one_that_does_not_is_a_creation(self) -> None:
        events, _ = read(steps([change("Pod", "MODIFIED")]))
        assert objects(events)[0].kind == "pod.created"

    def test_a_change_without_status_keeps_the_stored_one(self) -> None:
        first = change("Pod", status={"phase": "Running"})
        events, _ = read(steps([first], [change("Pod", "MODIFIED")]))
        assert document(objects(events)[1])["status"] == {"phase": "Running"}

    def test_a_pods_node_cannot_be_unset(self) -> None:
        first = change("Pod", spec={"nodeName": "n1"})
        events, _ = read(steps([first, change("Pod", "MODIFIED", spec={"nodeName": ""})]))
        assert document(objects(events)[1])["spec"]["nodeName"] == "n1"

    def test_a_change_cannot_change_the_uid(self) -> None:
        events, _ = read(steps([change("Pod"), change("Pod", metadata={"uid": "other"})]))
        assert [event.reference.uid for event in objects(events)] == ["default-a"] * 2

    def test_a_deletion_has_a_revision_and_the_last_status(self) -> None:
        first = change("Pod", status={"phase": "Running"})
        gone = objects(read(steps([first, change("Pod", "DELETED")]))[0])[1]
        assert (gone.kind, gone.revision) == ("pod.deleted", 2)
        assert document(gone)["status"] == {"phase": "Running"}


class TestMarks:
    def test_a_session_is_asked_for_after_each_step_that_wants_one(self) -> None:
        scenario = steps([change("Node")], [change("Pod")])
        scenario["steps"][0]["noSession"] = True
        events, _ = read(scenario)
        assert [event.kind for event in events] == [
            "node.created",
            "pod.created",
            "session.requested",
        ]
        assert document(events[2])["step"] == 2
        assert events[2].line == 2

    def test_controls_stand_between_the_changes_and_each_counts(self) -> None:
        control = {"type": "CLEANUP_STEP"}
        events, _ = read(steps([control, change("Node"), control, {"type": "RESTART"}]))
        assert [event.kind for event in events] == [
            "control.marked",
            "node.created",
            "control.marked",
            "control.marked",
            "session.requested",
        ]
        assert len({event.revision for event in events}) == 5

    def test_configurations_apply_from_their_step_on(self) -> None:
        scenario = steps([change("Node")], [], conf="tiers: []\n")
        scenario["steps"][1]["conf"] = "tiers: ["
        first, _, _, second, _ = read(scenario)[0]
        assert document(first)["parsed"] == {"tiers": []}
        assert (document(second)["text"], document(second).get("parsed")) == ("tiers: [", None)
        assert (first.revision, second.revision) == (1, 4)

    def test_the_queues_of_a_starting_scheduler_come_first(self) -> None:
        own = change("Queue", "MODIFIED", name="root", spec={"weight": 1})
        events, context = read({"name": "x", "steps": [{"events": [own]}]})
        assert [(event.kind, event.reference.name) for event in objects(events)] == [
            ("queue.created", "default"),
            ("queue.created", "root"),
            ("queue.updated", "root"),
        ]
        assert document(events[0])["spec"] == {"weight": 1, "reclaimable": True}
        assert "v1.11" in context.notes[0]


class TestBadInput:
    @pytest.mark.parametrize(
        ("scenario", "where", "path"),
        [
            (b"{", 1, "no scenario"),
            (b"[]", 1, "no scenario"),
            (b'{"name":"\xff"}', 1, "no scenario"),
            ({"steps": 5}, 1, r"\$\.steps"),
            (steps([]) | {"steps": [{}, 7]}, 2, r"\$\.steps\[1\]"),
            (steps([], [{"type": "MOVED"}]), 2, r"\$\.steps\[1\]\.events\[0\]\.type"),
            (steps([{"type": "ADDED"}]), 1, r"events\[0\]\.object"),
            (steps([change("Pod", metadata={"name": 5})]), 1, r"metadata\.name"),
            (steps([change("Pod", metadata={"uid": 5})]), 1, r"object\.metadata\.uid"),
            (steps([change("Pod", "DELETED")]), 1, "deleted but never added"),
        ],
    )
    def test_a_fault_is_named_by_step_and_path(self, scenario: Any, where: int, path: str) -> None:
        with pytest.raises(EventMalformed, match=path) as raised:
            read(scenario)
        assert raised.value.where == f"race.case.json:{where}"

    def test_malformed_changes_can_be_counted_instead(self) -> None:
        events, context = read(
            steps([{"type": "MOVED"}, change("Pod"), change("Node", "DELETED")]),
            skip_malformed=True,
        )
        assert [event.kind for event in events] == ["pod.created", "session.requested"]
        assert context.skipped == {"malformed": 2}

    def test_a_deletion_that_tells_the_uid_is_kept_though_nothing_was_added(self) -> None:
        gone = change("Node", "DELETED", metadata={"uid": "u"})
        assert objects(read(steps([gone]))[0])[0].kind == "node.deleted"

    def test_the_same_file_gives_the_same_events(self) -> None:
        scenario = steps([change("Pod"), change("PodGroup")], [change("Pod", "DELETED")])
        assert read(scenario)[0] == read(scenario)[0]
