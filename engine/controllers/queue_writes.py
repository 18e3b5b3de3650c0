"""What the queue controller writes: states and counts of queues, and what their parents do to them.

Source: pkg/controllers/queue/queue_controller_action.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..kubernetes.api_errors import Refused
from ..kubernetes.api_server import Document
from ..kubernetes.json_patch import JSON_PATCH, added, replaced
from ..volcano.controllers.queue import QueueControllerBehaviours, QueueStateWrite
from .component import Client
from .lister import Lister
from .queue_states import (
    CLOSE_QUEUE,
    CLOSED,
    ENDING,
    OPEN,
    OPEN_QUEUE,
    SYNC_QUEUE,
    NextState,
    QueuePlan,
)

ROOT = "root"
CLOSED_BY_PARENT = "volcano.sh/closed-by-parent"
"""The annotation of a queue that is closed because its parent is."""

SERVER_SIDE_APPLY = "application/apply-patch+yaml"

COUNTED = frozenset({"Pending", "Running", "Unknown", "Inqueue"})
"""Phases of PodGroups that a status counts; the fields are these in lower case."""

Status = dict[str, Any]


class QueueFailure(Exception):
    """The work on a request failed; it is tried again."""


class QueueWrites:
    """The work on one request.

    :param groups: the keys of PodGroups by queue; those that are gone are taken out of it.
    :ivar next_requests: queues, with what is to be done with them next.
    """

    def __init__(
        self,
        own: QueueControllerBehaviours,
        client: Client,
        queues: Lister,
        podgroups: Lister,
        groups: Mapping[str, set[str]],
    ) -> None:
        self._own = own
        self._client = client
        self._queues = queues
        self._podgroups = podgroups
        self._groups = groups
        self.next_requests: list[tuple[str, str]] = []

    def carry_out(self, plan: QueuePlan, queue: Document) -> None:
        """Do what is planned for a queue.

        :raises Refused, QueueFailure: it is to be tried again.
        """
        if plan.act == SYNC_QUEUE:
            self._sync(queue, plan.state)
        elif not self._own.queue_tree:
            self._turn(queue, plan)
        elif plan.act == OPEN_QUEUE:
            self._open(queue, plan.state)
        else:
            self._close(queue, plan.state)

    def _sync(self, queue: Document, state: NextState) -> None:
        """Write the state of a queue, and its counts, and follow its parent.

        Source: pkg/controllers/queue/queue_controller_action.go syncQueue.
        """
        if self._own.queue_tree:
            queue = self._with_parent(queue)
        number, counts = self._count(_name(queue))
        new = state(number)
        if self._own.queue_status_counts_podgroups:
            self._write_status(queue, new, counts)
        else:
            if new != _state(queue):
                queue = self._apply(queue, new, filled=self._own.queue_allocated_filled_in)
            # Last, and with the queue as the server returned it: what the parent asks for is
            # relative to the new state.
            self._follow_parent(queue)

    def _count(self, queue: str) -> tuple[int, dict[str, int]]:
        """Return how many PodGroups a queue has, also in vain, and those of each phase.

        :raises QueueFailure: one is gone that the controller knows, and the release fails then.
        """
        keys, counts = sorted(self._groups.get(queue, ())), dict[str, int]()
        for key in keys:
            group = self._podgroups.get(key)
            if group is None:
                if self._own.missing_podgroups_stop_queue_sync:
                    raise QueueFailure(_not_found("podgroup", key.rpartition("/")[2]))
                self._groups[queue].discard(key)
                continue
            phase = group.get("status", {}).get("phase", "")
            if phase in COUNTED:
                counts[phase.lower()] = counts.get(phase.lower(), 0) + 1
        # Counted before the loop, as syncQueue does: a queue that lost its last PodGroup unseen
        # closes with the next sync.
        return len(keys), counts

    def _write_status(self, queue: Document, state: str, counts: Mapping[str, int]) -> None:
        """Write a whole status, unless it is as before; what is 0 is missing."""
        before: Status = queue.get("status", {})
        status: Status = {"state": state, **counts}
        allocated = before.get("allocated")
        if allocated is None and self._own.queue_allocated_filled_in:
            allocated = {}
        if allocated is not None:
            status["allocated"] = allocated
        if _compared(status, exact=self._own.unchanged_queues_written) != _compared(
            before, exact=self._own.unchanged_queues_written
        ):
            self._client.update({**queue, "status": status}, status=True)

    def _turn(self, queue: Document, plan: QueuePlan) -> None:
        """Open or close a queue: write it with its new state, then the status of what is read.

        An API server ignores the state in the first write, as it is part of the status.

        Source: pkg/controllers/queue/queue_controller_action.go openQueue, closeQueue of v1.8.2.
        """
        opens, old = plan.act == OPEN_QUEUE, _state(queue)
        meant, verb = (OPEN, "Open") if opens else (CLOSED, "Close")
        try:
            self._client.update(_with_state(queue, meant))
        except Refused as refused:
            self._client.emit(queue, plan.act, f"{verb} queue failed for {refused}")
            raise
        self._client.emit(queue, plan.act, f"{verb} queue succeed")
        # Read again: the write above raised the resourceVersion.
        fresh = self._client.get("Queue", _name(queue))
        new = plan.state(len(self._groups.get(_name(queue), ())))
        if new == old:
            return
        try:
            self._client.update(_with_state(fresh, new), status=True)
        except Refused as refused:
            message = f"Update queue status from {old} to {new} failed for {refused}"
            self._client.emit(fresh, plan.act, message)
            raise

    def _open(self, queue: Document, state: NextState) -> None:
        """Open a queue whose parent is open, then the children that it closed.

        Source: pkg/controllers/queue/queue_controller_action.go openQueue, openHierarchicalQueue.
        """
        if _state(queue) != OPEN:
            self._check_parent(queue)
            for child in self._children(queue):
                if _annotations(child).get(CLOSED_BY_PARENT) == "true":
                    # Such a request fails, and is retried, until the lister has this queue open.
                    self.next_requests.append((_name(child), OPEN_QUEUE))
        # openQueue passes no PodGroups: an opened queue is Open, however many it has.
        old, new = _state(queue), state(0)
        if old != new:
            try:
                self._apply(queue, new)
            except Refused as refused:
                message = f"Update queue status from {old} to {new} failed for {refused}"
                self._client.emit(queue, OPEN_QUEUE, message)
                raise
        # For every queue: one that no parent ever closed gets the annotation as well.
        self._mark(queue, "false")

    def _check_parent(self, queue: Document) -> None:
        """Let a queue be opened only below one that is open.

        :raises QueueFailure: its parent is not, or is not known.
        """
        parent = _parent(queue)
        if parent in {"", ROOT}:
            return
        parent_queue = self._queues.get(parent)
        if parent_queue is None:
            raise QueueFailure(
                f"Failed to get parent queue {parent} of queue {_name(queue)}: "
                f"{_not_found('queue', parent)}"
            )
        if _state(parent_queue) in ENDING:
            raise QueueFailure(
                f"Failed to open queue {_name(queue)} because its parent queue {parent} is "
                "closing or closed. Open the parent queue first."
            )

    def _close(self, queue: Document, state: NextState) -> None:
        """Close a queue and its children; the root is never closed.

        Source: pkg/controllers/queue/queue_controller_action.go closeQueue, closeHierarchicalQueue.
        """
        if _state(queue) not in ENDING:
            # closeHierarchicalQueue ends here, before it visits the children.
            if _name(queue) == ROOT:
                return
            # Marked and requested before this queue itself is written, of which the write may fail.
            for child in self._children(queue):
                if _state(child) not in ENDING:
                    self._close_child(child)
        new = state(len(self._groups.get(_name(queue), ())))
        if new != _state(queue):
            try:
                self._apply(queue, new)
            except Refused as refused:
                self._client.emit(queue, CLOSE_QUEUE, f"Close queue failed for {refused}")
                raise
            self._client.emit(queue, CLOSE_QUEUE, "Close queue succeed")

    def _close_child(self, child: Document) -> None:
        try:
            self._mark(child, "true")
        except Refused as refused:
            raise QueueFailure(
                f"Failed to update annotations of queue {_name(child)}: {refused}"
            ) from refused
        self.next_requests.append((_name(child), CLOSE_QUEUE))

    def _follow_parent(self, queue: Document) -> None:
        """Close a queue below a closed one; open one below an open one that had closed it.

        Source: pkg/controllers/queue/queue_controller_action.go syncHierarchicalQueue.

        :raises QueueFailure: the parent is not known.
        """
        if _name(queue) == ROOT:
            return
        # Of the lister, which may be behind: then this sync fails, and is retried.
        parent = self._queues.get(_parent(queue))
        if parent is None:
            raise QueueFailure(_not_found("queue", _parent(queue)))
        ending = _state(queue) in ENDING
        if _state(parent) in ENDING and not ending:
            self._mark(queue, "true")
            self.next_requests.append((_name(queue), CLOSE_QUEUE))
        elif (
            _state(parent) == OPEN
            and ending
            and _annotations(queue).get(CLOSED_BY_PARENT) == "true"
        ):
            self.next_requests.append((_name(queue), OPEN_QUEUE))

    def _with_parent(self, queue: Document) -> Document:
        """Give a queue without a parent the root, and return it."""
        if _name(queue) == ROOT or _parent(queue):
            return queue
        operations = [added(("spec", "parent"), ROOT)]
        return self._client.patch("Queue", _name(queue), operations, how=JSON_PATCH)

    def _mark(self, queue: Document, value: str) -> None:
        """Write on a queue whether its parent closed it; all its annotations if it has none."""
        annotations = _annotations(queue)
        if annotations.get(CLOSED_BY_PARENT) == value:
            return
        write = added if self._own.child_annotation_added else replaced
        path = ("metadata", "annotations")
        if annotations:
            operation = write((*path, CLOSED_BY_PARENT), value)
        else:
            operation = write(path, {CLOSED_BY_PARENT: value})
        self._client.patch("Queue", _name(queue), [operation], how=JSON_PATCH)

    def _apply(self, queue: Document, state: str, *, filled: bool = False) -> Document:
        """Write the state by server-side apply, and return the queue.

        :param filled: what is allocated is written as empty where it is not known.
        """
        status: Status = {"state": state}
        if self._own.queue_state_write is QueueStateWrite.APPLY_ALLOCATED:
            allocated = queue.get("status", {}).get("allocated")
            status["allocated"] = {} if allocated is None and filled else allocated
        part = {
            "apiVersion": "scheduling.volcano.sh/v1beta1",
            "kind": "Queue",
            "metadata": {"name": _name(queue)},
            "status": status,
        }
        return self._client.patch("Queue", _name(queue), part, how=SERVER_SIDE_APPLY, status=True)

    def _children(self, queue: Document) -> list[Document]:
        return [child for child in self._queues.list() if _parent(child) == _name(queue)]


def _compared(status: Status, *, exact: bool) -> Status:
    """Return what of a status is compared: what is 0 is as if it were missing.

    :param exact: empty and missing resources differ.
    """
    return {
        name: value
        for name, value in status.items()
        if value or (exact and name == "allocated" and value is not None)
    }


def _with_state(queue: Document, state: str) -> Document:
    return {**queue, "status": {**queue.get("status", {}), "state": state}}


def _not_found(kind: str, name: str) -> str:
    return f'{kind}.scheduling.volcano.sh "{name}" not found'


def _name(queue: Document) -> str:
    name: str = queue["metadata"]["name"]
    return name


def _state(queue: Document) -> str:
    state: str = queue.get("status", {}).get("state", "")
    return state


def _parent(queue: Document) -> str:
    parent: str = queue["spec"].get("parent", "")
    return parent


def _annotations(queue: Document) -> Mapping[str, str]:
    return queue["metadata"].get("annotations") or {}
