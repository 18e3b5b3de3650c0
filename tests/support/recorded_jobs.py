"""Recorded cases of the job controller, run on Plinian's component and its API server.

A case is run as it was recorded: a step is done to the API server or the informers; then everything
is delivered and worked off, unless the step says ``idle``. What came of each step is returned in
the form of the recording (see ``tests/data/README.md``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from recording_server import Document, Notice, RecordingServer, difference

from plinian.engine.controllers.job.cache import JobInfo
from plinian.engine.controllers.job.controller import (
    COMMAND,
    DELAYED,
    FORGET,
    LOOK_UP,
    WORK,
    JobController,
    Kept,
)
from plinian.engine.controllers.job.request import Request
from plinian.engine.kubernetes.api_errors import Refused
from plinian.engine.kubernetes.object_table import ObjectTable
from plinian.engine.kubernetes.units import SECOND_US
from plinian.engine.kubernetes.work_queue import WorkQueue
from plinian.engine.model.panic import Panic
from plinian.engine.volcano.releases import parse_release
from plinian.engine.volcano.table import controller_behaviours

SHOWN = {
    WORK: "job",
    COMMAND: "job commands",
    FORGET: "job deletedJobs",
    LOOK_UP: "job errTasks",
}
"""Steps, in the order in which workers took turns, and the names of their queues in recordings."""

MOST_DELAYS = 201
"""After so many delays a step was ended, and ``and so on`` recorded."""

FIELDS = {
    "action": "Action",
    "event": "Event",
    "exit_code": "ExitCode",
    "job": "JobName",
    "job_uid": "JobUid",
    "version": "JobVersion",
    "namespace": "Namespace",
    "partition": "PartitionID",
    "pod": "PodName",
    "pod_uid": "PodUID",
    "task": "TaskName",
}
"""Fields of requests, and their names in recordings, in the order of these."""


class JobRun:
    """One case on the job controller of one release.

    :ivar told: what came of the steps so far.
    """

    def __init__(self, release: str) -> None:
        self._own = controller_behaviours(release)
        self.objects = ObjectTable()
        self.api = RecordingServer(parents_known=parse_release(release) >= parse_release("v1.9.0"))
        self.controller = JobController(self._own, self.objects)
        self.told: list[dict[str, Any]] = []
        self._held: set[str] = set()
        self._taking: dict[str, list[str]] = {}
        self._worked: list[str] = []
        self._entries: dict[int, tuple[JobInfo, int]] = {}
        self._jobs_told: dict[str, Any] = {}
        self._listed: dict[tuple[str, str], Document] = {}

    def step(self, given: dict[str, Any]) -> bool:
        """Do a step and note what came of it; say whether the process goes on."""
        told: dict[str, Any] = {}
        try:
            self._do(given)
            if given.get("idle"):
                self._deliver()
            else:
                self._settle()
                self._wait(round(given.get("wait", 0) * SECOND_US))
        except Refused as refused:
            told["refused"] = str(refused)
            self._settle()
        except Panic as panic:
            told["panic"] = panic.message
        self._tell(told)
        return "panic" not in told

    def restart(self, kept: Kept) -> None:
        """Put another controller in place of this one, which holds the same."""
        self.controller = JobController(self._own, self.objects)
        self.controller.restore(kept)

    def _do(self, given: dict[str, Any]) -> None:
        acts: dict[str, Callable[[Any], None]] = {
            "create": self.api.given,
            "update": self.api.change,
            "status": self.api.change,
            "delete": self.api.end,
            "gone": self.api.gone,
            "fail": self.api.fail,
            "see": self.api.see,
            "hold": self._held.update,
            "release": self._held.difference_update,
        }
        for name, act in acts.items():
            if name in given:
                act(given[name])
        if "taking" in given:
            self._taking[given["taking"]["queue"]] = given["taking"]["release"]

    def _deliver(self) -> bool:
        """Deliver everything that is not held; say whether there was anything."""
        waiting = [notice for notice in self.api.notices() if notice.kind not in self._held]
        for notice in waiting:
            self.api.delivered(notice)
            self._deliver_one(notice)
        return bool(waiting)

    def _deliver_one(self, notice: Notice) -> None:
        if notice.kind in self.controller.kinds:
            self.controller.deliver(*notice, self.api)
            listed = self.controller.held.listers[notice.kind].get(notice.key)
            self._listed.pop((notice.kind, notice.key), None)
            if listed is not None:
                self._listed[notice.kind, notice.key] = listed

    def _settle(self) -> None:
        """Deliver and work until nothing is left to do at this time."""
        while self._deliver() or self._work():
            pass

    def _work(self) -> bool:
        """Let the first worker that has something to do take one item; say whether any had."""
        if any(self._work_once(name) for name in SHOWN):
            return True
        if DELAYED in self.controller.steps():
            self.controller.step(DELAYED, self.api)
            return True
        return False

    def _work_once(self, name: str) -> bool:
        if name not in self.controller.steps():
            return False
        item = self.controller.take(name)
        shown = "command" if name == COMMAND else self._item(name, item)
        self._worked.append(f"{SHOWN[name]} {shown}")
        self._held -= set(self._taking.pop(SHOWN[name], ()))
        self._deliver()
        self.controller.finish(name, item, self.api)
        return True

    def _wait(self, time: int) -> None:
        """Let time pass; none at all lets nothing be due that was left behind."""
        delays = 0
        if not time:
            return
        while (due := self.controller.due()) is not None and due <= time:
            if delays == MOST_DELAYS:
                self._worked.append("and so on")
                for queue in self._all_queues().values():
                    queue.now += time  # The rest of the time passed, and nothing was due.
                return
            self.controller.advance(max(due, 0))
            time -= max(due, 0)
            delays += 1
            self._settle()
        self.controller.advance(time)

    def _item(self, name: str, item: Any) -> str:
        if isinstance(item, Request):
            values = ((shown, getattr(item, field)) for field, shown in FIELDS.items())
            return " ".join(f"{shown}={value}" for shown, value in values if value)
        if name == FORGET:
            info = self.controller.held.cache.entry(item)
            return f"{info.namespace}/{info.name} ({self._entry(info)})"
        metadata = self.objects.document(item)["metadata"]
        return f"{metadata['namespace']}/{metadata['name']} {metadata['uid']}"

    def _entry(self, info: JobInfo) -> int:
        return self._entries.setdefault(id(info), (info, len(self._entries) + 1))[1]

    def _tell(self, told: dict[str, Any]) -> None:
        told |= self.api.taken()
        told |= {"worked": self._worked, "spoilt": self._spoilt()}
        told["held"] = [str(notice) for notice in self.api.notices()]
        self._worked = []
        if "panic" not in told:
            told["queues"] = self._queues()
        told = {name: what for name, what in told.items() if what}
        jobs = {key: self._job(info) for key, info in self.controller.held.cache.jobs().items()}
        if jobs != self._jobs_told:
            told["jobs"] = self._jobs_told = jobs
        self.told.append(told)

    def _spoilt(self) -> dict[str, Any]:
        """Return what was written to objects of listers since this was looked at."""
        found = {}
        for (kind, key), before in self._listed.items():
            now = self.controller.held.listers[kind].get(key)
            if now is not None and now != before:
                found[f"{kind} {key}"] = difference(before, now)
                self._listed[kind, key] = now
        return found

    def _all_queues(self) -> dict[str, WorkQueue[Any]]:
        held = self.controller.held
        return {
            WORK: self.controller.requests,
            COMMAND: self.controller.commands,
            FORGET: held.cache.deleted,
            LOOK_UP: held.lookups,
        }

    def _queues(self) -> dict[str, Any]:
        told = {SHOWN[name]: self._queue(name, queue) for name, queue in self._all_queues().items()}
        return {name: what for name, what in told.items() if what}

    def _queue(self, name: str, queue: WorkQueue[Any]) -> dict[str, Any]:
        waiting = queue.waiting().of(lambda item: self._item(name, item))
        failures: Counter[str] = Counter()
        for item, times in waiting.failures:
            failures[item] += times  # A pod may wait in several versions.
        told = {
            "ready": waiting.ready,
            "later": sorted(f"{item} at {_seconds(due)}s" for item, due in waiting.delayed),
            "failures": dict(failures),
            "never done": [item for item, _ in waiting.taken],
        }
        return {name: what for name, what in told.items() if what}

    def _job(self, info: JobInfo) -> dict[str, Any]:
        told: dict[str, Any] = {"entry": self._entry(info)}
        if info.job is not None:
            told["uid"] = info.job["metadata"]["uid"]
            told["phase"] = info.job.get("status", {}).get("state", {}).get("phase", "")
        told["pods"] = sorted(_pod(pod) for pods in info.pods.values() for pod in pods.values())
        return told


def _pod(pod: Document) -> str:
    metadata = pod["metadata"]
    ending = " terminating" if "deletionTimestamp" in metadata else ""
    return f"{metadata['name']} {metadata['uid']}{ending}"


def _seconds(time: int) -> str:
    return f"{time / SECOND_US:.3f}"


def run(case: dict[str, Any], release: str) -> dict[str, Any]:
    """Return what Plinian's job controller does with a case, in the form of the recording."""
    made = JobRun(release)
    for step in case["steps"]:
        if not made.step(step):
            break
    return {"steps": made.told, "stored": made.api.stored()}
