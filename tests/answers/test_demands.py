"""What sentences say of a pod's own demands: selectors, ports, spread, taints and volumes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from answer_worlds import NODES, PROPORTION, Document

from plinian.engine.session.framework.process_parts import ExternalValues, NodeUsage, ProcessState
from plinian.engine.session.framework.vote_details import RefusingNodes
from plinian.engine.session.plugins.usage import CPU_EXCEEDS, MEMORY_EXCEEDS
from plinian.replay.answers.node_words import refusals
from sessions import NOW, document, group, node, opened, pod, queue

WORLD = (queue("default"), group("pg", 1))
ZONE = "topology.kubernetes.io/zone"
BOUND = {"pv.kubernetes.io/bind-completed": "yes"}


def asking(**spec: Any) -> Document:
    """Return the pod that is asked about, with fields of its spec."""
    made = pod("a", "pg")
    made["spec"].update(spec)
    return made


def labelled(name: str, **labels: str) -> Document:
    """Return a node with labels."""
    made = node(name)
    made["metadata"]["labels"] = labels
    return made


def near(kind: str, **labels: str) -> Document:
    """Return a required affinity to pods with labels, on the same node."""
    term = {"labelSelector": {"matchLabels": labels}, "topologyKey": "kubernetes.io/hostname"}
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def because(found: Any) -> str:
    """Return the reason of a sentence about a pod that waits."""
    head, _, why = found.sentence.partition("pod ns/a waits because ")
    assert head == ""
    return str(why).removeprefix("the only node does not take it: ")


class TestSelectors:
    def test_the_node_selector_is_named(self, ask: Any) -> None:
        choosy = asking(nodeSelector={"disk": "ssd", "arch": "arm64"})
        found = ask("pod/a", PROPORTION, node("n1"), *WORLD, choosy)
        assert because(found) == ("n1 does not match the pod's node selector arch=arm64,disk=ssd")

    def test_the_node_affinity_is_written_as_kubectl_does(self, ask: Any) -> None:
        expressions = [
            {"key": ZONE, "operator": "In", "values": ["a", "b"]},
            {"key": "spot", "operator": "DoesNotExist"},
            {"key": "cores", "operator": "Gt", "values": ["8"]},
        ]
        terms = {"nodeSelectorTerms": [{"matchExpressions": expressions}]}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
        choosy = asking(affinity={"nodeAffinity": required})
        found = ask("pod/a", PROPORTION, node("n1"), *WORLD, choosy)
        assert f"node affinity {ZONE} in (a,b),!spot,cores>8" in found.sentence

    def test_the_pods_to_be_near_are_named(self, ask: Any) -> None:
        choosy = asking(affinity=near("podAffinity", app="cache"))
        found = ask("pod/a", PROPORTION, node("n1"), *WORLD, choosy)
        assert because(found).startswith(
            "n1 is not near a pod with app=cache (by kubernetes.io/hostname)"
        )

    def test_the_pods_to_keep_away_from_are_named(self, ask: Any) -> None:
        other = pod("other", "pg", 1, "n1")
        other["metadata"]["labels"] = {"app": "cache"}
        shy = asking(affinity=near("podAntiAffinity", app="cache"))
        home = labelled("n1", **{"kubernetes.io/hostname": "n1"})
        found = ask("pod/a", PROPORTION, home, *WORLD, other, shy)
        assert because(found).startswith(
            "n1 is near a pod with app=cache (by kubernetes.io/hostname), from which"
        )

    def test_the_label_of_a_topology_spread_that_nodes_lack(self, ask: Any) -> None:
        spread = {
            "maxSkew": 1,
            "topologyKey": ZONE,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "a"}},
        }
        even = asking(topologySpreadConstraints=[spread])
        found = ask("pod/a", PROPORTION, node("n1"), *WORLD, even)
        assert because(found).startswith(f"n1 lacks the label {ZONE} of the pod's topology spread")

    def test_the_host_port_is_named(self, ask: Any) -> None:
        def with_port(made: Document) -> Document:
            ports = [{"containerPort": 80, "hostPort": 8080}]
            made["spec"]["containers"][0]["ports"] = ports
            return made

        world = (node("n1"), *WORLD, with_port(pod("web", "pg", 1, "n1")))
        found = ask("pod/a", PROPORTION, *world, with_port(pod("a", "pg")))
        assert because(found) == "n1 has host port 8080 in use, with room for it"


class TestNodes:
    def tainted(self, name: str, key: str, value: str = "") -> Document:
        taint = {"key": key, "value": value, "effect": "NoSchedule"}
        return node(name, spec={"taints": [taint]})

    def test_a_taint_is_written_as_kubectl_does(self, ask: Any) -> None:
        found = ask("pod/a", PROPORTION, self.tainted("n1", "gpu", "yes"), *WORLD, pod("a", "pg"))
        assert because(found) == (
            "n1 has a taint that the pod does not tolerate (gpu=yes), with room for it"
        )

    def test_a_taint_that_says_that_the_node_is_not_ready(self, ask: Any) -> None:
        dead = self.tainted("n1", "node.kubernetes.io/not-ready")
        found = ask("pod/a", PROPORTION, dead, *WORLD, pod("a", "pg"))
        assert because(found) == (
            "n1 is not ready (taint node.kubernetes.io/not-ready), with room for it"
        )

    def test_a_node_with_as_many_pods_as_it_may_have(self, ask: Any) -> None:
        crowded = node("n1", more={"pods": "1"})
        world = (crowded, *WORLD, pod("old", "old", 1, "n1"))
        found = ask("pod/a", NODES, *world, pod("a", "pg", 2))
        assert because(found) == "n1 has as many pods as it may have"

    @pytest.mark.parametrize("release", ["v1.8.0", "v1.12.1", "v1.15.1"])
    def test_a_node_that_does_not_say_how_many_pods_it_may_have(
        self, ask: Any, release: str
    ) -> None:
        bare = [node("n1"), node("n2")]
        for one in bare:
            del one["status"]["allocatable"]["pods"]
        found = ask("pod/a", NODES, *bare, *WORLD, pod("a", "pg", 2), release=release)
        said = because(found).removeprefix("none of 2 nodes takes it: ")
        text = "2 nodes do not say how many pods they may have (status.allocatable.pods), which "
        assert said.removesuffix("; no node may have any pod") == f"{text}counts as 0"

    def test_of_such_a_node_it_is_said_as_well(self, ask: Any) -> None:
        bare = node("n1")
        del bare["status"]["allocatable"]["pods"]
        found = ask("node/n1", NODES, bare, *WORLD, pod("a", "pg", 2))
        assert "which waits: n1 does not say how many pods it may have" in found.sentence

    def test_closed_nodes_come_first_and_those_with_room_are_named(self, ask: Any) -> None:
        closed = [
            {**labelled(name, disk="ssd"), "spec": {"unschedulable": True}} for name in ("c1", "c2")
        ]
        others = [node(f"n{number}") for number in range(3)]
        choosy = asking(nodeSelector={"disk": "ssd"})
        found = ask("pod/a", PROPORTION, *closed, *others, *WORLD, choosy)
        assert because(found) == (
            "none of 5 nodes takes it: 2 nodes are cordoned (with room for it: c1 and c2); 3 nodes "
            "do not match the pod's node selector disk=ssd"
        )

    def test_a_closed_node_that_the_pod_does_not_want_has_no_room_for_it(self, ask: Any) -> None:
        closed = node("n1", spec={"unschedulable": True})
        found = ask("pod/a", PROPORTION, closed, *WORLD, asking(nodeSelector={"disk": "ssd"}))
        assert because(found) == (
            "n1 is cordoned and does not match the pod's node selector disk=ssd"
        )


class TestVolumes:
    def claiming(self, name: str = "a") -> Document:
        made = pod(name, "pg")
        volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
        made["spec"]["volumes"] = [volume]
        return made

    def claim(self, name: str = "data", **spec: Any) -> Document:
        return document(
            "PersistentVolumeClaim", name, "ns", spec={"storageClassName": "fast", **spec}
        )

    def storage(self, mode: str) -> Document:
        return document("StorageClass", "fast", volumeBindingMode=mode, provisioner="disks.io")

    def test_without_any_claim_it_is_not_known_whether_one_exists(self, ask: Any) -> None:
        found = ask("pod/a", PROPORTION, node("n1"), *WORLD, self.claiming())
        assert found.sentence == (
            "it is not known why pod ns/a waits: the log holds no persistentvolumeclaims"
        )

    def test_a_claim_that_does_not_exist(self, ask: Any) -> None:
        world = (node("n1"), *WORLD, self.claim("other"))
        found = ask("pod/a", PROPORTION, *world, self.claiming())
        assert because(found) == "its PersistentVolumeClaim ns/data does not exist"

    def test_a_claim_in_a_gang_is_not_known_without_any(self, ask: Any) -> None:
        world = (node("n1"), queue("default"), group("pg", 2), self.claiming(), pod("b", "pg"))
        found = ask("podgroup/pg", PROPORTION, *world)
        assert found.sentence == (
            "it is not known why podgroup ns/pg waits: the log holds no persistentvolumeclaims"
        )

    def test_a_claim_beside_another_reason_is_not_said_without_any(self, ask: Any) -> None:
        world = (node("n1", 8), *WORLD, self.claiming("b"), pod("a", "pg", 9))
        found = ask("podgroup/pg", NODES, *world)
        assert found.sentence.startswith("podgroup ns/pg waits because the only node does not take")
        assert "data" not in found.sentence

    def test_a_claim_that_is_not_bound_yet(self, ask: Any) -> None:
        world = (node("n1"), *WORLD, self.storage("Immediate"), self.claim())
        found = ask("pod/a", PROPORTION, *world, self.claiming())
        assert because(found) == (
            "its PersistentVolumeClaim ns/data is not bound to a volume yet: provisioner disks.io "
            "of StorageClass fast has to make one"
        )

    def test_without_csinodes_no_limit_of_volumes_is_said_beside_the_claim(self, ask: Any) -> None:
        world = (node("n1"), *WORLD, self.storage("Immediate"), self.claim())
        found = ask("pod/a", PROPORTION, *world, self.claiming())
        texts = [link.text for link in found.chain]
        assert not any("attachable-volumes" in text for text in texts)
        assert "the log holds no csinodes: it is not known how many volumes nodes may have" in texts

    def test_a_claim_of_a_class_that_does_not_exist(self, ask: Any) -> None:
        other = {**self.storage("Immediate"), "metadata": {"name": "other", "uid": "other"}}
        found = ask("pod/a", PROPORTION, node("n1"), *WORLD, other, self.claim(), self.claiming())
        assert because(found) == (
            "its PersistentVolumeClaim ns/data is not bound to a volume yet, and its StorageClass "
            "fast does not exist"
        )

    def test_without_any_class_it_is_not_known_which_claims_wait_for_pods(self, ask: Any) -> None:
        found = ask("pod/a", PROPORTION, node("n1"), *WORLD, self.claim(), self.claiming())
        assert found.sentence == (
            "it is not known why pod ns/a waits: the log holds no storageclasses"
        )

    def test_a_claim_that_lost_its_volume(self, ask: Any) -> None:
        lost = {**self.claim(volumeName="v-1"), "status": {"phase": "Lost"}}
        world = (node("n1"), *WORLD, self.storage("Immediate"), lost)
        found = ask("pod/a", PROPORTION, *world, self.claiming())
        assert because(found) == (
            "its PersistentVolumeClaim ns/data is Lost: its volume v-1 is gone"
        )

    def test_without_csinodes_the_limits_of_volumes_are_not_known(self, ask: Any) -> None:
        world = (node("n1"), *WORLD, self.storage("WaitForFirstConsumer"), self.claim())
        found = ask("pod/a", PROPORTION, *world, self.claiming())
        assert found.sentence == "it is not known why pod ns/a waits: the log holds no csinodes"

    def test_a_volume_of_another_zone(self, ask: Any) -> None:
        bound = self.claim(volumeName="v-1")
        bound["metadata"]["annotations"] = BOUND
        terms = [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["z9"]}]}]
        required = {"required": {"nodeSelectorTerms": terms}}
        volume = document("PersistentVolume", "v-1", spec={"nodeAffinity": required})
        world = (labelled("n1"), *WORLD, bound, volume)
        found = ask("pod/a", PROPORTION, *world, self.claiming())
        assert because(found) == (
            f"n1 cannot reach the pod's volume v-1 ({ZONE}=z9), with room for it"
        )


def numa_pod(policy: str = "single-numa-node") -> dict[str, Any]:
    amounts = {"cpu": "2", "memory": "1Gi"}
    made = pod("a", "pg", annotations={"volcano.sh/numa-topology-policy": policy})
    resources = {"requests": amounts, "limits": amounts}
    made["spec"]["containers"] = [{"name": "main", "resources": resources}]
    return made


def numa_report(
    manager: str = "static",
    policy: str = "single-numa-node",
    free: str = "0-3",
    node: str = "n1",
) -> Any:
    detail = {str(cpu): {"numa": cpu, "socket": cpu, "core": cpu} for cpu in range(4)}
    return document(
        "Numatopology",
        node,
        apiVersion="nodeinfo.volcano.sh/v1alpha1",
        spec={
            "policies": {"CPUManagerPolicy": manager, "TopologyManagerPolicy": policy},
            "numares": {"cpu": {"allocatable": free, "capacity": 4}},
            "cpuDetail": detail,
        },
    )


NUMA = NODES + "  - name: numa-aware\n"


@pytest.mark.parametrize("release", ["v1.9.0", "v1.12.1"])
@pytest.mark.parametrize(
    ("reports", "says"),
    [
        (
            (numa_report(node="n2"),),
            "has no Numatopology, so the scheduler does not know its CPUs",
        ),
        ((numa_report("none"),), "has a kubelet whose CPU manager policy is not static"),
        (
            (numa_report(policy="restricted"),),
            "has the topology policy restricted, and the pod wants single-numa-node",
        ),
        ((numa_report(policy=""),), "has the topology policy none, and the pod wants single-numa"),
        ((numa_report(free=""),), "has no CPU left to assign to one pod alone"),
        (
            (numa_report(),),
            "has no CPUs free for container main as its topology policy single-numa-node wants",
        ),
    ],
)
def test_a_refusal_of_numa_aware_is_said_by_its_code(
    ask: Any, release: str, reports: Any, says: str
) -> None:
    world = (node("n1"), queue("default"), group("pg"), *reports, numa_pod())
    found = ask("pod/a", NUMA, *world, release=release)
    assert f"n1 {says}" in found.sentence
    assert "(plugin numa-aware)" in found.sentence


def test_without_any_numatopology_it_is_not_known_what_nodes_have(ask: Any) -> None:
    world = (node("n1"), queue("default"), group("pg"), numa_pod())
    assert ask("pod/a", NUMA, *world).sentence == (
        "it is not known why pod ns/a waits: the log holds no numatopologies"
    )
    assert "n1 has no Numatopology that is known here" in ask("node/n1", NUMA, *world).sentence


def test_before_any_numatopology_is_known_none_is_said_to_be_missing(ask: Any) -> None:
    world = (node("n1"), queue("default"), group("pg"), numa_pod(), numa_report(free=""))
    found = ask("pod/a", NUMA, *world)
    assert "has no CPU left to assign" in found.sentence
    assert not any("has no Numatopology" in stage.sentence for stage in found.stages)


def test_a_refusal_of_usage_has_the_limit_and_what_was_measured() -> None:
    process = ProcessState(
        external=ExternalValues(
            node_usage={
                "n1": NodeUsage(NOW, {"10m": 71.5}, {"10m": 0.0}),
                "n2": NodeUsage(NOW, {"10m": 1.0}, {"10m": 90.0}),
                "n3": NodeUsage(NOW, {"10m": 1.0}, {"10m": 91.0}),
            }
        )
    )
    conf = (
        "actions: allocate\ntiers:\n- plugins:\n  - name: usage\n    arguments:\n"
        "      thresholds: {cpu: 70, mem: 60}\n"
    )
    nodes = [node(f"n{number}") for number in (1, 2, 3)]
    ssn, _ = opened(conf, *nodes, queue("default"), group("g"), pod("p", "g"), process=process)
    verdicts = dict(ssn.registry.flat("Predicate"))["usage"].function(0, np.arange(3))
    cpu, memory, _ = (ssn.reasons.objections(verdict) for verdict in verdicts.tolist())
    assert [one.message for one in (*cpu, *memory)] == [CPU_EXCEEDS, MEMORY_EXCEEDS]
    alone, several = (
        RefusingNodes(reasons, True, names, ())
        for reasons, names in ((cpu, ("n1",)), (memory, ("n2", "n3")))
    )
    assert refusals([alone]) == (
        "n1 uses 71.5 % CPU, and 70 % is what plugin usage allows (argument thresholds)"
    )
    assert refusals([several]) == (
        "2 nodes use more memory than the 60 % that plugin usage allows (argument thresholds)"
    )


class TestNodeGroups:
    CONF = NODES + "  - name: nodegroup\n"
    REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"

    def of(self, name: str) -> tuple[Document, ...]:
        mark = {"volcano.sh/queue-name": name}
        return (group("pg", 1, queue=name), pod("a", "pg", 1, annotations=mark))

    def test_the_groups_that_the_queue_allows(self, ask: Any) -> None:
        affinity = {"nodeGroupAffinity": {self.REQUIRED: ["g"]}}
        found = ask("pod/a", self.CONF, node("n1"), queue("q", affinity=affinity), *self.of("q"))
        assert because(found) == (
            "n1 is in no node group that queue q allows (g; plugin nodegroup), with room for it"
        )

    def test_a_queue_without_affinity(self, ask: Any) -> None:
        found = ask("pod/a", self.CONF, node("n1"), queue("q"), *self.of("q"))
        assert because(found) == (
            "n1 is closed to queue q, whose spec.affinity allows no node group (plugin nodegroup), "
            "with room for it"
        )
