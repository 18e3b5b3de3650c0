"""Random histories as a scheduler's informers would tell them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from hypothesis import strategies as st

from plinian.engine.cache.projector import WATCHED
from plinian.engine.events import Event, Reference, canonical_json, kind_of_version
from plinian.engine.events.payloads import ControlMarked, ListObserved, PodBound, ProcessStarted
from sessions import Document, document, group, node, pod, queue

GROUPS = {kind.__name__: group for (group, _), kind in WATCHED.items()} | {
    "Job": "batch.volcano.sh"
}

Happening = tuple[str, Any]


def version_of(verb: str, each: Document, revision: int = 1) -> Event:
    """Return the event of an object's version."""
    metadata = each["metadata"]
    kind = each["kind"]
    metadata["resourceVersion"] = str(revision)
    reference = Reference(
        GROUPS[kind], kind, metadata.get("namespace", ""), metadata["name"], metadata["uid"]
    )
    return Event(
        kind=kind_of_version(GROUPS[kind], kind, verb),
        reference=reference,
        payload=canonical_json(each),
        resource_version=str(revision),
        revision=revision,
    )


def event_of(
    kind: str,
    payload: msgspec.Struct,
    reference: Reference | None = None,
    revision: int | None = None,
) -> Event:
    """Return an event that is no object's version."""
    return Event(
        kind=kind,
        reference=reference or Reference(),
        payload=canonical_json(payload),
        revision=revision,
        resource_version="" if revision is None else str(revision),
    )


def events_of(history: Sequence[Happening]) -> list[Event]:
    """Return the events of a history, each at a revision of its own."""
    found = []
    for revision, (what, about) in enumerate(history, start=1):
        if what == "list":
            kind, uids, exact = about
            listing = ListObserved(group=GROUPS[kind], listed=kind, uids=tuple(uids), exact=exact)
            found.append(
                event_of("list.observed", listing, Reference(GROUPS[kind], kind), revision)
            )
        elif what == "control":
            found.append(
                event_of("control.marked", ControlMarked(control=about, step=1), revision=revision)
            )
        elif what == "started":
            started = ProcessStarted(component="scheduler", flags=about)
            found.append(event_of("process.started", started, revision=revision))
        elif what == "bound":
            name, where = about
            reference = Reference("", "Pod", "ns", name, f"uid-{name}")
            found.append(event_of("pod.bound", PodBound(node=where), reference, revision))
        else:
            found.append(version_of(what, about, revision))
    return found


names = st.sampled_from(("x1", "x2"))
pods = st.sampled_from(("p1", "p2", "p3"))
places = st.sampled_from(("", "x1", "x2"))


def _pod(name: str, of: str, on: str, phase: str, **marks: Any) -> Document:
    made = pod(name, of, on=on, status={"phase": phase})
    if marks["going"]:
        made["metadata"]["deletionTimestamp"] = "2025-01-01T00:00:00Z"
    if marks["again"]:
        made["metadata"]["uid"] += "-again"
    if marks["claim"]:
        claim = {"claimName": marks["claim"]}
        made["spec"]["volumes"] = [{"name": "v", "persistentVolumeClaim": claim}]
    if marks["owner"]:
        made["metadata"]["ownerReferences"] = [
            {"kind": "ReplicaSet", "name": "r", "uid": "r", "controller": marks["owner"] == "own"}
        ]
    if marks["resized"]:
        requests = {"requests": {"cpu": marks["resized"]}}
        made["status"]["containerStatuses"] = [{"name": "main", "resources": requests}]
    if marks["card"]:
        made["metadata"]["annotations"]["volcano.sh/gpu-index"] = marks["card"]
    return made


def _node(name: str, cpu: int, *, image: str, granted: str, zone: str) -> Document:
    made = node(name, cpu, labels={"zone": zone}, annotations={})
    if granted:
        made["metadata"]["annotations"]["volcano.sh/oversubscription-cpu"] = granted
    if image:
        made["status"]["images"] = [{"names": [image, "all"], "sizeBytes": cpu}]
    return made


def _group(name: str, least: int, role: str) -> Document:
    made = group(name, least)
    if role:
        made["spec"].update(minTaskMember={role: least}, minResources={"cpu": least, "x.y/z": 1})
        made["metadata"]["annotations"] = {"volcano.sh/sla-waiting-time": "1h"}
    return made


