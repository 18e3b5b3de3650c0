"""Nodes as the scheduler's cache holds them: their resources, and what their tasks use.

Source: pkg/scheduler/api/node_info.go.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ..kubernetes.go.text import parse_bool
from ..kubernetes.objects import Node, Numatopology, Taint
from .device_log import DeviceLog
from .panic import Panic
from .resource import ZERO, Resource
from .subtraction import rest, subtraction
from .task import REVOCABLE_ZONE, TaskInfo
from .task_status import TaskStatus

OVERSUBSCRIPTION = "volcano.sh/oversubscription"
OFFLINE_JOB_EVICTING = "volcano.sh/offline-job-evicting"
OVERSUBSCRIPTION_CPU = "volcano.sh/oversubscription-cpu"
OVERSUBSCRIPTION_MEMORY = "volcano.sh/oversubscription-memory"

UNINITIALIZED = "UnInitialized"
NOT_READY = "NotReady"


class PlacedTask(NamedTuple):
    """A task in a node's account: later changes of the task's status do not change the account."""

    task: TaskInfo
    status: TaskStatus


class ImageState(NamedTuple):
    """An image on a node: bytes, and how many nodes had it when this node was last synced."""

    size: int
    nodes: int


class NodeRules(NamedTuple):
    """How nodes keep their accounts; see the behaviours of these names.

    :param checked: ``subtractions_checked``. :param skipped: ``overfull_nodes_skipped``.
    :param binding_counts: ``binding_pods_always_count``.
    :param keep_pods: ``returning_nodes_keep_pods``.
    """

    checked: bool = False
    skipped: bool = False
    binding_counts: bool = False
    keep_pods: bool = False


AS_RELEASED = NodeRules()
"""How all of Volcano's releases keep them."""


