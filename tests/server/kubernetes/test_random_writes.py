"""Writes at random are accepted or refused, and never fail; what is accepted can be read again."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest
from branches import BRANCH
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from serving import Running, run

PATHS = (
    "/api/v1/namespaces/default/pods",
    "/api/v1/nodes",
    "/api/v1/namespaces/default/configmaps",
    "/api/v1/namespaces/default/events",
    "/apis/scheduling.volcano.sh/v1beta1/queues",
    "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups",
    "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs",
    "/apis/apps/v1/namespaces/default/replicasets",
    "/apis/coordination.k8s.io/v1/namespaces/default/leases",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "/api/v1/namespaces",
    "/api/v1/namespaces/default/secrets",
)
OBJECTS = tuple(
    f"{PATHS[place]}/{name}"
    for place, name in ((0, "gpu-2-gpu-0"), (1, "node-1"), (4, "gold"), (6, "train-a"), (2, "a"))
)
BELOW = ("", "", "", "/status", "/binding", "/eviction", "/scale")
MEDIA = (
    *("application/json", "application/json", "application/json"),
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/json-patch+json",
    "application/apply-patch+yaml",
    "application/vnd.kubernetes.protobuf",
    "text/plain",
)
FIELDS = (
    *("metadata", "spec", "status", "name", "labels", "finalizers", "ownerReferences", "replicas"),
    *("containers", "resources", "requests", "target", "conditions", "uid", "resourceVersion"),
    *("deleteOptions", "preconditions", "data", "names", "versions", "$patch", "weight", "phase"),
)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False)
    | st.sampled_from(["", "a", "gold", "\x00", "\ud800", "é", "1", "500m", "2026-01-01T00:00:00Z"])
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4)
    ),
    max_leaves=12,
)
OPERATIONS = st.lists(
    st.fixed_dictionaries(
        {
            "op": st.sampled_from(["add", "remove", "replace", "test", "move", "copy", "x"]),
            "path": st.sampled_from(
                ["/metadata", "/spec/x", "/metadata/labels/a~1b", "", "x", "/"]
            ),
        },
        optional={"value": VALUES, "from": st.sampled_from(["/spec", "/metadata/name", "x"])},
    ),
    max_size=3,
)
BODIES = st.fixed_dictionaries(
    {
        "metadata": st.fixed_dictionaries(
            {"generateName": st.just("r-")},
            optional={"name": st.just("a"), "labels": VALUES, "finalizers": VALUES},
        )
    },
    optional={"spec": VALUES, "status": VALUES, "data": VALUES, "target": VALUES},
)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_no_write_fails(writable: Running, method: str) -> None:
    seen: Counter[int] = Counter()
    writable.client.post(PATHS[2], json={"metadata": {"name": "a"}})

    @settings(
        max_examples=150,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )
    @given(
        st.sampled_from(PATHS)
        | st.builds(str.__add__, st.sampled_from(OBJECTS), st.sampled_from(BELOW)),
        st.sampled_from(MEDIA),
        BODIES | OPERATIONS | VALUES,
    )
    def write(path: str, media: str, body: Any) -> None:
        text = json.dumps(body).encode()
        answer = writable.client.request(
            method, path, content=text, headers={"Content-Type": media}
        )
        seen[answer.status_code] += 1
        assert answer.status_code < 500, (path, media, body, answer.text)
        assert answer.status_code < 400 or answer.json()["kind"] == "Status"

    write()
    assert {code // 100 for code in seen} >= {2, 4}
    _readable(writable.client, writable.place)


def _readable(client: httpx.Client, place: Path) -> None:
    """Check that what was stored can be listed, and read by commands."""
    table = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    for path in PATHS:
        assert client.get(path).status_code == 200
        assert client.get(path, headers=table).status_code == 200
    for command in (("get", "pods"), ("digest",), ("session",)):
        answer = run(*command, "--log", str(place), "--branch", BRANCH)
        assert "Traceback" not in answer.stderr, answer.stderr
        assert answer.returncode in {0, 1}, answer.stderr
