"""Sessions on made-up clusters, timed by part: opening, actions, closing."""

from __future__ import annotations

import gc
import time
from typing import NamedTuple

from plinian.engine.cache.scheduler_flags import CacheOptions
from plinian.engine.kubernetes.object_store import Store
from plinian.engine.session.framework.session_outcome import SessionResult
from plinian.engine.session.session_run import SessionInput, run_session
from plinian.engine.volcano.conf import parse_scheduler_conf
from plinian.engine.volcano.session.history import resolve
from plinian.replay.simulate.feedback import changes
from plinian.replay.simulate.simulated_scheduler import Scheduler

from .clusters import Cluster

RELEASE = "v1.12.1"
NOW = 1_763_733_600_000_000
"""The present of all sessions, in microseconds since 1970."""


class Laps(NamedTuple):
    """CPU seconds of a session by part, in order; ``snapshot`` is the first."""

    parts: dict[str, float]
    result: SessionResult

    @property
    def whole(self) -> float:
        """CPU seconds from the snapshot to the result."""
        return sum(self.parts.values())

    @property
    def opening(self) -> float:
        """CPU seconds until all plugins are open."""
        return self.parts["snapshot"] + self.parts["open"]

    def __str__(self) -> str:
        """List the parts in milliseconds, those below 0.05 left out."""
        parts = [(name, cpu * 1e3) for name, cpu in self.parts.items()]
        return ", ".join(f"{name} {cpu:.1f}" for name, cpu in parts if cpu >= 0.05)


class Simulated:
    """A cluster and its scheduler, without what reads and writes files."""

    def __init__(self, cluster: Cluster) -> None:
        behaviours = resolve(RELEASE)
        self._store = Store()
        self._scheduler = Scheduler(behaviours, CacheOptions())
        self._conf = parse_scheduler_conf(cluster.conf, behaviours)
        for document in cluster.documents:
            self._apply("ADDED", {**document, "metadata": dict(document["metadata"])})

    def session(self) -> Laps:
        """Run a session and time its parts."""
        gc.collect()
        scheduler, parts = self._scheduler, {}
        last = time.process_time()

        def ended(part: str) -> None:
            nonlocal last
            now = time.process_time()
            parts[part], last = now - last, now

        snapshot = scheduler.cache.snapshot()
        ended("snapshot")
        given = SessionInput(
            snapshot=snapshot,
            conf=self._conf,
            behaviours=scheduler.behaviours,
            now=NOW,
            process=scheduler.process,
            cache=scheduler.cache,
        )
        return Laps(parts, run_session(given, ended))

    def answer(self, result: SessionResult) -> None:
        """Let the cluster do what a session wrote: what is bound runs, what is evicted is gone."""
        for change, document in changes(result, self._store):
            self._apply(change, document)

    def _apply(self, change: str, document: dict[str, object]) -> None:
        verb = self._store.apply(change, document)
        self._scheduler.see(verb, document)
