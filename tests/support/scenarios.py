"""Small scenarios at random: clusters as users have them, and what nobody should write but some do.

The same seed is the same scenario. Most of a scenario is sound, so that sessions get somewhere; of
each part a few are odd: absurd numbers, dangling names, cycles, fields that are missing.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from scenario_confs import scheduler_conf
from scenario_pods import pod_spec

from plinian.replay.simulate.scenario_cases import Case, parse_case

Document = dict[str, Any]
Event = dict[str, Any]

VOLCANO = "scheduling.volcano.sh/v1beta1"
ZONES = ("z1", "z2", "z3")
QUEUES = ("a", "b", "c", "d", "e")
ODD_NUMBERS = (0, -1, -7, 3, 100, 2**31 - 1, -(2**31))
AMOUNTS = {
    "cpu": ("1", "2", "4", "8", "500m", "100m"),
    "memory": ("1Gi", "2Gi", "4Gi", "8Gi", "512Mi"),
    "nvidia.com/gpu": ("1", "2", "4"),
    "ephemeral-storage": ("1Gi", "10Gi"),
    "pods": ("1", "3", "110"),
    "hugepages-2Mi": ("2Mi", "64Mi"),
    "example.com/odd": ("1", "3"),
    "volcano.sh/gpu-memory": ("1000", "4000"),
    "volcano.sh/gpu-number": ("1", "2"),
    "volcano.sh/vgpu-number": ("1", "2"),
    "volcano.sh/vgpu-memory": ("1000",),
}
CONTROLS = (
    *("RESTART", "CLEANUP_HOLD", "CLEANUP_STEP", "CLEANUP_RUN"),
    *("CLEANUP_BEGIN", "CLEANUP_END"),
)
NONSENSE = (None, "", "x", -1, 0, 1.5, 2**40, 10**30, True, [], {}, [None], ["x"], {"x": None})
ODD_AMOUNTS = ("0", "0.1", "1e3", "1n", "1E", f"{2**63 - 1}", 2, 1.5, "1.5Gi", "+1", "8Ei", "x")


def scenario(seed: int, *, sound: bool = False) -> Case:
    """Return the scenario of a seed, as it is after being read; nothing is odd in a sound one."""
    return parse_case(msgspec.json.encode(scenario_document(seed, sound=sound)))


def scenario_document(seed: int, *, sound: bool = False) -> Document:
    """Return the scenario of a seed as it would be written."""
    chance = random.Random(seed)
    return _Author(chance, 0.0 if sound else chance.choice((0.0, 0.02, 0.1))).scenario()


class _Author:
    """Writes one scenario, and remembers what there is to refer to."""

    def __init__(self, chance: random.Random, oddness: float) -> None:
        self.chance = chance
        self.oddness = oddness
        self.crowded = chance.random() < 0.5
        self.there: dict[tuple[str, str], Document] = {}
        self.nodes = [f"n{number}" for number in range(chance.choice((0, 1, 2, 3, 3, 4, 6)))]
        self.groups = [f"pg{number}" for number in range(chance.randint(1, 6))]
        self.queue_names = self.some(QUEUES, 0.2 if self.crowded else 0.5)

    # Choices.

    def one(self, *options: Any) -> Any:
        return self.chance.choice(options)

    def often(self, share: float) -> bool:
        return self.chance.random() < share

    def some(self, options: Sequence[str], share: float) -> list[str]:
        return [option for option in options if self.often(share)]

    def number(self, least: int, most: int) -> int:
        odd = self.often(self.oddness)
        return self.one(*ODD_NUMBERS) if odd else self.chance.randint(least, most)

    def amount(self, name: str) -> Any:
        odd = self.often(self.oddness)
        return self.one(*ODD_AMOUNTS) if odd else self.one(*AMOUNTS[name])

    def amounts(self, *names: str, more: float = 0.1) -> Document:
        taken = [*names, *self.some([name for name in AMOUNTS if name not in names], more)]
        return {name: self.amount(name) for name in taken if not self.often(self.oddness)}

    # The whole.

    def scenario(self) -> Document:
        first = [*self.queues(), *self.cluster_objects(), *map(self.node, self.nodes)]
        first += [pod for name in self.groups for pod in self.group(name)]
        first += [self.pod(f"lone-{number}", "") for number in range(self.chance.randint(0, 2))]
        if self.often(0.3):
            self.chance.shuffle(first)
        steps = [{"events": [self.arrival(each) for each in first]}]
        steps += [self.step() for _ in range(self.chance.randint(0, 3))]
        options = {
            name: True
            for name in ("noDefaultQueues", "noFeedback", "noPodFilter")
            if self.often(0.07)
        }
        return {"conf": self.conf(), "options": options, "steps": steps}

    def conf(self) -> str:
        return "" if self.often(0.1) else scheduler_conf(self.chance, self.oddness)

    def arrival(self, document: Document) -> Event:
        if self.often(self.oddness * 0.2):
            self.spoil(document)
        self.there[document["kind"], self._key(document)] = document
        return {"type": "ADDED", "object": document}

    def spoil(self, document: Document) -> None:
        """Put nonsense in the place of some value, at any depth below the object's name."""
        places: list[tuple[Any, Any]] = []
        pending: list[Any] = [document[part] for part in ("spec", "status") if part in document]
        pending.append(document["metadata"])
        for parent in pending:
            inner = parent.items() if isinstance(parent, dict) else enumerate(parent)
            for key, value in inner:
                if key not in ("name", "namespace"):
                    places.append((parent, key))
                if isinstance(value, dict | list):
                    pending.append(value)
        if places:
            parent, key = self.chance.choice(places)
            parent[key] = self.one(*NONSENSE)

    def step(self) -> Document:
        step: Document = {"events": [self.change() for _ in range(self.chance.randint(0, 6))]}
        if self.often(0.1):
            step["conf"] = self.conf()
        if self.often(0.1):
            step["noSession"] = True
        return step

    def change(self) -> Event:
        """Return something that happens: an object comes, changes, goes or comes back."""
        if self.often(0.05):
            return {"type": self.one(*CONTROLS)}
        if self.often(0.3):
            return self.arrival(self.pod(self.one("new-0", "p-w-7"), self.one("", *self.groups)))
        kind, key = self.chance.choice(sorted(self.there))
        known = self.there[kind, key]
        if self.often(0.4):
            return {"type": "DELETED", "object": copy.deepcopy(known)}
        if self.often(0.3):
            return {"type": "ADDED", "object": copy.deepcopy(known)}
        return {"type": "MODIFIED", "object": self.changed(known)}

    def changed(self, known: Document) -> Document:
        name = known["metadata"]["name"]
        writers: dict[str, Callable[[], Document]] = {
            "Node": lambda: self.node(name),
            "Queue": lambda: self.queue(name),
            "PodGroup": lambda: self.pod_group(name),
        }
        if known["kind"] in writers:
            return writers[known["kind"]]()
        document = copy.deepcopy(known)
        if known["kind"] == "Pod":
            phase = self.one("Running", "Succeeded", "Failed", "Unknown", "Pending")
            document["status"] = {"phase": phase}
            if self.often(0.3):
                document["metadata"]["deletionTimestamp"] = self.time()
        return document

    # Objects.

    def document(self, kind: str, name: str, *, api: str = "v1", **parts: Any) -> Document:
        metadata: Document = {"name": name, "creationTimestamp": self.time()}
        if kind in ("Pod", "PodGroup") and self.often(self.oddness):
            metadata["namespace"] = "other"
        for field in ("labels", "annotations", "namespace"):
            if field in parts:
                metadata[field] = parts.pop(field)
        return {"apiVersion": api, "kind": kind, "metadata": metadata, **parts}

    def time(self) -> str:
        return f"2025-01-0{self.chance.randint(1, 3)}T0{self.chance.randint(0, 9)}:00:00Z"

    def node(self, name: str) -> Document:
        labels = {"kubernetes.io/hostname": name, "zone": self.one(*ZONES)}
        if self.often(0.2):
            labels["volcano.sh/revocable-zone"] = self.one("rz1", "*", "")
        if self.often(0.2):
            labels["volcano.sh/nodegroup-name"] = self.one("g1", "g2")
        annotations = {}
        if self.often(self.oddness):
            annotations["volcano.sh/oversubscription-cpu"] = self.one("2000", "x", "-5", "1e400")
        if self.often(0.05):
            told = self.one("GPU-1,10,32768,100,NVIDIA-Tesla,0,true:", "x", "GPU-1,1,1,1,X,0,true")
            annotations["volcano.sh/node-vgpu-register"] = told
        status: Document = {}
        if not self.often(self.oddness):
            amounts = self.amounts("cpu", "memory", "pods", more=0.2)
            if self.crowded:
                amounts |= {"cpu": "8", "memory": "16Gi", "pods": self.one("3", "110")}
            else:
                amounts |= {"cpu": self.one("8", "16"), "memory": "32Gi", "pods": "110"}
            status = {"allocatable": amounts, "capacity": amounts}
        taints = [
            {"key": key, "value": "v", "effect": self.one("NoSchedule", "NoExecute", "Prefer")}
            for key in self.some(("t1", "node.kubernetes.io/not-ready"), 0.08)
        ]
        if self.often(0.2):
            status["images"] = [{"names": ["busybox:1"], "sizeBytes": self.number(1, 10**9)}]
        return self.document(
            "Node",
            name,
            labels=labels,
            annotations=annotations,
            spec={"unschedulable": self.often(0.05), "taints": taints},
            status=status,
        )

    def queues(self) -> list[Document]:
        return [self.queue(name) for name in self.queue_names]

    def queue(self, name: str) -> Document:
        spec: Document = {"weight": self.number(1, 5)}
        if self.often(0.5):
            known = [other for other in self.queue_names if other < name]
            odd = self.often(self.oddness)
            spec["parent"] = self.one(*QUEUES, "nowhere", name) if odd else self.one("root", *known)
        for field in ("capability", "deserved"):
            if self.often(0.3):
                spec[field] = self.amounts("cpu", "memory")
        if self.often(0.1):
            spec["guarantee"] = {"resource": self.amounts("cpu")}
        if self.often(0.4):
            spec["reclaimable"] = self.often(0.7)
        if self.often(0.2):
            spec["priority"] = self.number(0, 5)
        if self.often(0.1):
            kind = self.one("nodeGroupAffinity", "nodeGroupAntiAffinity")
            rule = self.one("required", "preferred")
            spec["affinity"] = {kind: {f"{rule}DuringSchedulingIgnoredDuringExecution": ["g1"]}}
        annotations = {}
        if self.often(0.3):
            path, weights = self.one((f"root/{name}", "1/2"), (f"root/x/{name}", "1/2/3"))
            if self.often(self.oddness):
                path, weights = self.one(("", ""), (path, ""), (path, "1"), (path, "x/y"))
            annotations["volcano.sh/hierarchy"] = path
            annotations["volcano.sh/hierarchy-weights"] = weights
        state = self.one("Closed", "Closing", "Unknown", "") if self.often(0.1) else "Open"
        return self.document(
            "Queue", name, api=VOLCANO, spec=spec, annotations=annotations, status={"state": state}
        )

    def group(self, name: str) -> list[Document]:
        """Return a PodGroup and its pods, in any order, perhaps one without the other."""
        runs = 0.8 if self.crowded and self.often(0.5) else 0.05
        pods = [self.pod(f"{name}-w-{n}", name, runs) for n in range(self.chance.randint(0, 5))]
        group = [] if self.often(0.05) else [self.pod_group(name)]
        return pods + group if self.often(0.3) else group + pods

    def pod_group(self, name: str) -> Document:
        spec: Document = {"minMember": self.number(0, 2 if self.crowded else 4)}
        if self.often(0.9):
            odd = self.often(self.oddness)
            names = ("root", "nowhere", *QUEUES) if odd else ("default", *self.queue_names)
            spec["queue"] = self.one(*names)
        if self.often(0.2):
            spec["minTaskMember"] = {role: self.number(0, 2) for role in self.some("wmx", 0.6)}
        if self.often(0.3):
            spec["minResources"] = self.amounts("cpu", "memory")
        if self.often(0.6 if self.crowded else 0.3):
            odd = self.often(self.oddness)
            spec["priorityClassName"] = "nowhere" if odd else self.one("high", "low")
        if self.often(0.2):
            spec["networkTopology"] = self.one(
                {"mode": "hard", "highestTierAllowed": self.number(1, 3)},
                {"mode": "soft"},
                {"mode": "hard"},
                {"mode": "odd", "highestTierAllowed": 1},
                {},
            )
        annotations = {
            key: self.one(*values) for key, values in GROUP_ANNOTATIONS.items() if self.often(0.04)
        }
        phase = self.one("Pending", "Inqueue", "Running")
        if self.often(self.oddness):
            phase = self.one("Unknown", "", "Odd", "Completed")
        status: Document = {"phase": phase}
        if self.often(0.1):
            status["conditions"] = [{"type": "Unschedulable", "status": "True"}, {}]
        return self.document(
            "PodGroup", name, api=VOLCANO, spec=spec, annotations=annotations, status=status
        )

    def pod(self, name: str, group: str, runs: float = 0.2) -> Document:
        annotations = {
            key: self.one(*values) for key, values in POD_ANNOTATIONS.items() if self.often(0.03)
        }
        if group:
            annotations["scheduling.k8s.io/group-name"] = group
        if self.often(0.3):
            annotations["volcano.sh/task-spec"] = self.one("w", "m")
        spec = pod_spec(self)
        status: Document = {"phase": "Pending"}
        if self.often(runs):
            odd = self.often(self.oddness) or not self.nodes
            spec["nodeName"] = "lost" if odd else self.one(*self.nodes)
            phases = ("Pending", "Succeeded", "Failed", "Unknown", "")
            status["phase"] = self.one(*phases) if self.often(0.15) else "Running"
        elif self.often(0.05):
            status["nominatedNodeName"] = self.one(*self.nodes, "lost")
        document = self.document(
            "Pod",
            name,
            spec=spec,
            status=status,
            annotations=annotations,
            labels={"app": self.one("x", "y")},
        )
        if self.often(0.05):
            document["metadata"]["deletionTimestamp"] = self.time()
        if self.often(0.05):
            document["metadata"]["ownerReferences"] = [
                {"kind": "ReplicaSet", "name": "rs", "uid": "rs", "controller": True}
            ]
        return document

    def cluster_objects(self) -> list[Document]:
        """Return what else there is: classes, budgets, quotas, claims, owners, hypernodes."""
        made = [
            self.document("PriorityClass", "high", value=self.number(100, 200)),
            self.document("PriorityClass", "low", value=-5, globalDefault=self.often(0.3)),
            self.document("ResourceQuota", "quota", status=self._quota()),
            self.document("PodDisruptionBudget", "budget", **self._budget()),
            self.document("Service", "service", spec={"selector": {"app": "x"}}),
            self.document("ReplicaSet", "rs", spec={"selector": {"matchLabels": {"app": "x"}}}),
            self.document(
                "StorageClass",
                "fast",
                provisioner=self.one("csi.example.com", "kubernetes.io/no-provisioner"),
                volumeBindingMode=self.one("WaitForFirstConsumer", "Immediate"),
            ),
            self.document("PersistentVolumeClaim", "claim", **self._claim()),
            self.document("PersistentVolume", "volume", **self._volume()),
        ]
        made = [each for each in made if self.often(0.25) or each["kind"] == "PriorityClass"]
        made += [self._csi_node(name) for name in self.nodes if self.often(0.15)]
        made += [self._numatopology(name) for name in self.nodes if self.often(0.05)]
        if self.often(0.3):
            made += [self._hyper_node(name) for name in self.some(("h1", "h2", "h3", "h4"), 0.8)]
        return made

    def _quota(self) -> Document:
        hard = {"pods": self.amount("pods"), "requests.cpu": self.amount("cpu"), "cpu": "3"}
        return {"hard": hard, "used": self.one({}, {"pods": "1"}, {"requests.cpu": "2"})}

    def _budget(self) -> Document:
        spec: Document = {"selector": self.one(None, {}, {"matchLabels": {"app": "x"}})}
        spec[self.one("minAvailable", "maxUnavailable")] = self.one(1, "50%", "x", 0)
        return {"spec": spec, "status": {"disruptionsAllowed": self.number(0, 2)}}

    def _claim(self) -> Document:
        spec = {
            "storageClassName": self.one("fast", "", "nowhere", None),
            "volumeName": self.one("", "volume", "nowhere"),
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": self.amount("memory")}},
        }
        return {"spec": spec, "status": {"phase": self.one("Pending", "Bound", "Lost")}}

    def _volume(self) -> Document:
        terms = [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z1"]}]}]
        spec: Document = {
            "capacity": {"storage": "10Gi"},
            "storageClassName": "fast",
            "accessModes": ["ReadWriteOnce"],
        }
        if self.often(0.5):
            spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
        if self.often(0.5):
            spec["csi"] = {"driver": "csi.example.com", "volumeHandle": "v"}
        if self.often(0.5):
            spec["claimRef"] = {"namespace": "default", "name": "claim"}
        return {"spec": spec, "status": {"phase": self.one("Available", "Bound")}}

    def _csi_node(self, name: str) -> Document:
        driver: Document = {"name": "csi.example.com", "nodeID": name, "topologyKeys": ["zone"]}
        if self.often(0.7):
            driver["allocatable"] = {"count": self.number(0, 3)}
        return self.document("CSINode", name, spec={"drivers": [driver]})

    def _numatopology(self, name: str) -> Document:
        policy = self.one("best-effort", "restricted", "single-numa-node", "none", "")
        cpus = {str(cpu): {"numa": cpu // 2, "socket": 0, "core": cpu} for cpu in range(4)}
        spec = {
            "policies": {"TopologyManagerPolicy": policy, "CPUManagerPolicy": "static"},
            "numares": {"cpu": {"allocatable": self.one("0-3", "1", "x", ""), "capacity": 4}},
            "cpuDetail": cpus if self.often(0.8) else {},
        }
        return self.document("Numatopology", name, api="nodeinfo.volcano.sh/v1alpha1", spec=spec)

    def _hyper_node(self, name: str) -> Document:
        members: list[Document] = []
        for _ in range(self.chance.randint(0, 3)):
            nodes = self.often(0.6)
            named = self.one(*self.nodes, "lost") if nodes else self.one("h1", "h2", "h3", "h4")
            selector = self.one(
                {"exactMatch": {"name": named}},
                {"exactMatch": {"name": named}},
                {"regexMatch": {"pattern": self.one("^n", "n[01]", "(", "h.*")}},
                {"labelMatch": {"matchLabels": {"zone": "z1"}}},
                {},
            )
            members.append({"type": "Node" if nodes else "HyperNode", "selector": selector})
        if name in ("h1", "h2") and not self.often(self.oddness):
            members = [
                {"type": "Node", "selector": {"exactMatch": {"name": node}}}
                for node in self.nodes[name == "h1" :: 2]
            ]
        spec = {"tier": self.number(1, 3), "members": members}
        return self.document("HyperNode", name, api="topology.volcano.sh/v1alpha1", spec=spec)

    def _key(self, document: Document) -> str:
        return json.dumps([document["metadata"].get("namespace"), document["metadata"]["name"]])


GROUP_ANNOTATIONS = {
    "volcano.sh/sla-waiting-time": ("1h", "x", "-1s"),
    "volcano.sh/jdb-min-available": ("1", "50%", "x"),
    "volcano.sh/jdb-max-unavailable": ("1", "50%", "-1"),
    "volcano.sh/task-topology-affinity": ("w,m", "w", "q,w"),
    "volcano.sh/task-topology-anti-affinity": ("w", "w,m"),
    "volcano.sh/task-topology-task-order": ("w,m", "w", "m,m"),
    "volcano.sh/preemptable": ("true", "false", "x"),
    "volcano.sh/revocable-zone": ("*", "rz1"),
    "volcano.sh/job-allocated-hypernode": ("h1", "lost"),
    "volcano.sh/queue-name": ("a",),
    "volcano.sh/cooldown-time": ("1h", "x"),
}
POD_ANNOTATIONS = {
    "volcano.sh/task-priority": ("5", "x", "99999999999"),
    "volcano.sh/preemptable": ("true", "false", "x"),
    "volcano.sh/revocable-zone": ("*", "rz1"),
    "volcano.sh/cooldown-time": ("1h", "x"),
    "volcano.sh/numa-topology-policy": ("best-effort", "single-numa-node", "x"),
    "volcano.sh/topology-decision": ("{}", "x", '{"numa": {"0": {"cpu": "1"}}}'),
    "volcano.sh/gpu-index": ("0", "x", "7"),
    "volcano.sh/vgpu-ids-new": ("a,NVIDIA,1,1:", "x"),
}
