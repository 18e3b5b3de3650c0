"""Nodes, queues, hypernodes and what else is there without any job, and how it changes."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

from .cards import Cards
from .pods import HOST, ZONE

Document = dict[str, Any]
Event = dict[str, Any]

VOLCANO = "scheduling.volcano.sh/v1beta1"
TOPOLOGY = "topology.volcano.sh/v1alpha1"
PRIORITIES = {"low": 10, "middle": 100, "high": 1000}
API_VERSIONS = {
    "Queue": VOLCANO,
    "PodGroup": VOLCANO,
    "HyperNode": TOPOLOGY,
    "PriorityClass": "scheduling.k8s.io/v1",
    "PodDisruptionBudget": "policy/v1",
}


class Cluster:
    """The cluster of one scenario, and the clock of its objects.

    :param cards: the cards that pods share, if there are any.
    """

    def __init__(
        self, chance: Random, *, tree: bool, hypernodes: bool, gpus: bool, cards: Cards | None
    ) -> None:
        self._chance = chance
        self._tree = tree
        self.has_hypernodes = hypernodes
        self.gpus = gpus
        self.cards = cards
        self._seconds = 0
        self.nodes: dict[str, Document] = {}
        self.queues: dict[str, Document] = {}
        self._hypernodes: dict[str, Document] = {}
        self._foreign = 0

    def one(self, *values: Any) -> Any:
        """Return one of some values."""
        return self._chance.choice(values)

    def often(self, share: float) -> bool:
        """Return whether it happens this time."""
        return self._chance.random() < share

    def added(self, kind: str, name: str, namespace: str = "", **rest: Any) -> Event:
        """Return that an object comes, a second after the one before it."""
        self._seconds += 0 if self.often(0.05) else 1
        minutes, seconds = divmod(self._seconds, 60)
        time = f"2025-01-01T{minutes // 60:02}:{minutes % 60:02}:{seconds:02}Z"
        metadata: Document = {"name": name, "creationTimestamp": time}
        if namespace:
            metadata["namespace"] = namespace
        for field in ("labels", "annotations"):
            if rest.get(field):
                metadata[field] = rest.pop(field)
            rest.pop(field, None)
        head = {"apiVersion": API_VERSIONS.get(kind, "v1"), "kind": kind, "metadata": metadata}
        return {"type": "ADDED", "object": {**head, **rest}}

    def begin(self) -> list[Event]:
        """Return all that is there before the first job."""
        events = [self.added("Namespace", name) for name in ("default", "team-a")]
        events += [self.added("PriorityClass", n, value=v) for n, v in PRIORITIES.items()]
        for _ in range(self._chance.randint(20, 60)):
            events += self.node_comes()
        events += self._begin_queues()
        if self.has_hypernodes:
            events += self._begin_hypernodes()
        if self.often(0.2):
            hard = {"cpu": self.one("20", "60"), "pods": self.one("15", "40")}
            events.append(
                self.added("ResourceQuota", "quota", "team-a", spec={"hard": hard}, status={})
            )
        if self.often(0.2):
            selector = {"matchLabels": {"app": self.one("web", "db")}}
            spec = {"minAvailable": 1, "selector": selector}
            status = {"disruptionsAllowed": self.one(0, 1, 3)}
            events.append(
                self.added("PodDisruptionBudget", "pdb", "default", spec=spec, status=status)
            )
        return events

    def node_comes(self) -> list[Event]:
        """Return that a node comes."""
        name = f"n{len(self.nodes):02}"
        cpu, memory = self.one((4, 8), (8, 16), (8, 32), (16, 32), (2, 4))
        amounts = {"cpu": str(cpu), "memory": f"{memory}Gi", "pods": self.one("110", "110", "5")}
        if self.gpus and self.often(0.4):
            amounts["nvidia.com/gpu"] = self.one("2", "4", "8")
        notes: dict[str, str] = {}
        if self.cards is not None:
            amounts["pods"] = "110"  # or chance says which of two missing resources is named
        if self.cards is not None and self.often(0.6):
            more, notes = self.cards.on_node(name)
            amounts.update(more)
        labels = {
            HOST: name,
            ZONE: self.one("z1", "z2", "z3"),
            "rank": str(self._chance.randint(0, 30)),
        }
        if self.often(0.4):
            labels["disk"] = self.one("ssd", "hdd")
        if self.often(0.4):
            labels["volcano.sh/nodegroup-name"] = self.one("g1", "g2", "g3")
        if self.often(0.03):
            labels.pop(HOST)
        event = self.added(
            "Node",
            name,
            labels=labels,
            annotations=notes,
            spec=self._node_spec(),
            status={
                "capacity": amounts,
                "allocatable": dict(amounts),
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        )
        self.nodes[name] = event["object"]
        return [event]

    def _node_spec(self) -> Document:
        if self.often(0.08):
            effect = self.one("NoSchedule", "PreferNoSchedule", "NoExecute")
            return {"taints": [{"key": "dedicated", "value": "batch", "effect": effect}]}
        return {"unschedulable": True} if self.often(0.02) else {}

    def node_goes(self) -> list[Event]:
        """Return that a node is lost."""
        if len(self.nodes) < 5:
            return []
        name = self.one(*self.nodes)
        return [{"type": "DELETED", "object": self.nodes.pop(name)}]

    def node_changes(self) -> list[Event]:
        """Return that a node is cordoned, tainted, shrunk, or not ready."""
        name = self.one(*self.nodes)
        node = copy.deepcopy(self.nodes[name])
        if self.cards is not None and self.often(0.3):
            self.cards.change(node)
        how = self._chance.randrange(4)
        if how == 0:
            node["spec"] = {"unschedulable": not node["spec"].get("unschedulable", False)}
        elif how == 1:
            node["spec"] = self._node_spec()
        elif how == 2:
            amounts = node["status"]["allocatable"]
            amounts["cpu"] = self.one("1", "4", "12")
            if self.often(0.5):
                amounts.pop("nvidia.com/gpu", None)
        else:
            ready = self.one("True", "False", "Unknown")
            node["status"]["conditions"] = [{"type": "Ready", "status": ready}]
        self.nodes[name] = node
        return [{"type": "MODIFIED", "object": node}]

    def foreign_pod(self) -> list[Event]:
        """Return that a pod of another scheduler runs on a node."""
        self._foreign += 1
        requests = {"cpu": self.one("500m", "2", "6"), "memory": "1Gi"}
        spec = {
            "schedulerName": "default-scheduler",
            "nodeName": self.one(*self.nodes),
            "containers": [{"name": "c", "resources": {"requests": requests}}],
        }
        status = {"phase": "Running"}
        labels = {"app": self.one("web", "db")}
        name = f"foreign-{self._foreign}"
        return [self.added("Pod", name, "default", labels=labels, spec=spec, status=status)]

    # Queues.

    def _begin_queues(self) -> list[Event]:
        names = ["q0", "q1", "q2"][: self._chance.randint(1, 3)]
        events = [self._queue(name, "root" if self._tree else "") for name in names]
        if self._tree:
            events += [
                self._queue(f"{parent}-{place}", parent)
                for parent in names
                for place in range(self._chance.randint(0, 2))
            ]
        return events

    def _queue(self, name: str, parent: str) -> Event:
        spec: Document = {
            "weight": self.one(1, 1, 2, 5),
            "reclaimable": self.often(0.85),
        }
        if parent:
            spec["parent"] = parent
        if self.often(0.3):
            spec["capability"] = self._amounts(24, 80)
        if self.often(0.35):
            spec["deserved"] = self._amounts(8, 24)
        if self.often(0.15):
            spec["guarantee"] = {"resource": self._amounts(2, 8)}
        if self.often(0.15):
            spec["priority"] = self.one(1, 5)
        if self.often(0.2):
            group = {REQUIRED_GROUP: [self.one("g1", "g2")]}
            spec["affinity"] = {"nodeGroupAffinity": group}
        event = self.added("Queue", name, spec=spec, status={"state": "Open"})
        self.queues[name] = event["object"]
        return event

    def _amounts(self, least: int, most: int) -> Document:
        cpu = self._chance.randint(least, most)
        amounts = {"cpu": str(cpu), "memory": f"{cpu * self.one(1, 2, 3)}Gi"}
        if self.gpus and self.often(0.4):
            amounts["nvidia.com/gpu"] = str(self._chance.randint(1, 8))
        return amounts

    def queue_changes(self) -> list[Event]:
        """Return that a queue is weighed anew, bounded, closed or opened."""
        queue = copy.deepcopy(self.queues[self.one(*self.queues)])
        how = self._chance.randrange(4)
        if how == 0:
            queue["spec"]["weight"] = self.one(1, 3, 10)
        elif how == 1:
            queue["spec"]["capability"] = self._amounts(10, 60)
        elif how == 2:
            queue["spec"]["deserved"] = self._amounts(4, 40)
        else:
            queue["status"] = {"state": self.one("Open", "Closed", "Closing")}
        self.queues[queue["metadata"]["name"]] = queue
        return [{"type": "MODIFIED", "object": queue}]

    # Hypernodes.

    def _begin_hypernodes(self) -> list[Event]:
        names = list(self.nodes)
        size = self._chance.randint(3, 8)
        leaves = [names[at : at + size] for at in range(0, len(names), size)]
        events = [
            self._hypernode(f"s{place}", 1, "Node", leaf)
            for place, leaf in enumerate(leaves)
            if not self.often(0.05)
        ]
        switches = list(self._hypernodes)
        half = max(1, len(switches) // 2)
        for place, below in enumerate((switches[:half], switches[half:])):
            if below:
                events.append(self._hypernode(f"r{place}", 2, "HyperNode", below))
        if self.often(0.5):
            rows = [name for name in self._hypernodes if name.startswith("r")]
            events.append(self._hypernode("top", 3, "HyperNode", rows))
        return events

    def _hypernode(self, name: str, tier: int, kind: str, members: list[str]) -> Event:
        listed = [
            {"type": kind, "selector": {"exactMatch": {"name": member}}} for member in members
        ]
        event = self.added("HyperNode", name, spec={"tier": tier, "members": listed})
        self._hypernodes[name] = event["object"]
        return event

    def hypernode_changes(self) -> list[Event]:
        """Return that a leaf of the tree loses a node, or is gone."""
        leaves = [name for name in self._hypernodes if name.startswith("s")]
        if not leaves:
            return []
        name = self.one(*leaves)
        if self.often(0.3):
            return [{"type": "DELETED", "object": self._hypernodes.pop(name)}]
        changed = copy.deepcopy(self._hypernodes[name])
        changed["spec"]["members"] = changed["spec"]["members"][1:]
        self._hypernodes[name] = changed
        return [{"type": "MODIFIED", "object": changed}]


REQUIRED_GROUP = "requiredDuringSchedulingIgnoredDuringExecution"
