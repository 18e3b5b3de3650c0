"""Where a pod may go for the sake of its volumes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from plinian.engine.session.framework import voting
from plinian.engine.session.framework.session import Session
from plinian.engine.session.framework.statement import Statement
from plinian.engine.session.reasons.statuses import StatusCode
from sessions import CREATED, RELEASE, Document, document, group, node, opened, pod, queue, tasks

ZONE = "topology.kubernetes.io/zone"
OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"
U = StatusCode.UNSCHEDULABLE
UU = StatusCode.UNSCHEDULABLE_AND_UNRESOLVABLE
UNREACHABLE = "node(s) had volume node affinity conflict"
UNMATCHED = "node(s) didn't match PersistentVolume's node affinity"
NOTHING = "node(s) didn't find available persistent volumes to bind"

Said = dict[str, tuple[tuple[StatusCode, str], ...]]


def claim(name: str, volume: str = "", size: str = "1Gi", **rest: Any) -> Document:
    """Return a claim; one that names a volume is bound to it."""
    spec = {"volumeName": volume, "storageClassName": rest.pop("of", "fast")}
    marks = {"pv.kubernetes.io/bind-completed": "yes"} if volume else {}
    marks |= rest.pop("annotations", {})
    spec |= {"resources": {"requests": {"storage": size}}, "accessModes": ["ReadWriteOnce"]}
    return document(
        "PersistentVolumeClaim",
        name,
        "ns",
        spec=spec | rest.pop("spec", {}),
        annotations=marks,
        **rest,
    )


def volume(name: str, zone: str = "", size: str = "1Gi", **rest: Any) -> Document:
    """Return a volume that can be reached from a zone; without one from everywhere."""
    spec = {
        "storageClassName": "fast",
        "capacity": {"storage": size},
        "accessModes": ["ReadWriteOnce"],
    }
    if zone:
        expression = {"key": ZONE, "operator": "In", "values": [zone]}
        required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
        spec["nodeAffinity"] = {"required": required}
    return document(
        "PersistentVolume",
        name,
        spec=spec | rest.pop("spec", {}),
        status={"phase": "Available"},
        **rest,
    )


def storage_class(
    name: str = "fast", mode: str | None = "WaitForFirstConsumer", **rest: Any
) -> Document:
    """Return a class of volumes that are bound with their first pod and are not made on demand."""
    made = document("StorageClass", name, **{"provisioner": "kubernetes.io/no-provisioner", **rest})
    return made if mode is None else made | {"volumeBindingMode": mode}


def mounting(name: str, *claims: str, on: str = "") -> Document:
    """Return a pod that mounts claims."""
    made = pod(name, "g", on=on)
    made["spec"]["volumes"] = [
        {"name": f"v{place}", "persistentVolumeClaim": {"claimName": one}}
        for place, one in enumerate(claims)
    ]
    return made


def session(*documents: Document, arguments: str = "", release: str = RELEASE) -> Session:
    """Return a session on nodes a and b in zones x and y."""
    conf = "actions: allocate\ntiers:\n- plugins:\n  - name: gang\n  - name: predicates\n"
    if arguments:
        conf += f"    arguments: {{{arguments}}}\n"
    nodes = [node("a", labels={ZONE: "x"}), node("b", labels={ZONE: "y"})]
    return opened(conf, queue("default"), group("g"), *nodes, *documents, release=release)[0]


def said(ssn: Session, name: str) -> Said:
    """Return what the filters say of the nodes that do not take a pod."""
    (task,) = tasks(ssn, name)
    error = voting.pre_predicate(ssn, task)
    if error is not None:
        return {"*": ((StatusCode.ERROR, error),)}
    ((_, entry),) = ssn.registry.flat("Predicate")
    verdicts = entry.function(task, np.arange(len(ssn.nodes))).tolist()
    statuses = ssn.reasons.statuses
    return {
        ssn.nodes.names[row]: tuple((one.code, one.objection.message) for one in statuses(verdict))
        for row, verdict in enumerate(verdicts)
        if verdict
    }


def test_a_bound_volume_must_be_reachable() -> None:
    ssn = session(claim("c", "v"), volume("v", "x"), mounting("p", "c"))
    assert said(ssn, "p") == {"b": ((UU, UNREACHABLE),)}


@pytest.mark.parametrize(
    ("release", "text"),
    [
        ("v1.14.3", "VolumeBinding pre-predicates failed pod has unbound immediate Persistent"),
        ("v1.14.4", "VolumeZone pre-predicates failed PersistentVolume had no name"),
        ("v1.15.0", "VolumeBinding pre-predicates failed pod has unbound immediate Persistent"),
        ("v1.15.1", "VolumeZone pre-predicates failed PersistentVolume had no name"),
    ],
)
def test_newer_releases_look_up_zones_before_bindings(release: str, text: str) -> None:
    immediate = (claim("c"), storage_class(mode="Immediate"), mounting("p", "c"))
    (((_, told),),) = said(session(*immediate, release=release), "p").values()
    assert told.startswith(f"plugin {text}")
    bound = session(claim("c", "v"), volume("v", "x"), mounting("p", "c"), release=release)
    assert said(bound, "p") == {"b": ((UU, UNMATCHED),)}


@pytest.mark.parametrize(
    ("release", "text"),
    [("v1.12.0", UNREACHABLE), ("v1.12.4", UNREACHABLE), ("v1.13.0", UNMATCHED)],
)
def test_newer_releases_say_that_a_node_does_not_match_the_affinity_of_the_volume(
    release: str, text: str
) -> None:
    ssn = session(claim("c", "v"), volume("v", "x"), mounting("p", "c"), release=release)
    assert said(ssn, "p") == {"b": ((UU, text),)}


def test_a_bound_volume_must_exist() -> None:
    ssn = session(
        claim("c", "v"), mounting("p", "c"), arguments="predicate.VolumeZoneEnable: false"
    )
    text = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
    assert said(ssn, "p") == {"a": ((UU, text),), "b": ((UU, text),)}


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ((), 'persistentvolumeclaim "c" not found'),
        (
            (claim("c", "v", status={"phase": "Lost"}),),
            'persistentvolumeclaim "c" bound to non-existent persistentvolume "v"',
        ),
        (
            (claim("c"), storage_class(mode="Immediate")),
            "pod has unbound immediate PersistentVolumeClaims",
        ),
        ((claim("c"),), "pod has unbound immediate PersistentVolumeClaims"),
        (
            (claim("c"), storage_class(mode=None)),
            'VolumeBindingMode not set for StorageClass "fast"',
        ),
    ],
)
def test_a_claim_that_is_not_ready_keeps_the_pod_from_all_nodes(
    given: tuple[Document, ...], text: str
) -> None:
    found = said(session(*given, mounting("p", "c")), "p")
    assert found["*"][0][1] == f"plugin VolumeBinding pre-predicates failed {text}"


def test_a_claim_that_is_being_deleted_cannot_be_mounted() -> None:
    going = claim("c", "v")
    going["metadata"]["deletionTimestamp"] = CREATED
    found = said(session(going, volume("v"), mounting("p", "c")), "p")
    assert 'persistentvolumeclaim "c" is being deleted' in found["*"][0][1]


def test_an_unbound_claim_needs_a_volume_that_can_be_reached() -> None:
    ssn = session(claim("c"), storage_class(), volume("v", "x"), mounting("p", "c"))
    assert said(ssn, "p") == {"b": ((UU, NOTHING),)}


@pytest.mark.parametrize(
    "unfit",
    [
        volume("v", size="500Mi"),
        volume("v", spec={"storageClassName": "slow"}),
        volume("v", spec={"accessModes": ["ReadOnlyMany"]}),
        volume("v", spec={"volumeMode": "Block"}),
        volume("v", spec={"claimRef": {"namespace": "ns", "name": "other"}}),
        volume("v") | {"status": {"phase": "Released"}},
    ],
)
def test_a_volume_must_fit_the_claim(unfit: Document) -> None:
    ssn = session(claim("c"), storage_class(), unfit, mounting("p", "c"))
    assert list(said(ssn, "p")) == ["a", "b"]


def test_the_smallest_claim_takes_the_smallest_volume_first() -> None:
    """The small claim would do with the large volume, and the large one not with the small."""
    docs = [claim("big", size="5Gi"), claim("small"), storage_class()]
    docs += [volume("v5", size="5Gi"), volume("v1"), mounting("p", "big", "small")]
    assert said(session(*docs), "p") == {}
    assert list(said(session(*docs[:3], docs[3], docs[5]), "p")) == ["a", "b"]


def test_a_volume_that_was_taken_in_the_session_is_taken() -> None:
    docs = [
        claim("c"),
        claim("d"),
        storage_class(),
        volume("v"),
        mounting("p", "c"),
        mounting("q", "d"),
    ]
    ssn = session(*docs)
    statement = Statement(ssn)
    assert said(ssn, "p") == said(ssn, "q") == {}
    assert said(ssn, "p") == {}
    statement.allocate(tasks(ssn, "p")[0], 0)
    assert list(said(ssn, "q")) == ["a", "b"]
    statement.discard()
    assert said(ssn, "q") == {}


def test_a_volume_can_be_made_where_its_class_allows() -> None:
    made = storage_class(
        provisioner="csi.example.com",
        allowedTopologies=[{"matchLabelExpressions": [{"key": ZONE, "values": ["y"]}]}],
    )
    assert said(session(claim("c"), made, mounting("p", "c")), "p") == {"a": ((UU, NOTHING),)}


def test_a_claim_for_which_a_node_was_selected_goes_there() -> None:
    chosen = claim("c", annotations={"volume.kubernetes.io/selected-node": "b"})
    made = storage_class(provisioner="csi.example.com")
    assert said(session(chosen, made, mounting("p", "c")), "p") == {"a": ((UU, NOTHING),)}


def test_a_claim_that_is_to_be_provisioned_needs_its_class() -> None:
    marks = {"volume.kubernetes.io/selected-node": "a"}
    ssn = session(claim("c", annotations=marks), storage_class(), mounting("p", "c"))
    assert said(ssn, "p") == {"a": ((UU, NOTHING),), "b": ((UU, NOTHING),)}


def test_zones_of_volumes_are_zones_of_nodes() -> None:
    text = "node(s) had no available volume zone"
    for key in (ZONE, OLD_ZONE):
        ssn = session(claim("c", "v"), volume("v", labels={key: "x__z"}), mounting("p", "c"))
        assert said(ssn, "p") == {"b": ((UU, text),)}


def test_nodes_without_any_zone_take_every_volume() -> None:
    docs = [claim("c", "v"), volume("v", labels={ZONE: "x"}), mounting("p", "c")]
    ssn, _ = opened("gang predicates", queue("default"), group("g"), node("n"), *docs)
    assert said(ssn, "p") == {}


def attachable(handle: str) -> dict[str, Any]:
    """Return the spec of a volume of a CSI driver."""
    return {"csi": {"driver": "csi.example.com", "volumeHandle": handle}}


def limited(name: str, count: int | None) -> Document:
    """Return the drivers of a node, which takes so many volumes."""
    allocatable = {} if count is None else {"allocatable": {"count": count}}
    driver = {"name": "csi.example.com", "nodeID": name, **allocatable}
    return document("CSINode", name, spec={"drivers": [driver]})


def test_a_node_takes_so_many_volumes_of_a_driver() -> None:
    docs = [limited("a", 1), limited("b", None)]
    for number in range(3):
        docs += [
            claim(f"c{number}", f"v{number}"),
            volume(f"v{number}", spec=attachable(str(number))),
        ]
    ssn = session(*docs, mounting("p", "c0", on="a"), mounting("q", "c1"), mounting("r", "c0"))
    too_many = "node(s) exceed max volume count"
    assert said(ssn, "q") == {"a": ((U, too_many),)}
    assert said(ssn, "r") == {}
    Statement(ssn).evict(tasks(ssn, "p")[0], "preempt")
    assert said(ssn, "q") == {}


def test_switches_turn_the_filters_off() -> None:
    docs = [claim("c", "v"), volume("v", "x", labels={ZONE: "x"}), mounting("p", "c")]
    off = "predicate.VolumeBindingEnable: false"
    assert "no available volume zone" in said(session(*docs, arguments=off), "p")["b"][0][1]
    off += ", predicate.VolumeZoneEnable: false"
    assert said(session(*docs, arguments=off), "p") == {}
