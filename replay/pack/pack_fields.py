"""Which fields of an object are kept when names are redacted, and how; all others are left out.

The table lists what the scheduler, its cache and the tables of ``get`` read. A field that
no code reads can hold anything, so it is not kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import TypeAlias


class FieldTreatment(Enum):
    """How a field is kept."""

    AS_IS = "a number, a time, an amount, or a word of the API"
    NAME = "a name"
    VALUE = "a value of a label or of a taint: a short number, or a name"
    KEY = "the key of a label, a taint or a topology; the name of a driver"
    GROUP = "an API group with its version"
    REASON = "a reason; only one that Kubernetes or Volcano gives"
    LABELS = "names and values of labels"
    ANNOTATIONS = "names and values of annotations"
    AMOUNTS = "amounts by resource"
    COUNTS = "numbers by name"
    WHOLE = "numbers, and words of a topology, nested"


Fields: TypeAlias = "Mapping[str, FieldTreatment | Fields]"
"""How each field is kept; fields of an object or of each object in a list."""

A, N, K, R = FieldTreatment.AS_IS, FieldTreatment.NAME, FieldTreatment.KEY, FieldTreatment.REASON

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def _as(how: FieldTreatment, *names: str) -> dict[str, FieldTreatment]:
    return dict.fromkeys(names, how)


def _fields(*parts: Fields, **more: FieldTreatment | Fields) -> Fields:
    fields: dict[str, FieldTreatment | Fields] = {}
    for part in parts:
        fields.update(part)
    return MappingProxyType({**fields, **more})


_REFERENCE = _fields(
    _as(A, "kind", "resourceVersion", "controller", "blockOwnerDeletion"),
    _as(N, "name", "namespace", "uid"),
    apiVersion=FieldTreatment.GROUP,
)
METADATA = _fields(
    _as(A, "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp"),
    _as(A, "deletionGracePeriodSeconds"),
    _as(N, "name", "generateName", "namespace", "uid"),
    labels=FieldTreatment.LABELS,
    annotations=FieldTreatment.ANNOTATIONS,
    ownerReferences=_REFERENCE,
)

_REQUIREMENT = _fields(key=K, operator=A, values=FieldTreatment.VALUE)
_SELECTOR = _fields(matchLabels=FieldTreatment.LABELS, matchExpressions=_REQUIREMENT)
_TERM = _fields(
    matchExpressions=_REQUIREMENT,
    matchFields=_fields(key=A, operator=A, values=FieldTreatment.VALUE),
)
_NODE_SELECTOR = _fields(nodeSelectorTerms=_TERM)
_POD_TERM = _fields(
    labelSelector=_SELECTOR,
    namespaces=N,
    topologyKey=K,
    namespaceSelector=_SELECTOR,
    matchLabelKeys=K,
    mismatchLabelKeys=K,
)
_POD_AFFINITY = _fields(
    {_REQUIRED: _POD_TERM, _PREFERRED: _fields(weight=A, podAffinityTerm=_POD_TERM)}
)
_AFFINITY = _fields(
    nodeAffinity=_fields(
        {_REQUIRED: _NODE_SELECTOR, _PREFERRED: _fields(weight=A, preference=_TERM)}
    ),
    podAffinity=_POD_AFFINITY,
    podAntiAffinity=_POD_AFFINITY,
)
_RESOURCES = _fields(
    requests=FieldTreatment.AMOUNTS,
    limits=FieldTreatment.AMOUNTS,
    claims=_fields(name=N, request=N),
)
_CONTAINER = _fields(
    name=N,
    image=N,
    resources=_RESOURCES,
    restartPolicy=A,
    ports=_fields(_as(A, "hostPort", "containerPort", "protocol"), hostIP=N),
)
_CLAIM_SPEC = _fields(
    _as(A, "accessModes", "volumeMode"),
    storageClassName=N,
    volumeName=N,
    selector=_SELECTOR,
    resources=_RESOURCES,
)
_NOTHING: Fields = MappingProxyType({})
_VOLUME = _fields(
    name=N,
    persistentVolumeClaim=_fields(claimName=N, readOnly=A),
    ephemeral=_fields(volumeClaimTemplate=_fields(spec=_CLAIM_SPEC)),
    csi=_fields(driver=K),
    gcePersistentDisk=_NOTHING,
    awsElasticBlockStore=_NOTHING,
    rbd=_NOTHING,
    iscsi=_NOTHING,
)
_TOLERATION = _fields(
    _as(A, "operator", "effect", "tolerationSeconds", "timeAdded"),
    key=K,
    value=FieldTreatment.VALUE,
)
POD_SPEC = _fields(
    _as(A, "priority", "preemptionPolicy", "hostNetwork", "restartPolicy"),
    _as(A, "terminationGracePeriodSeconds", "activeDeadlineSeconds"),
    _as(N, "nodeName", "schedulerName", "priorityClassName", "serviceAccountName"),
    _as(N, "runtimeClassName"),
    containers=_CONTAINER,
    initContainers=_CONTAINER,
    overhead=FieldTreatment.AMOUNTS,
    nodeSelector=FieldTreatment.LABELS,
    affinity=_AFFINITY,
    tolerations=_TOLERATION,
    topologySpreadConstraints=_fields(
        _as(A, "maxSkew", "whenUnsatisfiable", "minDomains"),
        _as(A, "nodeAffinityPolicy", "nodeTaintsPolicy"),
        topologyKey=K,
        labelSelector=_SELECTOR,
        matchLabelKeys=K,
    ),
    volumes=_VOLUME,
    schedulingGates=_fields(name=N),
    resourceClaims=_fields(name=N, resourceClaimName=N, resourceClaimTemplateName=N),
    resources=_RESOURCES,
)
_CONDITION = _fields(
    _as(A, "type", "status", "lastTransitionTime", "lastProbeTime", "lastHeartbeatTime"),
    reason=R,
    transitionID=N,
)
_STATE = _fields(
    waiting=_fields(reason=R),
    running=_fields(startedAt=A),
    terminated=_fields(_as(A, "exitCode", "signal", "startedAt", "finishedAt"), reason=R),
)
_CONTAINER_STATUS = _fields(
    _as(A, "ready", "restartCount", "started"),
    name=N,
    image=N,
    state=_STATE,
    lastState=_STATE,
    resources=_RESOURCES,
    allocatedResources=FieldTreatment.AMOUNTS,
)
_POD = _fields(
    spec=POD_SPEC,
    status=_fields(
        _as(A, "phase", "startTime", "qosClass"),
        reason=R,
        nominatedNodeName=N,
        conditions=_CONDITION,
        containerStatuses=_CONTAINER_STATUS,
        initContainerStatuses=_CONTAINER_STATUS,
        resourceClaimStatuses=_fields(name=N, resourceClaimName=N),
    ),
)
_NODE = _fields(
    spec=_fields(unschedulable=A, taints=_TOLERATION),
    status=_fields(
        allocatable=FieldTreatment.AMOUNTS,
        capacity=FieldTreatment.AMOUNTS,
        conditions=_CONDITION,
        images=_fields(names=N, sizeBytes=A),
        nodeInfo=_fields(_as(A, "kubeletVersion", "operatingSystem", "architecture")),
        phase=A,
    ),
)
_TOPOLOGY = _fields(mode=A, highestTierAllowed=A, highestTierName=N)
_POD_GROUP = _fields(
    spec=_fields(
        minMember=A,
        minTaskMember=FieldTreatment.COUNTS,
        queue=N,
        priorityClassName=N,
        minResources=FieldTreatment.AMOUNTS,
        networkTopology=_TOPOLOGY,
        subGroupPolicy=_fields(
            name=N,
            labelSelector=_SELECTOR,
            matchLabelKeys=K,
            subGroupSize=A,
            minSubGroups=A,
            networkTopology=_TOPOLOGY,
        ),
    ),
    status=_fields(_as(A, "phase", "running", "succeeded", "failed"), conditions=_CONDITION),
)
_GROUP_RULES = _fields(_as(N, _REQUIRED, _PREFERRED))
_QUEUE = _fields(
    spec=_fields(
        _as(A, "weight", "reclaimable", "priority", "dequeueStrategy"),
        _as(N, "parent", "type"),
        capability=FieldTreatment.AMOUNTS,
        deserved=FieldTreatment.AMOUNTS,
        guarantee=_fields(resource=FieldTreatment.AMOUNTS),
        affinity=_fields(nodeGroupAffinity=_GROUP_RULES, nodeGroupAntiAffinity=_GROUP_RULES),
    ),
    status=_fields(
        _as(A, "state", "unknown", "pending", "running", "inqueue", "completed"),
        reservation=_fields(nodes=N, resource=FieldTreatment.AMOUNTS),
        allocated=FieldTreatment.AMOUNTS,
    ),
)
_TEMPLATE = _fields(metadata=METADATA, spec=POD_SPEC)
_POLICY = _fields(_as(A, "event", "events", "action", "exitCode", "timeout"))
_JOB = _fields(
    spec=_fields(
        _as(A, "minAvailable", "maxRetry", "ttlSecondsAfterFinished", "minSuccess"),
        _as(N, "queue", "schedulerName", "priorityClassName"),
        tasks=_fields(
            _as(A, "replicas", "minAvailable", "maxRetry"),
            name=N,
            template=_TEMPLATE,
            policies=_POLICY,
            dependsOn=_fields(name=N, iteration=A),
        ),
        policies=_POLICY,
        networkTopology=_TOPOLOGY,
    ),
    status=_fields(
        _as(A, "pending", "running", "succeeded", "failed", "terminating", "unknown"),
        _as(A, "minAvailable", "version", "retryCount"),
        state=_fields(phase=A, lastTransitionTime=A, reason=R),
    ),
)
_WORKLOAD = _fields(
    spec=_fields(replicas=A, selector=_SELECTOR, template=_TEMPLATE),
    status=_fields(_as(A, "replicas", "readyReplicas", "availableReplicas", "observedGeneration")),
)
_QUOTA = _fields(hard=FieldTreatment.AMOUNTS, used=FieldTreatment.AMOUNTS)
_HYPER_NODE = _fields(
    spec=_fields(
        tier=A,
        tierName=N,
        members=_fields(
            type=A,
            selector=_fields(exactMatch=_fields(name=N), labelMatch=_SELECTOR),
        ),
    )
)
_EXACT = _fields(
    _as(A, "allocationMode", "count", "adminAccess"), _as(N, "name", "deviceClassName")
)
_CLAIM = _fields(
    spec=_fields(
        devices=_fields(
            requests=_fields(_EXACT, exactly=_EXACT, firstAvailable=_EXACT),
            constraints=_fields(requests=N, matchAttribute=K),
        )
    ),
    status=_fields(
        allocation=_fields(
            devices=_fields(
                results=_fields(_as(N, "pool", "device", "request"), driver=K, adminAccess=A)
            ),
            nodeSelector=_NODE_SELECTOR,
        ),
        reservedFor=_fields(_as(N, "uid", "name"), resource=A),
    ),
)
_EVENT = _fields(
    _as(A, "type", "count", "firstTimestamp", "lastTimestamp", "eventTime"),
    reason=R,
    involvedObject=_REFERENCE,
    regarding=_REFERENCE,
)

KINDS: Mapping[str, Fields] = MappingProxyType(
    {
        "Pod": _POD,
        "Node": _NODE,
        "PodGroup": _POD_GROUP,
        "Queue": _QUEUE,
        "Job": _JOB,
        "Event": _EVENT,
        "HyperNode": _HYPER_NODE,
        "Numatopology": _fields(spec=FieldTreatment.WHOLE),
        "PriorityClass": _fields(_as(A, "value", "globalDefault", "preemptionPolicy")),
        "ResourceQuota": _fields(spec=_QUOTA, status=_QUOTA),
        "PodDisruptionBudget": _fields(
            spec=_fields(_as(A, "minAvailable", "maxUnavailable"), selector=_SELECTOR),
            status=_fields(
                _as(A, "disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"),
                disruptedPods=FieldTreatment.COUNTS,
            ),
        ),
        "Service": _fields(spec=_fields(selector=FieldTreatment.LABELS)),
        "ReplicationController": _fields(spec=_fields(replicas=A, selector=FieldTreatment.LABELS)),
        **dict.fromkeys(("ReplicaSet", "StatefulSet", "Deployment", "DaemonSet"), _WORKLOAD),
        "PersistentVolumeClaim": _fields(spec=_CLAIM_SPEC, status=_fields(phase=A)),
        "PersistentVolume": _fields(
            spec=_fields(
                _as(A, "accessModes", "volumeMode"),
                capacity=FieldTreatment.AMOUNTS,
                claimRef=_REFERENCE,
                storageClassName=N,
                nodeAffinity=_fields(required=_NODE_SELECTOR),
                csi=_fields(driver=K, volumeHandle=N),
            ),
            status=_fields(phase=A),
        ),
        "StorageClass": _fields(
            provisioner=K,
            volumeBindingMode=A,
            allowedTopologies=_fields(
                matchLabelExpressions=_fields(key=K, values=FieldTreatment.VALUE)
            ),
        ),
        "CSINode": _fields(
            spec=_fields(
                drivers=_fields(name=K, nodeID=N, topologyKeys=K, allocatable=_fields(count=A))
            )
        ),
        "ResourceClaim": _CLAIM,
        "DeviceClass": _NOTHING,
        "ResourceSlice": _fields(
            spec=_fields(
                _as(A, "allNodes", "perDeviceNodeSelection"),
                driver=K,
                nodeName=N,
                pool=_fields(name=N, generation=A, resourceSliceCount=A),
                nodeSelector=_NODE_SELECTOR,
                devices=_fields(name=N, basic=_fields(capacity=FieldTreatment.AMOUNTS)),
            )
        ),
    }
)
"""The fields of each kind besides its metadata; of other kinds only metadata is kept."""

REQUEST = _fields(
    _as(A, "gracePeriodSeconds", "propagationPolicy", "dryRun", "orphanDependents"),
    preconditions=_fields(uid=N, resourceVersion=A),
    target=_REFERENCE,
)
"""Fields of the body of a request that no object has."""

REASONS = frozenset(
    {
        *("Unschedulable", "Undetermined", "Schedulable", "Scheduled", "NotEnoughResources"),
        *("NotEnoughPods", "NotEnoughPodsOfTask", "PodFailed", "PodDeleted", "InternalError"),
        *("tasks in gang are ready to be scheduled", "tasks in the gang are ready to be scheduled"),
        *("pod group is not ready", "pod group is ready", "PreemptionByScheduler"),
        *("SchedulingGated", "ContainersNotReady", "ContainersNotInitialized", "PodCompleted"),
        *("KubeletReady", "KubeletNotReady", "NodeStatusUnknown", "KubeletHasSufficientMemory"),
        *("KubeletHasNoDiskPressure", "KubeletHasSufficientPID", "Completed", "Error", "OOMKilled"),
        *("ContainerCreating", "PodInitializing", "CrashLoopBackOff", "ErrImagePull", "Evicted"),
        *("ImagePullBackOff", "NodeLost", "DeletionByTaintManager", "EvictionByEvictionAPI"),
        *(
            "DeletionByPodGC",
            "TerminationByKubelet",
            "FailedScheduling",
            "Evict",
            "SuccessfulCreate",
        ),
        *("Infeasible", "Deferred", "Created", "Started", "Pulled", "Killing", "NotReady", "Ready"),
    }
)
"""Reasons that Kubernetes and Volcano give; another may be free text."""


def field_names() -> frozenset[str]:
    """Return the names of all fields that are kept."""
    names: set[str] = set()
    waiting: list[FieldTreatment | Fields] = [METADATA, REQUEST, *KINDS.values()]
    while waiting:
        treatment = waiting.pop()
        if not isinstance(treatment, FieldTreatment):
            names.update(treatment)
            waiting.extend(treatment.values())
    return frozenset(names)
