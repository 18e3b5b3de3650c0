"""Specifications of pods that combine what filters and scores look at."""

from __future__ import annotations

from random import Random
from typing import Any

from .cards import Cards

Document = dict[str, Any]

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
APPS = ("web", "db", "train", "cache")


class PodAuthor:
    """Writes what the pods of one role have in common.

    :param gpus: whether the cluster has any.
    :param cards: cards that pods share, if there are any.
    """

    def __init__(
        self,
        chance: Random,
        nodes: list[str],
        *,
        gpus: bool,
        cards: Cards | None,
        oddness: float,
    ) -> None:
        self._chance = chance
        self._nodes = nodes
        self._gpus = gpus
        self._cards = cards
        self._oddness = oddness

    def template(self, app: str) -> Document:
        """Return a pod's spec without a node; ``app`` is the label that it will have."""
        spec: Document = {"schedulerName": "volcano", "containers": [self._container()]}
        parts = {
            "nodeSelector": (0.06, self._node_selector),
            "affinity": (0.25, lambda: self._affinity(app)),
            "topologySpreadConstraints": (0.12, lambda: [self._spread(app)]),
            "tolerations": (0.25, self._tolerations),
            "initContainers": (0.06, lambda: [self._container()]),
            "overhead": (0.03, lambda: {"cpu": "100m"}),
            "preemptionPolicy": (0.05, lambda: self._one("Never", "PreemptLowerPriority")),
            "schedulingGates": (0.02, lambda: [{"name": "example.com/wait"}]),
        }
        for field, (share, write) in parts.items():
            if self._often(share):
                spec[field] = write()
        return spec

    def _one(self, *values: Any) -> Any:
        return self._chance.choice(values)

    def _often(self, share: float) -> bool:
        return self._chance.random() < share

    def _container(self) -> Document:
        requests: Document = {}
        if self._often(0.93):
            requests["cpu"] = self._one("250m", "500m", "1", "1", "2", "3", "4", "6")
        if self._often(0.88):
            requests["memory"] = self._one("128Mi", "512Mi", "1Gi", "2Gi", "4Gi", "8Gi")
        if self._gpus and self._often(0.3):
            requests["nvidia.com/gpu"] = self._one("1", "1", "2", "4")
        if self._often(self._oddness):
            requests["cpu"] = self._one("0", "0.1m", "1e1", "900")
        limits: Document = {}
        if self._cards is not None and self._often(0.5):
            limits = self._cards.request()
            requests.update(limits)
        container: Document = {"name": "c", "image": self._one("busybox:1", "train:2")}
        if requests:
            limited = {"limits": limits} if limits else {}
            container["resources"] = {"requests": requests, **limited}
        if self._often(0.05):
            port = self._one(80, 8080)
            container["ports"] = [{"hostPort": port, "containerPort": port, "protocol": "TCP"}]
        return container

    def _node_selector(self) -> Document:
        return self._one({ZONE: "z1"}, {"disk": "ssd"}, {"nowhere": "x"}, {ZONE: "z2"})

    def _affinity(self, app: str) -> Document:
        affinity: Document = {}
        if self._often(0.35):
            affinity["nodeAffinity"] = self._node_affinity()
        for kind in ("podAffinity", "podAntiAffinity"):
            if self._often(0.4):
                affinity[kind] = self._pod_affinity(app)
        return affinity

    def _node_affinity(self) -> Document:
        expression = self._one(
            {"key": ZONE, "operator": "In", "values": ["z1", "z2"]},
            {"key": "disk", "operator": "NotIn", "values": ["hdd"]},
            {"key": "rank", "operator": "Gt", "values": ["10"]},
            {"key": "disk", "operator": "Exists"},
        )
        term = {"matchExpressions": [expression]}
        if self._often(0.5):
            return {REQUIRED: {"nodeSelectorTerms": [term]}}
        weight = self._chance.randint(1, 100)
        return {PREFERRED: [{"weight": weight, "preference": term}]}

    def _pod_affinity(self, app: str) -> Document:
        other = self._one(app, app, *APPS)
        term: Document = {
            "labelSelector": {"matchLabels": {"app": other}},
            "topologyKey": self._one(HOST, ZONE, ZONE, "nowhere" if self._often(0.1) else HOST),
        }
        if self._often(0.1):
            term["namespaces"] = ["default", "team-a"]
        if self._often(0.5):
            return {REQUIRED: [term]}
        return {PREFERRED: [{"weight": self._chance.randint(1, 100), "podAffinityTerm": term}]}

    def _spread(self, app: str) -> Document:
        return {
            "maxSkew": self._one(1, 1, 2),
            "topologyKey": self._one(HOST, ZONE),
            "whenUnsatisfiable": self._one("DoNotSchedule", "ScheduleAnyway"),
            "labelSelector": {"matchLabels": {"app": app}},
        }

    def _tolerations(self) -> list[Document]:
        return self._one(
            [{"key": "dedicated", "operator": "Equal", "value": "batch", "effect": "NoSchedule"}],
            [{"key": "dedicated", "operator": "Exists"}],
            [{"operator": "Exists"}],
        )