class NodeInfo:
    """One node; a pod on an unknown node creates one without a Node.

    :ivar node: including the volume limits of its CSINode, or None.
    :ivar reason: why the node is not ready; sessions then do not see it.
    :ivar tasks: by ``namespace/name``; pods of one name with different UIDs are not distinguished.
    :ivar oversubscription: what the annotations add to allocatable; removing an annotation does
        not remove it.
    :ivar images: by name.
    :ivar devices: the pods with shared devices since the Node was last read.
    """

    __slots__ = (
        "_ignored",
        "_parsed",
        "_rules",
        "_subtract",
        "allocatable",
        "capacity",
        "devices",
        "idle",
        "images",
        "name",
        "node",
        "numatopology",
        "offline_job_evicting",
        "oversubscription",
        "oversubscription_node",
        "pipelined",
        "reason",
        "releasing",
        "revocable_zone",
        "tasks",
        "used",
    )

    def __init__(
        self, name: str, ignored: frozenset[str] = frozenset(), rules: NodeRules = AS_RELEASED
    ) -> None:
        self._rules = rules
        self._subtract = subtraction(checked=rules.checked)
        self.name = name
        self.node: Node | None = None
        self.reason = UNINITIALIZED
        self.allocatable = Resource()
        self.capacity = Resource()
        self.idle = Resource()
        self.used = Resource()
        self.releasing = Resource()
        self.pipelined = Resource()
        self.tasks: dict[str, PlacedTask] = {}
        self.revocable_zone = ""
        self.oversubscription_node = False
        self.offline_job_evicting = False
        self.oversubscription = Resource()
        self.images: dict[str, ImageState] = {}
        self.devices = DeviceLog()
        self.numatopology: Numatopology | None = None
        self._ignored = ignored
        self._parsed: tuple[Resource, Resource] | None = None

    @property
    def ignored(self) -> frozenset[str]:
        """The resources that shared devices counted themselves when the Node was last read."""
        return self._ignored

    def ignore(self, names: frozenset[str]) -> None:
        """Ignore these resources when the Node is next read."""
        self._ignored, self._parsed = names, None

    @property
    def ready(self) -> bool:
        """Whether sessions see the node."""
        return not self.reason

    @property
    def labels(self) -> dict[str, str]:
        """The labels; never to be changed."""
        return {} if self.node is None else self.node.labels

    @property
    def taints(self) -> tuple[Taint, ...]:
        """The taints."""
        return () if self.node is None else self.node.spec.taints

    @property
    def unschedulable(self) -> bool:
        """Whether the node is cordoned."""
        return self.node is not None and self.node.spec.unschedulable

    def out_of_sync(self) -> list[str]:
        """Return the resources of which more is used than there is; the scheduler logs them."""
        return self.used.less_equal_with_resources_name(self.allocatable, ZERO)[1]

    @property
    def skipped(self) -> bool:
        """Whether sessions skip the node, because more is used than it has."""
        return self._rules.skipped and self.ready and bool(self.out_of_sync())

    def lose_node(self) -> None:
        """Unset the Node, but keep the tasks: they count again when it is recreated."""
        self.node, self.reason = None, UNINITIALIZED
        self.allocatable, self.capacity, self.idle = Resource(), Resource(), Resource()
        self.used, self.releasing, self.pipelined = Resource(), Resource(), Resource()

    def hide(self) -> None:
        """Hide the node from sessions, because its condition Ready is not True."""
        self.reason = NOT_READY

    def set_node(self, node: Node, ignored: frozenset[str] = frozenset()) -> None:
        """Store a version of the Node, and recompute the account of all tasks.

        Source: node_info.go SetNode, setNode.
        """
        if self.node is None or ignored != self._ignored or not _same_amounts(self.node, node):
            self._parsed = None
        self.node = node
        self.reason = ""
        self._ignored = ignored
        self._read(node)
        self._reset()
        self.devices = DeviceLog()
        for task, status in self.tasks.values():
            self._account(task, status)
            self.devices.note(task.pod, status, added=True)

    def fresh(self, node: Node, ignored: frozenset[str]) -> NodeInfo:
        """Return the node as one that never had another version of its Node, without tasks."""
        info = NodeInfo(self.name, self._ignored)
        # The amounts are the same if the Node's are, so they need not be parsed again.
        info.node, info._parsed = self.node, self._parsed
        info.set_node(node, ignored)
        return info

    def add_task(self, task: TaskInfo) -> str | None:
        """Add a task with its current status; return the error, or None.

        Source: node_info.go AddTask.
        """
        # A task keeps the name of its node after it was removed from it.
        if task.node_name and self.name and task.node_name != self.name:
            return f"task <{task.key}> already on different node <{task.node_name}>"
        if task.key in self.tasks:
            return f"task <{task.key}> already on node <{self.name}>"
        # Until the Node comes there is no account: then it is made from all tasks.
        if self.node is not None:
            refusal = self._refusal(task) if task.status == TaskStatus.BINDING else None
            if refusal is not None:
                return refusal
            self._account(task, task.status)
            self.devices.note(task.pod, task.status, added=True)
        task.node_name = self.name
        self.tasks[task.key] = PlacedTask(task, task.status)
        return None

    def _refusal(self, task: TaskInfo) -> str | None:
        """Return why nothing can be bound to the node, or not this task; None if it can."""
        if self.skipped:
            return f"node {self.name} is out of sync in [{' '.join(self.out_of_sync())}]"
        if task.request.less_equal(self.idle, ZERO):
            return None
        lacking = task.request.less_equal_with_resources_name(self.idle, ZERO)[1]
        return (
            f"node {self.name} resources [{' '.join(lacking)}] are not enough to put "
            f"task <{task.key}>, idle: {self.idle}, req: {task.request}"
        )

    def remove_task(self, key: str, uid: str = "") -> bool:
        """Remove a task by ``namespace/name``, as it was added; return whether it was there.

        :param uid: unless empty, a task of another UID is not removed.
        :raises Panic: its request is more than what is used.

        Source: node_info.go RemoveTask.
        """
        placed = self.tasks.get(key)
        if placed is None or uid not in {"", placed.task.uid}:
            return False
        if self.node is not None:
            try:
                self._give_back(placed.task.request, placed.status)
            except Panic as panic:
                raise panic.through("api.(*NodeInfo).RemoveTask") from None
            self.devices.note(placed.task.pod, placed.status, added=False)
        del self.tasks[key]
        return True

    def update_task(self, task: TaskInfo) -> None:
        """Set a task's new status.

        :raises Panic: it cannot be added again.

        Source: node_info.go UpdateTask.
        """
        self.remove_task(task.key)
        if self.add_task(task) is not None:
            raise Panic(
                f"Failed to add Task <{task.namespace},{task.name}> to Node <{self.name}> "
                "during task update",
                ("api.(*NodeInfo).UpdateTask",),
            )

    def twin(self) -> NodeInfo:
        """Return a copy of the node, with its own account and tasks."""
        twin = NodeInfo(self.name, self._ignored)
        for name in NodeInfo.__slots__:
            setattr(twin, name, getattr(self, name))
        for name in ("idle", "used", "releasing", "pipelined"):
            setattr(twin, name, getattr(self, name).clone())
        twin.tasks = dict(self.tasks)
        twin.devices = self.devices.copy()
        return twin

    def view(self) -> NodeInfo:
        """Return the node as a session sees it: rebuilt from the Node and the tasks.

        Binding tasks that do not fit are left out, unless they always count. Oversubscription
        without an annotation is removed.

        Source: node_info.go Clone.
        """
        copy = NodeInfo(self.name, self._ignored, self._rules)
        copy.images = self.images
        copy.devices = self.devices
        copy.numatopology = self.numatopology
        if self.node is None:
            copy.tasks = dict(self.tasks)
            return copy
        if self._parsed is None:
            self._parsed = self._parse(self.node)
        # Each session has a view of each node: amounts are parsed once for all of them.
        copy._parsed = self._parsed
        copy.node, copy.reason = self.node, ""
        copy._read(self.node)
        copy._reset()
        for key, placed in self.tasks.items():
            task, status = placed
            if (
                status == TaskStatus.BINDING
                and not self._rules.binding_counts
                and not task.request.less_equal(copy.idle, ZERO)
            ):
                continue
            copy._account(task, status)
            copy.tasks[key] = placed
        return copy

    def _parse(self, node: Node) -> tuple[Resource, Resource]:
        status = node.status
        return (
            Resource.of(status.allocatable, self._ignored),
            Resource.of(status.capacity, self._ignored),
        )

    def _read(self, node: Node) -> None:
        """Read labels and annotations.

        Source: node_info.go setOversubscription, setRevocableZone.
        """
        labels, annotations = node.labels, node.annotations
        self.revocable_zone = labels.get(REVOCABLE_ZONE, "")
        self.oversubscription_node = bool(parse_bool(labels.get(OVERSUBSCRIPTION, "")))
        self.offline_job_evicting = bool(parse_bool(annotations.get(OFFLINE_JOB_EVICTING, "")))
        if OVERSUBSCRIPTION_CPU in annotations:
            self.oversubscription.cpu = _float(annotations[OVERSUBSCRIPTION_CPU])
        if OVERSUBSCRIPTION_MEMORY in annotations:
            self.oversubscription.memory = _float(annotations[OVERSUBSCRIPTION_MEMORY])

    def _reset(self) -> None:
        """Account for no task at all."""
        assert self.node is not None
        if self._parsed is None:
            self._parsed = self._parse(self.node)
        allocatable, capacity = self._parsed
        self.allocatable = allocatable.clone().add(self.oversubscription)
        self.capacity = capacity.clone().add(self.oversubscription)
        self.used = Resource()
        checked = self._rules.checked
        self.idle = rest(self.allocatable, self.used) if checked else self.allocatable.clone()
        self.releasing = Resource()
        self.pipelined = Resource()

    def _account(self, task: TaskInfo, status: TaskStatus) -> None:
        request = task.request
        if status == TaskStatus.PIPELINED:
            self.pipelined.add(request)
            return
        self.used.add(request)
        if self._rules.checked:
            self.idle = rest(self.allocatable, self.used)
        else:
            self.idle.sub_unchecked(request)
        if status == TaskStatus.RELEASING:
            self.releasing.add(request)

    def _give_back(self, request: Resource, status: TaskStatus) -> None:
        if status == TaskStatus.PIPELINED:
            self._subtract(self.pipelined, request)
            return
        # In the order of `RemoveTask`: where two sums lack the amount, the first is in the panic.
        if status == TaskStatus.RELEASING:
            self._subtract(self.releasing, request)
        if self._rules.checked:
            self._subtract(self.used, request)
            self.idle = rest(self.allocatable, self.used)
        else:
            self.idle.add(request)
            self.used.sub(request)


def _same_amounts(node: Node, other: Node) -> bool:
    mine, theirs = node.status, other.status
    return mine.allocatable == theirs.allocatable and mine.capacity == theirs.capacity


_FLOAT = re.compile(
    r"[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf(?:inity)?|nan)",
    re.IGNORECASE,
)


def _float(text: str) -> float:
    """Return a number as Go reads it; 0 if it is malformed.

    Source: strconv.ParseFloat, without hexadecimal numbers.
    """
    return float(text) if _FLOAT.fullmatch(text) else 0.0
