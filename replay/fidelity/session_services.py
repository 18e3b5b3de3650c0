"""What audit policies leave out and sessions need: the Services of jobs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from ...engine.events import Event, Recorded, Reference
from ...engine.events.payloads import RequestAccepted
from ...engine.log.store import LogStore, Query
from ..moments.moment import Moment

_JOB_NAME, _JOB_NAMESPACE = "volcano.sh/job-name", "volcano.sh/job-namespace"


@dataclass(frozen=True, slots=True)
class ServiceRequest:
    """A Service that Volcano's controllers made for a job, or deleted; its body was not recorded.

    :ivar document: what it must have been; None when it was deleted.
    """

    at: int
    reference: Reference
    document: dict[str, Any] | None


def job_services(store: LogStore, moment: Moment) -> list[ServiceRequest]:
    """Return the Services of jobs with the plugin ``svc`` that are known only from their requests.

    Audit policies often leave out their bodies, and recordings often lack lists of Services. But
    pods that a Service selects are spread over nodes and zones.

    Source: pkg/controllers/job/plugins/svc/svc.go.
    """
    served: set[tuple[str, str]] = set()
    for event in _read(store, moment, "job.observed", "job.created", "job.updated"):
        spec = msgspec.json.decode(event.payload).get("spec") or {}
        if "svc" in (spec.get("plugins") or {}):
            served.add((event.reference.namespace, event.reference.name))
    requests = []
    for event in _read(store, moment, "request.accepted", "object.deleted"):
        named = (event.reference.namespace, event.reference.name)
        if event.reference.kind == "Service" and named in served and event.observed_at is not None:
            verb = "delete"
            if event.kind == "request.accepted":
                verb = msgspec.json.decode(event.payload, type=RequestAccepted).verb
            if verb in {"create", "delete"}:
                document = _service(*named) if verb == "create" else None
                requests.append(ServiceRequest(event.observed_at, event.reference, document))
    return sorted(requests, key=lambda request: request.at)


def _service(namespace: str, name: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"namespace": namespace, "name": name},
        "spec": {"selector": {_JOB_NAME: name, _JOB_NAMESPACE: namespace}},
    }


def _read(store: LogStore, moment: Moment, *kinds: str) -> Iterator[Event]:
    query = Query(branch=moment.branch, cluster=moment.cluster, until=moment.known, kinds=kinds)
    recorded: Recorded
    for recorded in store.read(query):
        yield recorded.event
