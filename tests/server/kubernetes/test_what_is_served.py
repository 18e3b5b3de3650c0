"""Whatever is written, what a branch serves is what its log holds, and no write fails after it."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from branches import BRANCH
from starlette.responses import Response

import plinian
from plinian.replay.logs.log import opened
from plinian.replay.server.kubernetes.served_branch import Branch
from plinian.replay.server.kubernetes.wire.api_paths import place_in
from plinian.replay.server.kubernetes.wire.api_status import StatusError
from plinian.replay.server.kubernetes.write.bodies import WriteRequest
from plinian.replay.server.kubernetes.write.branch_objects import Tables, loaded
from plinian.replay.server.kubernetes.write.patches import APPLY, JSON_PATCH, MERGE, STRATEGIC
from plinian.replay.server.settings import ServerSettings

PODS = "api/v1/namespaces/default/pods"
RUNNING = f"{PODS}/train-a-worker-0"
WAITING = f"{PODS}/gpu-2-gpu-0"
NODE = "api/v1/nodes/node-1"
QUEUE = "apis/scheduling.volcano.sh/v1beta1/queues/gold"
JOB = "apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs/train-a"
GROUPS = "apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups"
CONFIG = "api/v1/namespaces/default/configmaps"
JSON = "application/json"

Write = Callable[..., Awaitable[int]]


def owner(uid: str, kind: str = "Node", version: str = "v1") -> dict[str, str]:
    """Return an owner reference."""
    return {"apiVersion": version, "kind": kind, "name": uid, "uid": uid}


def owned(*uids: str, **rest: Any) -> dict[str, Any]:
    """Return a merge patch that names owners."""
    return {"metadata": {"ownerReferences": [owner(uid) for uid in uids], **rest}}


def looked_at(tables: Tables) -> dict[Any, Any]:
    """Return the versions of all objects that are stored."""
    return {
        (pair, entry.reference.namespace, entry.reference.name): (
            entry.reference.uid,
            entry.revision,
            entry.position,
        )
        for pair, entries in tables.kinds.items()
        for entry in entries
        if entry.position
    }


def written(place: Path, *writes: tuple[Any, ...]) -> list[int]:
    """Carry out writes, and return their codes; what is served is what the log holds after each."""
    codes = []

    async def run() -> None:
        branch = Branch(ServerSettings(place=str(place), branch=BRANCH, writable=True))
        await branch.start()
        try:
            for write in writes:
                codes.append(await _write(branch, *write))
                with opened(str(place), branch=BRANCH) as log:
                    assert looked_at(branch.tables) == looked_at(loaded(log)), write
        finally:
            await branch.stop()

    asyncio.run(run())
    return codes


async def _write(
    branch: Branch, method: str, path: str, body: Any = None, media: str = JSON, **query: str
) -> int:
    text = b"" if body is None else json.dumps(body).encode()
    place = place_in(branch.tables.catalog, tuple(path.split("/")))
    try:
        answer: Response = await branch.write(
            WriteRequest(method, place, text, media, query, "test")
        )
    except StatusError as fault:
        return fault.code
    return answer.status_code


def deletions(place: Path) -> Counter[str]:
    """Return how often each object was deleted on the branch."""
    with plinian.open(place, branch=BRANCH) as log:
        return Counter(
            each.event.reference.uid
            for each in log.events(after=1901)
            if each.event.kind.endswith(".deleted")
        )


@pytest.mark.parametrize("pod", [RUNNING, WAITING])
@pytest.mark.parametrize(
    ("media", "patch"),
    [
        (MERGE, owned("gone")),
        (MERGE, owned("gone", finalizers=["a/b"])),
        (MERGE, owned("gone", "gone-too")),
        (STRATEGIC, owned("gone")),
        (APPLY, owned("gone")),
        (
            JSON_PATCH,
            [{"op": "add", "path": "/metadata/ownerReferences", "value": [owner("gone")]}],
        ),
    ],
)
def test_an_object_whose_owner_is_gone_goes_once(
    branched: Path, pod: str, media: str, patch: Any
) -> None:
    codes = written(
        branched,
        ("PATCH", pod, {"metadata": {"ownerReferences": None}}, MERGE),
        ("PATCH", pod, patch, media),
        ("PATCH", pod, {"metadata": {"finalizers": None}}, MERGE),
        ("DELETE", pod),
    )
    assert all(code < 500 for code in codes), codes
    assert codes[1] < 400
    assert codes[-1] == 404
    assert max(deletions(branched).values()) == 1


def test_no_way_of_writing_fails_after_its_events_are_stored(branched: Path) -> None:
    """Each kind of write, on objects in each state: with owners, finalizers, being deleted."""
    new = {"metadata": {"name": "new"}, "spec": {}}
    writes = [
        ("POST", PODS, {**new, **owned("gone", name="new")}),
        ("POST", PODS, {"metadata": {"name": "kept", "finalizers": ["a/b"]}, "spec": {}}),
        ("DELETE", f"{PODS}/kept"),
        ("DELETE", f"{PODS}/kept"),
        ("PATCH", f"{PODS}/kept", owned("gone"), MERGE),
        ("PATCH", f"{PODS}/kept", {"metadata": {"finalizers": None}}, MERGE),
        (
            "POST",
            f"{WAITING}/binding",
            {"target": {"name": "node-3"}, "metadata": {"annotations": {"a": "b"}}},
        ),
        ("PATCH", WAITING, {"metadata": {"finalizers": ["a/b"]}}, MERGE),
        ("POST", f"{WAITING}/eviction", {"metadata": {"name": "gpu-2-gpu-0"}}),
        ("PATCH", f"{WAITING}/status", {"status": {"phase": "Failed"}}, MERGE),
        ("PATCH", WAITING, owned("gone", finalizers=["a/b"]), MERGE),
        ("PATCH", WAITING, {"metadata": {"finalizers": []}}, MERGE),
        ("PATCH", f"{JOB}/status", {"status": {"state": {"phase": "Aborted"}}}, MERGE),
        ("DELETE", JOB, {"propagationPolicy": "Foreground"}),
        ("DELETE", NODE, {"propagationPolicy": "Orphan"}),
        ("DELETE", QUEUE),
        ("POST", CONFIG, {"metadata": {"name": "a", "ownerReferences": [owner("gone")]}}),
        ("POST", CONFIG, {"metadata": {"name": "b", "finalizers": ["a/b"]}}),
        ("PATCH", f"{CONFIG}/b", owned("gone"), MERGE),
        ("DELETE", CONFIG),
        ("PATCH", f"{CONFIG}/b", {"metadata": {"finalizers": None}}, MERGE),
        ("DELETE", GROUPS),
        ("DELETE", PODS, {"gracePeriodSeconds": 0}),
        ("DELETE", "api/v1/namespaces/default"),
        ("POST", PODS, new),
    ]
    codes = written(branched, *writes)
    assert all(code < 500 for code in codes), list(zip(codes, writes, strict=True))
    assert max(deletions(branched).values()) == 1


def test_owners_that_are_gone_leave_in_one_version(branched: Path) -> None:
    """An object that keeps an owner loses thousands of others by one write, not by thousands."""
    kept = {**owner("node-1"), "uid": _uid(branched, "Node", "node-1")}
    gone = [owner(f"gone-{n}") for n in range(500)]
    patch = {"metadata": {"ownerReferences": [kept, *gone]}}
    assert written(branched, ("PATCH", RUNNING, patch, MERGE)) == [200]
    with plinian.open(branched, branch=BRANCH) as log:
        kinds = [each.event.kind for each in log.events(after=1901)]
    assert kinds.count("pod.updated") == 2


def _uid(place: Path, kind: str, name: str) -> str:
    with opened(str(place), branch=BRANCH) as log:
        found = loaded(log).find(("", kind), ("", name))
    assert found is not None
    return found.reference.uid


def test_a_failure_after_the_append_reads_the_branch_again(
    branched: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("a fault of the server")

    monkeypatch.setattr(Branch, "_publish", broken)
    wanted = {"metadata": {"labels": {"a": "b"}}}
    writes = [("PATCH", WAITING, wanted, MERGE), ("PATCH", RUNNING, wanted, MERGE)]
    assert written(branched, *writes) == [200, 200]
