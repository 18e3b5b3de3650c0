"""Shared GPUs, claims of devices, and NUMA nodes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..releases import FIRST, Row, landed


class SharedDevices(StrEnum):
    """How ``deviceshare`` keeps accounts, and what it reports; each builds on the one before."""

    ERRORS_REPORTED = "errors reported"
    """A pod's message quotes the error of a node that refuses it. Cards are shared alike; one
    of which more is used than it has takes any request."""
    FAULTS_REPORTED = "faults reported"
    """The message also names the kind of device."""
    FAULTS_UNREPORTED = "faults unreported"
    """The message does not say why virtual GPUs refuse the pod. They have modes."""
    LATE = "late"
    """A process knows of nodes' devices from the nodes' updates after its first session on. A node
    without any takes pods that request some, which crashes the scheduler, as preempt did before."""
    REFUSALS_HEEDED = "refusals heeded"
    """Such a node takes the pods; a pod is not placed if its part turns out not to be free."""


class VirtualGpuUse(StrEnum):
    """Which virtual GPUs a pod is given, and how they count; each goes on from the one before."""

    FROM_LAST = "from last"
    """The last cards; a percentage below all of a card's memory counts as nothing."""
    COUNTED = "counted"
    """The same; their memory and cores are also resources, which nodes and queues count. What
    containers of a pod have of one card counts for each of them, and no more only for the first."""
    BY_SHARE = "by share"
    """So they are, and a percentage is that of the memory of each card."""
    BY_POLICY = "by policy"
    """Cards in the order of the policy, by which fresh cards do not score then; pods of a gang may
    refuse cards of each other, what is taken back is free at once, and cards count as at first."""


@dataclass(frozen=True, init=False, repr=False, eq=False)
class DeviceBehaviours:
    """Shared GPUs, claims of devices, and NUMA nodes: what differs between releases."""

    shared_devices: SharedDevices
    """How ``deviceshare`` knows of devices, and what the messages of pods say."""

    virtual_gpu_use: VirtualGpuUse
    """Which virtual GPUs a pod is given, and how much of them."""

    virtual_gpus_by_handshake: bool
    """A node's virtual GPUs count while its agent answers; else while it has allocatable ones."""

    virtual_gpus_counted_twice: bool
    """Within a session, what a pod is given of virtual GPUs is taken away twice."""

    devices_scored: bool
    """With ``deviceshare``, nodes score by their GPUs, if the score has a weight."""

    device_quotas: bool
    """With ``capacity``, a queue's capability bounds how many devices of a class its pods claim."""

    device_counts_saturate: bool
    """Numbers of devices end at the largest one; else they begin again below nothing."""

    new_numa_resources_crash: bool
    """A node that reports a resource of its NUMA nodes for the first time, and less of another,
    crashes the scheduler."""

    numa_policy_misspelt: bool
    """The message about a node's NUMA policy spells it "topology polocy"; else "policy"."""


