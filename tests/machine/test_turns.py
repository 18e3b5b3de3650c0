"""Turns: a search by turns comes to the same ends as one through each single step."""

from __future__ import annotations

import pytest
from small_machines import NOW, nothing, object_of, small

from plinian.engine.kubernetes.api_server import Document
from plinian.engine.kubernetes.store import default_queue
from plinian.engine.machine.cluster import Cluster, ClusterSettings, cluster
from plinian.engine.machine.machine import State
from plinian.engine.machine.natural import Violation
from plinian.engine.machine.search import EachStep, Exhaustive, Space
from plinian.engine.machine.turns import Turns
from plinian.engine.machine.user import Act
from plinian.engine.volcano.conf import conf_in_force
from plinian.engine.volcano.session.history import resolve
from plinian.engine.volcano.table import controller_behaviours


def ends_of(space: Space, start: State) -> tuple[set[State], Exhaustive, list[str]]:
    """Return all ends of a space, the search, and what it found."""
    ends: set[State] = set()

    def note(state: State) -> tuple[Violation, ...]:
        ends.add(state)
        return nothing(state)

    search = Exhaustive(space, start, note)
    found = list(search.run(lambda _: False))
    assert search.complete
    return ends, search, [one.violation.sentence for one in found]


@pytest.mark.parametrize("names", [("c",), ("c", "a"), ("b", "bad")])
def test_a_search_by_turns_comes_to_the_same_ends(names: tuple[str, ...]) -> None:
    machine = small(*names)
    each, plain, panics = ends_of(EachStep(machine), machine.start)
    turned, reduced, same = ends_of(Turns(machine), machine.start)
    assert turned == each
    assert sorted(same) == sorted(panics)
    assert len(reduced.reached) < len(plain.reached)


def of_pod(release: str) -> Cluster:
    """Return a cluster in which a user creates a pod and deletes it."""
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
    pod = {**object_of("Pod", "p", spec=spec), "apiVersion": "v1"}
    return cluster(
        ClusterSettings(
            behaviours=behaviours,
            controllers=controller_behaviours(release),
            conf=conf_in_force("", behaviours),
            script=[Act("ADDED", pod), Act("DELETED", pod)],
            now=NOW,
            existing=[*map(default_queue, queues), node],
        )
    )


@pytest.mark.parametrize("release", ["v1.8.2", "v1.12.1"])
def test_a_cluster_by_turns_comes_to_the_same_ends(release: str) -> None:
    machine, start = of_pod(release)
    each, plain, _ = ends_of(EachStep(machine), start)
    turned, reduced, _ = ends_of(Turns(machine), start)
    assert turned == each
    assert 20 * len(reduced.reached) < len(plain.reached)
