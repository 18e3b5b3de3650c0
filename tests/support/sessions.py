"""Small clusters to open a scheduling session on, as a user would write them."""

from __future__ import annotations

from typing import Any

from plinian.engine.cache.cache import SchedulerCache
from plinian.engine.kubernetes import objects
from plinian.engine.session.framework.process_parts import ProcessState
from plinian.engine.session.framework.session import Plugin, Session
from plinian.engine.session.framework.trace import Trace
from plinian.engine.session.session_run import open_plugins
from plinian.engine.volcano.conf import parse_scheduler_conf
from plinian.engine.volcano.session.history import resolve

RELEASE = "v1.12.1"
NOW = 1_763_733_600_000_000
"""2025-11-21T14:00:00Z in microseconds."""
CREATED = "2025-11-21T13:00:00Z"

Document = dict[str, Any]

TRIED_OUT = """actions: "preempt"
configurations:
- name: preempt
  arguments:
    enableTopologyAwarePreemption: true
tiers:
- plugins:
  - name: priority
  - name: predicates
"""
"""A configuration that tries victims out; plugins may follow."""


def document(kind: str, name: str, namespace: str = "", **rest: Any) -> Document:
    """Return an object; metadata may be given by ``labels`` and ``annotations``."""
    metadata: Document = {"name": name, "uid": f"uid-{name}", "creationTimestamp": CREATED}
    if namespace:
        metadata["namespace"] = namespace
    for field in ("labels", "annotations", "creationTimestamp"):
        if field in rest:
            metadata[field] = rest.pop(field)
    return {"kind": kind, "metadata": metadata, **rest}


def node(name: str, cpu: float = 8, memory: str = "16Gi", **rest: Any) -> Document:
    """Return a node; other resources by ``more``."""
    allocatable = {"cpu": str(cpu), "memory": memory, "pods": "110", **rest.pop("more", {})}
    return document("Node", name, status={"allocatable": allocatable}, **rest)


def queue(name: str, weight: int = 1, state: str = "Open", **spec: Any) -> Document:
    """Return a queue; ``annotations`` go to its metadata, the rest to its spec."""
    marks = {"annotations": spec.pop("annotations")} if "annotations" in spec else {}
    return document(
        "Queue", name, spec={"weight": weight, **spec}, status={"state": state}, **marks
    )


def group(name: str, min_member: int = 1, phase: str = "Inqueue", **rest: Any) -> Document:
    """Return a PodGroup of the namespace ``ns`` and, by default, the queue ``default``."""
    marks = {field: rest.pop(field) for field in ("labels", "annotations") if field in rest}
    status = rest.pop("status", {})
    spec = {"minMember": min_member, "queue": "default", **rest}
    return document("PodGroup", name, "ns", spec=spec, status={"phase": phase, **status}, **marks)


def pod(name: str, of: str, cpu: float | str = 1, on: str = "", **rest: Any) -> Document:
    """Return a pod of a PodGroup; one that is ``on`` a node runs there.

    ``requests`` adds other resources; ``priority`` and ``priorityClassName`` go to the spec.
    """
    annotations = {"scheduling.k8s.io/group-name": of, **rest.pop("annotations", {})}
    requests = {"cpu": str(cpu), **rest.pop("requests", {})}
    spec: Document = {
        "schedulerName": "volcano",
        "containers": [{"name": "main", "resources": {"requests": requests}}],
    }
    for field in ("priority", "priorityClassName", "preemptionPolicy", "schedulingGates"):
        if field in rest:
            spec[field] = rest.pop(field)
    status = {"phase": "Running" if on else "Pending", **rest.pop("status", {})}
    if on:
        spec["nodeName"] = on
    namespace = rest.pop("namespace", "ns")
    return document(
        "Pod", name, namespace, annotations=annotations, spec=spec, status=status, **rest
    )


def cache_of(*documents: Document, release: str = RELEASE) -> SchedulerCache:
    """Return the cache to which these were delivered in turn, with its workers at rest."""
    cache = SchedulerCache(resolve(release))
    for each in documents:
        kind = each["kind"]
        cache.deliver(kind, objects.decode(objects.KINDS[kind], each))
        cache.run_workers()
    return cache


def opened(
    conf: str,
    *documents: Document,
    now: int = NOW,
    process: ProcessState | None = None,
    release: str = RELEASE,
) -> tuple[Session, dict[str, Plugin]]:
    """Return a session on these objects with its plugins open.

    :param conf: the plugins of one tier, separated by blanks, or a whole configuration.
    """
    if "tiers:" not in conf:
        names = "\n".join(f"  - name: {name}" for name in conf.split())
        conf = f'actions: "enqueue, allocate"\ntiers:\n- plugins:\n{names}\n'
    behaviours = resolve(release)
    cache = cache_of(*documents, release=release)
    ssn = Session(
        cache.snapshot(),
        parse_scheduler_conf(conf, behaviours),
        behaviours,
        now=now,
        process=process or ProcessState(),
        cache=AcceptingCache(),
        trace=Trace(),
    )
    return ssn, open_plugins(ssn)


class AcceptingCache:
    """A cache that agrees to whatever a session asks of it."""

    def add_bind_task(self, job: str, uid: str, node: str) -> str | None:
        """Bind."""

    def evict(self, job: str, uid: str, reason: str) -> str | None:
        """Evict."""


def tasks(ssn: Session, *names: str) -> list[int]:
    """Return the rows of pods, by name."""
    row = {info.name: task for task, info in enumerate(ssn.tasks.info)}
    return [row[name] for name in names]


def names(ssn: Session, rows: list[int] | None) -> list[str]:
    """Return the names of pods, by row."""
    return [ssn.tasks.info[row].name for row in rows or ()]


def job(ssn: Session, name: str) -> int:
    """Return the row of a PodGroup."""
    return ssn.jobs.row[f"ns/{name}"]
