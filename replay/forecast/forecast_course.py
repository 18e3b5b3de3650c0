"""What happens in a live cluster: who gets nodes when, what is evicted, what ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ...engine.kubernetes.api_server import (
    DELETED,
    ENDED,
    ApiServer,
    Document,
    controller_of,
    place_of,
)
from ...engine.machine.live import WrittenObject
from ...engine.machine.scheduler import SCHEDULER
from ..explore.families import group_of
from ..tabular.record_columns import Time
from .pod_lives import alike, template_of
from .recorded_usage import QueueUse, UsageRecorder

_FINISHED = frozenset({"Completed", "Failed", "Terminated", "Aborted"})


class CoursePlacement(msgspec.Struct, frozen=True, kw_only=True):
    """A pod that got a node.

    :param like: what pods of other runs are compared by. :param work: what it belongs to.
    """

    pod: str
    like: str
    node: str
    at: Time
    work: str


class Eviction(msgspec.Struct, frozen=True, kw_only=True):
    """A pod that the scheduler evicted. :param work: what it belongs to."""

    pod: str
    at: Time
    work: str


class WorkItem(msgspec.Struct, kw_only=True):
    """What users call one thing: a job, a deployment, a PodGroup, a pod without an owner.

    :ivar name: as in ``job default/train``. :ivar needs: how many pods it needs to start.
    :ivar had: how many pods had nodes at the beginning. :ivar placed: how many got one since.
    :ivar starts: when as many pods had nodes as it needs; None if they had so already, or never.
    :ivar finished: when it ended. :ivar evictions: how many of its pods were evicted.
    :ivar waiting: how many of its pods have no node at the end.
    """

    name: str
    queue: str
    needs: int = 1
    had: int = 0
    starts: Time | None = None
    finished: Time | None = None
    placed: int = 0
    evictions: int = 0
    waiting: int = 0


class Course(msgspec.Struct, frozen=True, kw_only=True):
    """What happened until a time.

    :param until: microseconds since 1970: earlier than wanted if the run was cut.
    :param sessions: that were due. :param ran: of these, those that were run: of the others it is
        known that they decide nothing.
    :param endless: pods that run for ever, as the log does not say how long.
    :param panics: messages of processes that panicked, with times.
    """

    name: str
    texts: tuple[str, ...]
    release: str
    conf: str
    until: int
    works: dict[str, WorkItem]
    placements: tuple[CoursePlacement, ...]
    evictions: tuple[Eviction, ...]
    queues: tuple[QueueUse, ...]
    sessions: int
    ran: int
    endless: int
    panics: tuple[tuple[int, str], ...]


class Recorder:
    """Follows a live cluster.

    :param begin: microseconds since 1970. :param written: gets everything that is written.
    """

    def __init__(self, begin: int, written: list[WrittenObject] | None = None) -> None:
        self.begin = begin
        self._written = written
        self.usage = UsageRecorder(begin)
        self.works: dict[str, WorkItem] = {}
        self.placements: list[CoursePlacement] = []
        self.evictions: list[Eviction] = []
        self.server = ApiServer()
        self._placed: dict[str, set[str]] = {}
        self._of_pod: dict[str, str] = {}

    def begun(self, server: ApiServer) -> None:
        """Know what exists at the beginning."""
        self.server = server
        for queue in server.list("Queue"):
            self.usage.queue(queue)
        for pod in server.list("Pod"):
            key = place_of(pod).key
            work = self._work(pod)
            self.usage.pod(self.begin, key, pod, work.queue)
            if pod["spec"].get("nodeName") and _phase(pod) not in ENDED:
                work.had += 1
                self._placed.setdefault(work.name, set()).add(pod["metadata"]["uid"])

    def note(self, written: WrittenObject) -> None:
        """Note a change of an object."""
        if self._written is not None:
            self._written.append(written)
        kind = written.change.kind
        if kind == "Pod":
            self._pod(written)
        elif kind == "Job":
            self._job(written)
        elif kind == "Queue" and written.change.verb != DELETED:
            self.usage.queue(written.change.document)

    def _pod(self, written: WrittenObject) -> None:
        at, change, before = written.at, written.change, written.before
        pod = change.document
        gone = change.verb == DELETED
        work = self._work(pod)
        self.usage.pod(at, change.key, None if gone else pod, work.queue)
        node = pod["spec"].get("nodeName")
        # A pod that comes with a node was bound elsewhere, as those of other schedulers are.
        if node and before is not None and not before["spec"].get("nodeName"):
            work.placed += 1
            like = alike(change.key, template_of(pod))
            self.placements.append(
                CoursePlacement(pod=change.key, like=like, node=node, at=Time(at), work=work.name)
            )
        if node and not gone:
            self._place(work, pod, at)
        if written.by == SCHEDULER and _ends(before, pod, gone=gone):
            work.evictions += 1
            self.evictions.append(Eviction(pod=change.key, at=Time(at), work=work.name))
            # It does not count for the start of its job any more: a successor has another uid.
            self._placed.get(work.name, set()).discard(pod["metadata"]["uid"])
        if work.name == f"pod {change.key}" and _phase(pod) in ENDED and work.finished is None:
            work.finished = Time(at)

    def _place(self, work: WorkItem, pod: Document, at: int) -> None:
        placed = self._placed.setdefault(work.name, set())
        uid = pod["metadata"]["uid"]
        if uid in placed or _phase(pod) in ENDED:
            return
        placed.add(uid)
        if work.starts is None and work.had < work.needs <= len(placed):
            work.starts = Time(at)

    def _job(self, written: WrittenObject) -> None:
        if written.change.verb == DELETED or _is_finished(written.before):
            return
        if not _is_finished(written.change.document):
            return
        work = self.works.get(f"job {written.change.key}")
        if work is not None and work.finished is None:
            work.finished = Time(written.at)

    def end(self) -> None:
        """Count what waits at the end."""
        for pod in self.server.list("Pod"):
            if not pod["spec"].get("nodeName") and "deletionTimestamp" not in pod["metadata"]:
                self._work(pod).waiting += 1

    def _work(self, pod: Document) -> WorkItem:
        """Return what a pod belongs to: it is the same from its first version on."""
        uid = pod["metadata"]["uid"]
        name = self._of_pod.get(uid)
        group = self._group(pod)
        if name is None:
            name = self._of_pod[uid] = self._name(pod, group)
        work = self.works.get(name)
        if work is None:
            work = self.works[name] = WorkItem(name=name, queue=_queue(pod, group))
        if group is not None:
            work.queue = _queue(pod, group)
            work.needs = max(int((group.get("spec") or {}).get("minMember") or 1), 1)
        return work

    def _group(self, pod: Document) -> Document | None:
        place = group_of(pod)
        return None if place is None else self.server.find(*place)

    def _name(self, pod: Document, group: Document | None) -> str:
        """Return the name of the uppermost owner that exists, or of a PodGroup of users."""
        namespace = place_of(pod).key.partition("/")[0]
        owner: Document | None = pod
        top = pod
        while owner is not None:
            top = owner
            owner = self._owner(owner, namespace)
        own = place_of(top)
        if own.kind == "Pod" and group is not None and not group["metadata"].get("ownerReferences"):
            own = place_of(group)
        return f"{own.kind.lower()} {own.key}"

    def _owner(self, document: Document, namespace: str) -> Document | None:
        reference = controller_of(document)
        if reference is None:
            return None
        named = {
            "apiVersion": reference.get("apiVersion", ""),
            "kind": reference["kind"],
            "metadata": {"name": reference["name"], "namespace": namespace},
        }
        return self.server.find(*place_of(named))


def _ends(before: Mapping[str, Any] | None, pod: Document, *, gone: bool) -> bool:
    was = before is not None and "deletionTimestamp" in before["metadata"]
    return not was and (gone or "deletionTimestamp" in pod["metadata"])


def _is_finished(job: Mapping[str, Any] | None) -> bool:
    status = (job or {}).get("status") or {}
    return (status.get("state") or {}).get("phase") in _FINISHED


def _phase(pod: Document) -> str:
    return str((pod.get("status") or {}).get("phase") or "")


def _queue(pod: Document, group: Document | None) -> str:
    annotations = pod["metadata"].get("annotations") or {}
    own = str(annotations.get("volcano.sh/queue-name") or "")
    spec = (group or {}).get("spec") or {}
    return str(spec.get("queue") or own or "default")
