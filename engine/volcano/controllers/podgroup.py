"""The PodGroup controller: PodGroups of pods that have none."""

from __future__ import annotations

from dataclasses import dataclass

from ..releases import FIRST, Row, landed


@dataclass(frozen=True, init=False, repr=False, eq=False)
class PodGroupBehaviours:
    """The PodGroup controller: what differs between releases."""

    replicasets_restore_podgroups: bool
    """A missing PodGroup of a ReplicaSet with replicas is recreated."""

    replicasets_update_podgroups: bool
    """A ReplicaSet's PodGroup follows changes of the ReplicaSet."""

    replicasets_skip_annotated_pods: bool
    """If a ReplicaSet's first pod names a PodGroup, no PodGroup is created or changed."""

    statefulsets_have_podgroups: bool
    """PodGroups of StatefulSets are deleted at 0 replicas, and recreated above."""

    statefulset_pods_by_revision: bool
    """A StatefulSet's PodGroup is created from a pod of the newest revision."""

    statefulsets_update_podgroups: bool
    """A StatefulSet's PodGroup follows changes of the StatefulSet."""

    statefulsets_skip_annotated_pods: bool
    """If a StatefulSet's first pod names a PodGroup, no PodGroup is created or changed."""

    podgroup_min_member_from_annotation: bool
    """An annotation of a pod's owner can set its PodGroup's ``minMember``."""

    podgroup_topology_from_annotation: bool
    """A pod's annotation may give the network topology of its PodGroup."""

    podgroup_deletions_checked: bool
    """A PodGroup is deleted only with the uid and resourceVersion that were seen."""

    named_podgroups_restored: bool
    """A workload's PodGroup is created if the API server has none, even if its pod names it."""

    pods_annotated_by_uid: bool
    """A PodGroup's name is written into the pod that was seen, and no later one of its name."""


