"""The PodGroup of a job: found, made, kept up to date, deleted.

Source: pkg/controllers/job/job_controller_actions.go getPodGroupByJob, createOrUpdatePodGroup,
shouldUpdateExistingPodGroup, setPgSubGroupPolicy, killPods.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from ...kubernetes.api_errors import AlreadyExists, Conflict, NotFound
from ...kubernetes.api_server import Document
from ...volcano.admission import Partitions, task_minimum
from ..component import Client
from .controller_job_cache import key_of, namespace_of, tasks_of
from .held import ControllerListers
from .job_names import JOB_API, PARTITION, TASK
from .min_resources import min_resources

SCHEDULING_API = "scheduling.volcano.sh/v1beta1"


def group_name(job: Document) -> str:
    """Return the name of a job's PodGroup."""
    return f"{job['metadata']['name']}-{job['metadata'].get('uid', '')}"


def owner_of(job: Document) -> list[Document]:
    """Return the owner references of what a job controls."""
    metadata = job["metadata"]
    return [
        {
            "apiVersion": JOB_API,
            "kind": "Job",
            "name": metadata["name"],
            "uid": metadata.get("uid", ""),
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]


def known_group(
    listers: ControllerListers, client: Client, job: Document, *, old: bool
) -> Document | None:
    """Return the PodGroup of a job that its lister has, or the API server, or None.

    :param old: also one that has only the job's name, as before v1.5.
    """
    find = client.find if listers.own.job_podgroups_read_live else listers.find
    group = find("PodGroup", f"{namespace_of(job)}/{group_name(job)}")
    return find("PodGroup", key_of(job)) if group is None and old else group


def ensure_group(listers: ControllerListers, client: Client, job: Document) -> None:
    """Make the PodGroup of a job, or write to it what the job has now.

    :raises Refused: the request failed; that there is one already is no failure.
    """
    group = known_group(listers, client, job, old=True)
    if group is None:
        # The lister is behind. A later sync finds the PodGroup and updates it.
        with suppress(AlreadyExists):
            client.create(_new(listers, job))
        return
    spec = _updated(listers, job, group["spec"])
    texts_compared = listers.own.unchanged_podgroups_written and spec["minResources"]
    as_read = texts_compared and key_of(group) not in listers.computed_groups
    if spec == group["spec"] and not as_read:
        return
    changed = {**group, "spec": spec}
    if listers.own.shared_podgroups_changed:
        listers.spoil(group, changed)
        if as_read:
            listers.computed_groups.add(key_of(group))
    client.update(changed)


def delete_group(listers: ControllerListers, client: Client, job: Document) -> None:
    """Delete the PodGroup of a job.

    :raises Refused: the request failed; that there is none is no failure.
    """
    group = known_group(listers, client, job, old=listers.own.old_podgroup_names_known)
    key = f"{namespace_of(job)}/{group_name(job)}"
    if listers.own.podgroup_deletions_checked and group is not None:
        metadata = group["metadata"]
        with suppress(NotFound, Conflict):
            client.delete(
                "PodGroup",
                key_of(group),
                uid=metadata["uid"],
                version=metadata["resourceVersion"],
            )
    elif listers.own.unseen_podgroups_deleted or group is not None:
        with suppress(NotFound):
            client.delete("PodGroup", key if group is None else key_of(group))


def _new(listers: ControllerListers, job: Document) -> Document:
    metadata = {
        "namespace": namespace_of(job),
        "name": group_name(job),
        "annotations": job["metadata"].get("annotations"),
        "labels": job["metadata"].get("labels"),
        "ownerReferences": owner_of(job),
    }
    spec = {
        "minMember": job["spec"].get("minAvailable", 0),
        "minTaskMember": {task["name"]: _min_member(listers, task) for task in tasks_of(job)},
        "queue": job["spec"].get("queue"),
        "priorityClassName": job["spec"].get("priorityClassName"),
        # Topology, queue, labels and annotations are written once: `_updated` leaves them alone.
        "networkTopology": _topology(job["spec"]) if listers.own.jobs_pass_topology else None,
        "subGroupPolicy": _sub_groups(job) if listers.own.jobs_pass_sub_groups else None,
    }
    return {
        "apiVersion": SCHEDULING_API,
        "kind": "PodGroup",
        "metadata": _filled(metadata),
        "spec": {**_filled(spec), "minResources": min_resources(listers, job)},
    }


def _updated(listers: ControllerListers, job: Document, spec: Document) -> Document:
    """Return the spec that a PodGroup is to have; members of tasks that are gone stay."""
    members = {**(spec.get("minTaskMember") or {})}
    for task in tasks_of(job):
        if "minAvailable" in task or listers.own.task_min_available_follows_replicas:
            members[task["name"]] = _min_member(listers, task)
    wanted = {
        **spec,
        "priorityClassName": job["spec"].get("priorityClassName"),
        "minMember": job["spec"].get("minAvailable", 0),
        "minTaskMember": members,
    }
    if listers.own.jobs_pass_sub_groups:
        wanted["subGroupPolicy"] = _sub_groups(job)
    return {**_filled(wanted), "minResources": min_resources(listers, job)}


def _min_member(listers: ControllerListers, task: Document) -> int:
    """Return how many pods a task needs."""
    policy = task.get("partitionPolicy")
    partitions = policy and (policy.get("minPartitions", 0), policy.get("partitionSize", 0))
    how = Partitions.IF_SET if listers.own.jobs_pass_sub_groups else Partitions.IGNORED
    return task_minimum(task.get("minAvailable"), task.get("replicas", 0), partitions or None, how)


def _topology(of: Document) -> Document | None:
    """Return the network topology of a job or a partition: a tier by number, else by name."""
    topology = of.get("networkTopology")
    if topology is None:
        return None
    by_number = topology.get("highestTierAllowed") is not None
    tier = "highestTierAllowed" if by_number else "highestTierName"
    return {**_filled({"mode": topology.get("mode")}), **_given(topology, tier)}


def _sub_groups(job: Document) -> list[Document]:
    """Return the groups within a PodGroup: one for each task that has partitions."""
    policies = ((task["name"], task.get("partitionPolicy")) for task in tasks_of(job))
    return [
        {
            "name": name,
            "subGroupSize": policy.get("partitionSize", 0),
            "minSubGroups": policy.get("minPartitions", 0),
            "labelSelector": {"matchLabels": {TASK: name}},
            "matchLabelKeys": [PARTITION],
            **_filled({"networkTopology": _topology(policy)}),
        }
        for name, policy in policies
        if policy is not None
    ]


def _given(of: Document, name: str) -> Document:
    return {name: of[name]} if of.get(name) not in {None, ""} else {}


def _filled(values: dict[str, Any]) -> Document:
    """Return what is written in JSON: what is neither None nor 0 nor empty."""
    return {name: value for name, value in values.items() if value}
