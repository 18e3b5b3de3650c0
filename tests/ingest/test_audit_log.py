"""What an audit log of the API server says: on slices of real ones, and on bad input."""

from __future__ import annotations

import gzip
import io
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from plinian.engine.errors import EventMalformed
from plinian.engine.events import KINDS, Event
from plinian.engine.ingest.audit.audit_log import FORMAT
from plinian.engine.ingest.reading.formats import Context

DATA = Path(__file__).parent.parent / "data"
TIME = "2026-11-21T01:53:37.142263Z"
TIME_US = 1795226017142263


def lines_of(name: str) -> list[bytes]:
    return gzip.decompress((DATA / name).read_bytes()).splitlines(keepends=True)


def read(data: bytes | Iterable[bytes], **options: Any) -> tuple[list[Event], Context]:
    context = Context(source="audit.log", **options)
    stream = io.BytesIO(data if isinstance(data, bytes) else b"".join(data))
    return list(FORMAT.events(stream, context)), context


def record(**fields: Any) -> dict[str, Any]:
    """Return a finished, successful write as the API server records it, changed by ``fields``."""
    return {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "RequestResponse",
        "auditID": "a",
        "stage": "ResponseComplete",
        "requestURI": "/api/v1/namespaces/default/pods/p",
        "verb": "update",
        "user": {"username": "alice"},
        "objectRef": {"resource": "pods", "namespace": "default", "name": "p"},
        "responseStatus": {"code": 200},
        "responseObject": pod(),
        "stageTimestamp": TIME,
    } | fields


def pod(revision: str = "7", **metadata: Any) -> dict[str, Any]:
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {
            "name": "p",
            "namespace": "default",
            "uid": "u-1",
            "resourceVersion": revision,
        }
        | metadata,
    }


def told(*records: dict[str, Any], **options: Any) -> tuple[list[Event], Context]:
    return read([json.dumps(each).encode() + b"\n" for each in records], **options)


def only(events: list[Event]) -> Event:
    assert len(events) == 1, [event.kind for event in events]
    return events[0]


def payload(event: Event) -> Any:
    return msgspec.json.decode(event.payload)


class TestSniff:
    def test_a_real_log_is_recognised_by_content(self) -> None:
        assert FORMAT.sniff(b"".join(lines_of("audit-metadata.jsonl.gz"))[:4096], "-")

    @pytest.mark.parametrize(
        "head",
        [
            b'{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1"}}\n',
            b'{"kind":"Policy","apiVersion":"audit.k8s.io/v1","rules":[]}',
            b'{"kind":"ConfigMap","data":{"p":"{\\"apiVersion\\":\\"audit.k8s.io/v1\\"}"}}',
            b"apiVersion: audit.k8s.io/v1\nkind: Policy\n",
        ],
    )
    def test_other_documents_are_not(self, head: bytes) -> None:
        assert not FORMAT.sniff(head, "audit.log")


