"""Times that cannot be printed: refused at the border, and survived where a log has them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import Result

from cli.conftest import at, small_history
from clusters import compact, initial_end, listed, pod, watched
from plinian.engine.ingest.objects.version_events import version_event
from plinian.engine.kubernetes.units import (
    FIRST_TIME,
    LAST_TIME,
    SECOND_US,
    format_time,
    parse_time,
    year_of,
)
from plinian.engine.log import open_log

Run = Callable[..., Result]

LATE, EARLY = "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+00:01"
BEYOND = {"late": LAST_TIME + 86_339 * SECOND_US, "early": FIRST_TIME - SECOND_US, "far": 2**62}


@pytest.mark.parametrize("text", [LATE, EARLY])
def test_a_time_that_utc_cannot_write_is_no_time(text: str) -> None:
    with pytest.raises(ValueError, match="before the year 1 or after 9999"):
        parse_time(text)
    assert parse_time("9999-12-31T23:59:59.999999Z") == LAST_TIME
    assert parse_time("0001-01-01T00:00:00Z") == FIRST_TIME


@pytest.mark.parametrize(
    ("micros", "text"),
    [
        (LAST_TIME, "9999-12-31T23:59:59.999999Z"),
        (LAST_TIME + 1, "+10000-01-01T00:00:00Z"),
        (FIRST_TIME, "0001-01-01T00:00:00Z"),
        (FIRST_TIME - 1, "+0000-12-31T23:59:59.999999Z"),
        (FIRST_TIME - 366 * 86_400 * SECOND_US - 1, "-0001-12-31T23:59:59.999999Z"),
        (2**63 - 1, "+294247-01-10T04:00:54.775807Z"),
        (-(2**63), "-290308-12-21T19:59:05.224192Z"),
    ],
)
def test_any_number_can_be_shown_as_a_time(micros: int, text: str) -> None:
    assert format_time(micros) == text
    assert year_of(micros) == int(text.rpartition("T")[0].rsplit("-", 2)[0])


def audited(stamp: str) -> bytes:
    record = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "auditID": "a",
        "stage": "ResponseComplete",
        "level": "RequestResponse",
        "verb": "create",
        "requestURI": "/api/v1/namespaces/default/pods",
        "user": {"username": "admin"},
        "objectRef": {"resource": "pods", "namespace": "default", "name": "a", "apiVersion": "v1"},
        "responseStatus": {"code": 201},
        "responseObject": pod("a", 5),
        "requestReceivedTimestamp": at(1),
        "stageTimestamp": stamp,
    }
    return compact(record) + b"\n"


def inputs(stamp: str) -> dict[str, bytes]:
    """Return inputs of which each has a time in another place."""
    fields = [{"manager": "kubelet", "time": stamp, "fieldsV1": {}}]
    bound = pod("a", 3)
    bound["status"] = {
        "conditions": [{"type": "PodScheduled", "status": "True", "lastTransitionTime": stamp}]
    }
    usage = {"type": "usage.measured", "observedAt": stamp, "node": "n", "cpu": {"10m": 1.0}}
    klog = f"{stamp} I1122 10:00:00.000000       1 allocate.go:60] Enter Allocate ...\n"
    return {
        "watch.jsonl": watched(("ADDED", pod("a", 3, creationTimestamp=stamp))),
        "managed.jsonl": watched(("ADDED", pod("a", 3, managedFields=fields))),
        "bound.jsonl": watched(("ADDED", bound)),
        "dying.jsonl": watched(("ADDED", pod("a", 3, deletionTimestamp=stamp))),
        "list.json": compact(listed(pod("a", 3, creationTimestamp=stamp))),
        "audit.log": audited(stamp),
        "usage.jsonl": compact(usage) + b"\n",
        "scheduler.log": klog.encode(),
    }


@pytest.mark.parametrize("stamp", [LATE, EARLY])
@pytest.mark.parametrize("name", sorted(inputs(LATE)))
def test_an_input_with_such_a_time_is_refused(
    name: str, stamp: str, run: Run, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(inputs(stamp)[name])
    result = run("ingest", name, "--log", "l.db")
    assert result.exit_code == 2
    assert "before the year 1 or after 9999" in result.stderr
    assert f"{name}:1" in result.stderr
    assert not (tmp_path / "l.db").exists()
    (tmp_path / "good.jsonl").write_bytes(watched(("ADDED", pod("b", 4)), initial_end(4)))
    result = run("ingest", name, "good.jsonl", "--log", "l.db", "--skip-malformed")
    assert result.exit_code == 0, result.stderr
    for command in (["events"], ["history", "pod/b"], ["status"], ["digest"]):
        assert run(*command, "--log", "l.db").exit_code == 0


@pytest.fixture(params=sorted(BEYOND))
def old_log(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Make a log as an older Plinian could, with times that cannot be printed."""
    path, beyond = str(tmp_path / "old.db"), BEYOND[request.param]
    with open_log(path, create=True) as store:
        events = []
        for line, (revision, second, verb, actor, one) in enumerate(small_history(), start=1):
            document = copy.deepcopy(one)
            document["metadata"]["resourceVersion"] = str(revision)
            time = parse_time(at(second))
            event = version_event(
                document, verb=verb, source="w", line=line, earliest=time, latest=time, actor=actor
            )
            if line in {4, 7, 9}:
                stamp = LATE if beyond > 0 else EARLY
                text = event.payload.replace(at(0).encode(), stamp.encode())
                event = msgspec.structs.replace(
                    event, payload=text, earliest=beyond, latest=None if line == 4 else beyond
                )
            events.append(event)
        store.append(events)
    return path


COMMANDS: tuple[tuple[str, ...], ...] = (
    ("status",),
    ("events",),
    ("events", "-o", "json"),
    ("events", "-o", "wide"),
    ("get", "pods"),
    ("get", "pods", "-o", "json"),
    ("get", "queues", "-o", "wide"),
    ("get", "pods", "--at", "rv:14"),
    ("get", "pods", "--at", "-5s"),
    ("describe", "pod/train-0"),
    ("history", "pod/train-0"),
    ("history", "pod/train-0", "-o", "json"),
    ("diff", "rv:12", "end"),
    ("diff", "rv:12", "end", "-o", "json"),
    ("diff", "rv:12", "end", "--who"),
    ("diff", at(3), at(8), "--who"),
    ("digest",),
    ("belief",),
    ("session",),
    ("drift",),
    ("verify",),
)


def test_a_log_that_has_such_times_is_still_read(old_log: str, run: Run) -> None:
    for command in COMMANDS:
        result: Any = run(*command, "--log", old_log)
        assert "internal error of Plinian" not in result.stderr, (command, result.stderr)
        assert result.exit_code in {0, 2}, (command, result.stderr)
        refused = "invalid point" in result.stderr or "log begins" in result.stderr
        assert result.exit_code == 0 or refused or "session" in command, (command, result.stderr)
