"""Shared GPUs, claims of devices, and NUMA nodes."""

from __future__ import annotations

from enum import StrEnum

from ..releases import FIRST, behaviour, landed, since, subject


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


@subject
class DeviceBehaviours:
    """Shared GPUs, claims of devices, and NUMA nodes: what differs between releases."""

    shared_devices: SharedDevices = behaviour(
        "How ``deviceshare`` knows of devices, and what the messages of pods say.",
        since(FIRST, SharedDevices.ERRORS_REPORTED).means(
            "A pod's message is the bare error of a node whose devices refuse it.",
            source="plugins/deviceshare/deviceshare.go OnSessionOpen",
        ),
        since("v1.10.0", SharedDevices.FAULTS_REPORTED, pull=3553).means(
            "A pod's message names the kind of device that refuses it.",
            source="plugins/deviceshare/deviceshare.go OnSessionOpen",
        ),
        since("v1.12.0", SharedDevices.FAULTS_UNREPORTED, pull=4290).means(
            "A pod's message does not say why virtual GPUs refuse it; nodes have sharing modes.",
            source="api/devices/nvidia/vgpu/device_info.go FilterNode",
        ),
        since("v1.13.0", SharedDevices.PODS_LATE, pull=4500).means(
            "Shared cards of pods that are there before the first session seem to be free.",
            source="api/node_info.go addResource",
            fault="Shared cards of older pods count as free until an update of the pods.",
        ),
        since("v1.14.0", SharedDevices.LATE, pull=4717).means(
            "A node without devices takes pods that request some, and the scheduler crashes.",
            source="api/node_info.go setNodeOthersResource",
            fault="The devices of a node that has none are not checked: the pod gets none.",
        ),
        since("v1.15.0", SharedDevices.REFUSALS_HEEDED, pull=5116).means(
            "A pod is not placed if its part of a device is not free after all.",
            source="plugins/predicates/predicates.go OnSessionOpen",
            fault="The devices of a node that has none are not checked: the pod gets none.",
        ),
    )

    devices_counted_without_plugin: CountedDevices = behaviour(
        "What the cache counts of pods' devices without ``deviceshare``, and which pods then crash "
        "the scheduler.",
        since(FIRST, CountedDevices.ALL).means(
            "A pod that has shared cards of a node without any, or whose annotation of virtual "
            "GPUs is malformed, crashes the scheduler at each start.",
            source="api/node_info.go addResource",
        ),
        since("v1.12.0", CountedDevices.REGISTERED, pull=4290).means(
            "A malformed annotation of virtual GPUs crashes it only on a node that registers some.",
            source="api/devices/nvidia/vgpu/device_info.go AddResource",
        ),
        since("v1.13.0", CountedDevices.VIRTUAL, pull=4500).means(
            "A pod that has shared cards of a node without any does no harm, unless deviceshare "
            "shares cards.",
            source="api/node_info.go addResource",
        ),
        since("v1.14.0", CountedDevices.NONE, pull=4717).means(
            "A malformed annotation of virtual GPUs does no harm without deviceshare.",
            source="api/node_info.go addResource",
        ),
    )

    unknown_virtual_gpus_crash: bool = behaviour(
        "Virtual GPUs that are taken back, but were not counted, crash the scheduler.",
        since(FIRST, False).means(
            "Virtual GPUs that were not counted are taken back without harm."
        ),
        since("v1.10.0", True, pull=3553).means(
            "Taking back virtual GPUs that were not counted crashes the scheduler."
        ),
        since("v1.13.0", False, pull=4500).means(
            "Virtual GPUs that were not counted are taken back without harm."
        ),
        source="api/devices/nvidia/vgpu/device_info.go SubResource",
    )

    virtual_gpu_use: VirtualGpuUse = behaviour(
        "Which virtual GPUs a pod gets, and how much of them.",
        since(FIRST, VirtualGpuUse.FROM_LAST).means(
            "A percentage below 100 of a card's memory counts as 0.",
            source="api/devices/nvidia/vgpu/utils.go checkNodeGPUSharingPredicateAndScore",
        ),
        since("v1.13.0", VirtualGpuUse.COUNTED, pull=4520).means(
            "Nodes and queues count memory and cores of virtual GPUs like other resources.",
            source="api/devices/nvidia/vgpu/device_info.go GetIgnoredDevices",
            fault="A percentage below 100 of a card's memory counts as 0.",
        ),
        since("v1.14.0", VirtualGpuUse.BY_SHARE, pull=4714).means(
            "A percentage of memory refers to the assigned card.",
            source="api/devices/nvidia/vgpu/utils.go checkNodeGPUSharingPredicateAndScore",
        ),
        since("v1.15.0", VirtualGpuUse.BY_POLICY, pull=5252).means(
            "The policy of shared GPUs chooses cards; ``spread`` no longer chooses nodes.",
            source="api/devices/nvidia/vgpu/utils.go sortedDeviceIndicesByPolicy",
        ),
    )

    virtual_gpus_by_handshake: bool = behaviour(
        "A node's virtual GPUs count while its agent answers; else while allocatable.",
        since(FIRST, True).means(
            "A node's virtual GPUs are ignored a minute after its agent stops answering."
        ),
        since(landed("v1.14.3", "v1.15.1"), False, pull=5393).means(
            "A node's virtual GPUs count as long as kubelet reports them as allocatable."
        ),
        source="api/devices/nvidia/vgpu/device_info.go NewGPUDevices",
    )

    free_cores_unsigned: bool = behaviour(
        "A virtual GPU of which more cores are used than it has takes any request for cores.",
        since(FIRST, True).means(
            "A card of which more than 100 cores are used seems to have very many free ones.",
            fault="A card of which more than 100 cores are used counts as free.",
        ),
        since("v1.11.0", False, pull=3774).means(
            "A card of which more than 100 cores are used has none free."
        ),
        source="api/devices/nvidia/vgpu/utils.go checkNodeGPUSharingPredicateAndScore",
    )

    one_unwanted_type_allowed: bool = behaviour(
        "A pod that names one type of GPU that it does not want gets it all the same.",
        since(FIRST, True).means(
            "A pod gets GPUs of the one type that it does not want; of several it gets none.",
            fault="A pod gets GPUs of a type that it does not want.",
        ),
        since("v1.12.0", False, pull=4149).means(
            "A pod gets no GPU of a type that it does not want."
        ),
        source="api/devices/nvidia/vgpu/utils.go checkGPUtype",
    )

    virtual_gpus_counted_twice: bool = behaviour(
        "Within a session, a pod's virtual GPUs are counted twice.",
        since(FIRST, False).means(
            "A card takes as many pods in a session as it has room for.",
            source="api/devices/nvidia/vgpu/device_info.go Allocate",
        ),
        since("v1.12.0", True, pull=4290).means(
            "A card seems full when it is half full, until the next session.",
            source="api/devices/nvidia/vgpu/device_info.go Allocate",
        ),
        since(landed("v1.12.3", "v1.13.2", "v1.14.0"), False, pull=4873).means(
            "Again, a card takes as many pods in a session as it has room for.",
            source="api/devices/nvidia/vgpu/device_info.go Allocate, addToPodMap",
        ),
    )

    devices_scored: bool = behaviour(
        "With ``deviceshare``, nodes score by their GPUs, if the weight is not 0.",
        since(FIRST, False).means("GPU scores of nodes are computed, but not used."),
        since("v1.13.0", True, pull=4340).means(
            "Nodes score by the use of their GPUs, if the score has a weight."
        ),
        source="plugins/deviceshare/deviceshare.go OnSessionOpen (AddNodeOrderFn)",
    )

    device_quotas: bool = behaviour(
        "With ``capacity``, a queue's capability limits the devices of a class in claims.",
        since(FIRST, False).means(
            "Device claims of pods count in no queue.",
            source="plugins/capacity/capacity.go",
            fault="Device claims of pods count in no queue.",
        ),
        since("v1.15.0", True, pull=5058).means(
            "A queue can have a quota of devices of a class.",
            source="plugins/capacity/capacity.go checkDRAAllocatable",
        ),
    )

    device_counts_saturate: bool = behaviour(
        "Numbers of devices stop at the largest integer; else they overflow to negative.",
        since(FIRST, False).means(
            "A claim of too many devices overflows, and is within every queue's capability.",
            source="api/job_info.go DRAResource.Add, GetMinDRAResources",
            fault="A claim of too many devices overflows, and is within every limit.",
        ),
        since("v1.15.1", True, pull=5621).means(
            "A claim of too many devices exceeds every queue's capability.",
            source="api/saturating.go",
        ),
    )

    new_numa_resources_crash: bool = behaviour(
        "A node that reports a resource of its NUMA nodes for the first time, and less of another, "
        "crashes the scheduler.",
        since(FIRST, True).means(
            "A kubelet that starts to report another NUMA resource may crash the scheduler."
        ),
        since(landed("v1.12.3", "v1.13.2", "v1.14.0"), False, pull=4892).means(
            "New NUMA resources of a node are accepted."
        ),
        source="api/node_info.go RefreshNumaSchedulerInfoByCrd",
    )

    numa_policy_misspelt: bool = behaviour(
        'The message about a node\'s NUMA policy spells it "topology polocy"; else "policy".',
        since(FIRST, True).means("A pod's message says polocy."),
        since("v1.12.0", False, pull=4035).means("A pod's message says policy."),
        source="plugins/numaaware/numaaware.go filterNodeByPolicy",
    )
