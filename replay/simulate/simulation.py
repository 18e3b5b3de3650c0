"""A scenario, run from its first event to the result of its last session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...engine.cache.cache import SchedulerCache
from ...engine.cache.scheduler_flags import CacheOptions
from ...engine.errors import EventMalformed
from ...engine.ingest.scenario.scenario_inputs import parse_record
from ...engine.kubernetes.object_store import Document, Store, default_queue
from ...engine.kubernetes.objects import KINDS, decode
from ...engine.model.panic import Panic
from ...engine.session.external_inputs import ExternalInputs
from ...engine.session.framework.session_outcome import SessionResult
from ...engine.volcano.conf import conf_in_force
from ...engine.volcano.session.behaviours import Behaviours
from .feedback import changes
from .results import StepResult, step_result
from .scenario_cases import CHANGES, CONTROLS, Case, CaseStep, time_of
from .simulated_scheduler import Scheduler

DEFAULT_QUEUES = ("default", "root")


class SimulatedSession(NamedTuple):
    """One session of a scenario.

    :param step: the 1-based number of its step.
    :param cache: the scheduler's cache after it; it changes as the simulation goes on.
    :param step_result: its part of the result file.
    """

    step: int
    result: SessionResult
    cache: SchedulerCache
    step_result: StepResult


class Simulation:
    """An API server's objects and one scheduler, which is restarted after a panic.

    It may panic in a session, or while it handles an event: then the step has no session.

    :param now: the current time of all sessions, in microseconds since 1970; None is
        :func:`.scenario_cases.time_of`.
    :param scores: keep nodes' scores; see :meth:`.Scheduler.run`.
    """

    def __init__(
        self,
        case: Case,
        behaviours: Behaviours,
        *,
        now: int | None = None,
        scores: bool | None = None,
    ) -> None:
        self._case = case
        self._behaviours = behaviours
        self._now = time_of(case) if now is None else now
        self._scores = scores
        self._store = Store()
        self._inputs = ExternalInputs()
        self._cache_options = CacheOptions(
            scheduler_names=(case.options.scheduler_name,),
            filters_pods=not case.options.no_pod_filter,
        )
        self._scheduler = Scheduler(behaviours, self._cache_options)
        self._conf = conf_in_force(case.conf or "", behaviours)
        self._errors: list[str] = []
        self._panic: Panic | None = None
        """Why the scheduler's process ended, until the next step restarts it."""
        self._create_queues()

    def run(self) -> list[StepResult]:
        """Return what each session did, in order."""
        return [session.step_result for session in self.sessions()]

    def sessions(self) -> Iterator[SimulatedSession]:
        """Yield each session as soon as it is over, before the cluster reacts to it."""
        written: SessionResult | None = None
        crashed = False
        for number, step in enumerate(self._case.steps, start=1):
            if written is not None and not self._case.options.no_feedback:
                for change, document in changes(written, self._store):
                    self._apply(change, document)
            restarted = crashed or self._panic is not None
            self._begin(step)
            written = None
            if not step.no_session:
                session = self._run_session(number, restarted=restarted)
                written = session.result
                crashed = written.panic is not None
                yield session

    def _begin(self, step: CaseStep) -> None:
        """Apply the events of a step."""
        if self._panic is not None:
            self._restart()
        if step.conf is not None:
            self._conf = conf_in_force(step.conf, self._behaviours)
        self._errors = list(self._conf.errors)
        for number, event in enumerate(step.events):
            self._event(event, number)

    def _run_session(self, step: int, *, restarted: bool) -> SimulatedSession:
        scheduler = self._scheduler
        before = scheduler.out_of_sync()
        result = self._session()
        # Before the result: nodes that are out of sync afterwards are those of the new process.
        if result.panic is not None:
            self._restart()
        short = step_result(
            result,
            self._store,
            gauges=scheduler.process.gauges,
            out_of_sync=(before, self._scheduler.out_of_sync()),
            errors=[*self._errors, *result.errors],
            restarted=restarted,
        )
        return SimulatedSession(step, result, scheduler.cache, short)

    def _session(self) -> SessionResult:
        """Run a session, unless the scheduler panicked in an event before it."""
        if self._panic is not None:
            return SessionResult(panic=self._panic)
        self._inputs.lend(self._scheduler.process, self._conf, self._now, self._config_map)
        return self._scheduler.run(self._conf, self._now, scores=self._scores)

    def _create_queues(self) -> None:
        if self._case.options.no_default_queues:
            return
        for name in DEFAULT_QUEUES if self._behaviours.root_queue else DEFAULT_QUEUES[:1]:
            self._apply("ADDED", default_queue(name))

    def _event(self, event: Document, number: int) -> None:
        kind = event["type"]
        if kind in CONTROLS:
            self._control(kind)
        elif kind in CHANGES:
            fault = self._change(kind, event["object"])
            if fault:
                self._errors.append(f"event {number}: {kind} {fault}")
        else:
            self._inputs.take(*parse_record(event))

    def _control(self, control: str) -> None:
        driver = self._scheduler.driver
        if control == "RESTART":
            self._restart()
        # There is no process that could do it.
        elif self._panic is not None:
            return
        elif control == "CLEANUP_HOLD":
            driver.holds_cleanup = True
        elif control == "CLEANUP_BEGIN":
            driver.begin_clean_up()
        elif control == "CLEANUP_END":
            driver.end_clean_up()
        elif control == "CLEANUP_STEP":
            driver.clean_up()
        elif control == "CLEANUP_RUN":
            driver.holds_cleanup = False
            driver.work()

    def _change(self, change: str, document: Document) -> str:
        """Apply an event of the scenario; return the error, empty if there is none."""
        # The scenario may be run again, so the store completes a copy of the object.
        copied: Document = {**document, "metadata": dict(document["metadata"])}
        if isinstance(copied.get("spec"), dict):
            copied["spec"] = dict(copied["spec"])
        if change == "DELETED" and not self._store.holds(copied):
            metadata = copied["metadata"]
            name = "/".join(filter(None, (metadata.get("namespace"), metadata["name"])))
            return f"{copied['kind']} {name}: does not exist"
        kind = KINDS.get(copied["kind"])
        try:
            if kind is not None:
                decode(kind, copied)  # an API server does not store what it cannot read
            self._apply(change, copied)
        except EventMalformed as fault:
            return str(fault)
        return ""

    def _apply(self, change: str, document: Document) -> None:
        verb = self._store.apply(change, document)
        if self._panic is not None:
            return
        try:
            self._scheduler.see(verb, document)
        except Panic as panic:
            key = "/".join(filter(None, map(document["metadata"].get, ("namespace", "name"))))
            self._panic = panic.while_it(f"it handles {document['kind']} {key} ({change})")

    def _config_map(self, namespace: str, name: str) -> Document | None:
        return self._store.get("ConfigMap", namespace, name)

    def _restart(self) -> None:
        """Restart the scheduler; the queue metrics that it exported before stay visible."""
        exported = self._scheduler.process.gauges
        self._panic = None
        self._scheduler = Scheduler(self._behaviours, self._cache_options)
        self._scheduler.process.gauges = exported
        try:
            self._scheduler.list_all(self._store)
        except Panic as panic:
            self._panic = panic


def simulate(
    case: Case, behaviours: Behaviours, *, now: int | None = None, scores: bool | None = None
) -> list[StepResult]:
    """Run a scenario as a release would; parameters as those of :class:`Simulation`."""
    return Simulation(case, behaviours, now=now, scores=scores).run()
