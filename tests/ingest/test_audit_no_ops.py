"""Audited writes that changed nothing: answered with the version that there was."""

from __future__ import annotations

import io
from typing import Any

import msgspec
import pytest

from clusters import compact
from clusters import pod as pod_of
from plinian.engine.events import Event
from plinian.engine.ingest.audit.audit_log import FORMAT
from plinian.engine.ingest.reading.formats import Context

TIME_US = 1795226017142263


def pod(revision: str = "7", **metadata: Any) -> dict[str, Any]:
    return pod_of("p", revision, **metadata)


def told(**fields: Any) -> tuple[list[Event], Context]:
    """Return what one record says: an update of alice's, changed by ``fields``."""
    return all_told({"requestReceivedTimestamp": "2026-11-21T01:53:37.100000Z"} | fields)


def all_told(*changes: dict[str, Any]) -> tuple[list[Event], Context]:
    records = [
        {
            "kind": "Event",
            "apiVersion": "audit.k8s.io/v1",
            "level": "RequestResponse",
            "auditID": str(number),
            "stage": "ResponseComplete",
            "verb": "update",
            "user": {"username": "alice"},
            "objectRef": {"resource": "pods", "namespace": "default", "name": "p"},
            "responseStatus": {"code": 200},
            "responseObject": pod(**OLD_STAMP),
            "stageTimestamp": "2026-11-21T01:53:37.142263Z",
        }
        | change
        for number, change in enumerate(changes)
    ]
    context = Context(source="audit.log")
    stream = io.BytesIO(b"".join(compact(record) + b"\n" for record in records))
    return list(FORMAT.events(stream, context)), context


STAMP = {"managedFields": [{"time": "2026-11-21T01:53:37Z"}]}
OLD_STAMP = {"managedFields": [{"time": "2026-11-21T01:53:30Z"}]}


@pytest.mark.parametrize(
    "fields",
    [
        {"requestObject": pod("7")},
        {"requestObject": pod("7"), "responseObject": pod(**STAMP)},
        {"verb": "patch", "requestObject": {"metadata": {"labels": {"a": "b"}}}},
        {"verb": "patch", "requestObject": {"spec": {"replicas": 3, "paused": False}}},
        {"verb": "patch", "requestObject": pod("7") | {"spec": {"taints": None}}},
        {
            "verb": "delete",
            "requestObject": {"propagationPolicy": "Background"},
            "responseObject": pod(
                deletionTimestamp="2026-11-21T01:53:50Z", deletionGracePeriodSeconds=30
            ),
        },
    ],
)
def test_the_version_has_no_actor_and_only_an_upper_bound(fields: dict[str, Any]) -> None:
    events, context = told(**fields)
    (event,) = events
    assert (event.kind, event.revision, event.actor) == ("pod.observed", 7, "")
    assert event.latest == TIME_US
    assert event.earliest is None or event.earliest <= TIME_US // 1_000_000 * 1_000_000
    assert any("changed nothing" in note for note in context.notes)


@pytest.mark.parametrize(
    "fields",
    [
        {"requestObject": pod("6")},
        {"requestObject": pod("")},
        {"verb": "patch", "requestObject": {"spec": {"unschedulable": None}}},
        {"verb": "patch", "requestObject": pod("6") | {"spec": {}}},
        {"verb": "patch", "requestObject": {"spec": {"$patch": "replace"}}},
        {"verb": "patch", "requestObject": {"metadata": {"finalizers": ["a"]}}},
        {"verb": "patch", "requestObject": [{"op": "remove", "path": "/spec/a"}]},
        {"verb": "patch", "requestObject": {"apiVersion": "v1", "kind": "Pod"}},
        {"verb": "patch", "requestObject": {"a": "b"}, "responseObject": pod(**STAMP)},
        {"verb": "patch", "requestObject": {"a": "b"}, "responseObject": pod()},
        {"verb": "patch", "responseStatus": {"code": 201}, "requestObject": {"a": "b"}},
        {
            "verb": "delete",
            "requestObject": {"gracePeriodSeconds": 5},
            "responseObject": pod(
                deletionTimestamp="2026-11-21T01:53:35Z", deletionGracePeriodSeconds=5
            ),
        },
    ],
)
def test_what_may_have_changed_something_is_its_users(fields: dict[str, Any]) -> None:
    events, _ = told(**fields)
    assert {event.actor for event in events} == {"alice"}
    assert events[-1].kind in {"pod.updated", "pod.created"}


def test_a_repeated_version_does_not_widen_what_the_log_covers() -> None:
    _, context = all_told(
        {"requestObject": pod("7")},
        {"requestObject": pod("20"), "responseObject": pod("21")},
    )
    ((first, span),) = context.spans
    assert (first, msgspec.json.decode(span.payload)["since"]) == (21, 21)
