"""Machines that are small enough to be searched through and through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plinian.engine.controllers.kubelet import ENDS_AS
from plinian.engine.kubernetes.api_errors import AlreadyExists
from plinian.engine.kubernetes.api_server import Document
from plinian.engine.kubernetes.object_store import default_queue
from plinian.engine.machine.cluster_machine import Cluster, ClusterSettings, cluster
from plinian.engine.machine.machine import Machine, State
from plinian.engine.machine.machine_layout import ComponentPart
from plinian.engine.machine.natural import StateViolation
from plinian.engine.machine.state_search import Exhaustive, Space
from plinian.engine.machine.user import UserAct
from plinian.engine.model.panic import Panic
from plinian.engine.volcano.conf import conf_in_force
from plinian.engine.volcano.session.history import resolve
from plinian.engine.volcano.table import controller_behaviours

NOW = 1_800_000_000_000_000


class Writer:
    """Creates some objects, one after the other; another writer may be faster."""

    kinds: tuple[str, ...] = ()

    def __init__(self, *names: str) -> None:
        self._names = names
        self._made = 0

    def deliver(self, *change: object) -> None:
        """See nothing."""

    def steps(self) -> Sequence[str]:
        """Return whether anything is left."""
        return ("writes",) if self._made < len(self._names) else ()

    def step(self, name: str, client: Any) -> None:
        """Create the next object."""
        assert name == "writes"
        metadata = {"name": self._names[self._made], "namespace": "ml"}
        self._made += 1
        try:
            client.create({"kind": "Pod", "metadata": metadata, "spec": {}})
        except AlreadyExists:
            return

    def due(self) -> int | None:
        """Return that nothing is due."""
        return None

    def advance(self, by: int) -> None:
        """Let time pass."""

    def kept(self) -> int:
        """Return how much is done."""
        return self._made

    def restore(self, kept: int) -> None:
        """Have done so much."""
        self._made = kept


class Reader(Writer):
    """Sees pods in their order, and panics at one called ``bad``; three seconds make it sleepy."""

    kinds = ("Pod",)

    def __init__(self) -> None:
        super().__init__()
        self._seen: tuple[str, ...] = ()
        self._left = 3_000_000

    def deliver(self, *change: object) -> None:
        """Note what was seen."""
        _, _, key, document, _ = change
        assert isinstance(document, dict)
        if document["metadata"]["name"] == "bad" and self._left:
            raise Panic("a bad pod")
        self._seen = (*self._seen, str(key))

    def due(self) -> int | None:
        """Return when it is sleepy."""
        return self._left or None

    def advance(self, by: int) -> None:
        """Let time pass."""
        self._left = max(0, self._left - by)

    def kept(self) -> Any:
        """Return what was seen."""
        return self._seen, self._left

    def restore(self, kept: Any) -> None:
        """Have seen that."""
        self._seen, self._left = kept


def small(*names: str) -> Machine:
    """Return a machine of two writers and a reader."""
    return Machine(
        {
            "one": ComponentPart((), lambda: Writer("a", "b")),
            "other": ComponentPart((), lambda: Writer(*names)),
            "reader": ComponentPart(("Pod",), Reader),
        }
    )


def nothing(state: State) -> tuple[StateViolation, ...]:
    """Find nothing wrong with any state."""
    assert state
    return ()


def object_of(kind: str, name: str, **more: Any) -> Document:
    """Return an object."""
    return {"kind": kind, "metadata": {"name": name, "namespace": "default"}, **more}


def deployment(replicas: int) -> Document:
    """Return a Deployment of pods that Volcano schedules."""
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"schedulerName": "volcano", "containers": [container]},
    }
    spec = {
        "replicas": replicas,
        "selector": {"matchLabels": {"app": "web"}},
        "template": template,
    }
    return {**object_of("Deployment", "web", spec=spec), "apiVersion": "apps/v1"}


def job(name: str = "train", ends_as: str = "", **spec: Any) -> Document:
    """Return a Job of Volcano with one pod.

    :param ends_as: how its pod ends by itself; by default it does not.
    """
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    template = {
        "metadata": {"annotations": {ENDS_AS: ends_as} if ends_as else {}},
        "spec": {"containers": [container]},
    }
    task = {"name": "work", "replicas": 1, "template": template}
    own = {"schedulerName": "volcano", "queue": "default", "minAvailable": 1, "maxRetry": 3}
    given = object_of("Job", name, spec={**own, "tasks": [task], **spec})
    return {**given, "apiVersion": "batch.volcano.sh/v1alpha1"}


def again(one: Document) -> tuple[UserAct, ...]:
    """Return the script of a user who creates an object, deletes it, and creates it again."""
    return UserAct("ADDED", one), UserAct("DELETED", one), UserAct("ADDED", one)


SCALED = tuple(UserAct("ADDED", each) for each in map(deployment, (1, 0, 1)))
"""The script of a user who scales a Deployment up, down and up again."""


def settings(release: str, script: Sequence[UserAct] = SCALED) -> ClusterSettings:
    """Return a cluster with one node, in which a user follows a script."""
    amounts = {"cpu": "8", "memory": "16Gi", "pods": "110"}
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n1"},
        "status": {"allocatable": amounts, "capacity": amounts},
    }
    behaviours = resolve(release)
    queues = ("default", "root") if behaviours.root_queue else ("default",)
    return ClusterSettings(
        behaviours=behaviours,
        controllers=controller_behaviours(release),
        conf=conf_in_force("", behaviours),
        script=script,
        now=NOW,
        existing=[*map(default_queue, queues), node],
    )


def ends_of(space: Space, start: State) -> tuple[set[State], Exhaustive, list[str]]:
    """Return all ends of a space, the search, and what it found."""
    ends: set[State] = set()

    def note(state: State) -> tuple[StateViolation, ...]:
        ends.add(state)
        return nothing(state)

    search = Exhaustive(space, start, note)
    found = list(search.run(lambda _: False))
    assert search.complete
    return ends, search, [one.violation.sentence for one in found]


def of_pods(release: str) -> Cluster:
    """Return a cluster in which a user creates two pods."""
    behaviours = resolve(release)
    queues = ("default", "root") if behaviours.root_queue else ("default",)
    amounts = {"cpu": "8", "memory": "16Gi", "pods": "110"}
    node: Document = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n1"},
        "status": {"allocatable": amounts, "capacity": amounts},
    }
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    spec = {"schedulerName": "volcano", "containers": [container]}
    pods = [{**object_of("Pod", name, spec=spec), "apiVersion": "v1"} for name in ("p", "q")]
    return cluster(
        ClusterSettings(
            behaviours=behaviours,
            controllers=controller_behaviours(release),
            conf=conf_in_force("", behaviours),
            script=[UserAct("ADDED", pod) for pod in pods],
            now=NOW,
            existing=[*map(default_queue, queues), node],
        )
    )
