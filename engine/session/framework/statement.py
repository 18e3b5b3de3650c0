"""A statement: operations that are committed together, or all undone.

Source: ``pkg/scheduler/framework/statement.go``.
"""

from __future__ import annotations

from enum import Enum

import msgspec

from ...model.session_tables import NO_NODE, TaskStatus
from ...volcano.session.allocate import FailedPipelining
from . import immediate
from .session import Session
from .trace import StepOutcome

_UNNOTICED = frozenset({FailedPipelining.ERRORS_IGNORED, FailedPipelining.UNNOTICED})


class OperationKind(Enum):
    """Kind of an operation."""

    EVICT = "evict"
    PIPELINE = "pipeline"
    ALLOCATE = "allocate"


class TaskOperation(msgspec.Struct, frozen=True):
    """An operation on a task; the node is where it was placed.

    ``before`` is the task's memory of an earlier discard when the operation was saved;
    ``evicted``: tasks are evicted for this pipelined task.
    """

    kind: OperationKind
    task: int
    node: int
    reason: str = ""
    before: tuple[int, int, bool] | None = None
    evicted: bool = False


class Statement:
    """Operations of one job, in order."""

    def __init__(self, ssn: Session) -> None:
        self._ssn = ssn
        failing = ssn.behaviours.failed_pipelining
        self._notices = failing not in _UNNOTICED
        self._binds_or_takes_back = failing is not FailedPipelining.ERRORS_IGNORED
        self._takes_back = failing is FailedPipelining.UNDONE
        self._behaviours = ssn.behaviours
        self._recovering = False
        """Whether saved operations are repeated on task handles with the planned status."""
        self.operations: list[TaskOperation] = []

    def evict(self, task: int, reason: str) -> str | None:
        """Mark a task as releasing; return the error, or ``None``."""
        ssn = self._ssn
        self._move(task, TaskStatus.RELEASING, ssn.tasks.status.item(task))
        node = int(ssn.tasks.node[task])
        if node != NO_NODE:
            error = ssn.replace(task, node)
            if error is not None:
                ssn.errors.append(f"Failed to update task <{ssn.task_name(task)}>: {error}")
                return error
        ssn.registry.notify_deallocated(task, node)
        self.operations.append(TaskOperation(OperationKind.EVICT, task, node, reason))
        return None

    def pipeline(self, task: int, node: int, *, evicted: bool = False) -> str | None:
        """Pipeline a task on a node: it will get resources that become free.

        On an error, which is returned, nothing is recorded and nothing rolled back: that is for the
        caller (:meth:`un_pipeline`).
        """
        ssn = self._ssn
        errors = self._put(task, node, TaskStatus.PIPELINED)
        # `TaskInfo.EvictionOccurred` is set by every `Pipeline`, so an earlier True has to go, too.
        if evicted:
            ssn.tasks.eviction_occurred.add(task)
        else:
            ssn.tasks.eviction_occurred.discard(task)
        # The plugins hear of the task even if the node refused it: `Pipeline` collects all errors
        # first.
        errors += ssn.registry.notify_allocated(task, node)
        # Older releases, v1.10.0 being the last, record every task and return no error.
        if errors and self._notices:
            return self._failed("pipeline", task, node, errors)
        self.operations.append(TaskOperation(OperationKind.PIPELINE, task, node, evicted=evicted))
        if ssn.trace.on:
            ssn.trace.add(
                "pipeline",
                ssn.task_name(task),
                outcome=StepOutcome.NODE,
                named=ssn.nodes.names[node],
            )
        return None

    def allocate(self, task: int, node: int) -> str | None:
        """Allocate a task on a node's idle resources; on an error as :meth:`pipeline`."""
        ssn = self._ssn
        errors = self._put(task, node, TaskStatus.ALLOCATED)
        errors += ssn.registry.notify_allocated(task, node)
        if errors and self._notices:
            return self._failed("allocate", task, node, errors)
        self.operations.append(TaskOperation(OperationKind.ALLOCATE, task, node))
        if ssn.trace.on:
            ssn.trace.add(
                "allocate",
                ssn.task_name(task),
                outcome=StepOutcome.NODE,
                named=ssn.nodes.names[node],
            )
        return None

    def un_pipeline(self, task: int) -> None:
        """Take a promise back."""
        self._take(task)

    def un_allocate(self, task: int) -> None:
        """Take an allocation back."""
        self._take(task)

    def commit(self) -> None:
        """Commit the operations: evict and bind through the cache; none is open afterwards."""
        assert not self._recovering, "operations end after they were repeated, not meanwhile"
        ssn = self._ssn
        for operation in self.operations:
            task = operation.task
            # `ClearLastTxContext`: the pod's message says what is done now, no longer what was
            # undone before.
            ssn.tasks.last_transaction.pop(task, None)
            # A promise is only in the session: `Statement.pipeline` is empty, and the next session
            # decides again.
            if operation.kind is OperationKind.EVICT:
                error = immediate.evict_in_cache(ssn, task, operation.reason)
                if error is not None:
                    self._un_evict(task)
                    ssn.errors.append(f"Failed to evict task: {error}")
            elif operation.kind is OperationKind.ALLOCATE:
                error = immediate.dispatch(ssn, task)
                if error is not None:
                    if self._binds_or_takes_back:
                        self.un_allocate(task)
                    ssn.errors.append(f"Failed to allocate task <{ssn.task_name(task)}>: {error}.")
        self.operations = []

    def discard(self) -> None:
        """Undo all operations, the last one first; tasks remember the plan."""
        assert not self._recovering, "operations end after they were repeated, not meanwhile"
        ssn = self._ssn
        # Backwards, as `Statement.Discard`: a promise is taken back before the victims return that
        # make room for it.
        for operation in reversed(self.operations):
            task = operation.task
            # At the close, a pod's message says what was planned for it, though it was undone.
            ssn.tasks.last_transaction[task] = (
                int(ssn.tasks.status[task]),
                int(ssn.tasks.node[task]),
                task in ssn.tasks.eviction_occurred,
            )
            if operation.kind is OperationKind.EVICT:
                self._un_evict(task)
            else:
                self._take(task)
        if self.operations and ssn.trace.on:
            ssn.trace.add("discard", outcome=StepOutcome.TAKEN_BACK, many=len(self.operations))
        self.operations = []

    def merge(self, other: Statement) -> None:
        """Move the operations of another statement into this one."""
        assert other is not self, "a statement would lose its operations to itself"
        assert other._ssn is self._ssn, "both have changed the same session"
        self.operations += other.operations
        other.operations = []

    def save_operations(self) -> list[TaskOperation]:
        """Return the operations for :meth:`recover_operations`."""
        before = self._ssn.tasks.last_transaction
        return [
            msgspec.structs.replace(operation, before=before.get(operation.task))
            for operation in self.operations
        ]

    def recover_operations(self, operations: list[TaskOperation]) -> str | None:
        """Repeat saved operations; stop at the first error and return it."""
        assert not self._recovering, "saved operations are not saved again while they are redone"
        self._recovering = True
        error = self._recover(operations)
        self._recovering = False
        return error

    def _recover(self, operations: list[TaskOperation]) -> str | None:
        # A saved operation has a clone of its task (`SaveOperations`), which replaces the task:
        # what the clone remembers of a discard counts from then on.
        last = self._ssn.tasks.last_transaction
        for operation in operations:
            if self._behaviours.topology_gradients:
                self._ssn.sub_jobs.stale.keep(operation.task, last.get(operation.task))
            self._remember(operation.task, operation.before)
            if operation.kind is OperationKind.EVICT:
                error = self.evict(operation.task, operation.reason)
            elif operation.kind is OperationKind.PIPELINE:
                error = self.pipeline(operation.task, operation.node, evicted=operation.evicted)
            else:
                error = self.allocate(operation.task, operation.node)
            if error is not None:
                if self._takes_back and operation.kind is not OperationKind.EVICT:
                    self._take(operation.task)
                return error
        return None

    def _move(self, task: int, status: TaskStatus, noted: int) -> None:
        """Move a task to another status.

        :param noted: the status of the handle that it is moved by.
        """
        ssn, present = self._ssn, self._ssn.tasks.status.item(task)
        if self._behaviours.topology_gradients:
            noted = status if self._recovering else noted
            if noted != present and not self._recovering:
                self._remember(task, ssn.sub_jobs.stale.kept(task))
            ssn.sub_jobs.stale.move(task, present, noted, status)
        ssn.set_status(task, status)

    def _remember(self, task: int, discarded: tuple[int, int, bool] | None) -> None:
        """Store in a task what was planned for it and undone."""
        if discarded is None:
            self._ssn.tasks.last_transaction.pop(task, None)
        else:
            self._ssn.tasks.last_transaction[task] = discarded

    def _put(self, task: int, node: int, status: TaskStatus) -> list[str]:
        ssn = self._ssn
        self._move(task, status, TaskStatus.PENDING)
        # Set even if the node then refuses the task, as `NodeName` is before `AddTask`.
        ssn.tasks.node[task] = node
        error = ssn.place(task, node)
        return [] if error is None else [error]

    def _take(self, task: int) -> None:
        ssn = self._ssn
        self._move(task, TaskStatus.PENDING, ssn.tasks.status.item(task))
        node = int(ssn.tasks.node[task])
        if node != NO_NODE:
            ssn.unplace(task, node)
        # The handlers still see the node; only then does `unallocate` clear `NodeName`.
        ssn.registry.notify_deallocated(task, node)
        ssn.tasks.node[task] = NO_NODE
        ssn.tasks.job_hypernode.pop(task, None)

    def _un_evict(self, task: int) -> None:
        """Undo the eviction of a task; it is Running then, whatever its status was before."""
        ssn = self._ssn
        self._move(task, TaskStatus.RUNNING, ssn.tasks.status.item(task))
        node = int(ssn.tasks.node[task])
        if node != NO_NODE:
            error = ssn.replace(task, node)
            if error is not None:
                ssn.errors.append(f"Failed to update task <{ssn.task_name(task)}>: {error}")
                return
        ssn.registry.notify_allocated(task, node)

    def _failed(self, operation: str, task: int, node: int, errors: list[str]) -> str:
        ssn = self._ssn
        text = (
            f"Task {ssn.task_name(task)} {operation} to node {ssn.nodes.names[node]} failed:"
            f" {'; '.join(errors)}"
        )
        ssn.errors.append(text)
        return text
