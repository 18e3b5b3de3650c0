"""The PodGroup controller: PodGroups of pods that have none."""

from __future__ import annotations

from ..releases import FIRST, behaviour, landed, since, subject


@subject
class PodGroupBehaviours:
    """The PodGroup controller: what differs between releases."""

    replicasets_restore_podgroups: bool = behaviour(
        "A missing PodGroup of a ReplicaSet with replicas is recreated.",
        since(FIRST, False).means(
            "A PodGroup deleted late, after scaling down and up, is not recreated: pods wait."
        ),
        since(landed("v1.9.1", "v1.10.0"), True, pull=3561).means(
            "A missing PodGroup is recreated with the next change of the ReplicaSet."
        ),
        source="pkg/controllers/podgroup/pg_controller_handler.go addReplicaSet",
    )

    replicasets_update_podgroups: bool = behaviour(
        "A ReplicaSet's PodGroup follows changes of the ReplicaSet.",
        since(FIRST, False).means(
            "A new group-min-member of a Deployment has no effect on PodGroups that exist."
        ),
        since(landed("v1.12.3", "v1.13.1", "v1.14.0"), True, pull=4786).means(
            "A PodGroup's spec, labels and annotations follow its owner."
        ),
        source="pkg/controllers/podgroup/pg_controller_handler.go addReplicaSet, "
        "createOrUpdateNormalPodPG",
    )

    replicasets_skip_annotated_pods: bool = behaviour(
        "If a ReplicaSet's first pod names a PodGroup, no PodGroup is created or changed.",
        since(FIRST, False).means(
            "Pods that already have a PodGroup get another from their ReplicaSet."
        ),
        since(landed("v1.12.3", "v1.13.1", "v1.14.0"), True, pull=4792).means(
            "A PodGroup deleted too late is not recreated while pods name it."
        ),
        source="pkg/controllers/podgroup/pg_controller_handler.go addReplicaSet",
    )

    statefulsets_have_podgroups: bool = behaviour(
        "PodGroups of StatefulSets are deleted at 0 replicas, and recreated above.",
        since(FIRST, False).means("A StatefulSet scaled to 0 leaves its PodGroup behind."),
        since("v1.12.0", True, pull=3603).means(
            "A StatefulSet's PodGroup is deleted at 0 replicas, and recreated above."
        ),
        source="pkg/controllers/podgroup/pg_controller_handler.go addStatefulSet",
    )

    statefulset_pods_by_revision: bool = behaviour(
        "A StatefulSet's PodGroup is created from a pod of the newest revision.",
        since(FIRST, False).means("During an update, a PodGroup may be recreated from an old pod."),
        since(landed("v1.12.2", "v1.13.0"), True, pull=4517).means(
            "A PodGroup is recreated from a new pod."
        ),
        source="pkg/controllers/podgroup/pg_controller_handler.go addStatefulSet",
    )

    statefulsets_update_podgroups: bool = behaviour(
        "A StatefulSet's PodGroup follows changes of the StatefulSet.",
        since(FIRST, False).means("A StatefulSet that gets more cpu keeps its old minResources."),
        since(landed("v1.12.2", "v1.13.0"), True, pull=4517).means(
            "A PodGroup's spec, labels and annotations follow its owner."
        ),
        source="pkg/controllers/podgroup/pg_controller_handler.go addStatefulSet, "
        "createOrUpdateNormalPodPG",
    )

    statefulsets_skip_annotated_pods: bool = behaviour(
        "If a StatefulSet's first pod names a PodGroup, no PodGroup is created or changed.",
        since(FIRST, False).means(
            "Pods that already have a PodGroup, as of a LeaderWorkerSet, get another."
        ),
        since("v1.13.0", True, pull=4478).means(
            "A PodGroup deleted too late is not recreated while pods name it."
        ),
        source="pkg/controllers/podgroup/pg_controller_handler.go addStatefulSet",
    )

    podgroup_min_member_from_annotation: bool = behaviour(
        "An annotation of a pod's owner can set its PodGroup's ``minMember``.",
        since(FIRST, False).means("PodGroups of ReplicaSets and other workloads need one pod."),
        since("v1.12.0", True, pull=4000).means(
            "Deployments can be gangs, by scheduling.volcano.sh/group-min-member."
        ),
        source="pkg/controllers/podgroup/pg_controller_handler.go getMinMemberFromUpperRes",
    )

    podgroup_topology_from_annotation: bool = behaviour(
        "A pod's annotation may give the network topology of its PodGroup.",
        since(FIRST, False).means("PodGroups of ReplicaSets and other workloads have no topology."),
        since("v1.13.0", True, pull=4583).means(
            "PodGroups of ReplicaSets and other workloads may have a topology."
        ),
        source="pkg/controllers/podgroup/pg_controller_handler.go parseNetworkTopologyFromPod",
    )

    podgroup_deletions_checked: bool = behaviour(
        "A PodGroup is deleted only with the uid and resourceVersion that were seen.",
        since(FIRST, False).means(
            "PodGroups are deleted by name: a late event may delete one that was recreated.",
            source="pkg/controllers/podgroup/pg_controller_handler.go addReplicaSet; "
            "pkg/controllers/job/job_controller_actions.go killPods",
        ),
        since("hardened", True).means(
            "A deletion names uid and resourceVersion, and does nothing if they have changed.",
            source="engine/volcano/controllers/podgroup.py; tests/volcano/test_table.py",
        ),
    )

    named_podgroups_restored: bool = behaviour(
        "A workload's PodGroup is created if the API server has none, even if its pod names it.",
        since(FIRST, False).means(
            "A PodGroup whose deletion is not known yet, or that a pod names, is not recreated.",
            source="pkg/controllers/podgroup/pg_controller_handler.go addReplicaSet, "
            "addStatefulSet",
        ),
        since("hardened", True).means(
            "After each change of a workload with replicas, its PodGroup is there.",
            source="engine/volcano/controllers/podgroup.py; tests/machine/test_latent.py",
        ),
    )

    pods_annotated_by_uid: bool = behaviour(
        "A PodGroup's name is written into the pod that was seen, and no later one of its name.",
        since(FIRST, False).means(
            "A pod of a recreated StatefulSet may name the PodGroup of the old one, and waits.",
            source="pkg/controllers/podgroup/pg_controller_handler.go updatePodAnnotations",
        ),
        since("hardened", True).means(
            "The patch names the pod's uid, and is refused for another pod.",
            source="engine/volcano/controllers/podgroup.py; tests/machine/test_remedies.py",
        ),
    )
