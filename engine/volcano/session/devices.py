"""Shared GPUs, claims of devices, and NUMA nodes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..releases import FIRST, Row, landed


class SharedDevices(StrEnum):
    """How ``deviceshare`` keeps accounts and what it reports; each value extends the last."""

    ERRORS_REPORTED = "errors reported"
    """A pod's message quotes the error of a node that refuses it. Cards are shared alike; one
    of which more is used than it has takes any request."""
    FAULTS_REPORTED = "faults reported"
    """The message also names the kind of device."""
    FAULTS_UNREPORTED = "faults unreported"
    """The message does not say why virtual GPUs refuse the pod. They have modes. What pods have of
    cards that are given whole counts from their annotations, too."""
    PODS_LATE = "pods late"
    """A process counts what pods have of cards that are shared by memory or whole from updates of
    the pods, or of their nodes, after its first session on."""
    LATE = "late"
    """A process knows of nodes' devices from the nodes' updates after its first session on. A node
    without any takes pods that request some, which crashes the scheduler, as preempt did before."""
    REFUSALS_HEEDED = "refusals heeded"
    """Such a node takes the pods; a pod is not placed if its part is not free after all. What pods
    have that are being deleted is free; victims are simulated with what they have of devices. Each
    session counts on a copy, so what it took back wrongly is right again in the next one."""


class CountedDevices(StrEnum):
    """Which devices of pods count without ``deviceshare``; each value is less than the last."""

    ALL = "all"
    """All. A pod with shared cards of a node without any crashes the scheduler, and one whose
    annotation of virtual GPUs is malformed, on any node."""
    REGISTERED = "registered"
    """The same, but virtual GPUs only on nodes that register some."""
    VIRTUAL = "virtual"
    """Only virtual GPUs, on such nodes."""
    NONE = "none"
    """None."""


class VirtualGpuUse(StrEnum):
    """Which virtual GPUs a pod gets, and how they count; each value extends the last."""

    FROM_LAST = "from last"
    """The last cards; a percentage below 100 of a card's memory counts as 0."""
    COUNTED = "counted"
    """The same; their memory and cores are also resources, which nodes and queues count. What
    containers of a pod have of one card counts for each of them, and no more only for the first."""
    BY_SHARE = "by share"
    """The same; a percentage refers to the memory of each card."""
    BY_POLICY = "by policy"
    """Cards in the order of the policy, by which fresh cards do not score then; pods of a gang may
    refuse cards of each other, what is taken back is free at once, and cards count as at first."""


