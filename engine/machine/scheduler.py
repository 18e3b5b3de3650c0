"""The scheduler as a component of a machine: its cache, its workers, and its sessions.

The handlers and workers are those of :mod:`plinian.engine.cache`, through its one driver, and the
session is the session. What the component holds between steps is packed as stored beliefs are.

The scheduler writes what others act on: nodes of pods, phases of PodGroups, evictions. It writes no
conditions and no sums into statuses. Nothing here reads them, and each of them would be one more
version of an object, and so many more states of a machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from ..cache.cache_requests import (
    BindPod,
    CreateQueue,
    DeletePod,
    GetQueue,
    Request,
    WriteAllocated,
    WriteConditions,
    WritePodGroup,
)
from ..cache.driver import Taken, Worker
from ..cache.projector import Origin, Projector
from ..cache.restored import seen_by_sessions, unpack
from ..cache.scheduler_flags import CacheOptions
from ..cache.snapshot import take_priorities
from ..cache.stored import pack
from ..cache.writer import CacheWriter, ClosedJobStatus
from ..controllers.component import Client
from ..kubernetes.api_server import DELETED, Document
from ..kubernetes.object_store import default_queue
from ..kubernetes.objects import KINDS, Object, Pod, decode
from ..kubernetes.objects.volcano import PodGroup, PodGroupStatus
from ..model.panic import Panic
from ..session.framework.process_parts import ProcessState
from ..session.session_run import SessionInput, run_session
from .decoded import DecodedObjects
from .known_sessions import DecidedSession, Noting

if TYPE_CHECKING:
    from ..session.framework.session_outcome import SessionResult
    from ..volcano.conf import SchedulerConf
    from ..volcano.session.behaviours import Behaviours

SCHEDULER = "scheduler"
"""The name of the scheduler among the components."""

SESSION, BINDS = "session", "binds"
TAKES, FINISHES = "takes from", "finishes with"
ONE_STEP = (Worker.NODES, Worker.HYPERNODES)
"""Workers that do their work in one step: it does not matter when they take an item."""

_EVICTING = frozenset({"preempt", "reclaim", "gangpreempt", "gangreclaim", "shuffle"})


class SchedulerSettings(NamedTuple):
    """What a scheduler is started with.

    :param kinds: the kinds that its informers watch, of those that the cluster has.
    :param now: the present of all sessions, in microseconds since 1970.
    """

    behaviours: Behaviours
    conf: SchedulerConf
    objects: DecodedObjects
    kinds: tuple[str, ...]
    now: int
    options: CacheOptions = CacheOptions()


class SchedulerState(NamedTuple):
    """All that a scheduler holds between steps.

    :param cache: packed. :param binding: what is still to be bound: the job, the node and the pod.
    """

    cache: bytes
    binding: tuple[tuple[str, str, bytes], ...]


class SchedulerComponent:
    """One scheduler process.

    :param known: what sessions decided, by what they saw of a cache that was restored; the
        schedulers of one machine share it. Without it, every session is run.
    :ivar settings: what it was started with.
    """

    def __init__(
        self, settings: SchedulerSettings, known: dict[bytes, DecidedSession] | None = None
    ) -> None:
        self.settings = settings
        self._known = known
        self._restored: bytes | None = None
        self.kinds = settings.kinds
        self._projector: Projector | None = None
        self._binding: tuple[tuple[str, str, bytes], ...] = ()

    @property
    def projector(self) -> Projector:
        """The cache and its driver: made when first asked for, because most are restored."""
        if self._projector is None:
            self._projector = Projector(self.settings.behaviours, self.settings.options)
        return self._projector

    @property
    def waits_for_lists(self) -> bool:
        """Whether no session runs before the handlers have seen all that exists at the start."""
        return self.projector.cache.own.first_session_waits_for_handlers

    @property
    def evicts(self) -> bool:
        """Whether the configuration has an action that may evict pods."""
        return not _EVICTING.isdisjoint(self.settings.conf.actions)

    def _payloads(self, positions: Sequence[int]) -> dict[int, bytes]:
        document = self.settings.objects.table.document
        # Position 0 stands for no event, so a document is stored by its number and one more.
        return {at: msgspec.json.encode(document(at - 1)) for at in positions}

    def _decoded(self, kind: type[Object], position: int) -> Object:
        return self.settings.objects.get(kind, position - 1)

    def kept(self) -> SchedulerState:
        """Return all that the scheduler holds, in an order that does not depend on history."""
        cache = self.projector.cache
        cache.stores.arrange()
        for queue in self.projector.driver.queues().values():
            queue.rebase()
        return SchedulerState(pack(self.projector), self._binding)

    def restore(self, kept: SchedulerState) -> None:
        """Hold what another scheduler held, and nothing else."""
        self._projector = unpack(
            kept.cache, self.settings.behaviours, self._payloads, self._decoded
        )
        self._binding = kept.binding
        self._restored = kept.cache

    def deliver(self, verb: str, kind: str, key: str, document: Document, _: Client) -> None:
        """Let an informer deliver a change.

        :raises Panic: the process ends.
        """
        self._restored = None
        item = decode(KINDS[kind], document)
        origins, driver = self.projector.origins[kind], self.projector.driver
        try:
            if verb == DELETED:
                driver.deliver_deletion(kind, item)
                origins.pop(key, None)
            else:
                origins[item.key] = Origin(item, self.settings.objects.table.number(document) + 1)
                driver.deliver(kind, item)
        except Panic as panic:
            raise panic.while_it(f"it handles {kind} {key} ({verb})") from None

    def steps(self) -> Sequence[str]:
        """Return what the workers and the session could do now."""
        driver = self.projector.driver
        steps = []
        for worker, queue in driver.queues().items():
            if queue.taken():
                steps.append(f"{FINISHES} {worker}")
            elif len(queue):
                steps.append(f"{TAKES} {worker}")
        if self._binding:
            steps.append(BINDS)
        steps.append(SESSION)
        return steps

    def step(self, name: str, client: Client) -> None:
        """Do one of these.

        :raises Panic: the process ends.
        """
        driver = self.projector.driver
        driver.connect(_Requests(client))
        restored, self._restored = self._restored, None
        if name == SESSION:
            self._session(restored)
            return
        if name == BINDS:
            self._writer().process_binds()
            self._binding = ()
            return
        worker = Worker(name.rpartition(" ")[2])
        if name.startswith(TAKES):
            taken = driver.take(worker)
            if taken is not None and worker in ONE_STEP:
                driver.finish(taken)
        else:
            (item,) = driver.queue(worker).taken()  # It takes no other before it has finished.
            driver.finish(Taken(worker, item))

    def due(self) -> int | None:
        """Return in how many microseconds a delayed item is due."""
        queues = self.projector.driver.queues().values()
        return min(
            (due - queue.now for queue in queues for due in queue.due().values()), default=None
        )

    def advance(self, by: int) -> None:
        """Let so many microseconds pass."""
        for queue in self.projector.driver.queues().values():
            queue.advance(queue.now + by)

    def _writer(self) -> CacheWriter:
        writer = self.projector.driver.writer()
        builder = self.projector.cache.job_cache.task_of_pod
        for job, node, pod in self._binding:
            task = builder(msgspec.json.decode(pod, type=Pod))
            writer.waiting.append(msgspec.structs.replace(task, job=job, node_name=node))
        return writer

    def _session(self, restored: bytes | None) -> None:
        """Open a session, run the actions, and write what it says when it closes.

        :param restored: the packed cache, if nothing has reached it since it was restored.
        """
        writer = self._writer()
        decided = self._decide(writer, restored)
        if decided.panic is not None:
            raise decided.panic.through()
        self._close(decided, writer)
        self._binding = tuple(
            (task.job, task.node_name, msgspec.json.encode(task.pod)) for task in writer.waiting
        )

    def _decide(self, writer: CacheWriter, restored: bytes | None) -> DecidedSession:
        """Return what a session decides, which is done then but for its close."""
        if self._known is None or restored is None:
            return self._run(writer)
        seen = seen_by_sessions(restored)
        decided = self._known.get(seen)
        if decided is None:
            decided = self._known[seen] = self._run(writer)
        else:
            # A session that runs takes a snapshot, which sets the priorities of jobs: the cache
            # must be the same without it.
            take_priorities(self.projector.cache)
            decided.request_of(writer)
        return decided

    def _run(self, writer: CacheWriter) -> DecidedSession:
        """Run a session, and return what it decided."""
        settings, noting = self.settings, Noting(writer)
        result = run_session(
            SessionInput(
                snapshot=self.projector.cache.snapshot(),
                conf=settings.conf,
                behaviours=settings.behaviours,
                now=self._present(),
                process=self._process(),
                cache=noting,
            )
        )
        self._ended(result)
        return noting.decided(result)

    def _present(self) -> int:
        """Return the current time of a session."""
        return self.settings.now

    def _process(self) -> ProcessState:
        """Return what the process remembers: nothing, as a search would have to keep it."""
        return ProcessState()

    def _ended(self, result: SessionResult) -> None:
        """Note the result of a session, before anything of it is written at its close."""

    def _close(self, result: DecidedSession, writer: CacheWriter) -> None:
        """Write the statuses of PodGroups, pods and queues.

        Source: pkg/scheduler/framework/session.go closeSession, job_updater.go.
        """
        jobs = self.projector.cache.jobs
        for key, group in sorted(result.pod_groups.items()):
            job = jobs.get(key)
            if job is None or job.pod_group is None or job.pod_group.uid != group.uid:
                continue
            reasons = {
                task.uid: (condition.reason, condition.message)
                for task in job.tasks.values()
                if (condition := result.pod_conditions.get(task.key)) is not None
            }
            status = PodGroupStatus(
                phase=group.phase,
                running=group.running,
                succeeded=group.succeeded,
                failed=group.failed,
            )
            written = msgspec.structs.replace(job.pod_group, status=status)
            writer.write_job_status(key, ClosedJobStatus(written, "", reasons, group.written))
        for name, queue in sorted(result.queues.items()):
            if queue.written and queue.deserved is None:
                writer.write_queue_status(name, queue.allocated)
                self.projector.cache.note_queue_status(name, queue.allocated)


class _Requests:
    """Sends what a cache requests through a client."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def send(self, request: Request) -> None:
        """Carry out a request."""
        client = self._client
        match request:
            case BindPod(pod, node):
                client.bind(pod.key, node, uid=pod.uid)
            case DeletePod(pod):
                # Its condition is updated first, which no other version allows.
                version = pod.metadata.resource_version
                client.delete("Pod", pod.key, uid=pod.uid, version=version)
            case WritePodGroup(pod_group):
                self._write_phase(pod_group)
            case WriteConditions() | WriteAllocated():
                pass
            case GetQueue(name):
                client.get("Queue", name)
            case CreateQueue(name, _):
                client.create(default_queue(name))

    def _write_phase(self, group: PodGroup) -> None:
        """Update a PodGroup's phase, as the version in hand."""
        existing = self._client.get("PodGroup", group.key)
        metadata = {**existing["metadata"], "resourceVersion": group.metadata.resource_version}
        status = {**existing.get("status", {}), "phase": group.status.phase}
        self._client.update({**existing, "metadata": metadata, "status": status})

    def read_pod(self, namespace: str, name: str) -> Pod | None:
        """Return a pod as it is now."""
        document = self._client.find("Pod", f"{namespace}/{name}")
        return None if document is None else decode(Pod, document)

    def emit(self, about: Object, reason: str, message: str) -> None:
        """Create an event: nothing reads those."""

    def bind_volumes(self, pod: Pod) -> str | None:
        """Bind volumes: there is nothing that could fail."""
