"""A belief that was stored and read again is the same, and goes on as it would have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from graph import Graph
from happenings import Happening, events_of, happenings
from hypothesis import given, settings
from hypothesis import strategies as st

from plinian.engine.cache.drift.drift_since import DriftHistory
from plinian.engine.cache.drift.settled import Settled
from plinian.engine.cache.dry_run import DryRun
from plinian.engine.cache.projector import Projector
from plinian.engine.cache.restored import decode_belief
from plinian.engine.cache.stored import encode_belief
from plinian.engine.errors import LogCorrupt
from plinian.engine.events import Event, Reference
from plinian.engine.session.framework.process_parts import ProcessState
from plinian.engine.session.session_run import SessionInput, run_session
from plinian.engine.volcano.conf import conf_in_force
from plinian.engine.volcano.session.history import resolve
from plinian.replay.render.believed import PARTS, records_of
from sessions import RELEASE, group, node, pod

RELEASES = ("v1.8.0", "v1.10.2", RELEASE, "v1.13.0", "v1.14.2", "v1.15.1", "hardened")


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
        self.projector = decode_belief(
            data,
            self.behaviours,
            lambda positions: {one: self.events[one - 1].payload for one in positions},
        )
        found = dict(self.history.found())
        self.history = DriftHistory(self.projector)
        self.history.go_on(found)
        return data

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


@pytest.mark.slow
@settings(max_examples=150)
@given(happenings, st.sampled_from(RELEASES), st.lists(st.integers(0, 48), max_size=3))
def test_a_stored_belief_goes_on_as_it_would_have(
    history: list[Happening], release: str, cuts: list[int]
) -> None:
    events = events_of(history)
    whole, stored = Way(release, events), Way(release, events)
    for cut in sorted(min(cut, len(events)) for cut in cuts):
        stored.until(cut)
        data = stored.store_and_restore()
        assert encode_belief(stored.projector) == data
    whole.until(len(events))
    stored.until(len(events))
    assert graph(stored.projector) == graph(whole.projector)
    assert encode_belief(stored.projector) == encode_belief(whole.projector)
    assert stored.answers() == whole.answers()


class _Unsettled(Settled):
    def stays(self, *_: Any) -> bool:
        """Let everything that is reached be compared as a whole."""
        return False


class _Thorough(DriftHistory):
    def _reset(self) -> None:
        super()._reset()
        self._settled = _Unsettled(self._cache)
        for one, request in self._pods.all():
            self._settled.put(one, request)


@settings(max_examples=100)
@given(happenings, st.sampled_from(RELEASES))
def test_what_is_settled_need_not_be_compared(history: list[Happening], release: str) -> None:
    events = events_of(history)
    way = Way(release, events)
    thorough = _Thorough(way.projector)
    thorough.go_on({})
    for position, event in enumerate(events, start=1):
        way.until(position)
        thorough.after(event, position)
        assert way.history.differences() == thorough.differences()


def test_what_no_event_tells_is_stored_as_it_is() -> None:
    running = pod("p1", "x1", on="x1")
    way = Way(
        RELEASE,
        events_of(
            [
                ("updated", node("x1")),
                ("updated", group("x1")),
                ("updated", pod("p1", "x1")),
                ("bound", ("p1", "x1")),
            ]
        ),
    )
    way.until(4)
    way.store_and_restore()
    (task,) = way.projector.cache.jobs["ns/x1"].tasks.values()
    assert (task.node_name, task.pod.spec.node_name) == ("x1", running["spec"]["nodeName"])
    assert way.projector.cache.nodes["x1"].tasks["ns/p1"].task is task
    assert way.projector.cache.stores.get("Pod", "ns/p1") is task.pod


@pytest.mark.parametrize(
    "data", [b"", b"no belief", encode_belief(Projector(resolve(RELEASE)))[:-9]]
)
def test_bytes_that_are_no_belief_are_refused(data: bytes) -> None:
    with pytest.raises(LogCorrupt, match="a stored belief cannot be read"):
        decode_belief(data, resolve(RELEASE), lambda _: {})
