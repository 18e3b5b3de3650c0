"""Tasks of a job that wait for other tasks: their pods are not created before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from ...engine.session.framework.vote_details import GangCounts
from ..logs.log import Log
from ..moments.moment import Moment
from .amounts import joined
from .answering_session import JOB, Run
from .evidence import versions_of
from .finding import SessionFinding
from .target import Target


def with_dependencies(run: Run, target: Target, finding: SessionFinding) -> SessionFinding:
    """Return a finding about a gang without enough pods, with what its tasks depend on."""
    gang = run.detail(GangCounts, "gang", target.podgroup)
    if finding.cause != "gang-lacks-pods" or gang is None:
        return finding
    says = joined(_dependencies(run.job_spec(target.podgroup), gang.lacking))
    return (
        msgspec.structs.replace(finding, sentence=f"{finding.sentence}, and {says}")
        if says
        else finding
    )


def _dependencies(spec: Mapping[str, Any], lacking: Mapping[str, object]) -> Iterator[str]:
    """Yield which of the tasks without enough pods depend on others. Source: ``dependsOn``."""
    for task in spec.get("tasks") or ():
        names = (task.get("dependsOn") or {}).get("name") or ()
        if task.get("name") in lacking and names:
            yield f"task {task['name']} gets no pods before task {joined(names)} is ready"


def job_spec(log: Log, moment: Moment, key: str) -> Mapping[str, Any]:
    """Return the spec of a job of Volcano, ``ns/name``; empty if the log does not have it."""
    versions = versions_of(log, moment, (JOB, key))
    document = msgspec.json.decode(versions[-1].event.payload) if versions else {}
    spec = document.get("spec") if isinstance(document, dict) else None
    return spec if isinstance(spec, dict) else {}
