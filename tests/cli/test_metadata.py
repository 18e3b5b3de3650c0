"""What is said of an audit log at level Metadata: requests are known, and no object."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import Result

Run = Callable[..., Result]


def request(resource: str, name: str, second: int, **more: Any) -> dict[str, Any]:
    """Return a line of an audit log: a request of the scheduler that wrote something."""
    return {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Metadata",
        "auditID": f"{resource}-{name}-{second}",
        "stage": "ResponseComplete",
        "requestURI": f"/apis/{resource}/{name}",
        "verb": "update",
        "user": {"username": "system:serviceaccount:volcano-system:volcano-scheduler"},
        "objectRef": {"resource": resource, "name": name, "apiVersion": "v1beta1", **more},
        "responseStatus": {"code": 200},
        "stageTimestamp": f"2026-01-02T03:04:{second:02}.000000Z",
    }


@pytest.fixture
def log(run: Run, tmp_path: Path) -> str:
    group = {"apiGroup": "scheduling.volcano.sh"}
    bound = {"namespace": "ns", "uid": "u", "subresource": "binding", "apiVersion": "v1"}
    lines = [
        request("queues", "gold", 1, **group),
        {**request("pods", "a", 2, **bound), "verb": "create"},
    ]
    (tmp_path / "audit.log").write_bytes(b"\n".join(map(msgspec.json.encode, lines)))
    made = str(tmp_path / "log.db")
    assert run("ingest", str(tmp_path / "audit.log"), "--log", made).exit_code == 0
    return made


def test_requests_about_an_object_are_no_version_of_it(run: Run, log: str) -> None:
    result = run("why", "queue/gold", "--log", log)
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1].strip() == (
        "the log has requests or lines about it, but no version of it; see them: "
        "plinian history queue/gold"
    )


def test_an_object_of_a_kind_without_a_list_may_exist(run: Run, log: str) -> None:
    result = run("why", "podgroup/x", "-n", "ns", "--log", log)
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1].strip() == (
        "there may be one: the log holds no complete list of podgroups; ingest one"
    )


def test_a_session_without_any_revision_has_none(run: Run, log: str) -> None:
    result = run("session", "list", "--log", log)
    assert result.exit_code == 0, result.stderr
    (session,) = [line for line in result.stdout.splitlines() if line.startswith("session:")]
    assert "rv:" not in session
    assert "<none>" in session
