"""Recorded cases of the scheduler's cache, run on Plinian's cache through its one driver.

A case is run as it was recorded: a step is done to the API server, the informers or the cache; then
everything is delivered and worked off, unless the step says ``idle``. What came of each step is
told in the form of the recording (see ``tests/data/README.md``).
"""

from __future__ import annotations

from typing import Any

import msgspec
from api_servers import Document, Fault, Notice, RecordedApiServer

from plinian.engine.cache.driver import CacheDriver, Worker
from plinian.engine.cache.queue_items import FailedTask, JobName
from plinian.engine.cache.scheduler_flags import CacheOptions
from plinian.engine.cache.writer import CacheWriter, ClosedJobStatus
from plinian.engine.kubernetes.api_errors import Refused
from plinian.engine.kubernetes.objects import KINDS, decode
from plinian.engine.kubernetes.units import SECOND_US
from plinian.engine.model.job import JobInfo
from plinian.engine.model.panic import Panic
from plinian.engine.model.task import TaskInfo
from plinian.engine.model.task_status import STATUS_NAMES, TaskStatus
from plinian.engine.volcano.session.history import resolve

SHOWN = {Worker.CLEANUP: "cache deletedJobs", Worker.RESYNC: "cache errTasks"}
"""Workers whose queues were recorded, and their names in recordings."""

FIT_ERROR = "pod group is not ready, 1 Pending, 1 minAvailable; Pending: 1 Unschedulable"
"""What a session says of a job of one pending pod."""


