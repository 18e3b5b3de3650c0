"""Scenarios at random that combine the features of all families; the same seed is the same one.

Clusters have 20 to 60 nodes, and 6 to 10 steps in which jobs come, end and go, nodes are lost,
shrunk and tainted, queues change, and the scheduler is restarted. Every object has a time of its
own, as orders by time are told then; a part of the scenarios has odd values in places. Scenarios
with shared cards are a family of their own.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from random import Random
from typing import Any

from .cards import Cards
from .cluster import Cluster
from .confs import ConfAuthor
from .jobs import Jobs

Document = dict[str, Any]
Event = dict[str, Any]

CASES_WITH_TREE, CASES_WITH_HYPERNODES, CASES_WITH_GPUS = 0.25, 0.25, 0.5
ODDNESS = (0.0, 0.0, 0.0, 0.02, 0.06)


def scenario(seed: int, *, shared: bool = False) -> Document:
    """Return the scenario of a seed, as its file has it.

    :param shared: pods share cards of nodes.
    """
    return _Author(seed, "shared" if shared else "combined").scenario()


class _Author:
    """Writes one scenario from its first node to its last step."""

    def __init__(self, seed: int, family: str) -> None:
        word = "differential" if family == "combined" else family
        self._chance = chance = Random(f"{word} {seed}")
        self._name = f"{family}-{seed}"
        tree = chance.random() < CASES_WITH_TREE
        hypernodes = chance.random() < CASES_WITH_HYPERNODES
        gpus = chance.random() < CASES_WITH_GPUS
        oddness = chance.choice(ODDNESS)
        cards = Cards(chance) if family == "shared" else None
        self._confs = ConfAuthor(chance, tree=tree, hypernodes=hypernodes, cards=cards)
        self._cluster = Cluster(chance, tree=tree, hypernodes=hypernodes, gpus=gpus, cards=cards)
        self._jobs = Jobs(chance, self._cluster, oddness=oddness)
        self._oddness = oddness
        self._held = False

    def scenario(self) -> Document:
        """Return the whole scenario."""
        conf = self._confs.conf()
        steps = [{"events": self._first_step()}]
        for _ in range(self._chance.randint(5, 9)):
            step: Document = {"events": self._step()}
            if self._chance.random() < 0.06:
                step["conf"] = self._confs.conf()
            steps.append(step)
        return {"name": self._name, "conf": conf, "steps": copy.deepcopy(steps)}

    def _first_step(self) -> list[Event]:
        events = self._cluster.begin()
        for _ in range(self._chance.randint(2, 6)):
            events += self._jobs.come(running=0.6)
        for _ in range(self._chance.randint(1, 4)):
            events += self._jobs.come(running=0.0)
        return events

    def _step(self) -> list[Event]:
        changes: tuple[tuple[float, Callable[[], list[Event]]], ...] = (
            (0.75, self._some_come),
            (0.35, self._jobs.pods_end),
            (0.25, self._jobs.pods_go),
            (0.15, self._jobs.job_goes),
            (0.1, self._jobs.job_changes),
            (0.15, self._cluster.node_goes),
            (0.12, self._cluster.node_comes),
            (0.2, self._cluster.node_changes),
            (0.15, self._cluster.queue_changes),
            (0.05, self._cluster.hypernode_changes),
            (0.1, self._cluster.foreign_pod),
            (0.15, lambda: [{"type": "RESTART"}]),
            (0.04, self._hold_or_release),
        )
        events: list[Event] = []
        for share, change in changes:
            if self._chance.random() < share:
                events += change()
        return events

    def _some_come(self) -> list[Event]:
        return [
            event
            for _ in range(self._chance.randint(1, 3))
            for event in self._jobs.come(running=0.0)
        ]

    def _hold_or_release(self) -> list[Event]:
        self._held = not self._held
        return [{"type": "CLEANUP_HOLD" if self._held else "CLEANUP_RUN"}]
