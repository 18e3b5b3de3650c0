"""Plugin ``tdm``: nodes that are available at times of day, for pods that can be revoked.

A node belongs to a revocable zone by its label; arguments say from when to when a zone is open.

Source: pkg/scheduler/plugins/tdm/tdm.go.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from math import ceil
from typing import ClassVar

import msgspec
import numpy as np

from ....kubernetes.duration import parse_go_duration
from ....kubernetes.go.text import parse_int
from ....kubernetes.units import format_time
from ....model.session_tables import NO_JOB, NO_NODE, Floats, Ints, Rows, TaskStatus
from ....volcano.conf import Arguments
from ...framework.session import Session
from ...framework.trace import PERMIT, REJECT
from ...framework.vote_details import Spares
from ...reasons.objections import NodeCode, Objection, around
from ...reasons.statuses import PASS, StatusCode
from ..shared.filter_errors import error_code
from ..shared.type_assertion import text_or_panic
from .revocable_zone import why_closed

ZONE_PREFIX = "tdm.revocable-zone."
EVICT_PERIOD = "tdm.evict.period"
NOT_ALLOWED = Objection("not allow to dispatch to revocable node", NodeCode.ZONE_NOT_REVOCABLE)
MINUTE_NS = 60_000_000_000
MAX_NODE_SCORE = 100.0
DEFAULT_EVICTIONS = 1
_NEW = "plugins/tdm.New"
_CLOCK = slice(len("2026-11-28T"), len("2026-11-28T10:00:00"))
"""The time of day in a time as it is written."""


class TdmMemory(msgspec.Struct):
    """What a process remembers.

    :ivar evicted_at: when the plugin chose victims last, in nanoseconds since 1970.
    """

    evicted_at: int | None = None


class Tdm:
    """Time division multiplexing of nodes between ordinary and revocable pods.

    Arguments: ``tdm.revocable-zone.<zone>`` (``10:00-21:00``) and ``tdm.evict.period`` (a Go
    duration, 1m by default), the time between two evictions from closed zones.
    """

    name: ClassVar[str] = "tdm"

    def __init__(self, arguments: Arguments) -> None:
        self._windows = {
            key.replace(ZONE_PREFIX, "", 1): text_or_panic(value, _NEW)
            for key, value in arguments.raw.items()
            if ZONE_PREFIX in key
        }
        self._period = MINUTE_NS
        if EVICT_PERIOD in arguments.raw:
            with suppress(ValueError):
                self._period = parse_go_duration(text_or_panic(arguments.raw[EVICT_PERIOD], _NEW))

    def on_session_open(self, ssn: Session) -> None:
        """Look which zones are open now, and register."""
        self._ssn = ssn
        self._zone_of = [info.revocable_zone for info in ssn.nodes.info]
        zones = sorted({*self._zone_of, *self._windows} - {""})
        self._closed = {zone: self._why_closed(zone) for zone in zones}
        # Without revocable nodes the filter passes all, and the score adds nothing.
        if any(self._zone_of):
            self._open_columns()
            if ssn.behaviours.tdm_refusals_resolvable:
                ssn.registry.add_predicate(self.name, self._curable_predicate)
            else:
                ssn.registry.add_predicate(self.name, self._predicate, per="class")
            ssn.registry.add_node_order(self.name, self._node_order, per="class", partial=True)
        ssn.registry.add_preemptable(self.name, self._preemptable)
        ssn.registry.add_victim_tasks(self.name, self._victim_tasks)
        # The least key comes first: jobs that are not preemptable.
        ssn.registry.add_job_order(self.name, lambda job: ssn.jobs.info[job].preemptable)
        ssn.registry.add_job_pipelined(self.name, self._job_pipelined)
        ssn.registry.add_job_starving(self.name, self._job_starving)

    def _why_closed(self, zone: str) -> Objection | None:
        """Return why a zone is closed now."""
        window = self._windows.get(zone)
        closed = why_closed(zone, window, self._ssn.now)
        if closed is None:
            return None
        data = {"zone": zone, "window": (window or "").strip(), "now": _clock(self._ssn.now)}
        return Objection(closed.text, closed.code, by=self.name, data=data)

    def on_session_close(self, ssn: Session) -> None:
        """Do nothing."""

    def _open_columns(self) -> None:
        """Compute, by node, the verdicts and scores of ordinary and of revocable tasks."""

        def verdict(why: Objection | None) -> int:
            if why is None:
                return PASS
            code = StatusCode.UNSCHEDULABLE_AND_UNRESOLVABLE
            return self._ssn.reasons.intern(code, why)

        def score(zone: str) -> float:
            """Score open zones; that a closed one cannot be scored makes a node's whole score 0."""
            if not zone:
                return 0.0
            return MAX_NODE_SCORE if self._closed[zone] is None else np.nan

        outcome = [self._closed[zone] if zone else None for zone in self._zone_of]
        self._revocable: Ints = np.array([verdict(why) for why in outcome], dtype=np.int32)
        self._ordinary: Ints = np.array(
            [
                verdict(NOT_ALLOWED if zone and why is None else why)
                for zone, why in zip(self._zone_of, outcome, strict=True)
            ],
            dtype=np.int32,
        )
        self._scores: Floats = np.array([score(zone) for zone in self._zone_of])

    def _predicate(self, task: int, rows: Rows) -> Ints:
        """Refuse closed zones to all tasks, and open ones to tasks that cannot be revoked."""
        revocable = self._ssn.tasks.info[task].revocable_zone
        return (self._revocable if revocable else self._ordinary)[rows]

    def _curable_predicate(self, task: int, rows: Rows) -> Ints:
        """Return the result of :meth:`_predicate` for each pod and node, but not final."""
        info, names = self._ssn.tasks.info[task], self._ssn.nodes.names
        code = error_code(self._ssn, StatusCode.UNSCHEDULABLE)
        verdicts = np.zeros(len(rows), dtype=np.int32)
        for index, row in enumerate(rows.tolist()):
            zone = self._zone_of[row]
            if not zone:
                continue
            why = self._closed[zone]
            text = "" if why is None else why.message
            if why is None and not info.revocable_zone:
                text = f"task {info.key} is not allow to dispatch to revocable node {names[row]}"
                why = NOT_ALLOWED
            if why is not None:
                said = around(f"plugin {self.name} predicates {text}", why)
                verdicts[index] = self._ssn.reasons.intern(code, said)
        return verdicts

    def _node_order(self, task: int, rows: Rows) -> Floats:
        """Score nodes of open zones higher for revocable tasks; NaN where a zone is closed."""
        scores = self._scores[rows]
        return scores if self._ssn.tasks.info[task].revocable_zone else scores * 0.0

    def _preemptable(self, preemptor: int, candidates: list[int]) -> tuple[list[int] | None, int]:
        """Choose running preemptable tasks on ordinary nodes, as many as each job's budget allows.

        Tasks that are preemptable or revocable themselves cannot preempt.
        """
        tasks, explains = self._ssn.tasks, self._ssn.trace.staying is not None
        if tasks.info[preemptor].preemptable or tasks.info[preemptor].revocable_zone:
            for _ in candidates if explains else ():
                self._ssn.trace.spare(Spares.REVOCABLE, tasks.info[preemptor].key)
            return None, REJECT
        chosen = [
            task
            for task in candidates
            if tasks.info[task].preemptable
            and tasks.status[task] == TaskStatus.RUNNING
            and tasks.node[task] != NO_NODE
            and not self._zone_of[tasks.node[task]]
        ]
        allowed = self._within_budgets(chosen)
        if explains:
            self._spare(candidates, set(chosen), set(allowed))
        return allowed, PERMIT

    def _spare(self, candidates: list[int], chosen: set[int], allowed: set[int]) -> None:
        """Keep why candidates stay: where they are, or how many of their job may go at once."""
        tasks, jobs, trace = self._ssn.tasks, self._ssn.jobs, self._ssn.trace
        for task in candidates:
            job = int(tasks.job[task])
            if task in chosen and task not in allowed and job != NO_JOB:
                most = max_evictions(self._ssn, job)
                trace.spare(Spares.EVICTED_AT_ONCE, jobs.keys[job], limit=most)
            elif task not in chosen:
                trace.spare(Spares.REVOCABLE_NODE, "")

    def _victim_tasks(self, candidates: list[int]) -> list[int]:
        """Choose, once in a period, running preemptable tasks on the nodes of closed zones."""
        memory = self._ssn.process.memory.of(TdmMemory)
        last = memory.evicted_at
        now = self._ssn.now * 1000
        if last is not None and last + self._period > now:
            return []
        # Noted even if no victim is found: the next period starts now (`lastEvictAt`).
        memory.evicted_at = now
        victims: list[int] = []
        for zone in sorted(self._windows):
            if self._closed[zone] is not None:
                victims += self._within_budgets(self._preemptable_in(zone))
        return victims

    def _preemptable_in(self, zone: str) -> list[int]:
        tasks = self._ssn.tasks
        return [
            task
            for node, its_zone in enumerate(self._zone_of)
            if its_zone == zone
            for task, status in self._ssn.nodes.tasks(node).values()
            if tasks.info[task].preemptable and status == TaskStatus.RUNNING
        ]

    def _within_budgets(self, tasks: Iterable[int]) -> list[int]:
        """Return the first tasks of each job, by job name, that its budget allows to evict."""
        by_job: dict[int, list[int]] = {}
        for task in tasks:
            by_job.setdefault(int(self._ssn.tasks.job[task]), []).append(task)
        return [
            task
            for job in sorted(by_job)
            if job != NO_JOB
            for task in by_job[job][: max_evictions(self._ssn, job)]
        ]

    def _job_pipelined(self, job: int) -> int:
        return PERMIT if self._ssn.jobs.is_pipelined(job) else REJECT

    def _job_starving(self, job: int) -> bool:
        """Let jobs with pending tasks preempt, unless they are preemptable."""
        jobs = self._ssn.jobs
        # Whatever its minimum: so an elastic job preempts for tasks beyond it, too.
        return not jobs.info[job].preemptable and bool(jobs.counts[job][TaskStatus.PENDING])


