"""What people have: lists of kubectl, and lines of an audit log at level Metadata."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from plinian import Log
from plinian.engine.kubernetes.units import parse_time
from plinian.replay.ingest.ingest_run import IngestOptions

Document = dict[str, Any]

_VERSIONS = {"PodGroup": "scheduling.volcano.sh/v1beta1", "Queue": "scheduling.volcano.sh/v1beta1"}


def listed(kind: str, name: str, revision: int, **more: Any) -> Document:
    """Return an object as ``kubectl get -o json`` prints it, without managedFields.

    :param more: fields besides metadata; ``labels`` are those of the object.
    """
    metadata: Document = {
        "name": name,
        "uid": f"{kind}-{name}".lower(),
        "resourceVersion": str(revision),
        "creationTimestamp": "2026-05-01T08:00:00Z",
        "labels": more.pop("labels", {}),
    }
    if kind in {"Pod", "PodGroup"}:
        metadata["namespace"] = more.pop("namespace", "ml")
    api = _VERSIONS.get(kind, "v1")
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **more}


def pod_on(node: str, name: str, revision: int, **more: Any) -> Document:
    """Return a running pod that requests one CPU."""
    containers = [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]
    spec = {"nodeName": node, "schedulerName": "volcano", "containers": containers}
    annotations = {"scheduling.k8s.io/group-name": "g"}
    found = listed("Pod", name, revision, spec=spec, status={"phase": "Running"}, **more)
    found["metadata"]["annotations"] = annotations
    return found


def small_cluster() -> list[Document]:
    """Return two nodes, a queue, a PodGroup, and four pods on the nodes."""
    room = {"allocatable": {"cpu": "8", "pods": "110"}, "capacity": {"cpu": "8", "pods": "110"}}
    spread = {"q": 20}
    return [
        listed("Node", "n1", 10, status=room),
        listed("Node", "n2", 11, status=room),
        listed("Queue", "q", spread["q"], spec={"weight": 1}),
        listed("PodGroup", "g", 30, spec={"queue": "q", "minMember": 1}),
        pod_on("n1", "a", 41),
        pod_on("n1", "b", 42),
        pod_on("n2", "c", 43),
        pod_on("n2", "d", 44),
    ]


def without(items: Iterable[Document], *names: str) -> list[Document]:
    """Return the objects of other names."""
    return [one for one in items if one["metadata"]["name"] not in names]


def take(
    log: Log, path: Path, items: Sequence[Document], at: str | None, revision: str = ""
) -> None:
    """Ingest a list of kubectl that was fetched within a second.

    :param at: that second; None if it is not known. :param revision: of the list, as an API server
        writes it.
    """
    metadata = {"resourceVersion": revision} if revision else {}
    document = {"apiVersion": "v1", "kind": "List", "metadata": metadata, "items": list(items)}
    path.write_text(json.dumps(document))
    time = None if at is None else parse_time(at)
    taken = None if time is None else (time, time + 999_999)
    log.ingest([str(path)], IngestOptions(taken_at=taken))


def audited(
    verb: str, resource: str, name: str | None, at: str, *, code: int = 200, **more: Any
) -> Document:
    """Return a line of an audit log at level Metadata.

    :param more: ``user``, ``namespace``, ``uri``; other fields of the line.
    """
    namespace = more.pop("namespace", "ml")
    group = "" if resource in {"pods", "nodes"} else "scheduling.volcano.sh"
    path = f"/api/v1/namespaces/{namespace}/{resource}" + (f"/{name}" if name else "")
    reference = {"resource": resource, "namespace": namespace, "apiVersion": "v1"}
    reference |= {"name": name} if name else {}
    reference |= {"apiGroup": group} if group else {}
    return {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Metadata",
        "auditID": f"{verb}-{resource}-{name}-{at}",
        "stage": "ResponseComplete",
        "requestURI": more.pop("uri", path),
        "verb": verb,
        "user": {"username": more.pop("user", "alice")},
        "objectRef": reference,
        "responseStatus": {"code": code},
        "requestReceivedTimestamp": at.replace("Z", ".000000Z"),
        "stageTimestamp": at.replace("Z", ".005000Z"),
        **more,
    }


def take_audit(log: Log, path: Path, lines: Iterable[Document]) -> None:
    """Ingest lines of an audit log."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    log.ingest([str(path)])
