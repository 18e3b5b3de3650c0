"""Volcano's queue controller: it opens and closes queues, and counts their PodGroups.

Of the queues' limits only those of each item are kept: that not more than 100 items may fail
within 10 seconds plays no part. Handling one request is one step, however many workers there are.

Source: pkg/controllers/queue/queue_controller.go, queue_controller_handler.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..kubernetes import work_queue
from ..kubernetes.api_errors import NotFound, Refused
from ..kubernetes.api_server import DELETED, Document, place_of
from ..kubernetes.object_table import ObjectTable
from ..kubernetes.work_queue import WorkQueue
from ..volcano.controllers.queue import QueueControllerBehaviours
from .component import Client
from .lister import TOMBSTONE, UNLISTED, Listed, Lister
from .pointer_requests import Numbered, Requests, next_due, try_again
from .queue_states import SYNC_QUEUE, plan
from .queue_writes import QueueFailure, QueueWrites

WORK, COMMAND = "queue", "queue commands"
"""The steps: a worker takes the first request, or the first command."""

_TARGET = ("scheduling.volcano.sh/v1beta1", "Queue")


class QueueRequest(NamedTuple):
    """What is to be done with a queue.

    Source: pkg/controllers/apis/request.go Request.
    """

    queue: str
    action: str
    event: str = ""


class QueueControllerState(NamedTuple):
    """All that the controller holds.

    :param queues, podgroups: what the listers hold. :param groups: keys of PodGroups by queue.
    :param commands: numbers of the commands that wait.
    """

    queues: Listed
    podgroups: Listed
    groups: tuple[tuple[str, tuple[str, ...]], ...]
    requests: work_queue.WorkQueueState[Numbered[QueueRequest]]
    commands: work_queue.WorkQueueState[int]


class QueueController:
    """Writes the states of queues, as commands and their PodGroups ask for it.

    :ivar requests: what workers take. :ivar commands: numbers of commands to be carried out.
    """

    kinds: tuple[str, ...] = ("Queue", "PodGroup", "Command")
    tombstones: tuple[str, ...] = ("PodGroup",)

    def __init__(self, behaviours: QueueControllerBehaviours, objects: ObjectTable) -> None:
        self._own = behaviours
        self._objects = objects
        self._queues = Lister(objects)
        self._podgroups = Lister(objects)
        self._groups: dict[str, set[str]] = {}
        self.requests = Requests[QueueRequest]()
        self.commands = WorkQueue[int]()

    def deliver(
        self,
        verb: str,
        kind: str,
        key: str,
        document: Document,
        client: Client,  # noqa: ARG002 -- these handlers send nothing
    ) -> None:
        """Let an informer deliver a change: the lister has it, then the handler is called."""
        if kind == "Queue":
            old = self._queues.get(key)
            self._queues.deliver(verb, key, document)
            self._queue_changed(verb, old, document)
        elif kind == "PodGroup":
            old = self._podgroups.get(key)
            self._podgroups.deliver(verb, key, document)
            self._group_changed(verb, old, document)
        elif kind == "Command" and verb == "ADDED" and _is_for_queues(document):
            # Only AddFunc is registered, so a resync carries no command out twice.
            self.commands.add(self._objects.number(document))

    def steps(self) -> Sequence[str]:
        """Return which of the controller's workers have something to do."""
        waiting = {WORK: len(self.requests), COMMAND: len(self.commands)}
        return [name for name, length in waiting.items() if length]

    def step(self, name: str, client: Client) -> None:
        """Let a worker take the first item of its queue, and work on it."""
        if name == COMMAND:
            number = self.commands.take()
            self._carry_out(number, client)
            self.commands.done(number)
        else:
            assert name == WORK
            item = self.requests.take()
            self._handle(item, client)
            self.requests.queue.done(item)

    def due(self) -> int | None:
        """Return in how many microseconds the first delay is over; None if nothing waits."""
        return next_due(self.requests.queue, self.commands)

    def advance(self, by: int) -> None:
        """Let so many microseconds pass."""
        self.requests.queue.advance(self.requests.queue.now + by)
        self.commands.advance(self.commands.now + by)

    def groups(self) -> Mapping[str, Sequence[str]]:
        """Return the keys of the PodGroups that the controller knows, by queue."""
        return {queue: sorted(keys) for queue, keys in sorted(self._groups.items())}

    def kept(self) -> QueueControllerState:
        """Return all that the controller holds."""
        groups = tuple((queue, tuple(keys)) for queue, keys in self.groups().items())
        listed = self._queues.kept(), self._podgroups.kept()
        return QueueControllerState(*listed, groups, self.requests.kept(), self.commands.kept())

    def restore(self, kept: QueueControllerState) -> None:
        """Hold what another controller held, and nothing else."""
        self._queues.restore(kept.queues)
        self._podgroups.restore(kept.podgroups)
        self._groups = {queue: set(keys) for queue, keys in kept.groups}
        self.requests.restore(kept.requests)
        self.commands.restore(kept.commands)

    def _queue_changed(self, verb: str, old: Document | None, queue: Document) -> None:
        """Forget the PodGroups of a queue that is gone; sync one that is new or has moved."""
        name = queue["metadata"]["name"]
        if verb == DELETED:
            self._groups.pop(name, None)
        elif old is None or (self._own.queue_tree and _parent(old) != _parent(queue)):
            # updateQueue looks at the parent alone: a new weight or state requests nothing.
            self._sync(name)

    def _group_changed(self, verb: str, old: Document | None, group: Document) -> None:
        """Know a PodGroup by its queue, or forget it, and sync the queue.

        Of a PodGroup that is known only a new phase counts, not that it is in another queue. One
        whose deletion was missed stays known.

        Source: pkg/controllers/queue/queue_controller_handler.go addPodGroup, updatePodGroup,
        deletePodGroup.
        """
        queue, key = group["spec"].get("queue", ""), place_of(group).key
        if verb == UNLISTED:
            return
        if verb == TOMBSTONE:
            pass  # Its key is not found out, so the PodGroup stays known: deletePodGroup.
        elif verb == DELETED:
            self._groups.get(queue, set()).discard(key)
        elif old is not None and _phase(old) == _phase(group):
            return
        else:
            # One that changes its queue stays with the old one, too: deletePodGroup knows the last.
            self._groups.setdefault(queue, set()).add(key)
        self._sync(queue)

    def _sync(self, queue: str) -> None:
        self.requests.add(QueueRequest(queue, SYNC_QUEUE, "OutOfSync"))

    def _carry_out(self, number: int, client: Client) -> None:
        """Delete a command and do what it says; one that is gone was carried out before.

        Source: pkg/controllers/queue/queue_controller.go handleCommand, handleCommandErr.
        """
        command = self._objects.document(number)
        try:
            client.delete("Command", place_of(command).key)
        except NotFound:
            pass
        except Refused:
            try_again(self.commands, number)
            return
        else:
            target = command["target"]["name"]
            self.requests.add(QueueRequest(target, command.get("action", ""), "CommandIssued"))
        self.commands.forget(number)

    def _handle(self, item: Numbered[QueueRequest], client: Client) -> None:
        """Work on a request; what fails is tried again, and given up with an event in the end.

        Source: pkg/controllers/queue/queue_controller.go handleQueue, handleQueueErr.
        """
        queue, request = self._queues.get(item.request.queue), item.request
        try:
            # handleQueue drops a request about a queue that is gone: no failure.
            if queue is not None:
                self._execute(queue, request, client)
        except QueueFailure as failure:
            if not try_again(self.requests.queue, item) and queue is not None:
                client.emit(queue, request.action, f"{request.action} queue failed for {failure}")
        else:
            self.requests.queue.forget(item)

    def _execute(self, queue: Document, request: QueueRequest, client: Client) -> None:
        """Do what an action means in the state of a queue.

        :raises QueueFailure: it is to be tried again.
        """
        state = queue.get("status", {}).get("state", "")
        planned = plan(state, request.action)
        if planned is None:
            raise QueueFailure(f"queue {request.queue} state {state} is invalid")
        writes = QueueWrites(self._own, client, self._queues, self._podgroups, self._groups)
        try:
            writes.carry_out(planned, queue)
        except (Refused, QueueFailure) as failure:
            raise QueueFailure(
                f"sync queue {request.queue} failed for {failure}, event is {request.event}, "
                f"action is {request.action}"
            ) from failure
        finally:
            # Go enqueues children and parents as it meets them: also when a later write fails.
            for name, action in writes.next_requests:
                self.requests.add(QueueRequest(name, action))


def _is_for_queues(command: Document) -> bool:
    target = command.get("target") or {}
    return (target.get("apiVersion"), target.get("kind")) == _TARGET


def _parent(queue: Document) -> str:
    parent: str = queue["spec"].get("parent", "")
    return parent


def _phase(group: Document) -> str:
    phase: str = group.get("status", {}).get("phase", "")
    return phase