def _clock(now: int) -> str:
    """Return the time of day that windows are compared with, in words.

    :param now: microseconds since 1970; 0 if it is not known.
    """
    return format_time(now)[_CLOCK] + (" UTC" if now else " UTC, as its time is not known")


def max_evictions(ssn: Session, job: int) -> int:
    """Return how many tasks of a job may be evicted at once.

    With maxUnavailable: that, less the tasks that neither run nor are done. With minAvailable: what
    runs beyond it. Otherwise, or if less than minAvailable run: 1.

    Source: tdm.go getMaxPodEvictNum.
    """
    budget = ssn.jobs.info[job].budget
    total = len(ssn.jobs.tasks[job])
    counts: list[int] = ssn.jobs.counts[job]
    running = counts[TaskStatus.RUNNING]
    if budget.max_unavailable:
        done = counts[TaskStatus.SUCCEEDED] + counts[TaskStatus.FAILED]
        return max(_number(budget.max_unavailable, total) - (total - done - running), 0)
    if budget.min_available:
        least = _number(budget.min_available, total)
        if running >= least:
            return running - least
    return DEFAULT_EVICTIONS


def _number(text: str, total: int) -> int:
    """Return a number, or a percentage of the total, rounded up; of neither, 0.

    Source: tdm.go parseIntStr; k8s.io/apimachinery/pkg/util/intstr GetValueFromIntOrPercent.
    """
    number = parse_int(text)
    if number is not None:
        return number
    percentage = parse_int(text.replace("%", ""))
    return 0 if percentage is None else ceil(percentage * total / 100)
