"""Fields that an API server or a webhook sets, filled in where an input lacks them.

An object that a cluster stored has these fields. One that a person shortened may lack them. Without
them it would mean something else: a node with a capacity and no allocatable would count as full.
Each field that is filled in is counted in the context, so the log and its answers say so. What a
webhook sets is missing in a cluster that runs without it, so a job with all that an API server adds
to its metadata stays as it is.

Other defaults need nothing, as the code that reads a field treats a missing one as its default: a
queue without ``reclaimable`` or ``parent``, a PodGroup without ``queue`` or ``phase``, a port
without ``protocol``, a volume without ``volumeMode``, a Deployment without ``replicas``. A pod
without ``schedulerName`` is not Volcano's, as with the default. A pod's ``priority`` follows from
a PriorityClass that another input may hold, so it is not filled in.

Source: k8s.io/kubernetes/pkg/apis/core/v1/defaults.go and pkg/apis/storage/v1/defaults.go;
pkg/registry/core/pod/strategy.go PrepareForCreate; Volcano's config/crd and
pkg/webhooks/admission/{queues,jobs}/mutate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from ...events.kinds import NOUNS
from ...kubernetes.resources import CLUSTER_SCOPED, GroupKind
from ..reading.formats import Context
from .identity import NO_UID, NO_VERSION

Document = dict[str, Any]

Filled = tuple[str, str]
"""The path of a field, and in words the value that it got."""

_SCHEDULING, _BATCH = "scheduling.volcano.sh", "batch.volcano.sh"
_NAME_LABEL = "kubernetes.io/metadata.name"
_RETRIES = 3
"""Source: pkg/webhooks/admission/jobs/mutate/mutate_job.go DefaultMaxRetry."""

_WHOLE = ("uid", "resourceVersion", "creationTimestamp", "generation")
"""What each stored object of a custom resource has. Who shortens one leaves these out first."""

_NAMESPACE = ("metadata.namespace", "default")
_ALLOCATABLE = ("status.allocatable", "the capacity")
_PENDING = ("status.phase", "Pending")
_REQUESTS = ("spec.containers[].resources.requests", "the limits")
_HOST_PORTS = ("spec.containers[].ports[].hostPort", "the containerPort")
_LABEL = (f"metadata.labels[{_NAME_LABEL}]", "its name")
_IMMEDIATE = ("volumeBindingMode", "Immediate")
_WEIGHT = ("spec.weight", "1")
_TASK_NAME = ("spec.tasks[].name", "default with its place")
_TASK_LEAST = ("spec.tasks[].minAvailable", "the replicas")
_QUEUE = ("spec.queue", "default")
_RETRY = ("spec.maxRetry", str(_RETRIES))
_LEAST = ("spec.minAvailable", "the sum over its tasks")
FILLED: Final[frozenset[Filled]] = frozenset(
    {
        *(_NAMESPACE, _ALLOCATABLE, _PENDING, _REQUESTS, _HOST_PORTS, _LABEL, _IMMEDIATE, _WEIGHT),
        *(_TASK_NAME, _TASK_LEAST, _QUEUE, _RETRY, _LEAST, NO_UID, NO_VERSION),
    }
)
"""All that can be filled in, with the parts of an identity."""


def fill_in(document: Document, context: Context) -> None:
    """Fill in the fields that an object lacks, and count them in the context.

    An object with a field of a wrong type is left as it is: another check reports that.
    """
    api_version, kind = document.get("apiVersion"), document.get("kind")
    metadata = document.get("metadata")
    if not (isinstance(api_version, str) and isinstance(kind, str) and isinstance(metadata, dict)):
        return  # It is no object.
    pair = api_version.rpartition("/")[0], kind
    fill = _FILLS.get(pair)
    name = str(metadata.get("name") or "")
    # Of kinds without a noun it is not known whether they have namespaces.
    if pair in NOUNS and pair not in CLUSTER_SCOPED and not metadata.get("namespace"):
        metadata["namespace"] = "default"
        context.assume(pair, ("default", name), *_NAMESPACE)
    if fill is not None:
        named = str(metadata.get("namespace") or ""), name
        for path, value in fill(document):
            context.assume(pair, named, path, value)


def _node(node: Document) -> Iterator[Filled]:
    """Source: SetDefaults_NodeStatus."""
    status = node.get("status")
    if isinstance(status, dict) and not status.get("allocatable"):
        capacity = status.get("capacity")
        if isinstance(capacity, dict) and capacity:
            status["allocatable"] = dict(capacity)
            yield _ALLOCATABLE


def _pod(pod: Document) -> Iterator[Filled]:
    """Source: podStrategy PrepareForCreate."""
    status = pod.setdefault("status", {})
    if isinstance(status, dict) and not status.get("phase"):
        status["phase"] = "Pending"
        yield _PENDING
    yield from _pod_spec(pod.get("spec"))


def _pod_spec(spec: Any) -> Iterator[Filled]:
    """Source: SetDefaults_Pod, defaultHostNetworkPorts."""
    if not isinstance(spec, dict):
        return
    containers = _containers(spec)
    # A list, for any() would stop at the first container that lacked something.
    if True in [_request_limits(container.get("resources")) for container in containers]:
        yield _REQUESTS
    if spec.get("hostNetwork") is not True:
        return
    if True in [_open_host_ports(container.get("ports")) for container in containers]:
        yield _HOST_PORTS


def fill_in_template(spec: Any) -> None:
    """Fill in what a pod lacks that is made from a template. :param spec: of the pod."""
    for _ in _pod_spec(spec):
        pass  # Each step fills in one field.


def _containers(spec: Document) -> list[Document]:
    fields = spec.get("containers"), spec.get("initContainers")
    return [
        container
        for containers in fields
        if isinstance(containers, list)
        for container in containers
        if isinstance(container, dict)
    ]


def _request_limits(resources: Any) -> bool:
    """Request what is limited and not requested; return whether anything was."""
    limits = resources.get("limits") if isinstance(resources, dict) else None
    if not isinstance(limits, dict) or not limits:
        return False
    requests = resources.get("requests") or {}
    if not isinstance(requests, dict) or limits.keys() <= requests.keys():
        return False
    resources["requests"] = {**limits, **requests}
    return True


def _open_host_ports(ports: Any) -> bool:
    """Give the ports of a pod in the node's network the same number there."""
    entries = (
        [entry for entry in ports if isinstance(entry, dict)] if isinstance(ports, list) else []
    )
    lacking = [port for port in entries if port.get("containerPort") and not port.get("hostPort")]
    for port in lacking:
        port["hostPort"] = port["containerPort"]
    return bool(lacking)


