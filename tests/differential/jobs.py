"""PodGroups with their pods: how they come, end, change and go."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

from .cluster import PRIORITIES, Cluster
from .pods import APPS, PodAuthor

Document = dict[str, Any]
Event = dict[str, Any]

GROUP = "scheduling.k8s.io/group-name"
ROLE = "volcano.sh/task-spec"
ROLES = ("ps", "worker", "chief")
ODD_ANNOTATIONS = (
    ("volcano.sh/preemptable", ("true", "false", "maybe", "")),
    ("volcano.sh/task-priority", ("7", "x")),
    ("volcano.sh/jdb-min-available", ("1", "-3", "x")),
    ("volcano.sh/cooldown-time", ("1h", "never")),
    ("sla-waiting-time", ("1h", "x", "-5m")),
    ("volcano.sh/revocable-zone", ("*", "z1")),
)


class Jobs:
    """The jobs of one scenario."""

    def __init__(self, chance: Random, cluster: Cluster, *, oddness: float) -> None:
        self._chance = chance
        self._cluster = cluster
        self._oddness = oddness
        self._groups: dict[str, Document] = {}
        self._pods: dict[str, Document] = {}
        self._made = 0

    def _one(self, *values: Any) -> Any:
        return self._chance.choice(values)

    def _often(self, share: float) -> bool:
        return self._chance.random() < share

    def come(self, *, running: float) -> list[Event]:
        """Return that a job comes with its pods; some of them may run from the start."""
        name, namespace = f"j{self._made}", self._one("default", "default", "team-a")
        self._made += 1
        roles = self._roles()
        count = sum(number for _, number in roles)
        priority = self._one("", "", *PRIORITIES)
        runs = self._often(running)
        group = self._group(name, namespace, roles, count, priority, runs=runs)
        events = [] if self._often(self._oddness) else [group]
        self._groups[f"{namespace}/{name}"] = group["object"]
        for role, number in roles:
            events += self._pods_of(name, namespace, role, number, priority, runs=runs)
        if self._often(0.1):
            events.reverse()
        return events

    def _roles(self) -> list[tuple[str, int]]:
        if self._often(0.7):
            return [(self._one("", "worker"), self._chance.randint(1, 8))]
        return [(role, self._chance.randint(1, 4)) for role in ROLES if self._often(0.8)] or [
            ("", 1)
        ]

    def _group(
        self,
        name: str,
        namespace: str,
        roles: list[tuple[str, int]],
        count: int,
        priority: str,
        *,
        runs: bool,
    ) -> Event:
        least = self._one(1, count, count, max(1, count // 2))
        if self._often(self._oddness):
            least = self._one(0, count + 2, 100)
        spec: Document = {"minMember": least, "queue": self._queue()}
        if priority and self._often(0.95):
            spec["priorityClassName"] = priority
        if self._often(0.6):
            cpu = self._one(1, 2) * least
            spec["minResources"] = {"cpu": str(cpu), "memory": f"{cpu}Gi"}
        if len(roles) > 1 and self._often(0.5):
            spec["minTaskMember"] = {role: self._chance.randint(1, n) for role, n in roles}
        if self._cluster.has_hypernodes and self._often(0.6):
            spec["networkTopology"] = {
                "mode": self._one("hard", "hard", "soft"),
                "highestTierAllowed": self._one(1, 2, 2, 3),
            }
        annotations = {}
        if self._often(0.1):
            annotations["volcano.sh/task-topology-affinity"] = "ps,worker"
        if self._often(0.06):
            annotations["volcano.sh/task-topology-anti-affinity"] = "ps"
        annotations.update(self._odd_annotations())
        phase = "Running" if runs else self._one("Pending", "Pending", "Inqueue", "")
        return self._cluster.added(
            "PodGroup",
            name,
            namespace,
            annotations=annotations,
            spec=spec,
            status={"phase": phase} if phase else {},
        )

    def _queue(self) -> str:
        if self._often(self._oddness):
            return str(self._one("missing", "root"))
        parents = {each["spec"].get("parent", "") for each in self._cluster.queues.values()}
        leaves = [name for name in self._cluster.queues if name not in parents]
        return str(self._one("default", *leaves, *leaves))

    def _odd_annotations(self) -> dict[str, str]:
        share = 0.02 + self._oddness
        return {key: self._one(*texts) for key, texts in ODD_ANNOTATIONS if self._often(share)}

    def _pods_of(
        self, name: str, namespace: str, role: str, number: int, priority: str, *, runs: bool
    ) -> list[Event]:
        app = self._one(*APPS)
        author = PodAuthor(
            self._chance,
            list(self._cluster.nodes),
            gpus=self._cluster.gpus,
            cards=self._cluster.cards,
            oddness=self._oddness,
        )
        template = author.template(app)
        if priority:
            template["priorityClassName"] = priority
            template["priority"] = PRIORITIES[priority]
        annotations = {GROUP: name, **({ROLE: role} if role else {}), **self._odd_annotations()}
        if self._cluster.cards is not None:
            annotations.update(self._cluster.cards.wishes())
        labels = {"app": app} if self._often(0.9) else {}
        events = []
        for place in range(number):
            spec = copy.deepcopy(template)
            status, held = {"phase": "Pending"}, {}
            if runs and self._often(0.85):
                spec["nodeName"] = self._one(*self._cluster.nodes)
                spec.pop("schedulingGates", None)
                status["phase"] = "Running"
                if self._cluster.cards is not None:
                    held = self._cluster.cards.held(spec)
            event = self._cluster.added(
                "Pod",
                f"{name}-{role or 'w'}-{place}",
                namespace,
                labels=dict(labels),
                annotations={**annotations, **held},
                spec=spec,
                status=status,
            )
            self._pods[f"{namespace}/{event['object']['metadata']['name']}"] = event["object"]
            events.append(event)
        return events

    def _some_pods(self) -> list[str]:
        keys = list(self._pods)
        return self._chance.sample(keys, min(len(keys), self._chance.randint(1, 4)))

    def pods_end(self) -> list[Event]:
        """Return that some pods succeed or fail; few of them do who came without a node."""
        events = []
        for key in self._some_pods():
            pod = copy.deepcopy(self._pods[key])
            if "nodeName" not in pod["spec"] and self._often(0.6):
                continue
            pod["status"] = {"phase": self._one("Succeeded", "Failed")}
            self._pods[key] = pod
            events.append({"type": "MODIFIED", "object": pod})
        return events

    def pods_go(self) -> list[Event]:
        """Return that some pods are deleted; some linger for a while."""
        events = []
        for key in self._some_pods():
            pod = copy.deepcopy(self._pods[key])
            if self._often(0.3) and "nodeName" in pod["spec"]:
                pod["metadata"]["deletionTimestamp"] = "2025-01-02T00:00:00Z"
                self._pods[key] = pod
                events.append({"type": "MODIFIED", "object": pod})
            else:
                del self._pods[key]
                events.append({"type": "DELETED", "object": pod})
        return events

    def job_goes(self) -> list[Event]:
        """Return that a PodGroup is deleted, before or after its pods, and may come again."""
        key = self._one(*self._groups)
        group = self._groups[key]
        of = [each for each in self._pods if each.rpartition("-")[0].rpartition("-")[0] == key]
        pods: list[Event] = [{"type": "DELETED", "object": self._pods.pop(each)} for each in of]
        gone: list[Event] = [{"type": "DELETED", "object": group}]
        events = self._one(pods + gone, gone + pods)
        if self._often(0.3):
            return [*events, {"type": "ADDED", "object": group}]
        del self._groups[key]
        return events if self._groups else [*events, *self.come(running=0.0)]

    def job_changes(self) -> list[Event]:
        """Return that a PodGroup asks for another number of pods, or another queue."""
        key = self._one(*self._groups)
        group = copy.deepcopy(self._groups[key])
        if self._often(0.7):
            group["spec"]["minMember"] = self._chance.randint(1, 6)
        else:
            group["spec"]["queue"] = self._queue()
        self._groups[key] = group
        group.pop("status", None)
        return [{"type": "MODIFIED", "object": group}]
