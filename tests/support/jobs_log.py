"""A log of a job that is created, deleted and created again, with its PodGroups."""

from __future__ import annotations

from typing import Any

from plinian.engine.ingest.objects.version_events import version_event
from plinian.engine.kubernetes.units import SECOND_US, parse_time
from plinian.engine.log import open_log

VOLCANO = "scheduling.volcano.sh/v1beta1"
START = parse_time("2026-01-02T12:00:00Z")
JOB_UIDS = ("09629e74-7499-407b-919d-48e2f6f7cdba", "180202c9-a35d-46c0-9351-8e9c5a68c3d6")


def _object(api: str, kind: str, name: str, uid: str, owner: tuple[str, str] | None = None) -> Any:
    metadata: dict[str, Any] = {
        "name": name,
        "namespace": "ml",
        "uid": uid,
        "creationTimestamp": "2026-01-02T12:00:00Z",
    }
    if owner is not None:
        metadata["ownerReferences"] = [{"kind": owner[0], "name": owner[1], "controller": True}]
    return {
        "apiVersion": api,
        "kind": kind,
        "metadata": metadata,
        "spec": {"minMember": 1, "queue": "default"},
        "status": {"phase": "Pending"},
    }


def _group(job: str, uid: str) -> Any:
    return _object(VOLCANO, "PodGroup", f"{job}-{uid}", f"pg-of-{uid}", ("Job", job))


def make_jobs_log(path: str) -> None:
    """Make the log."""
    job = "batch.volcano.sh/v1alpha1"
    first, second = JOB_UIDS
    told = [
        (2, "created", _object(job, "Job", "bert", first)),
        (3, "created", _group("bert", first)),
        (4, "deleted", _group("bert", first)),
        (5, "deleted", _object(job, "Job", "bert", first)),
        (6, "created", _object(job, "Job", "bert", second)),
        (7, "created", _group("bert", second)),
        (
            8,
            "created",
            _object(VOLCANO, "PodGroup", "podgroup-of-web", "u8", ("ReplicaSet", "web")),
        ),
    ]
    events = []
    for revision, verb, document in told:
        document["metadata"]["resourceVersion"] = str(revision)
        events.append(
            version_event(
                document,
                verb=verb,
                source="watch.jsonl",
                line=revision,
                earliest=START + revision * SECOND_US,
                latest=START + revision * SECOND_US,
                actor="",
            )
        )
    with open_log(path, create=True) as store:
        store.append(events)