def _namespace(namespace: Document) -> Iterator[Filled]:
    """Source: SetDefaults_Namespace."""
    metadata = namespace["metadata"]
    name, labels = metadata.get("name"), metadata.setdefault("labels", {})
    if isinstance(name, str) and name and isinstance(labels, dict) and _NAME_LABEL not in labels:
        labels[_NAME_LABEL] = name
        yield _LABEL


def _storage_class(storage_class: Document) -> Iterator[Filled]:
    """Source: SetDefaults_StorageClass."""
    if not storage_class.get("volumeBindingMode"):
        storage_class["volumeBindingMode"] = "Immediate"
        yield _IMMEDIATE


def _queue(queue: Document) -> Iterator[Filled]:
    """Source: config/crd/volcano/bases/scheduling.volcano.sh_queues.yaml; createQueuePatch."""
    spec = queue.setdefault("spec", {})
    if isinstance(spec, dict) and spec.get("weight") is None:
        spec["weight"] = 1
        yield _WEIGHT


def _job(job: Document) -> Iterator[Filled]:
    """Fill in what a webhook sets, but not in a whole job: its cluster may run without webhooks."""
    if not all(job["metadata"].get(name) for name in _WHOLE):
        yield from _job_spec(job.get("spec"))


def _job_spec(spec: Any) -> Iterator[Filled]:
    """Source: mutate_job.go createPatch."""
    tasks = spec.get("tasks") if isinstance(spec, dict) else None
    if not isinstance(tasks, list):
        return
    least = 0
    for index, task in enumerate(item for item in tasks if isinstance(item, dict)):
        if not task.get("name"):
            task["name"] = f"default{index}"
            yield _TASK_NAME
        if task.get("minAvailable") is None:
            task["minAvailable"] = _least_of(task)
            yield _TASK_LEAST
        if isinstance(task["minAvailable"], int):
            least += task["minAvailable"]
    # After the tasks: the last of these is the sum over them.
    for filled, value in ((_QUEUE, "default"), (_RETRY, _RETRIES), (_LEAST, least)):
        field = filled[0].removeprefix("spec.")
        if not spec.get(field) and value:
            spec[field] = value
            yield filled


def _least_of(task: Document) -> int:
    policy, replicas = task.get("partitionPolicy"), task.get("replicas")
    if isinstance(policy, dict):
        least, size = policy.get("minPartitions"), policy.get("partitionSize")
        if isinstance(least, int) and isinstance(size, int) and least > 0:
            return least * size
    return replicas if isinstance(replicas, int) else 0


def lacks_a_default(spec: Document) -> bool:
    """Return whether a specification of a pod or a job lacks a field that is filled in.

    It may be changed.
    """
    fill = _pod_spec if "containers" in spec else _job_spec
    return any(True for _ in fill(spec))


_FILLS: Final[Mapping[GroupKind, Callable[[Document], Iterator[Filled]]]] = MappingProxyType(
    {
        ("", "Node"): _node,
        ("", "Pod"): _pod,
        ("", "Namespace"): _namespace,
        ("storage.k8s.io", "StorageClass"): _storage_class,
        (_SCHEDULING, "Queue"): _queue,
        (_BATCH, "Job"): _job,
    }
)
"""By group and kind: what fills in an object of it."""