def _tree(name: str, tier: int, member: str) -> Document:
    kind = "HyperNode" if member in {"h1", "h2"} else "Node"
    selector: Document = {"exactMatch": {"name": member}}
    if member == "any":
        selector = {"regexMatch": {"pattern": "x.*"}}
    return document(
        "HyperNode", name, spec={"tier": tier, "members": [{"type": kind, "selector": selector}]}
    )


def _csi_node(name: str, count: int) -> Document:
    room = {"count": count} if count else None
    return document(
        "CSINode", name, spec={"drivers": [{"name": "d", "nodeID": name, "allocatable": room}]}
    )


_nodes = st.builds(
    _node,
    names,
    st.integers(1, 4),
    image=st.sampled_from(("", "i1")),
    granted=st.sampled_from(("", "", "500")),
    zone=names,
)
_pods = st.builds(
    _pod,
    pods,
    st.sampled_from(("x1", "x2", "")),
    places,
    st.sampled_from(("Pending", "Running", "Running", "Succeeded")),
    going=st.sampled_from((False, False, True)),
    again=st.sampled_from((False, False, True)),
    claim=st.sampled_from(("", "", "", "c")),
    owner=st.sampled_from(("", "", "own", "other")),
    resized=st.sampled_from(("", "", "2")),
    card=st.sampled_from(("", "", "0")),
)
objects = st.one_of(
    st.builds(_group, names, st.integers(0, 2), st.sampled_from(("", "a", "b"))),
    st.builds(queue, names),
    st.builds(
        lambda name, value, default: document(
            "PriorityClass", name, value=value, globalDefault=default
        ),
        names,
        st.integers(0, 3),
        st.booleans(),
    ),
    st.builds(_csi_node, names, st.integers(0, 3)),
    st.builds(
        _tree,
        st.sampled_from(("h1", "h2")),
        st.integers(1, 2),
        st.sampled_from(("x1", "x2", "h1", "h2", "any")),
    ),
    st.builds(
        lambda hard: document("ResourceQuota", "q", "ns", status={"hard": {"pods": str(hard)}}),
        st.integers(0, 3),
    ),
    st.builds(
        lambda volume: document("PersistentVolumeClaim", "c", "ns", spec={"volumeName": volume}),
        st.sampled_from(("", "v1")),
    ),
    st.just(0).map(lambda _: document("PersistentVolume", "v1", spec={"csi": {"driver": "d"}})),
    st.just(0).map(lambda _: document("Service", "s", "ns", spec={"selector": {"app": "a"}})),
    st.builds(
        lambda name: document("Numatopology", name, spec={"policies": {"CPUManagerPolicy": "x"}}),
        names,
    ),
)
_lists = st.one_of(
    st.tuples(
        st.just("Pod"),
        st.sets(st.sampled_from(("uid-p1", "uid-p2", "uid-p3"))).map(sorted),
        st.booleans(),
    ),
    st.tuples(
        st.just("Node"), st.sets(st.sampled_from(("uid-x1", "uid-x2"))).map(sorted), st.booleans()
    ),
)
_BEGIN = (
    *[("updated", lambda name=name: node(name)) for name in ("x1", "x2")],
    ("updated", lambda: queue("default")),
    *[("updated", lambda name=name: group(name)) for name in ("x1", "x2")],
    ("updated", lambda: pod("p1", "x1", on="x1")),
    ("updated", lambda: pod("p2", "x1", on="x2")),
    ("updated", lambda: pod("p3", "x2")),
)


def _begun(history: list[Happening]) -> list[Happening]:
    return [*[(what, about()) for what, about in _BEGIN], *history]


def _changes(about: st.SearchStrategy[Document]) -> st.SearchStrategy[Happening]:
    return st.tuples(st.sampled_from(("updated", "updated", "deleted")), about)


happenings = st.lists(
    st.one_of(
        *[_changes(_nodes), _changes(_pods), _changes(_pods)] * 3,
        *[_changes(objects)] * 3,
        st.tuples(st.just("list"), _lists),
        st.tuples(st.just("bound"), st.tuples(pods, names)),
        st.tuples(
            st.just("control"),
            st.sampled_from(("RESTART", "CLEANUP_HOLD", "CLEANUP_RUN", "CLEANUP_STEP")),
        ),
        st.tuples(
            st.just("started"),
            st.sampled_from(({}, {"scheduler-name": "[other]"}, {"node-selector": "[zone:x1]"})),
        ),
    ),
    min_size=4,
    max_size=40,
).map(_begun)
"""Histories of a few nodes, pods and PodGroups, with whatever else shapes a cache."""