ROWS: tuple[Row, ...] = (
    Row(
        "replicasets_restore_podgroups",
        False,
        FIRST,
        source="pkg/controllers/podgroup/pg_controller_handler.go addReplicaSet",
        why="A PodGroup deleted late, after scaling down and up, is not recreated: pods wait.",
    ),
    Row(
        "replicasets_restore_podgroups",
        True,
        landed("v1.9.1", "v1.10.0"),
        source="pkg/controllers/podgroup/pg_controller_handler.go addReplicaSet",
        why="A missing PodGroup is recreated with the next change of the ReplicaSet.",
        pull=3561,
    ),
    Row(
        "replicasets_update_podgroups",
        False,
        FIRST,
        source="pkg/controllers/podgroup/pg_controller_handler.go addReplicaSet, "
        "createOrUpdateNormalPodPG",
        why="A new group-min-member of a Deployment has no effect on PodGroups that exist.",
    ),
    Row(
        "replicasets_update_podgroups",
        True,
        landed("v1.12.3", "v1.13.1", "v1.14.0"),
        source="pkg/controllers/podgroup/pg_controller_handler.go addReplicaSet, "
        "createOrUpdateNormalPodPG",
        why="A PodGroup's spec, labels and annotations follow its owner.",
        pull=4786,
    ),
    Row(
        "replicasets_skip_annotated_pods",
        False,
        FIRST,
        source="pkg/controllers/podgroup/pg_controller_handler.go addReplicaSet",
        why="Pods that already have a PodGroup get another from their ReplicaSet.",
    ),
    Row(
        "replicasets_skip_annotated_pods",
        True,
        landed("v1.12.3", "v1.13.1", "v1.14.0"),
        source="pkg/controllers/podgroup/pg_controller_handler.go addReplicaSet",
        why="A PodGroup deleted too late is not recreated while pods name it.",
        pull=4792,
    ),
    Row(
        "statefulsets_have_podgroups",
        False,
        FIRST,
        source="pkg/controllers/podgroup/pg_controller_handler.go addStatefulSet",
        why="A StatefulSet scaled to 0 leaves its PodGroup behind.",
    ),
    Row(
        "statefulsets_have_podgroups",
        True,
        landed("v1.12.0"),
        source="pkg/controllers/podgroup/pg_controller_handler.go addStatefulSet",
        why="A StatefulSet's PodGroup is deleted at 0 replicas, and recreated above.",
        pull=3603,
    ),
    Row(
        "statefulset_pods_by_revision",
        False,
        FIRST,
        source="pkg/controllers/podgroup/pg_controller_handler.go addStatefulSet",
        why="During an update, a PodGroup may be recreated from an old pod.",
    ),
    Row(
        "statefulset_pods_by_revision",
        True,
        landed("v1.12.2", "v1.13.0"),
        source="pkg/controllers/podgroup/pg_controller_handler.go addStatefulSet",
        why="A PodGroup is recreated from a new pod.",
        pull=4517,
    ),
    Row(
        "statefulsets_update_podgroups",
        False,
        FIRST,
        source="pkg/controllers/podgroup/pg_controller_handler.go addStatefulSet, "
        "createOrUpdateNormalPodPG",
        why="A StatefulSet that gets more cpu keeps its old minResources.",
    ),
    Row(
        "statefulsets_update_podgroups",
        True,
        landed("v1.12.2", "v1.13.0"),
        source="pkg/controllers/podgroup/pg_controller_handler.go addStatefulSet, "
        "createOrUpdateNormalPodPG",
        why="A PodGroup's spec, labels and annotations follow its owner.",
        pull=4517,
    ),
    Row(
        "statefulsets_skip_annotated_pods",
        False,
        FIRST,
        source="pkg/controllers/podgroup/pg_controller_handler.go addStatefulSet",
        why="Pods that already have a PodGroup, as of a LeaderWorkerSet, get another.",
    ),
    Row(
        "statefulsets_skip_annotated_pods",
        True,
        landed("v1.13.0"),
        source="pkg/controllers/podgroup/pg_controller_handler.go addStatefulSet",
        why="A PodGroup deleted too late is not recreated while pods name it.",
        pull=4478,
    ),
    Row(
        "podgroup_min_member_from_annotation",
        False,
        FIRST,
        source="pkg/controllers/podgroup/pg_controller_handler.go getMinMemberFromUpperRes",
        why="PodGroups of ReplicaSets and other workloads need one pod.",
    ),
    Row(
        "podgroup_min_member_from_annotation",
        True,
        landed("v1.12.0"),
        source="pkg/controllers/podgroup/pg_controller_handler.go getMinMemberFromUpperRes",
        why="Deployments can be gangs, by scheduling.volcano.sh/group-min-member.",
        pull=4000,
    ),
    Row(
        "podgroup_topology_from_annotation",
        False,
        FIRST,
        source="pkg/controllers/podgroup/pg_controller_handler.go parseNetworkTopologyFromPod",
        why="PodGroups of ReplicaSets and other workloads have no topology.",
    ),
    Row(
        "podgroup_topology_from_annotation",
        True,
        landed("v1.13.0"),
        source="pkg/controllers/podgroup/pg_controller_handler.go parseNetworkTopologyFromPod",
        why="PodGroups of ReplicaSets and other workloads may have a topology.",
        pull=4583,
    ),
    Row(
        "podgroup_deletions_checked",
        False,
        FIRST,
        source="pkg/controllers/podgroup/pg_controller_handler.go addReplicaSet; "
        "pkg/controllers/job/job_controller_actions.go killPods",
        why="PodGroups are deleted by name: a late event may delete one that was recreated.",
    ),
    Row(
        "podgroup_deletions_checked",
        True,
        landed("hardened"),
        source="engine/volcano/controllers/podgroup.py; tests/volcano/test_table.py",
        why="A deletion names uid and resourceVersion, and does nothing if they have changed.",
    ),
    Row(
        "named_podgroups_restored",
        False,
        FIRST,
        source="pkg/controllers/podgroup/pg_controller_handler.go addReplicaSet, addStatefulSet",
        why="A PodGroup whose deletion is not known yet, or that a pod names, is not recreated.",
    ),
    Row(
        "named_podgroups_restored",
        True,
        landed("hardened"),
        source="engine/volcano/controllers/podgroup.py; tests/machine/test_latent.py",
        why="After each change of a workload with replicas, its PodGroup is there.",
    ),
    Row(
        "pods_annotated_by_uid",
        False,
        FIRST,
        source="pkg/controllers/podgroup/pg_controller_handler.go updatePodAnnotations",
        why="A pod of a recreated StatefulSet may name the PodGroup of the old one, and waits.",
    ),
    Row(
        "pods_annotated_by_uid",
        True,
        landed("hardened"),
        source="engine/volcano/controllers/podgroup.py; tests/machine/test_remedies.py",
        why="The patch names the pod's uid, and is refused for another pod.",
    ),
)
"""The rows of each behaviour, oldest first; behaviours in the order of the fields above."""
