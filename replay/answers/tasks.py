"""Tasks of a job that wait for other tasks: their pods are not created before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from ...engine.session.framework.details import GangCounts
from ..moments.log import Log
from .amounts import joined
from .evidence import versions_of
from .finding import Finding
from .run import JOB, Run
from .target import Target


def with_dependencies(log: Log, run: Run, target: Target, finding: Finding) -> Finding:
    """Return a finding about a gang without enough pods, with what its tasks depend on."""
    gang = run.detail(GangCounts, "gang", target.podgroup)
    if not finding.cause.startswith("gang-lacks-pods") or gang is None:
        return finding
    says = joined(_dependencies(_spec(log, run, target), gang.lacking))
    return finding._replace(sentence=f"{finding.sentence}, and {says}") if says else finding


def _dependencies(spec: Mapping[str, Any], lacking: Mapping[str, object]) -> Iterator[str]:
    """Yield which of the tasks without enough pods depend on others. Source: ``dependsOn``."""
    for task in spec.get("tasks") or ():
        names = (task.get("dependsOn") or {}).get("name") or ()
        if task.get("name") in lacking and names:
            yield f"task {task['name']} gets no pods before task {joined(names)} is ready"


def _spec(log: Log, run: Run, target: Target) -> Mapping[str, Any]:
    """Return the spec of the job of a PodGroup; empty if the log does not have it."""
    group = run.group(target.podgroup)
    owner = None if group is None else group.metadata.controller
    if group is None or owner is None or not owner.api_version.startswith(JOB[0]):
        return {}
    versions = versions_of(log, run.moment, (JOB, f"{group.namespace}/{owner.name}"))
    found = msgspec.json.decode(versions[-1].event.payload) if versions else {}
    spec = found.get("spec") if isinstance(found, dict) else None
    return spec if isinstance(spec, dict) else {}
