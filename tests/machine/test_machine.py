"""The machine: its steps are those of its components, and searches see every state."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from plain_machine import PlainMachine

from plinian.engine.kubernetes.api_errors import AlreadyExists
from plinian.engine.kubernetes.api_server import Document
from plinian.engine.kubernetes.store import default_queue
from plinian.engine.machine.cluster import ClusterSettings, cluster, parts_of
from plinian.engine.machine.layout import API, Part
from plinian.engine.machine.machine import Machine, State
from plinian.engine.machine.search import Exhaustive
from plinian.engine.machine.user import Act
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
            "one": Part((), lambda: Writer("a", "b")),
            "other": Part((), lambda: Writer(*names)),
            "reader": Part(("Pod",), Reader),
        }
    )


def brute(machine: Machine, state: State, seen: set[State]) -> None:
    """Collect all states by trying each step in each of them."""
    if state in seen:
        return
    seen.add(state)
    for step in machine.enabled(state):
        brute(machine, machine.after(state, step)[0], seen)


@pytest.mark.parametrize("names", [("c",), ("c", "a"), ("b", "bad")])
def test_an_exhaustive_search_sees_every_state(names: tuple[str, ...]) -> None:
    machine = small(*names)
    seen: set[State] = set()
    brute(machine, machine.start, seen)
    search = Exhaustive(machine, machine.start, ())
    found = list(search.run(lambda _: False))
    assert search.complete
    assert len(search.reached) == len(seen) > 20
    assert {one.sentence for one in found} == ({"a bad pod"} if "bad" in names else set())


def test_a_search_that_is_stopped_is_not_complete() -> None:
    machine = small("c")
    search = Exhaustive(machine, machine.start, ())
    assert not list(search.run(lambda progress: progress.states > 0))
    assert not search.complete


def test_what_is_found_is_reached_by_its_steps() -> None:
    machine = small("bad")
    first = next(Exhaustive(machine, machine.start, ()).run(lambda _: False))
    state, panic = machine.start, ""
    for step in first.steps:
        assert not panic
        state, panic = machine.after(state, step)
    assert panic == first.sentence == "a bad pod"
    assert [str(machine.step(step)) for step in first.steps] == [
        "other writes",
        "reader sees Pod",
    ]


def test_a_state_that_is_wrong_is_found_with_the_fewest_steps() -> None:
    machine = small("c")
    queue = machine.layout.channels["reader", "Pod"]

    def three_wait(state: State) -> str:
        return "three wait" if len(machine.queue(state[queue])) == 3 else ""

    found = next(Exhaustive(machine, machine.start, (three_wait,)).run(lambda _: False))
    assert (found.sentence, len(found.steps)) == ("three wait", 3)


def test_a_process_that_panics_sees_everything_again() -> None:
    machine = small("bad")
    state = machine.start
    for name in ("one writes", "other writes", "reader sees Pod", "reader sees Pod"):
        (step,) = (one for one in machine.enabled(state) if str(machine.step(one)) == name)
        state, panic = machine.after(state, step)
    assert panic == "a bad pod"
    waiting = machine.waiting(state, "reader", "Pod")
    keys = [machine.transitions.notices[notice][2] for notice in waiting]
    assert keys == ["ml/a", "ml/bad"]


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


def settings(release: str) -> ClusterSettings:
    """Return a cluster in which a user scales a Deployment up, down and up again."""
    amounts = {"cpu": "8", "memory": "16Gi", "pods": "110"}
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n1"},
        "status": {"allocatable": amounts, "capacity": amounts},
    }
    behaviours = resolve(release)
    queues = ("default", "root") if behaviours.root_queue else ("default",)
    objects = [*map(default_queue, queues), node, *map(deployment, (1, 0, 1))]
    return ClusterSettings(
        behaviours=behaviours,
        controllers=controller_behaviours(release),
        conf=conf_in_force("", behaviours),
        script=[Act("ADDED", each) for each in objects],
        now=NOW,
    )


@pytest.mark.parametrize("release", ["v1.8.2", "v1.12.1", "v1.15.1"])
@pytest.mark.parametrize("seed", [1, 2])
def test_steps_that_are_looked_up_are_those_of_components_that_live_on(
    release: str, seed: int
) -> None:
    given = settings(release)
    machine, chooser = cluster(given), random.Random(seed)
    plain = PlainMachine(parts_of(given, machine.objects))
    state = machine.start
    for _ in range(120):
        step = chooser.choice(machine.enabled(state))
        state, _ = machine.after(state, step)
        plain.step(machine.step(step))
        for name, kept in plain.kept().items():
            held = state[machine.layout.place[name]]
            assert machine.transitions.kept(machine.layout.names.index(name), held) == kept, (
                machine.step(step),
                name,
            )
        assert machine.transitions.server(state[API]).kept() == plain.server.kept()


def test_a_cluster_left_to_itself_runs_what_the_user_wants() -> None:
    machine = cluster(settings("v1.12.1"))
    state = machine.start
    order = {"user": 3, "": 4}
    for _ in range(400):
        steps = sorted(
            machine.enabled(state),
            key=lambda one: (order.get(machine.step(one).part, 1), not machine.step(one).kind),
        )
        following = (machine.after(state, step)[0] for step in steps)
        state = next((one for one in following if one != state), state)
    server = machine.transitions.server(state[API])
    (pod,) = server.list("Pod")
    assert (pod["status"]["phase"], pod["spec"]["nodeName"]) == ("Running", "n1")
    (group,) = server.list("PodGroup")
    assert group["status"]["phase"] == "Running"