ROWS: tuple[Row, ...] = (
    Row(
        "shared_devices",
        SharedDevices.ERRORS_REPORTED,
        FIRST,
        source="plugins/deviceshare/deviceshare.go OnSessionOpen",
        why="A pod's message is the bare error of a node whose devices refuse it.",
    ),
    Row(
        "shared_devices",
        SharedDevices.FAULTS_REPORTED,
        landed("v1.10.0"),
        source="plugins/deviceshare/deviceshare.go OnSessionOpen",
        why="A pod's message names the kind of device that refuses it.",
        pull=3553,
    ),
    Row(
        "shared_devices",
        SharedDevices.FAULTS_UNREPORTED,
        landed("v1.12.0"),
        source="api/devices/nvidia/vgpu/device_info.go FilterNode",
        why="A pod's message does not say why virtual GPUs refuse it; nodes share them in modes.",
        pull=4290,
    ),
    Row(
        "shared_devices",
        SharedDevices.LATE,
        landed("v1.14.0"),
        source="api/node_info.go setNodeOthersResource",
        why="A node without devices takes pods that request some, and the scheduler crashes.",
        pull=4717,
    ),
    Row(
        "shared_devices",
        SharedDevices.REFUSALS_HEEDED,
        landed("v1.15.0"),
        source="plugins/predicates/predicates.go OnSessionOpen",
        why="A pod whose part of a device turns out not to be free is not placed.",
        pull=5116,
    ),
    Row(
        "virtual_gpu_use",
        VirtualGpuUse.FROM_LAST,
        FIRST,
        source="api/devices/nvidia/vgpu/utils.go checkNodeGPUSharingPredicateAndScore",
        why="A percentage below all of a card's memory counts as nothing.",
    ),
    Row(
        "virtual_gpu_use",
        VirtualGpuUse.COUNTED,
        landed("v1.13.0"),
        source="api/devices/nvidia/vgpu/device_info.go GetIgnoredDevices",
        why="Nodes and queues count memory and cores of virtual GPUs like other resources.",
        pull=4520,
    ),
    Row(
        "virtual_gpu_use",
        VirtualGpuUse.BY_SHARE,
        landed("v1.14.0"),
        source="api/devices/nvidia/vgpu/utils.go checkNodeGPUSharingPredicateAndScore",
        why="A percentage of memory is that of the card that is given.",
        pull=4714,
    ),
    Row(
        "virtual_gpu_use",
        VirtualGpuUse.BY_POLICY,
        landed("v1.15.0"),
        source="api/devices/nvidia/vgpu/utils.go sortedDeviceIndicesByPolicy",
        why="The policy of shared GPUs chooses cards, and chooses no nodes by spread any more.",
        pull=5252,
    ),
    Row(
        "virtual_gpus_by_handshake",
        True,
        FIRST,
        source="api/devices/nvidia/vgpu/device_info.go NewGPUDevices",
        why="A node's virtual GPUs are gone a minute after its agent did not answer.",
    ),
    Row(
        "virtual_gpus_by_handshake",
        False,
        landed("v1.14.3", "v1.15.1"),
        source="api/devices/nvidia/vgpu/device_info.go NewGPUDevices",
        why="A node's virtual GPUs are there as long as kubelet says that they are allocatable.",
        pull=5393,
    ),
    Row(
        "virtual_gpus_counted_twice",
        False,
        FIRST,
        source="api/devices/nvidia/vgpu/device_info.go Allocate",
        why="A card takes as many pods in a session as it has room for.",
    ),
    Row(
        "virtual_gpus_counted_twice",
        True,
        landed("v1.12.0"),
        source="api/devices/nvidia/vgpu/device_info.go Allocate",
        why="A card seems full when it is half full, until the next session.",
        pull=4290,
    ),
    Row(
        "virtual_gpus_counted_twice",
        False,
        landed("v1.12.3", "v1.13.2", "v1.14.0"),
        source="api/devices/nvidia/vgpu/device_info.go Allocate, addToPodMap",
        why="A card takes as many pods in a session as it has room for again.",
        pull=4873,
    ),
    Row(
        "devices_scored",
        False,
        FIRST,
        source="plugins/deviceshare/deviceshare.go OnSessionOpen (AddNodeOrderFn)",
        why="What nodes score by their GPUs is worked out, and thrown away.",
    ),
    Row(
        "devices_scored",
        True,
        landed("v1.13.0"),
        source="plugins/deviceshare/deviceshare.go OnSessionOpen (AddNodeOrderFn)",
        why="Nodes are chosen by how much of their GPUs is used, if that has a weight.",
        pull=4340,
    ),
    Row(
        "device_quotas",
        False,
        FIRST,
        source="plugins/capacity/capacity.go",
        why="What pods claim of devices counts in no queue.",
    ),
    Row(
        "device_quotas",
        True,
        landed("v1.15.0"),
        source="plugins/capacity/capacity.go checkDRAAllocatable",
        why="A queue can be given so many devices of a class.",
        pull=5058,
    ),
    Row(
        "device_counts_saturate",
        False,
        FIRST,
        source="api/job_info.go DRAResource.Add, GetMinDRAResources",
        why="A claim of more devices than can be counted is within every queue's capability.",
    ),
    Row(
        "device_counts_saturate",
        True,
        landed("v1.15.1"),
        source="api/saturating.go",
        why="A claim of more devices than can be counted is within no queue's capability.",
        pull=5621,
    ),
    Row(
        "new_numa_resources_crash",
        True,
        FIRST,
        source="api/node_info.go RefreshNumaSchedulerInfoByCrd",
        why="A kubelet that begins to report another resource of NUMA nodes may end the process.",
    ),
    Row(
        "new_numa_resources_crash",
        False,
        landed("v1.12.3", "v1.13.2", "v1.14.0"),
        source="api/node_info.go RefreshNumaSchedulerInfoByCrd",
        why="What a node begins to report of its NUMA nodes is taken over.",
        pull=4892,
    ),
    Row(
        "numa_policy_misspelt",
        True,
        FIRST,
        source="plugins/numaaware/numaaware.go filterNodeByPolicy",
        why="A pod's message says polocy.",
    ),
    Row(
        "numa_policy_misspelt",
        False,
        landed("v1.12.0"),
        source="plugins/numaaware/numaaware.go filterNodeByPolicy",
        why="A pod's message says policy.",
        pull=4035,
    ),
)
"""The rows of each behaviour, oldest first; behaviours in the order of the fields above."""