class TestRequestResponse:
    def test_a_real_slice_gives_versions_bindings_and_deletions(self) -> None:
        events, context = read(lines_of("audit-requestresponse.jsonl.gz"))
        kinds = Counter(event.kind for event in events)
        assert kinds["pod.created"] == 1
        assert kinds["pod.bound"] == 1
        assert kinds["pod.evicted"] == 1
        assert kinds["node.deleted"] == kinds["podgroup.deleted"] == 1
        assert kinds["request.refused"] == 3
        assert kinds["list.observed"] == 1
        assert context.skipped == {
            "stage RequestReceived": 1,
            "stage ResponseStarted": 1,
            "request that writes no object": 1,
        }

    def test_each_event_is_of_the_vocabulary_and_names_its_line(self) -> None:
        lines = lines_of("audit-requestresponse.jsonl.gz")
        events, _ = read(lines)
        assert {event.kind for event in events} <= set(KINDS)
        assert all(1 <= event.line <= len(lines) for event in events)
        assert not any(b"managedFields" in event.payload for event in events)

    def test_a_binding_names_the_pod_by_uid_and_the_node(self) -> None:
        events, _ = read(lines_of("audit-requestresponse.jsonl.gz"))
        bound = only([event for event in events if event.kind == "pod.bound"])
        assert bound.reference.kind == "Pod"
        assert len(bound.reference.uid) == 36
        assert payload(bound)["node"].startswith("node-")
        assert bound.revision is None
        assert bound.observed_at is not None
        assert bound.actor.endswith(":volcano-scheduler")

    def test_a_write_says_who_and_when(self) -> None:
        event = only(told(record())[0])
        assert (event.kind, event.revision, event.actor) == ("pod.updated", 7, "alice")
        assert event.observed_at == TIME_US

    def test_an_impersonated_user_is_the_one_who_did_it(self) -> None:
        events, _ = told(record(impersonatedUser={"username": "bob"}))
        assert only(events).actor == "bob"

    def test_a_write_to_the_status_gives_the_whole_object(self) -> None:
        ref = {"resource": "pods", "namespace": "default", "name": "p", "subresource": "status"}
        assert only(told(record(objectRef=ref))[0]).kind == "pod.updated"

    def test_an_excerpt_is_no_version_but_says_which_version_came_to_be(self) -> None:
        scale = {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": pod()["metadata"]}
        ref = {
            "resource": "deployments",
            "apiGroup": "apps",
            "namespace": "default",
            "name": "p",
            "subresource": "scale",
        }
        event = only(told(record(verb="patch", objectRef=ref, responseObject=scale))[0])
        assert (event.kind, event.revision) == ("request.accepted", 7)
        assert event.reference.kind == "Deployment"
        assert event.reference.uid == "u-1"

    def test_a_dry_run_wrote_nothing(self) -> None:
        events, context = told(record(requestURI="/api/v1/namespaces/default/pods/p?dryRun=All"))
        assert events == []
        assert context.skipped == {"dry run": 1}

    def test_a_refused_write_is_kept_as_refused(self) -> None:
        status = {"code": 409, "reason": "Conflict", "message": "modified"}
        event = only(told(record(responseStatus=status, responseObject={"kind": "Status"}))[0])
        assert event.kind == "request.refused"
        assert payload(event)["code"] == 409

    def test_of_a_timeout_nobody_knows(self) -> None:
        events, _ = read(lines_of("audit-finalizers.jsonl.gz"))
        refused = only([event for event in events if event.kind == "request.refused"])
        assert payload(refused)["code"] == 504

    def test_reviews_and_leases_are_no_state(self) -> None:
        refs = [
            {"resource": "leases", "apiGroup": "coordination.k8s.io", "name": "x"},
            {"resource": "subjectaccessreviews", "apiGroup": "authorization.k8s.io"},
            {"resource": "tokenreviews", "apiGroup": "authentication.k8s.io"},
        ]
        bodies = {"responseObject": {"kind": "X", "metadata": {}}, "verb": "create"}
        events, context = told(*(record(objectRef=ref, **bodies) for ref in refs))
        assert events == []
        assert sum(context.skipped.values()) == 3

    def test_a_secrets_content_is_left_out_everywhere(self) -> None:
        secret = pod() | {"kind": "Secret", "data": {"k": "aHVzaA=="}, "stringData": {"k": "hush"}}
        secret["metadata"]["annotations"] = {
            "kubectl.kubernetes.io/last-applied-configuration": "aHVzaA=="
        }
        ref = {"resource": "secrets", "namespace": "default", "name": "p"}
        whole = record(objectRef=ref, responseObject=secret, requestObject=secret)
        bare = record(objectRef=ref, requestObject=secret, level="Request")
        del bare["responseObject"]
        patch = bare | {"requestObject": [{"op": "add", "path": "/data/k", "value": "aHVzaA=="}]}
        read_back = record(objectRef=ref, responseObject=secret, verb="get")
        events, context = told(whole, bare, patch, read_back)
        assert len(events) == 4
        assert not any(b"hush" in event.payload or b"aHVz" in event.payload for event in events)
        assert any("Secret" in note for note in context.notes)

    def test_a_configmap_with_a_scheduler_configuration_applies_it(self) -> None:
        conf = pod() | {"kind": "ConfigMap", "data": {"volcano-scheduler.conf": "tiers: []\n"}}
        ref = {"resource": "configmaps", "namespace": "default", "name": "p"}
        events, _ = told(record(objectRef=ref, responseObject=conf))
        assert [event.kind for event in events] == ["object.updated", "config.applied"]
        assert events[1].revision == 7


class TestDeletes:
    def delete(self, answer: dict[str, Any] | None, **fields: Any) -> list[Event]:
        return told(record(verb="delete", responseObject=answer, **fields))[0]

    def test_without_grace_the_answer_carries_the_revision_of_the_deletion(self) -> None:
        dead = pod(deletionTimestamp="2026-11-21T01:53:37Z", deletionGracePeriodSeconds=0)
        event = only(self.delete(dead))
        assert (event.kind, event.revision, event.actor) == ("pod.deleted", 7, "alice")

    def test_with_grace_the_pod_lives_on(self) -> None:
        dying = pod(deletionTimestamp="2026-11-21T01:54:07Z", deletionGracePeriodSeconds=30)
        assert only(self.delete(dying)).kind == "pod.updated"

    def test_with_a_finalizer_the_object_lives_on(self) -> None:
        held = pod(deletionTimestamp="2026-11-21T01:53:37Z", finalizers=["foregroundDeletion"])
        assert only(self.delete(held)).kind == "pod.updated"

    def test_options_are_kept_beside_the_version(self) -> None:
        dead = pod(deletionTimestamp="2026-11-21T01:53:37Z", deletionGracePeriodSeconds=0)
        options = {"kind": "DeleteOptions", "apiVersion": "x/__internal", "gracePeriodSeconds": 0}
        attributed, deleted = self.delete(dead, requestObject=options)
        assert attributed.kind == "version.attributed"
        assert payload(attributed)["options"] == {"gracePeriodSeconds": 0}
        assert attributed.revision == deleted.revision == 7

    def test_a_status_says_that_the_object_is_gone_but_not_at_which_revision(self) -> None:
        status = {"code": 200, "status": "Success", "details": {"uid": "u-9"}}
        options = {"kind": "DeleteOptions", "propagationPolicy": "Background"}
        event = only(self.delete({"kind": "Status"}, responseStatus=status, requestObject=options))
        assert (event.kind, event.revision, event.reference.uid) == ("pod.deleted", None, "u-9")
        assert payload(event) == {"deleteOptions": {"propagationPolicy": "Background"}}
        assert event.observed_at == TIME_US

    def test_a_namespace_lives_on_while_its_content_is_deleted(self) -> None:
        name = pod(deletionTimestamp="2026-11-21T01:53:37Z") | {
            "kind": "Namespace",
            "spec": {"finalizers": ["kubernetes"]},
        }
        assert only(self.delete(name)).kind == "namespace.updated"

    def test_the_update_that_takes_away_the_last_finalizer_deletes(self) -> None:
        events, _ = read(lines_of("audit-finalizers.jsonl.gz"))
        jobs = [event for event in events if event.reference.kind == "Job"]
        assert [event.kind for event in jobs] == [
            "version.attributed",
            "job.updated",
            "job.deleted",
        ]
        assert jobs[-1].revision is None
        assert jobs[-1].reference == jobs[0].reference

    def test_deletecollection_says_that_it_does_not_know_which(self) -> None:
        uri = "/api/v1/namespaces/default/pods"
        ref = {"resource": "pods", "namespace": "default"}
        events, context = told(
            record(verb="deletecollection", requestURI=uri, objectRef=ref, responseObject=None)
        )
        assert only(events).kind == "collection.deleted"
        assert "which objects went" in context.notes[0]


class TestPoorLevels:
    def test_at_request_level_bodies_bindings_and_finished_deletes_are_kept(self) -> None:
        events, context = read(lines_of("audit-request.jsonl.gz"))
        kinds = Counter(event.kind for event in events)
        assert kinds == {
            "request.accepted": 4,
            "pod.bound": 1,
            "node.deleted": 1,
            "podgroup.deleted": 1,
            "pod.deleted": 1,
        }
        created = only(
            [
                event
                for event in events
                if event.reference.kind == "Node" and payload(event).get("verb") == "create"
            ]
        )
        assert payload(created)["body"]["kind"] == "Node"
        assert any("unknown: the result" in note for note in context.notes)

    def test_at_metadata_level_a_binding_has_no_node_and_the_notes_say_so(self) -> None:
        events, context = read(lines_of("audit-metadata.jsonl.gz"))
        bound = only([event for event in events if event.kind == "pod.bound"])
        assert payload(bound).get("node", "") == ""
        assert "1 x binding, unknown: the node (level Metadata)" in context.notes

    @pytest.mark.parametrize(
        ("actor", "kind"), [("system:node:n1", "pod.deleted"), ("alice", "request.accepted")]
    )
    def test_at_metadata_level_only_a_kubelet_s_deletion_is_final(
        self, actor: str, kind: str
    ) -> None:
        delete = record(
            level="Metadata", verb="delete", user={"username": actor}, responseObject=None
        )
        events, _ = told(delete)
        assert only(events).kind == kind

    def test_at_metadata_level_a_status_is_told_from_an_object(self) -> None:
        events, _ = read(lines_of("audit-metadata.jsonl.gz"))
        by_kind = {
            event.reference.kind: event
            for event in events
            if b'"delete"' in event.payload or event.kind.endswith(".deleted")
        }
        assert by_kind["PodGroup"].kind == "podgroup.deleted"
        assert by_kind["Pod"].kind == "request.accepted"
        assert "whether the object went at once" in payload(by_kind["Pod"])["unknown"]

    def test_an_unknown_resource_is_kept_under_its_plural(self) -> None:
        bare = record(objectRef={"resource": "widgets", "apiGroup": "example.com", "name": "w"})
        del bare["responseObject"]
        events, context = told(bare)
        assert only(events).reference.kind == "widgets"
        assert any("widgets.example.com" in note for note in context.notes)


class TestReads:
    def listed(self, uri: str = "/api/v1/pods?limit=500", **metadata: Any) -> dict[str, Any]:
        items = [{"metadata": pod("5", name="a", uid="u-a")["metadata"]}]
        body = {
            "kind": "PodList",
            "apiVersion": "v1",
            "metadata": {"resourceVersion": "9"} | metadata,
            "items": items,
        }
        ref = {"resource": "pods"}
        return record(verb="list", requestURI=uri, objectRef=ref, responseObject=body)

    def test_a_complete_list_is_a_list_at_its_revision(self) -> None:
        events, _ = told(self.listed())
        assert [event.kind for event in events] == ["pod.observed", "list.observed"]
        assert events[1].revision == 9
        assert payload(events[1])["uids"] == ["u-a"]
        assert events[0].actor == ""

    @pytest.mark.parametrize(
        "query", ["labelSelector=a%3Db", "fieldSelector=spec.nodeName%3Dn", "continue=abc"]
    )
    def test_a_narrowed_list_only_gives_versions(self, query: str) -> None:
        events, _ = told(self.listed(f"/api/v1/pods?{query}"))
        assert [event.kind for event in events] == ["pod.observed"]

    def test_a_page_only_gives_versions(self) -> None:
        page = self.listed(**{"continue": "abc", "remainingItemCount": 3})
        assert [event.kind for event in told(page)[0]] == ["pod.observed"]

    def test_an_item_told_already_is_not_told_again_but_stays_listed(self) -> None:
        events, _ = told(self.listed(), self.listed())
        assert [event.kind for event in events] == [
            "pod.observed",
            "list.observed",
            "list.observed",
        ]
        assert payload(events[2])["uids"] == ["u-a"]

    def test_a_list_of_a_namespace_covers_that(self) -> None:
        request = self.listed("/api/v1/namespaces/default/pods")
        request["objectRef"]["namespace"] = "default"
        events, _ = told(request)
        assert payload(events[1])["namespaces"] == ["default"]

    def test_watches_and_tables_are_counted(self) -> None:
        table = record(verb="list", responseObject={"kind": "Table", "metadata": {}})
        events, context = told(record(verb="watch"), table)
        assert events == []
        assert context.skipped == {"read request": 2}


class TestShape:
    def test_rotated_files_in_any_order_give_the_same_events(self) -> None:
        lines = lines_of("audit-requestresponse.jsonl.gz")
        cut = len(lines) // 2

        def keys(*files: list[bytes]) -> Counter[tuple[str, str, bytes]]:
            events = [event for file in files for event in read(file)[0]]
            return Counter((event.kind, event.resource_version, event.payload) for event in events)

        assert keys(lines[:cut], lines[cut:]) == keys(lines[cut:], lines[:cut])

    def test_an_event_list_is_unwrapped_also_when_indented(self) -> None:
        wrapped = {"kind": "EventList", "apiVersion": "audit.k8s.io/v1", "items": [record()] * 2}
        flat, _ = told(wrapped)
        indented, _ = read(json.dumps(wrapped, indent=2).encode() + b"\n")
        assert [event.payload for event in flat] == [event.payload for event in indented]
        assert len(flat) == 2

    def test_a_line_of_five_megabytes_is_read(self) -> None:
        large = pod(annotations={"a": "x" * 5_000_000})
        assert len(only(told(record(responseObject=large))[0]).payload) > 5_000_000


class TestBadInput:
    def test_a_broken_line_is_named_with_file_and_line(self) -> None:
        good = json.dumps(record()).encode() + b"\n"
        with pytest.raises(EventMalformed) as raised:
            read(good + b'{"kind":"Event","stage":\n' + good)
        assert raised.value.where == "audit.log:2"

    def test_a_wrong_type_is_named_by_its_path(self) -> None:
        with pytest.raises(EventMalformed, match=r"\$\.user\.username"):
            told(record(user={"username": 5}))

    @pytest.mark.parametrize(
        ("change", "path"),
        [
            ({"responseObject": pod("seven")}, "responseObject.metadata.resourceVersion"),
            ({"responseStatus": {}}, "responseStatus.code"),
            ({"stageTimestamp": "yesterday"}, "yesterday"),
        ],
    )
    def test_a_bad_field_is_named(self, change: dict[str, Any], path: str) -> None:
        with pytest.raises(EventMalformed, match=path):
            told(record(**change))

    def test_a_bad_item_of_a_list_is_named_by_its_place(self) -> None:
        body = {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "9"}}
        body["items"] = [{"metadata": {"name": "a", "uid": "u"}}]
        with pytest.raises(EventMalformed) as raised:
            told(record(verb="list", responseObject=body))
        assert "$.responseObject.items[0].metadata.resourceVersion" in raised.value.what

    @pytest.mark.parametrize(
        "line",
        [
            b"\x00\x00\x00\n",
            b'{"stage":"ResponseComplete","verb":"\xff\xfe"}\n',
            b"[" * 100_000 + b"\n",
            b'"text"\n',
            b"null\n",
        ],
    )
    def test_skipping_malformed_lines_counts_them_and_goes_on(self, line: bytes) -> None:
        good = json.dumps(record()).encode() + b"\n"
        events, context = read(good + line + good, skip_malformed=True)
        assert len(events) == 2
        assert context.skipped == {"malformed": 1}

    def test_a_cut_last_line_is_noted_and_the_rest_is_kept(self) -> None:
        good = json.dumps(record()).encode() + b"\n"
        events, context = read(good + good[: len(good) // 2])
        assert len(events) == 1
        assert context.notes == ["line 2: the last record is cut off"]

    def test_a_real_log_that_is_cut_anywhere_has_the_events_of_its_whole_lines(self) -> None:
        data = b"".join(lines_of("audit-finalizers.jsonl.gz"))
        for end in range(0, len(data), 97):
            lines = data[:end].count(b"\n")
            events, context = read(data[:end])
            whole, _ = read(data[: data.rfind(b"\n", 0, end) + 1])
            assert events == whole
            cut = (
                []
                if data[:end].endswith(b"\n") or not end
                else [f"line {lines + 1}: the last record is cut off"]
            )
            assert context.notes == cut