class CacheRun:
    """One case on the cache of one release.

    :ivar told: what came of the steps so far.
    :ivar start: what a new cache did.
    """

    def __init__(self, case: dict[str, Any], release: str) -> None:
        self.behaviours = resolve(release)
        self.api = RecordedApiServer()
        self.held: set[str] = set()
        for step in case.get("before", ()):
            self.api.create(step["create"])
        options = CacheOptions(node_selectors=frozenset(case.get("selectors", ())))
        self.driver = CacheDriver(self.behaviours, options, api=self.api)
        self.writer: CacheWriter = self.driver.writer()
        self.told: list[dict[str, Any]] = []
        self._entries: dict[int, tuple[JobInfo, int]] = {}
        self._worked: list[str] = []
        self._spoilt: dict[str, Any] = {}
        self._taking: dict[str, list[str]] = {}
        self._cache_told: dict[str, Any] | None = None
        self.writer.create_queues()
        self.start = self._taken_from_api()
        if self.api.notices:
            self.start["held"] = [str(notice) for notice in self.api.notices]
        self._now = 0
        self._settle()

    def step(self, given: dict[str, Any]) -> bool:
        """Do a step and note what came of it; say whether the process goes on."""
        told: dict[str, Any] = {}
        try:
            answer = self._do(given)
            if answer is not None:
                told["answer"] = answer
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

    def _do(self, given: dict[str, Any]) -> Any:
        api = self.api
        for name, act in (
            *(("create", api.create), ("update", api.change), ("status", api.change)),
            *(("delete", api.delete), ("gone", api.gone)),
        ):
            if name in given:
                act(given[name])
                return None
        if "hold" in given:
            self.held |= set(given["hold"])
        elif "release" in given:
            self.held -= set(given["release"])
        elif "fail" in given:
            fail = given["fail"]
            api.faults.append(Fault(fail["verb"], fail["resource"], fail["error"], fail["times"]))
        elif "taking" in given:
            self._taking[given["taking"]["queue"]] = given["taking"]["release"]
        elif "op" in given:
            return self._operate(given["op"], given)
        return None

    def _operate(self, op: str, given: dict[str, Any]) -> Any:
        if op in {"bind", "evict", "resync", "resync forgotten", "sync while locked"}:
            task = self._task(given["task"])
            return "no such task" if task is None else self._on_task(op, task, given)
        if op == "process binds":
            self.writer.process_binds()
        elif op == "batch":
            self.writer.batch = given["number"]
        elif op == "volumes fail":
            self.api.volumes_fail = True
        elif op == "queue status":
            self.writer.write_queue_status(given["task"], {"cpu": str(given["number"])})
        elif op == "rates":
            CacheDriver(self.behaviours, api=self.api).writer().create_queues()
            self.api.requests.sort(key=lambda request: str(request["do"]))
            return self._rates()
        elif op == "run with late handlers":
            starts = self.driver.sessions_may_start(handled=False)
            return "runs" if starts else "waits until they have"
        elif op == "register while binding hangs":
            return self._register_while_binding()
        else:
            return self._job_status(op, given)
        return None

    def _on_task(self, op: str, task: TaskInfo, given: dict[str, Any]) -> str | None:
        jobs = self.driver.cache.job_cache
        if op == "bind":
            return self.writer.add_bind_task(task.job, task.uid, given["node"])
        if op == "evict":
            return self.writer.evict(task.job, task.uid, "test") or "evicts"
        if op == "sync while locked":
            waits = self.writer.resync_waits(self.api.peek_pod, task)
            jobs.sync_task(task, self.api.read_pod)
            return "waits" if waits else "returns"
        jobs.resync_task(task)
        if op == "resync forgotten":
            del self.driver.cache.jobs[task.job]
        return None

    def _task(self, key: str) -> TaskInfo | None:
        tasks = (task for job in self.driver.cache.jobs.values() for task in job.tasks.values())
        return next((task for task in tasks if task.key == key), None)

    def _rates(self) -> dict[str, Any]:
        rates = {worker: self.driver.queue(worker).rate for worker in SHOWN}
        return {
            worker.value: {"a second": rate.per_second, "at once": rate.at_once}
            for worker, rate in rates.items()
            if rate is not None
        }

    def _register_while_binding(self) -> str:
        own = self.driver.cache.own
        if (
            not own.pre_bind_failures_in_condition
        ):  # Binders can be registered since they are told of.
            return "nothing can be registered"
        self.writer.process_binds()
        return "waits" if own.pre_bind_blocks_sessions else "registers"

    def _job_status(self, op: str, given: dict[str, Any]) -> str | None:
        """Write what a session says of a job when it closes."""
        key = given["task"]
        job = self.driver.cache.jobs[key]
        assert job.pod_group is not None
        conditions_told = self.behaviours.gang_message_includes_pod_reason
        message = FIT_ERROR if conditions_told else "all nodes are unavailable"
        pending = job.index.get(TaskStatus.PENDING, {})
        status = ClosedJobStatus(
            job.pod_group,
            FIT_ERROR,
            dict.fromkeys(pending, ("Unschedulable", message)),
            status_changed=op in {"update status", "record status written"},
            annotations_changed=op == "update annotations",
        )
        if op.startswith("record"):
            self.writer.record_job_status(key, status)
            return None
        group = job.pod_group
        if given.get("number"):
            job.pod_group = None  # It is lost from the cache until the job was written.
        error = self.writer.write_job_status(key, status)
        job.pod_group = group
        return error

    def _deliver(self) -> bool:
        """Deliver everything that is not held; say whether there was anything."""
        waiting = [notice for notice in self.api.notices if notice.kind not in self.held]
        for notice in waiting:
            self.api.notices.remove(notice)
            self._deliver_one(notice)
        return bool(waiting)

    def _deliver_one(self, notice: Notice) -> None:
        item = decode(KINDS[notice.kind], notice.document)
        if notice.verb == "DELETED":
            self.driver.deliver_deletion(notice.kind, item)
        else:
            self.driver.deliver(notice.kind, item)

    def _settle(self) -> None:
        """Deliver and work until nothing is left to do at this time."""
        while self._deliver() or self._work():
            pass

    def _work(self) -> bool:
        """Let every worker take one item; say whether there was any."""
        worked = [self._work_once(worker) for worker in Worker]
        return any(worked)

    def _work_once(self, worker: Worker) -> bool:
        nodes = self.driver.cache.stores.of("Node")
        before = dict(nodes)
        taken = self.driver.take(worker)
        if taken is None:
            return False
        if worker in SHOWN:
            self._worked.append(f"{SHOWN[worker]} {self._item(taken.item)}")
            self.held -= set(self._taking.pop(SHOWN[worker], ()))
            self._deliver()
        self.driver.finish(taken)
        for name, node in nodes.items():
            spoilt = _difference(before[name], node) if before[name] is not node else {}
            if spoilt:
                self._spoilt[f"Node {name}"] = spoilt
        return True

    def _wait(self, time: int) -> None:
        """Let time pass."""
        end = self._now + time
        while (due := self.driver.next_due()) is not None and due <= end:
            self.driver.advance(due)
            self._settle()
        self._now = end
        self.driver.advance(end)

    def _item(self, item: Any) -> str:
        if isinstance(item, JobInfo):
            return f"{item.key} ({self._entry(item)})"
        if isinstance(item, JobName):
            return f"{item.key}/{item.uid}"
        if isinstance(item, FailedTask):
            return f"{item.task.key} {item.task.uid}"
        return str(item)

    def _entry(self, job: JobInfo) -> int:
        return self._entries.setdefault(id(job), (job, len(self._entries) + 1))[1]

    def _taken_from_api(self) -> dict[str, Any]:
        told: dict[str, Any] = {}
        if self.api.requests:
            told["api"] = self.api.requests
        if self.api.events:
            told["events"] = sorted(self.api.events)
        self.api.requests, self.api.events = [], []
        return told

    def _tell(self, told: dict[str, Any]) -> None:
        told.update(self._taken_from_api())
        told |= {"worked": self._worked, "spoilt": self._spoilt}
        self._worked, self._spoilt = [], {}
        if self.api.notices:
            told["held"] = [str(notice) for notice in self.api.notices]
        if "panic" not in told:
            queues = {name: self._queue(worker) for worker, name in SHOWN.items()}
            told["queues"] = {name: queue for name, queue in queues.items() if queue}
            cache = self._cache()
            if cache != self._cache_told:
                told["cache"] = self._cache_told = cache
        self.told.append({name: what for name, what in told.items() if what or name == "cache"})

    def _queue(self, worker: Worker) -> dict[str, Any]:
        queue = self.driver.queue(worker)
        told = {
            "ready": [self._item(item) for item in queue.ready()],
            "later": sorted(
                f"{self._item(item)} at {_seconds(due)}s" for item, due in queue.due().items()
            ),
            "failures": {self._item(item): times for item, times in queue.failures().items()},
            "never done": [self._item(item) for item in queue.taken()],
        }
        return {name: what for name, what in told.items() if what}

    def _cache(self) -> dict[str, Any]:
        cache = self.driver.cache
        told = {
            "jobs": {key: self._job(job) for key, job in sorted(cache.jobs.items())},
            "nodes": {name: sorted(node.tasks) for name, node in sorted(cache.nodes.items())},
            "images": sorted(cache.node_cache.images.sizes()),
        }
        return {name: what for name, what in told.items() if what}

    def _job(self, job: JobInfo) -> dict[str, Any]:
        told: dict[str, Any] = {"entry": self._entry(job)}
        if job.pod_group is not None:
            told["group"] = job.pod_group.uid
        # A job that takes whatever has its name does not keep the UID of its PodGroup.
        if job.uid and not self.behaviours.job_cleanup_removes_recreated_job:
            told["group uid"] = job.uid
        told["tasks"] = {f"{task.name} {task.uid}": _task(task) for task in job.tasks.values()}
        return told


def _task(task: TaskInfo) -> str:
    on = f" on {task.node_name}" if task.node_name else ""
    return STATUS_NAMES[task.status] + on


def _seconds(time: int) -> str:
    return f"{time / SECOND_US:.3f}"


def _difference(before: Any, after: Any) -> Document:
    """Return what of an object has other values or was not there before."""
    one, other = msgspec.to_builtins(before), msgspec.to_builtins(after)
    found: Document = {}
    for name, value in other.items():
        if isinstance(value, dict) and isinstance(one.get(name), dict):
            inner = _difference(one[name], value)
            if inner:
                found[name] = inner
        elif one.get(name) != value:
            found[name] = value
    return found


def run(case: dict[str, Any], release: str) -> dict[str, Any]:
    """Return what Plinian's cache of a release does with a case, in the form of the recording."""
    made = CacheRun(case, release)
    for step in case["steps"]:
        if not made.step(step):
            break
    return {"start": made.start, "steps": made.told, "stored": made.api.stored()}