@dataclass(frozen=True, init=False, repr=False, eq=False)
class DeviceBehaviours:
    """Shared GPUs, claims of devices, and NUMA nodes: what differs between releases."""

    shared_devices: SharedDevices
    """How ``deviceshare`` knows of devices, and what the messages of pods say."""

    devices_counted_without_plugin: CountedDevices
    """What the cache counts of pods' devices without ``deviceshare``, and which pods then crash the
    scheduler."""

    unknown_virtual_gpus_crash: bool
    """Virtual GPUs that are taken back, but were not counted, crash the scheduler."""

    virtual_gpu_use: VirtualGpuUse
    """Which virtual GPUs a pod gets, and how much of them."""

    virtual_gpus_by_handshake: bool
    """A node's virtual GPUs count while its agent answers; else while allocatable."""

    free_cores_unsigned: bool
    """A virtual GPU of which more cores are used than it has takes any request for cores."""

    one_unwanted_type_allowed: bool
    """A pod that names one type of GPU that it does not want gets it all the same."""

    virtual_gpus_counted_twice: bool
    """Within a session, a pod's virtual GPUs are counted twice."""

    devices_scored: bool
    """With ``deviceshare``, nodes score by their GPUs, if the weight is not 0."""

    device_quotas: bool
    """With ``capacity``, a queue's capability limits the devices of a class in claims."""

    device_counts_saturate: bool
    """Numbers of devices stop at the largest integer; else they overflow to negative."""

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
        why="A pod's message does not say why virtual GPUs refuse it; nodes have sharing modes.",
        pull=4290,
    ),
    Row(
        "shared_devices",
        SharedDevices.PODS_LATE,
        landed("v1.13.0"),
        source="api/node_info.go addResource",
        why="Shared cards of pods that are there before the first session seem to be free.",
        fault="Shared cards of older pods count as free until an update of the pods.",
        pull=4500,
    ),
    Row(
        "shared_devices",
        SharedDevices.LATE,
        landed("v1.14.0"),
        source="api/node_info.go setNodeOthersResource",
        why="A node without devices takes pods that request some, and the scheduler crashes.",
        fault="The devices of a node that has none are not checked: the pod gets none.",
        pull=4717,
    ),
    Row(
        "shared_devices",
        SharedDevices.REFUSALS_HEEDED,
        landed("v1.15.0"),
        source="plugins/predicates/predicates.go OnSessionOpen",
        why="A pod is not placed if its part of a device is not free after all.",
        fault="The devices of a node that has none are not checked: the pod gets none.",
        pull=5116,
    ),
    Row(
        "devices_counted_without_plugin",
        CountedDevices.ALL,
        FIRST,
        source="api/node_info.go addResource",
        why="A pod that has shared cards of a node without any, or whose annotation of virtual GPUs"
        " is malformed, crashes the scheduler at each start.",
    ),
    Row(
        "devices_counted_without_plugin",
        CountedDevices.REGISTERED,
        landed("v1.12.0"),
        source="api/devices/nvidia/vgpu/device_info.go AddResource",
        why="A malformed annotation of virtual GPUs crashes it only on a node that registers some.",
        pull=4290,
    ),
    Row(
        "devices_counted_without_plugin",
        CountedDevices.VIRTUAL,
        landed("v1.13.0"),
        source="api/node_info.go addResource",
        why="A pod that has shared cards of a node without any does no harm, unless deviceshare"
        " shares cards.",
        pull=4500,
    ),
    Row(
        "devices_counted_without_plugin",
        CountedDevices.NONE,
        landed("v1.14.0"),
        source="api/node_info.go addResource",
        why="A malformed annotation of virtual GPUs does no harm without deviceshare.",
        pull=4717,
    ),
    Row(
        "unknown_virtual_gpus_crash",
        False,
        FIRST,
        source="api/devices/nvidia/vgpu/device_info.go SubResource",
        why="Virtual GPUs that were not counted are taken back without harm.",
    ),
    Row(
        "unknown_virtual_gpus_crash",
        True,
        landed("v1.10.0"),
        source="api/devices/nvidia/vgpu/device_info.go SubResource",
        why="Taking back virtual GPUs that were not counted crashes the scheduler.",
        pull=3553,
    ),
    Row(
        "unknown_virtual_gpus_crash",
        False,
        landed("v1.13.0"),
        source="api/devices/nvidia/vgpu/device_info.go SubResource",
        why="Virtual GPUs that were not counted are taken back without harm.",
        pull=4500,
    ),
    Row(
        "virtual_gpu_use",
        VirtualGpuUse.FROM_LAST,
        FIRST,
        source="api/devices/nvidia/vgpu/utils.go checkNodeGPUSharingPredicateAndScore",
        why="A percentage below 100 of a card's memory counts as 0.",
    ),
    Row(
        "virtual_gpu_use",
        VirtualGpuUse.COUNTED,
        landed("v1.13.0"),
        source="api/devices/nvidia/vgpu/device_info.go GetIgnoredDevices",
        why="Nodes and queues count memory and cores of virtual GPUs like other resources.",
        fault="A percentage below 100 of a card's memory counts as 0.",
        pull=4520,
    ),
    Row(
        "virtual_gpu_use",
        VirtualGpuUse.BY_SHARE,
        landed("v1.14.0"),
        source="api/devices/nvidia/vgpu/utils.go checkNodeGPUSharingPredicateAndScore",
        why="A percentage of memory refers to the assigned card.",
        pull=4714,
    ),
    Row(
        "virtual_gpu_use",
        VirtualGpuUse.BY_POLICY,
        landed("v1.15.0"),
        source="api/devices/nvidia/vgpu/utils.go sortedDeviceIndicesByPolicy",
        why="The policy of shared GPUs chooses cards; ``spread`` no longer chooses nodes.",
        pull=5252,
    ),
    Row(
        "virtual_gpus_by_handshake",
        True,
        FIRST,
        source="api/devices/nvidia/vgpu/device_info.go NewGPUDevices",
        why="A node's virtual GPUs are ignored a minute after its agent stops answering.",
    ),
    Row(
        "virtual_gpus_by_handshake",
        False,
        landed("v1.14.3", "v1.15.1"),
        source="api/devices/nvidia/vgpu/device_info.go NewGPUDevices",
        why="A node's virtual GPUs count as long as kubelet reports them as allocatable.",
        pull=5393,
    ),
    Row(
        "free_cores_unsigned",
        True,
        FIRST,
        source="api/devices/nvidia/vgpu/utils.go checkNodeGPUSharingPredicateAndScore",
        why="A card of which more than 100 cores are used seems to have very many free ones.",
        fault="A card of which more than 100 cores are used counts as free.",
    ),
    Row(
        "free_cores_unsigned",
        False,
        landed("v1.11.0"),
        source="api/devices/nvidia/vgpu/utils.go checkNodeGPUSharingPredicateAndScore",
        why="A card of which more than 100 cores are used has none free.",
        pull=3774,
    ),
    Row(
        "one_unwanted_type_allowed",
        True,
        FIRST,
        source="api/devices/nvidia/vgpu/utils.go checkGPUtype",
        why="A pod gets GPUs of the one type that it does not want; of several it gets none.",
        fault="A pod gets GPUs of a type that it does not want.",
    ),
    Row(
        "one_unwanted_type_allowed",
        False,
        landed("v1.12.0"),
        source="api/devices/nvidia/vgpu/utils.go checkGPUtype",
        why="A pod gets no GPU of a type that it does not want.",
        pull=4149,
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
        why="Again, a card takes as many pods in a session as it has room for.",
        pull=4873,
    ),
    Row(
        "devices_scored",
        False,
        FIRST,
        source="plugins/deviceshare/deviceshare.go OnSessionOpen (AddNodeOrderFn)",
        why="GPU scores of nodes are computed, but not used.",
    ),
    Row(
        "devices_scored",
        True,
        landed("v1.13.0"),
        source="plugins/deviceshare/deviceshare.go OnSessionOpen (AddNodeOrderFn)",
        why="Nodes score by the use of their GPUs, if the score has a weight.",
        pull=4340,
    ),
    Row(
        "device_quotas",
        False,
        FIRST,
        source="plugins/capacity/capacity.go",
        why="Device claims of pods count in no queue.",
        fault="Device claims of pods count in no queue.",
    ),
    Row(
        "device_quotas",
        True,
        landed("v1.15.0"),
        source="plugins/capacity/capacity.go checkDRAAllocatable",
        why="A queue can have a quota of devices of a class.",
        pull=5058,
    ),
    Row(
        "device_counts_saturate",
        False,
        FIRST,
        source="api/job_info.go DRAResource.Add, GetMinDRAResources",
        why="A claim of too many devices overflows, and is within every queue's capability.",
        fault="A claim of too many devices overflows, and is within every limit.",
    ),
    Row(
        "device_counts_saturate",
        True,
        landed("v1.15.1"),
        source="api/saturating.go",
        why="A claim of too many devices exceeds every queue's capability.",
        pull=5621,
    ),
    Row(
        "new_numa_resources_crash",
        True,
        FIRST,
        source="api/node_info.go RefreshNumaSchedulerInfoByCrd",
        why="A kubelet that starts to report another NUMA resource may crash the scheduler.",
    ),
    Row(
        "new_numa_resources_crash",
        False,
        landed("v1.12.3", "v1.13.2", "v1.14.0"),
        source="api/node_info.go RefreshNumaSchedulerInfoByCrd",
        why="New NUMA resources of a node are accepted.",
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
