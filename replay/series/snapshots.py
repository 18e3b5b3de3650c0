"""The state at a moment as input of other programs: kube-scheduler-simulator, and KWOK.

Objects are manifests that apply elsewhere, as those of ``get --clean``, with what these programs
need of the status of nodes. What a program cannot carry is said as notes.

Sources: ``ResourcesForSnap`` and ``ResourcesForLoad`` of kube-scheduler-simulator
(simulator/snapshot/snapshot.go), and the pages "Manage nodes and pods" and "Snapshot" of KWOK.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple

from ...engine.kubernetes.counts import counted
from ...engine.kubernetes.resources import GroupKind, plural_of
from ...engine.state.facts import PodFact
from ..logs.log import Log
from ..moments.moment import Moment
from ..objects.kind_names import plain_name
from ..objects.manifests import manifest
from ..render.documents import json_text

Document = dict[str, Any]

_NODE: GroupKind = ("", "Node")
_POD: GroupKind = ("", "Pod")
_NAMESPACE: GroupKind = ("", "Namespace")
_VOLUME: GroupKind = ("", "PersistentVolume")
_CLAIM: GroupKind = ("", "PersistentVolumeClaim")
_PRIORITY: GroupKind = ("scheduling.k8s.io", "PriorityClass")
_STORAGE: GroupKind = ("storage.k8s.io", "StorageClass")
_QUEUE: GroupKind = ("scheduling.volcano.sh", "Queue")
_PODGROUP: GroupKind = ("scheduling.volcano.sh", "PodGroup")
_HYPERNODE: GroupKind = ("topology.volcano.sh", "HyperNode")
_BUDGET: GroupKind = ("policy", "PodDisruptionBudget")
_QUOTA: GroupKind = ("", "ResourceQuota")
_NUMA: GroupKind = ("nodeinfo.volcano.sh", "Numatopology")
_DEVICES: GroupKind = ("resource.k8s.io", "ResourceClaim")
_JOB: GroupKind = ("batch.volcano.sh", "Job")

NEEDED: Sequence[GroupKind] = (_NODE, _POD, _PODGROUP, _QUEUE)
"""The kinds without which a snapshot is not whole."""

_STATUS_OF_NODES = ("allocatable", "capacity", "conditions", "nodeInfo")
_FINISHED = frozenset({"Succeeded", "Failed"})
_SYSTEM = ("system-", "kube-")
_DEFAULT = "default"
_ROOT = "root"
_OF_VOLCANO = frozenset({"Queue", "PodGroup", "HyperNode"})
_FAKE: Mapping[str, str] = MappingProxyType({"kwok.x-k8s.io/node": "fake"})
"""The annotation of the nodes that KWOK keeps alive."""


class ObjectSnapshot(NamedTuple):
    """The objects of a moment for another program.

    :param notes: what it cannot carry, as sentences.
    """

    content: bytes
    objects: int
    notes: tuple[str, ...]


def write_snapshot(
    log: Log,
    moment: Moment,
    what: str,
    out: BinaryIO,
    remark: Callable[[str], None] | None = None,
) -> int:
    """Write a snapshot, and return how many objects it has.

    :param what: a key of :data:`SNAPSHOTS`. :param remark: called with each thing that it cannot
        carry.
    """
    snapshot = SNAPSHOTS[what](_Held(log, moment))
    out.write(snapshot.content)
    for note in snapshot.notes if remark is not None else ():
        assert remark is not None, "there are no notes otherwise"
        remark(note)
    return snapshot.objects


class _Held:
    """The objects of a moment as manifests, read kind by kind."""

    def __init__(self, log: Log, moment: Moment) -> None:
        self._log, self._moment = log, moment

    def count(self, pair: GroupKind) -> int:
        """Return how many objects of a kind there are."""
        return len(self._log.entries(pair, at=self._moment))

    def of(self, pair: GroupKind, *, status: Sequence[str] = ()) -> list[Document]:
        """Return the objects of a kind.

        :param status: fields of the status to keep.
        """
        entries = self._log.entries(pair, at=self._moment)
        manifests = []
        for document in self._log.documents(entries, branch=self._moment.branch):
            clean = manifest(document, node_names=True)
            whole = document.get("status") or {}
            fields = {field: whole[field] for field in status if field in whole}
            manifests.append({**clean, "status": fields} if fields else clean)
        return manifests

    def pods(self) -> tuple[list[Document], list[str]]:
        """Return the pods that have not finished, and notes on the others."""
        entries = self._log.entries(_POD, at=self._moment)
        lives = [
            entry
            for entry in entries
            if isinstance(entry.fact, PodFact) and entry.fact.phase not in _FINISHED
        ]
        leaving = sum(entry.fact.deleting_at is not None for entry in lives)
        notes = []
        if len(lives) < len(entries):
            count = counted(len(entries) - len(lives), "pod")
            notes.append(f"{count} that finished: left out, as they would start again")
        if leaving:
            notes.append(f"{counted(leaving, 'pod')} being deleted: there they stay")
        manifests = [
            manifest(document, node_names=True)
            for document in self._log.documents(lives, branch=self._moment.branch)
        ]
        return manifests, notes

    def namespaces(self, *some: Sequence[Document]) -> list[Document]:
        """Return the namespaces of some objects, also those that the log does not hold."""
        known = {namespace["metadata"]["name"]: namespace for namespace in self.of(_NAMESPACE)}
        used = {
            document["metadata"].get("namespace", "") for these in some for document in these
        } - {""}
        # An API server refuses objects in a namespace that does not exist.
        for name in used - known.keys():
            known[name] = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        names = sorted(name for name in known if name != _DEFAULT and not _is_system(name))
        return [known[name] for name in names]

    def priorities(self, pods: Sequence[Document]) -> tuple[list[Document], list[str]]:
        """Return the PriorityClasses that a cluster does not have by itself.

        Notes name those that pods need and the log does not hold.
        """
        known = [
            priority_class
            for priority_class in self.of(_PRIORITY)
            if not _is_system(priority_class["metadata"]["name"])
        ]
        names = {priority_class["metadata"]["name"] for priority_class in known}
        needed = {pod.get("spec", {}).get("priorityClassName", "") for pod in pods}
        lacking = sorted(name for name in needed - names if name and not _is_system(name))
        notes = []
        if lacking:
            text = ", ".join(lacking)
            notes.append(f"PriorityClass {text}: pods name it, and the log does not hold it")
        return known, notes


def _is_system(name: str) -> bool:
    return name.startswith(_SYSTEM)


_ALWAYS = "uids, owners and creation times: where the scheduler compares ages, its order may differ"


def _simulator(objects: _Held) -> ObjectSnapshot:
    """Return what kube-scheduler-simulator imports."""
    pods, notes = objects.pods()
    for pod in pods:
        # An import refuses pods of service accounts that do not exist.
        pod.get("spec", {}).pop("serviceAccountName", None)
    classes, more = objects.priorities(pods)
    claims = objects.of(_CLAIM)
    nodes = objects.of(_NODE, status=_STATUS_OF_NODES)
    schedulers = Counter(pod.get("spec", {}).get("schedulerName", "") for pod in pods)
    # kube-scheduler places only pods whose schedulerName is that of a profile.
    names = sorted({*schedulers, "default-scheduler"} - {""})
    document: dict[str, Any] = {
        "pods": pods,
        "nodes": nodes,
        "pvs": objects.of(_VOLUME, status=("phase",)),
        "pvcs": claims,
        "storageClasses": objects.of(_STORAGE),
        "priorityClasses": classes,
        "schedulerConfig": {"profiles": [{"schedulerName": name} for name in names]},
        "namespaces": objects.namespaces(pods, claims),
    }
    lists = [
        objects_of_kind
        for objects_of_kind in document.values()
        if isinstance(objects_of_kind, list)
    ]
    return ObjectSnapshot(
        f"{json_text(document, indent=2)}\n".encode(),
        sum(map(len, lists)),
        (
            *_not_carried(objects, (_QUEUE, _PODGROUP, _JOB), "no gang, no share and no quota"),
            *_not_carried(objects, (_HYPERNODE,), "no network topology"),
            *_not_carried(objects, (_BUDGET,), "preemption breaks them"),
            *_not_carried(objects, (_QUOTA,), "no namespace has a limit"),
            f"the scheduler's configuration: kube-scheduler's plugins schedule {', '.join(names)}",
            "the status of pods: those with a node stay on it, others are pending",
            _ALWAYS,
            *notes,
            *more,
        ),
    )


def _not_carried(objects: _Held, kinds: Sequence[GroupKind], effect: str) -> Iterator[str]:
    counts = [(pair, objects.count(pair)) for pair in kinds]
    texts = [counted(n, plain_name(*pair), plural_of(*pair)) for pair, n in counts if n]
    if texts:
        yield f"{', '.join(texts)}: {effect}"


def _kwok(objects: _Held) -> ObjectSnapshot:
    """Return manifests that ``kubectl apply`` creates in a cluster of KWOK, in their order."""
    pods, notes = objects.pods()
    classes, more = objects.priorities(pods)
    nodes = objects.of(_NODE, status=_STATUS_OF_NODES)
    for node in nodes:
        metadata = node["metadata"]
        metadata["annotations"] = {**metadata.get("annotations", {}), **_FAKE}
    claims, groups, budgets, quotas = map(objects.of, (_CLAIM, _PODGROUP, _BUDGET, _QUOTA))
    namespaces = objects.namespaces(pods, claims, groups, budgets, quotas)
    documents = [
        *namespaces,
        *_accounts(pods),
        *classes,
        *objects.of(_STORAGE),
        *objects.of(_VOLUME),
        *claims,
        *_parents_first(objects.of(_QUEUE)),
        *nodes,
        *_lowest_first(objects.of(_HYPERNODE)),
        *budgets,
        *groups,
        *pods,
        # Last: an API server refuses pods as long as the use of a new quota is not counted.
        *quotas,
    ]
    kinds = {document["kind"] for document in documents}
    return ObjectSnapshot(
        _yaml(documents),
        len(documents),
        (
            *(["the CRDs of Volcano: install it before"] if _OF_VOLCANO & kinds else []),
            *_not_carried(objects, (_JOB,), "pods exist without them"),
            *_not_carried(
                objects, (_NUMA, _DEVICES), "no topology of cpus, and no claimed devices"
            ),
            "the scheduler's configuration: put it into the ConfigMap of the scheduler",
            "the status of PodGroups and pods: PodGroups are Pending again; pods with a node run",
            *_unready(nodes),
            _ALWAYS,
            *notes,
            *more,
        ),
    )


def _parents_first(queues: Sequence[Document]) -> list[Document]:
    """Return queues after their parents: Volcano refuses a queue whose parent does not exist."""
    left = {queue["metadata"]["name"]: queue for queue in queues}
    ordered: list[Document] = []
    while left:
        ready = [
            name
            for name, queue in left.items()
            if ((queue.get("spec") or {}).get("parent") or _ROOT) not in left or name == _ROOT
        ]
        # Parents in a circle, or one that names itself: Volcano refuses these in any order.
        ordered += [left.pop(name) for name in sorted(ready or left)]
    return ordered


def _lowest_first(hypernodes: Sequence[Document]) -> list[Document]:
    """Return hypernodes by tier: members come before the hypernodes that they are in."""
    return sorted(
        hypernodes,
        key=lambda hypernode: (
            (hypernode.get("spec") or {}).get("tier") or 0,
            hypernode["metadata"]["name"],
        ),
    )


def _yaml(documents: Sequence[Document]) -> bytes:
    from ..render.yaml_text import YamlWriter  # noqa: PLC0415 -- only one snapshot needs it

    text = YamlWriter().text
    return "".join(f"---\n{text(document)}" for document in documents).encode()


def _accounts(pods: Sequence[Document]) -> Iterator[Document]:
    """Yield the service accounts of pods: an API server refuses pods without theirs."""
    named = {
        (pod["metadata"].get("namespace", _DEFAULT), pod["spec"]["serviceAccountName"])
        for pod in pods
        if pod.get("spec", {}).get("serviceAccountName")
    }
    for namespace, name in sorted(named):
        metadata = {"name": name, "namespace": namespace}
        yield {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}


def _unready(nodes: Sequence[Document]) -> Iterator[str]:
    """Yield a note if KWOK would make nodes Ready that are not."""
    count = sum(
        condition.get("type") == "Ready" and condition.get("status") != "True"
        for node in nodes
        for condition in node.get("status", {}).get("conditions", ())
    )
    if count:
        verb = "is" if count == 1 else "are"
        yield f"that {counted(count, 'node')} {verb} not Ready: KWOK makes nodes Ready"


SNAPSHOTS: Mapping[str, Callable[[_Held], ObjectSnapshot]] = MappingProxyType(
    {"simulator": _simulator, "kwok": _kwok}
)
"""What makes each snapshot, by name."""

SUFFIXES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"simulator": (".json",), "kwok": (".yaml", ".yml")}
)
"""The suffixes that a snapshot's file may have."""
