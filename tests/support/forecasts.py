"""Small clusters that live on: jobs, deployments, and logs with what users wrote later."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from answer_worlds import API

from plinian.engine.events import Event, Reference, canonical_json
from plinian.engine.events.payloads import ListObserved
from plinian.engine.ingest.objects.version_events import version_event
from plinian.engine.kubernetes.units import SECOND_US
from plinian.replay.forecast.forecast_course import Course
from plinian.replay.forecast.forecast_outcome import Forecast
from plinian.replay.forecast.forecast_run import ForecastRequest, forecast
from plinian.replay.forecast.recorded_durations import Wish, run_for
from plinian.replay.ingest.ingest_run import ingest
from plinian.replay.logs.log import Log, opened
from plinian.replay.what_if.changed_sessions import Variant
from plinian.replay.what_if.cluster_changes import WhatIfChange
from sessions import NOW, document

Document = dict[str, Any]
RELEASE = "v1.12.1"
BEGIN = NOW
"""When later writes are counted from: after all that a list shows."""

KINDS = ("Node", "Queue", "PodGroup", "Pod", "Job", "Deployment", "ReplicaSet")
LISTED = 1000
"""The revision of the lists."""
USER = "kubernetes-admin"


class Later(NamedTuple):
    """A write after the list. :param after: seconds from :data:`BEGIN`."""

    after: float
    verb: str
    document: Document
    actor: str = USER


def job(
    name: str, cpu: float = 2, *, queue: str = "default", replicas: int = 1, **spec: Any
) -> Document:
    """Return a job of Volcano with one task, which needs all its pods to start."""
    container = {"name": "main", "resources": {"requests": {"cpu": str(cpu)}}}
    task = {
        "name": "w",
        "replicas": replicas,
        "template": {"spec": {"containers": [container], "restartPolicy": "Never"}},
    }
    whole = {
        "schedulerName": "volcano",
        "minAvailable": replicas,
        "queue": queue,
        "maxRetry": 3,
        "tasks": [task],
        **spec,
    }
    return document("Job", name, "ns", spec=whole, apiVersion=API["Job"])


def deployment(name: str, replicas: int, cpu: float = 1) -> Document:
    """Return a deployment whose pods Volcano places."""
    labels = {"app": name}
    container = {"name": "main", "resources": {"requests": {"cpu": str(cpu)}}}
    spec = {
        "replicas": replicas,
        "selector": {"matchLabels": labels},
        "template": {
            "metadata": {"labels": labels},
            "spec": {"schedulerName": "volcano", "containers": [container]},
        },
    }
    return document("Deployment", name, "ns", spec=spec, apiVersion="apps/v1")


@contextmanager
def living_log(
    folder: Path,
    conf: str,
    existing: Sequence[Document],
    later: Sequence[Later] = (),
    also: Sequence[str] = (),
) -> Iterator[Log]:
    """Make a log in which all objects are known at :data:`BEGIN`, and what was written after it.

    :param also: kinds of which there are complete lists beside :data:`KINDS`.
    """
    with opened(folder / "log.db", create=True) as log:
        if conf:
            (folder / "volcano-scheduler.conf").write_text(conf)
            ingest(log.store, [str(folder / "volcano-scheduler.conf")])
        known = [_version(one, number, 0) for number, one in enumerate(existing, start=1)]
        lists = [_list(kind, existing) for kind in (*KINDS, *also)]
        writes = [
            _version(one.document, 1001 + number, one.after, one.verb, one.actor)
            for number, one in enumerate(later)
        ]
        log.store.append([*known, *lists, *writes])
        yield log


def _version(
    given: Document, revision: int, after: float, verb: str = "observed", actor: str = ""
) -> Event:
    made = {"apiVersion": _api(given["kind"]), **given}
    metadata = {**made["metadata"], "resourceVersion": str(revision)}
    at = BEGIN + round(after * SECOND_US)
    return version_event(
        {**made, "metadata": metadata},
        verb=verb,
        source="audit.log",
        line=revision,
        earliest=at,
        latest=at,
        actor=actor,
    )


def _list(kind: str, existing: Sequence[Document]) -> Event:
    group = _api(kind).rpartition("/")[0]
    uids = tuple(sorted(one["metadata"]["uid"] for one in existing if one["kind"] == kind))
    return Event(
        kind="list.observed",
        reference=Reference(group, kind),
        payload=canonical_json(ListObserved(group=group, listed=kind, uids=uids)),
        resource_version=str(LISTED),
        revision=LISTED,
        earliest=BEGIN,
        latest=BEGIN,
        source="lists",
        line=1,
        cluster="default",
    )


def _api(kind: str) -> str:
    return {"Deployment": "apps/v1", "ReplicaSet": "apps/v1"}.get(kind, API.get(kind, "v1"))


def lived(
    log: Log,
    seconds: float,
    *variants: Sequence[WhatIfChange],
    runs: Sequence[str] = (),
    at: str = f"rv:{LISTED}",
    **wish: Any,
) -> Forecast:
    """Let a cluster live on, with each variant; pods start at once unless said otherwise."""
    wish.setdefault("start_after", 1)
    question = ForecastRequest(
        log.moment(at),
        tuple(Variant(f"variant {n}", tuple(some)) for n, some in enumerate(variants, start=1)),
        Wish(
            round(seconds * SECOND_US),
            runs=tuple(run_for(text, "ns") for text in runs),
            **wish,
        ),
        RELEASE,
    )
    return forecast(log, question)


def starts(found: Forecast, course: int = 0) -> dict[str, float | None]:
    """Return when everything starts, in seconds after the moment."""
    return {
        name.rpartition("/")[2]: None if one.starts is None else _seconds(found, one.starts)
        for name, one in found.courses[course].works.items()
    }


def finishes(found: Forecast, course: int = 0) -> dict[str, float | None]:
    """Return when everything finishes, in seconds after the moment."""
    return {
        name.rpartition("/")[2]: None if one.finished is None else _seconds(found, one.finished)
        for name, one in found.courses[course].works.items()
    }


def course(found: Forecast, number: int = 0) -> Course:
    """Return one of the courses."""
    return found.courses[number]


def _seconds(found: Forecast, at: int) -> float:
    return round((at - found.begin) / SECOND_US, 1)
