"""Small clusters to ask about: objects, a configuration, and the log that holds them."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from clusters import compact, initial_end, watched
from plinian.replay.answers.answer import Why
from plinian.replay.answers.records import Link
from plinian.replay.ingest.ingest_run import ingest
from plinian.replay.logs.log import Log, opened
from sessions import group, pod

Document = dict[str, Any]

VOLCANO = "scheduling.volcano.sh/v1beta1"
API = {
    "Queue": VOLCANO,
    "PodGroup": VOLCANO,
    "Job": "batch.volcano.sh/v1alpha1",
    "PersistentVolumeClaim": "v1",
    "StorageClass": "storage.k8s.io/v1",
    "PriorityClass": "scheduling.k8s.io/v1",
}
CLUSTER = {"Node", "Queue", "StorageClass", "PriorityClass"}

CAPACITY = """
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
- plugins:
  - name: predicates
  - name: capacity
    enableHierarchy: true
  - name: nodeorder
"""
NODES = """
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: gang
  - name: predicates
  - name: nodeorder
"""
PROPORTION = """
actions: "enqueue, allocate, preempt, reclaim, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
- plugins:
  - name: overcommit
  - name: predicates
  - name: proportion
  - name: nodeorder
"""


def versions(documents: Sequence[Document]) -> list[Document]:
    """Return objects with apiVersion and rising resourceVersions, from 1."""
    found = []
    for revision, given in enumerate(documents, start=1):
        made = copy.deepcopy(given)
        made.setdefault("apiVersion", API.get(made["kind"], "v1"))
        made["metadata"] = {**made["metadata"], "resourceVersion": str(revision)}
        found.append(made)
    return found


def owned(group: Document, job: str) -> Document:
    """Return a PodGroup that belongs to a job of Volcano."""
    owner = {
        "apiVersion": API["Job"],
        "kind": "Job",
        "name": job,
        "uid": f"uid-{job}",
        "controller": True,
    }
    return {**group, "metadata": {**group["metadata"], "ownerReferences": [owner]}}


def listing(documents: Sequence[Document]) -> bytes:
    """Return what ``kubectl get -o json`` prints of some objects."""
    items = versions(documents)
    return compact({"apiVersion": "v1", "kind": "List", "metadata": {}, "items": items})


@contextmanager
def log_of(folder: Path, conf: str, *documents: Document) -> Iterator[Log]:
    """Make a log of a list of objects and, unless it is empty, a configuration."""
    (folder / "cluster.json").write_bytes(listing(documents))
    paths = [str(folder / "cluster.json")]
    if conf:
        (folder / "volcano-scheduler.conf").write_text(conf)
        paths.append(str(folder / "volcano-scheduler.conf"))
    with opened(folder / "log.db", create=True) as log:
        ingest(log.store, paths)
        yield log


@contextmanager
def watched_log(folder: Path, conf: str, *events: tuple[str, Document]) -> Iterator[Log]:
    """Make a log of a watch: (ADDED, MODIFIED or DELETED, object), one revision each."""
    made = versions([document for _, document in events])
    changes = zip((kind for kind, _ in events), made, strict=True)
    kinds = sorted({document["kind"] for document in made})
    # Nothing existed before: each kind's initial list is empty.
    lines = watched(*(initial_end(0, kind) for kind in kinds), *changes)
    (folder / "watch.jsonl").write_bytes(lines)
    (folder / "volcano-scheduler.conf").write_text(conf)
    with opened(folder / "log.db", create=True) as log:
        ingest(log.store, [str(folder / "watch.jsonl"), str(folder / "volcano-scheduler.conf")])
        yield log


OTHER = pod("elsewhere", "none", 1, "gone")
"""A pod that matters to no other: with it, the log holds pods."""


def links(found: Why, sort: type) -> list[Any]:
    """Return the links of one sort."""
    return links_of(found.chain, sort)


def links_of(chain: Sequence[Link], sort: type) -> list[Any]:
    """Return the links of one sort in a chain."""
    return [link for link in chain if isinstance(link, sort)]


def wants(cpu: str, name: str = "pg", **more: Any) -> Document:
    """Return a Pending PodGroup with minResources."""
    return group(name, 1, "Pending", minResources={"cpu": cpu}, **more)
