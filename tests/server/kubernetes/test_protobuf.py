"""Bodies in protobuf become the JSON that an API server would store."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protobufs import MAGIC, message, metadata, time, wrapped

from plinian.replay.server.kubernetes.wire.api_status import StatusError
from plinian.replay.server.kubernetes.write.protobuf import decoded


def test_a_lease_has_times_with_microseconds_and_numbers() -> None:
    spec = message((1, "me"), (2, 15), (3, time(1_795_226_000, 5_000)), (5, 0))
    body = message((1, metadata("volcano", "volcano-system")), (2, spec))
    assert decoded(wrapped("coordination.k8s.io/v1", "Lease", body)) == {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "volcano", "namespace": "volcano-system"},
        "spec": {
            "holderIdentity": "me",
            "leaseDurationSeconds": 15,
            "acquireTime": "2026-11-21T01:53:20.000005Z",
            "leaseTransitions": 0,
        },
    }


def test_a_pod_keeps_amounts_maps_inlined_sources_and_signed_numbers() -> None:
    requests = message((2, message((1, "cpu"), (2, message((1, "500m"))))))
    port = message((1, "http"), (3, 80))
    probe = message((1, message((2, message((1, "/ready"), (2, message((1, 1), (3, "http"))))))))
    container = message((1, "c"), (2, "busybox"), (6, port), (8, requests), (11, probe))
    config = message((19, message((1, message((1, "settings"))))))
    volume = message((1, "conf"), (2, config))
    toleration = message((1, "gpu"), (5, -1))
    spec = message((1, volume), (2, container), (3, "Never"), (11, 0), (22, toleration))
    body = message((1, metadata("a", "ml", "7", [("app", "x")])), (2, spec), (3, b""))
    assert decoded(wrapped("v1", "Pod", body)) == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "a",
            "namespace": "ml",
            "resourceVersion": "7",
            "labels": {"app": "x"},
        },
        "spec": {
            "volumes": [{"name": "conf", "configMap": {"name": "settings"}}],
            "containers": [
                {
                    "name": "c",
                    "image": "busybox",
                    "ports": [{"name": "http", "containerPort": 80}],
                    "resources": {"requests": {"cpu": "500m"}},
                    "readinessProbe": {"httpGet": {"path": "/ready", "port": "http"}},
                }
            ],
            "restartPolicy": "Never",
            "tolerations": [{"key": "gpu", "tolerationSeconds": -1}],
        },
        "status": {},
    }


def test_zeros_that_mean_something_stay() -> None:
    # Of a Deployment, replicas is a pointer; of its status, it is a number that JSON leaves out.
    body = message((1, metadata("d", "ml")), (2, message((1, 0))), (3, message((2, 0))))
    found = decoded(wrapped("apps/v1", "Deployment", body))
    assert found["spec"] == {"replicas": 0}
    assert found["status"] == {}


def test_options_of_a_deletion_come_in_the_version_of_any_group() -> None:
    body = message((1, 0), (2, message((1, "uid-1"))), (4, "Background"))
    for version in ("v1", "apps/v1", "meta.k8s.io/v1"):
        assert decoded(wrapped(version, "DeleteOptions", body)) == {
            "apiVersion": version,
            "kind": "DeleteOptions",
            "gracePeriodSeconds": 0,
            "preconditions": {"uid": "uid-1"},
            "propagationPolicy": "Background",
        }


def test_a_kind_without_a_message_is_refused_with_the_way_out() -> None:
    with pytest.raises(StatusError, match="send JSON") as fault:
        decoded(wrapped("scheduling.volcano.sh/v1beta1", "PodGroup", b""))
    assert fault.value.code == 415


@given(st.binary(max_size=200))
def test_bytes_at_random_are_read_or_refused(body: bytes) -> None:
    for whole in (body, MAGIC + body, wrapped("v1", "Pod", body)):
        assert _code(whole) in {200, 400, 415}


def _code(body: bytes) -> int:
    try:
        return 200 if decoded(body)["kind"] else 0
    except StatusError as fault:
        return fault.code
