"""A scheduler that sees events one after the other, to compare its cache with a restored one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from graph import Graph

from plinian.engine.cache.drift.drift_since import DriftHistory
from plinian.engine.cache.dry_run import DryRun
from plinian.engine.cache.projector import Projector
from plinian.engine.cache.restored import decode_belief
from plinian.engine.cache.stored import encode_belief
from plinian.engine.events import Event, Reference
from plinian.engine.session.framework.process_parts import ProcessState
from plinian.engine.session.session_run import SessionInput, run_session
from plinian.engine.volcano.conf import conf_in_force
from plinian.engine.volcano.session.history import resolve
from plinian.replay.render.believed import PARTS, records_of

LEFT_OUT = frozenset(
    {
        "Projector.origins",  # of what is stored as it is, none is known
        "Projector._position",
        "Projector.taken_out",  # of the last event alone
        "SchedulerCache.behaviours",
        "SchedulerCache._changes",  # for the next snapshot, which looks at everything
        "SchedulerCache._snapshots",
        "NodeCache._changes",
        "JobCache._changes",
        "JobCleanup._changes",
        "JobCleanup.changed",  # to see whether a cleanup can do anything: else it looks
        "JobCleanup._staying",
        "TaskBuilder._traits",  # made again when they are asked for
        "NodeInfo._parsed",
        "Stores._frozen",
        "TaskClasses._known",  # numbers are given anew to the classes that there are
        "TaskClasses._finer",
        "TaskInfo.klass",
        "TaskInfo.request",  # by value: nobody changes it, so that it does not matter who shares it
    }
)


def graph(projector: Projector) -> Any:
    """Return all that a projector holds, and which tasks are alike."""
    classes: dict[int, int] = {}
    alike = [
        (
            classes.setdefault(task.klass, len(classes)),
            (task.request.cpu, task.request.memory, task.request.scalars),
        )
        for job in projector.cache.jobs.values()
        for task in job.tasks.values()
    ]
    projector.cache.job_cache.deleted_jobs.waiting()  # Rounds that were only counted are made.
    known = projector.cache.classes.of
    for job in projector.cache.jobs.values():
        assert all(known(task.pod) == task.klass for task in job.tasks.values())
    return Graph(LEFT_OUT).of(projector), alike


class Way:
    """A scheduler that sees events one after the other, and the drift that comes of it."""

    def __init__(self, release: str, events: Sequence[Event]) -> None:
        self.behaviours = resolve(release)
        self.events = events
        self.projector = Projector(self.behaviours)
        self.history = DriftHistory(self.projector)
        self.seen = 0

    def until(self, position: int) -> None:
        """See all events up to a position."""
        for number in range(self.seen + 1, position + 1):
            event = self.events[number - 1]
            self.projector.apply(event, position=number, lives_on=self._lives_on(number))
            self.history.after(event, number)
        self.seen = position

    def _lives_on(self, number: int) -> Any:
        def said(reference: Reference) -> bool:
            return any(event.reference == reference for event in self.events[number:])

        return said

    def store_and_restore(self) -> bytes:
        """Go on from what is stored now; return that."""
        data = encode_belief(self.projector)
        self.projector = decode_belief(data, self.behaviours, self.payloads)
        found = dict(self.history.found())
        self.history = DriftHistory(self.projector)
        self.history.go_on(found)
        return data

    def payloads(self, positions: Sequence[int]) -> dict[int, bytes]:
        """Return the payloads of events by their positions."""
        return {position: self.events[position - 1].payload for position in positions}

    def answers(self) -> Any:
        """Return what commands would tell."""
        cache = self.projector.cache
        conf = conf_in_force("", self.behaviours)
        result = run_session(
            SessionInput(
                snapshot=cache.snapshot(),
                conf=conf,
                behaviours=self.behaviours,
                now=1_800_000_000_000_000,
                process=ProcessState(),
                cache=DryRun(cache),
            )
        )
        return (
            [records_of(cache, part) for part in PARTS],
            self.history.differences(),
            [str(crash) for crash in self.projector.crashes],
            (result.binds, result.pipelined, result.enqueued, result.fit_errors, result.errors),
            str(result.panic),
            [msgspec.to_builtins(one) for one in result.pod_groups.values()],
        )
