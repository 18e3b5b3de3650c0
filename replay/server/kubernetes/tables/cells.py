"""The columns of built-in kinds, as an API server prints them.

Few are those of ``plinian get``. Its cells are text that follows from facts, which are read for
thousands of objects at once. The cells here have the types of JSON, and most follow from the whole
object. RESTARTS of ``get`` is ``"2"``; here it is ``"2 (5m ago)"``, and only the object says when
that was. VERSION of a node without one is ``<none>`` there and empty here, as of a real server.

Source: k8s.io/kubernetes pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from .....engine.kubernetes.resources import GroupKind
from .....engine.state.facts import PodFact
from ....render.amounts import age, duration
from ....render.columns import GET_COLUMNS, NODE, POD
from .columns import (
    AGE_COLUMN,
    CREATED_COLUMN,
    NAME_COLUMN,
    NONE,
    WIDE,
    Cell,
    TableColumn,
    TableObject,
    count_column,
    field_column,
    flag_column,
    length_column,
    text_column,
    time_in,
    wide_column,
)


def _of_get(kind: GroupKind, *names: str) -> Iterator[TableColumn]:
    """Yield columns that ``plinian get`` has, too: their cells follow from facts alone."""
    columns = {column.head: column for column in GET_COLUMNS[kind]}
    for name in names:
        column = columns[name.upper()]
        yield TableColumn(name, column.value, priority=WIDE if column.wide else 0)


def _ready_replicas(row: TableObject) -> str:
    return f"{row.at('status', 'readyReplicas') or 0}/{row.at('spec', 'replicas') or 0}"


def _containers(*path: str) -> tuple[TableColumn, TableColumn]:
    """Return the columns with names and images of the containers of a template."""

    def of(field: str) -> Cell:
        return lambda row: ",".join(container.get(field, "") for container in row.at(*path) or ())

    return wide_column("Containers", of("name")), wide_column("Images", of("image"))


_OF_TEMPLATE = ("spec", "template", "spec", "containers")


def _labels(labels: Mapping[str, str] | None) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted((labels or {}).items())) or NONE


_OPERATORS = MappingProxyType({"In": "in", "NotIn": "notin"})


def selector_text(selector: Mapping[str, Any] | None) -> str:
    """Return a label selector as text."""
    if not selector:
        return NONE
    terms = [f"{key}={value}" for key, value in sorted((selector.get("matchLabels") or {}).items())]
    for expression in selector.get("matchExpressions") or ():
        key, operator = expression.get("key", ""), expression.get("operator", "")
        if operator in _OPERATORS:
            terms.append(
                f"{key} {_OPERATORS[operator]} ({','.join(expression.get('values') or ())})"
            )
        else:
            terms.append(f"!{key}" if operator == "DoesNotExist" else key)
    return ",".join(terms) or NONE


_SELECTOR = wide_column("Selector", lambda row: selector_text(row.at("spec", "selector")))
_PLAIN_SELECTOR = wide_column("Selector", lambda row: _labels(row.at("spec", "selector")))


def _restarts(row: TableObject) -> str:
    fact = row.entry.fact
    count = fact.restarts if isinstance(fact, PodFact) else 0
    if not count:
        return "0"
    states = (
        container.get("lastState") or {}
        for container in row.at("status", "containerStatuses") or ()
    )
    ended = (time_in((state.get("terminated") or {}).get("finishedAt")) for state in states)
    last = max((time for time in ended if time is not None), default=None)
    return str(count) if last is None else f"{count} ({age(row.when, last)} ago)"


def _pod_ip(row: TableObject) -> str:
    return next((address.get("ip") for address in row.at("status", "podIPs") or ()), None) or NONE


def _true_conditions(row: TableObject) -> set[Any]:
    conditions = row.at("status", "conditions") or ()
    return {condition.get("type") for condition in conditions if condition.get("status") == "True"}


def _gates(row: TableObject) -> str:
    gates = row.at("spec", "readinessGates")
    if not gates:
        return NONE
    true = _true_conditions(row)
    return f"{sum(gate.get('conditionType') in true for gate in gates)}/{len(gates)}"


def _address(kind: str) -> Cell:
    def cell(row: TableObject) -> str:
        addresses = (
            address
            for address in row.at("status", "addresses") or ()
            if address.get("type") == kind
        )
        return next((address.get("address") for address in addresses), None) or NONE

    return cell


def _of_node(name: str, field: str) -> TableColumn:
    path = f"status.nodeInfo.{field}"
    return field_column(name, path, default="<unknown>", priority=WIDE)


def _first(row: TableObject) -> str:
    text = row.at("firstTimestamp") or row.at("deprecatedFirstTimestamp") or row.at("eventTime")
    return row.age_of(text)


def _last_seen(row: TableObject) -> str:
    series = row.at("series", "lastObservedTime")
    last = series or row.at("lastTimestamp") or row.at("deprecatedLastTimestamp")
    return row.age_of(last) if last else _first(row)


def _times_seen(row: TableObject) -> int:
    count = row.at("count") or row.at("deprecatedCount")
    return row.at("series", "count") or count or 1


def _involved(row: TableObject) -> Any:
    return row.at("involvedObject") or row.at("regarding") or {}


def _about(row: TableObject) -> str:
    about = _involved(row)
    kind = (about.get("kind") or "").lower()
    return f"{kind}/{about['name']}" if about.get("name") else kind


def _event_source(row: TableObject) -> str:
    source = row.at("source") or row.at("deprecatedSource") or {}
    names = [source.get("component"), source.get("host")]
    if not any(names):
        names = [
            row.at("reportingComponent") or row.at("reportingController"),
            row.at("reportingInstance"),
        ]
    return ", ".join(name for name in names if name)


_EVENT = (
    TableColumn("Last Seen", _last_seen),
    field_column("Type", "type"),
    field_column("Reason", "reason"),
    TableColumn("Object", _about),
    wide_column("Subobject", lambda row: _involved(row).get("fieldPath") or ""),
    wide_column("Source", _event_source),
    TableColumn("Message", lambda row: (row.at("message") or row.at("note") or "").strip()),
    wide_column("First Seen", _first),
    wide_column("Count", _times_seen),
    TableColumn("Name", NAME_COLUMN.cell, format="name", priority=WIDE),
)


def _ports(row: TableObject) -> str:
    texts = []
    for port in row.at("spec", "ports") or ():
        node = f":{port['nodePort']}" if port.get("nodePort") else ""
        texts.append(f"{port.get('port', 0)}{node}/{port.get('protocol') or 'TCP'}")
    return ",".join(texts) or NONE


def _cluster_ip(row: TableObject) -> str:
    addresses = row.at("spec", "clusterIPs") or [row.at("spec", "clusterIP") or NONE]
    return str(addresses[0])


def _external_ip(row: TableObject) -> str:
    addresses = list(row.at("spec", "externalIPs") or ())
    match row.at("spec", "type"):
        case "ExternalName":
            return row.at("spec", "externalName") or NONE
        case "LoadBalancer":
            ingress = row.at("status", "loadBalancer", "ingress") or ()
            addresses = [
                entry.get("ip") or entry.get("hostname") or "" for entry in ingress
            ] + addresses
            return ",".join(addresses) or "<pending>"
    return ",".join(addresses) or NONE


_JOB_WORDS = (
    *("Complete", "Failed", "Terminating", "Suspended"),
    *("FailureTarget", "SuccessCriteriaMet"),
)


def _job_status(row: TableObject) -> str:
    true = _true_conditions(row) - {"Terminating"}
    if row.at("metadata", "deletionTimestamp"):
        true.add("Terminating")
    return next((word for word in _JOB_WORDS if word in true), "Running")


def _completions(row: TableObject) -> str:
    done, wanted = row.at("status", "succeeded") or 0, row.at("spec", "completions")
    if wanted is not None:
        return f"{done}/{wanted}"
    parallel = row.at("spec", "parallelism") or 0
    return f"{done}/1 of {parallel}" if parallel > 1 else f"{done}/1"


def _duration(row: TableObject) -> str:
    begin = time_in(row.at("status", "startTime"))
    if begin is None:
        return ""
    end = time_in(row.at("status", "completionTime"))
    return age(row.when, begin) if end is None else duration(begin, end)


def _data(row: TableObject) -> int:
    return sum(len(row.at(field) or ()) for field in ("data", "binaryData"))


_MODES: Mapping[str, str] = MappingProxyType(
    {
        "ReadWriteOnce": "RWO",
        "ReadOnlyMany": "ROX",
        "ReadWriteMany": "RWX",
        "ReadWriteOncePod": "RWOP",
    }
)


def _modes(modes: Iterable[str] | None) -> str:
    given = set(modes or ())
    return ",".join(short for mode, short in _MODES.items() if mode in given)


def _claim(row: TableObject) -> str:
    claim = row.at("spec", "claimRef")
    return f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim else ""


def _claim_phase(row: TableObject) -> str:
    ending = row.at("metadata", "deletionTimestamp")
    return "Terminating" if ending else row.at("status", "phase") or ""


def _volume_class(row: TableObject) -> str:
    annotations = row.at("metadata", "annotations") or {}
    old = annotations.get("volume.beta.kubernetes.io/storage-class")
    return old or row.at("spec", "storageClassName") or ""


_NOT_SET = "<unset>"
_ATTRIBUTES_CLASS = field_column(
    "VolumeAttributesClass", "spec.volumeAttributesClassName", default=_NOT_SET
)

_REPLICAS = (
    count_column("Desired", "spec.replicas"),
    count_column("Current", "status.replicas"),
    count_column("Ready", "status.readyReplicas"),
    AGE_COLUMN,
    *_containers(*_OF_TEMPLATE),
)

BUILT_IN: Mapping[GroupKind, tuple[TableColumn, ...]] = MappingProxyType(
    {
        POD: (
            *_of_get(POD, "Ready", "Status"),
            TableColumn("Restarts", _restarts),
            AGE_COLUMN,
            wide_column("IP", _pod_ip),
            *_of_get(POD, "Node"),
            field_column("Nominated Node", "status.nominatedNodeName", default=NONE, priority=WIDE),
            wide_column("Readiness Gates", _gates),
        ),
        NODE: (
            *_of_get(NODE, "Status", "Roles"),
            AGE_COLUMN,
            field_column("Version", "status.nodeInfo.kubeletVersion"),
            wide_column("Internal-IP", _address("InternalIP")),
            wide_column("External-IP", _address("ExternalIP")),
            _of_node("OS-Image", "osImage"),
            _of_node("Kernel-Version", "kernelVersion"),
            _of_node("Container-Runtime", "containerRuntimeVersion"),
        ),
        ("", "Event"): _EVENT,
        ("events.k8s.io", "Event"): _EVENT,
        ("", "Namespace"): (field_column("Status", "status.phase"), AGE_COLUMN),
        ("", "Service"): (
            field_column("Type", "spec.type"),
            TableColumn("Cluster-IP", _cluster_ip),
            TableColumn("External-IP", _external_ip),
            TableColumn("Port(s)", _ports),
            AGE_COLUMN,
            _PLAIN_SELECTOR,
        ),
        ("", "ConfigMap"): (TableColumn("Data", _data), AGE_COLUMN),
        ("", "Secret"): (field_column("Type", "type"), TableColumn("Data", _data), AGE_COLUMN),
        ("", "ReplicationController"): (*_REPLICAS, _PLAIN_SELECTOR),
        ("", "PersistentVolume"): (
            field_column("Capacity", "spec.capacity.storage"),
            TableColumn("Access Modes", lambda row: _modes(row.at("spec", "accessModes"))),
            field_column("Reclaim Policy", "spec.persistentVolumeReclaimPolicy"),
            TableColumn("Status", _claim_phase),
            TableColumn("Claim", _claim),
            TableColumn("StorageClass", _volume_class),
            _ATTRIBUTES_CLASS,
            field_column("Reason", "status.reason"),
            AGE_COLUMN,
            field_column("VolumeMode", "spec.volumeMode", default=_NOT_SET, priority=WIDE),
        ),
        ("", "PersistentVolumeClaim"): (
            TableColumn("Status", _claim_phase),
            field_column("Volume", "spec.volumeName"),
            field_column("Capacity", "status.capacity.storage"),
            TableColumn("Access Modes", lambda row: _modes(row.at("status", "accessModes"))),
            TableColumn("StorageClass", _volume_class),
            _ATTRIBUTES_CLASS,
            AGE_COLUMN,
            field_column("VolumeMode", "spec.volumeMode", default=_NOT_SET, priority=WIDE),
        ),
        ("apps", "Deployment"): (
            TableColumn("Ready", _ready_replicas),
            count_column("Up-to-date", "status.updatedReplicas"),
            count_column("Available", "status.availableReplicas"),
            AGE_COLUMN,
            *_containers(*_OF_TEMPLATE),
            _SELECTOR,
        ),
        ("apps", "ReplicaSet"): (*_REPLICAS, _SELECTOR),
        ("apps", "StatefulSet"): (
            TableColumn("Ready", _ready_replicas),
            AGE_COLUMN,
            *_containers(*_OF_TEMPLATE),
        ),
        ("apps", "DaemonSet"): (
            count_column("Desired", "status.desiredNumberScheduled"),
            count_column("Current", "status.currentNumberScheduled"),
            count_column("Ready", "status.numberReady"),
            count_column("Up-to-date", "status.updatedNumberScheduled"),
            count_column("Available", "status.numberAvailable"),
            TableColumn(
                "Node Selector",
                lambda row: _labels(row.at("spec", "template", "spec", "nodeSelector")),
            ),
            AGE_COLUMN,
            *_containers(*_OF_TEMPLATE),
            _SELECTOR,
        ),
        ("batch", "Job"): (
            TableColumn("Status", _job_status),
            TableColumn("Completions", _completions),
            TableColumn("Duration", _duration),
            AGE_COLUMN,
            *_containers(*_OF_TEMPLATE),
            _SELECTOR,
        ),
        ("batch", "CronJob"): (
            field_column("Schedule", "spec.schedule"),
            field_column("Timezone", "spec.timeZone", default=NONE),
            TableColumn("Suspend", lambda row: str(bool(row.at("spec", "suspend"))), "boolean"),
            length_column("Active", "status.active"),
            TableColumn(
                "Last Schedule",
                lambda row: (
                    row.age_of(row.at("status", "lastScheduleTime"))
                    if row.at("status", "lastScheduleTime")
                    else NONE
                ),
            ),
            AGE_COLUMN,
            *_containers("spec", "jobTemplate", *_OF_TEMPLATE),
        ),
        ("policy", "PodDisruptionBudget"): (
            text_column("Min Available", "spec.minAvailable", default="N/A"),
            text_column("Max Unavailable", "spec.maxUnavailable", default="N/A"),
            count_column("Allowed Disruptions", "status.disruptionsAllowed"),
            AGE_COLUMN,
        ),
        ("scheduling.k8s.io", "PriorityClass"): (
            count_column("Value", "value"),
            flag_column("Global-Default", "globalDefault"),
            AGE_COLUMN,
            field_column("PreemptionPolicy", "preemptionPolicy", default=NONE),
        ),
        ("storage.k8s.io", "StorageClass"): (
            field_column("Provisioner", "provisioner"),
            field_column("ReclaimPolicy", "reclaimPolicy", default="Delete"),
            field_column("VolumeBindingMode", "volumeBindingMode", default="Immediate"),
            flag_column("AllowVolumeExpansion", "allowVolumeExpansion", kind="string"),
            AGE_COLUMN,
        ),
        ("apiextensions.k8s.io", "CustomResourceDefinition"): (CREATED_COLUMN,),
    }
)
"""The columns of kinds after the name, with which only those of events do not begin."""
