"""Logs of clusters with sessions in them: what comparisons of releases read.

A simulation makes the events: jobs are created, a session runs each second, the cluster does what
it decided, and jobs end after some time. Run as a module, it writes such a log in a separate
process, so that its memory is not counted with the benchmark's.

python -m benchmarks.stories LOG SESSIONS
"""

from __future__ import annotations

import gc
import sys
from collections import deque
from collections.abc import Iterator

import msgspec

from plinian.engine.cache.scheduler_flags import CacheOptions
from plinian.engine.events import Event, Reference
from plinian.engine.events.codec import canonical_json
from plinian.engine.events.payloads import ConfigApplied, SessionOpened
from plinian.engine.ingest.objects.version_events import version_event
from plinian.engine.kubernetes.object_store import Document, Store
from plinian.engine.log import open_log
from plinian.engine.session.framework.session_outcome import SessionResult
from plinian.engine.volcano.conf import parse_scheduler_conf
from plinian.engine.volcano.session.history import resolve
from plinian.replay.cli.main import GARBAGE
from plinian.replay.simulate.feedback import changes
from plinian.replay.simulate.simulated_scheduler import Scheduler

from . import clusters
from .clusters import Cluster
from .laps import NOW, RELEASE

NODES = 100
SECOND = 1_000_000
LIFE = 149
"""Seconds that a job's pods run, if it is not a long one."""

AT_FIRST = 149
"""Jobs of ten pods that are there when the story begins, in an order of ending."""

EVENTS_AT_ONCE = 1000


class Story:
    """A cluster whose scheduler runs, and the events that a log would have of it."""

    def __init__(self, cluster: Cluster) -> None:
        behaviours = resolve(RELEASE)
        self._store = Store()
        self._scheduler = Scheduler(behaviours, CacheOptions())
        self._text = cluster.conf
        self._conf = parse_scheduler_conf(cluster.conf, behaviours)
        self._now = NOW
        self.events: list[Event] = []
        """What happened since the caller last cleared it."""
        applied = ConfigApplied(text=self._text, configmap="volcano-system/scheduler")
        self._tell("config.applied", applied)
        for document in cluster.documents:
            self.apply("ADDED", document)

    def apply(self, change: str, document: Document) -> None:
        """Change an object, and record the event."""
        document = {**document, "metadata": dict(document["metadata"])}
        verb = self._store.apply(change, document)
        self._scheduler.see(verb, document)
        self.events.append(
            version_event(
                document,
                verb=verb,
                source="story",
                line=len(self.events),
                earliest=self._now,
                latest=self._now,
            )
        )

    def session(self, number: int) -> SessionResult:
        """Let a second go by and a session decide; the cluster does what it decided."""
        self._now += SECOND
        self._tell("session.opened", SessionOpened(session=f"s-{number}"))
        result = self._scheduler.run(self._conf, self._now, scores=False)
        self._now += SECOND // 10
        for change, document in changes(result, self._store):
            self.apply(change, document)
        return result

    def end(self, job: str) -> None:
        """Let a job and its pods be gone."""
        for kind, group in (("Pod", ""), ("PodGroup", "scheduling.volcano.sh")):
            for name, _ in list(self._store.of(kind)):
                if name.startswith(f"default/{job}"):
                    known = self._store.get(kind, *name.split("/"), group=group)
                    assert known is not None
                    self.apply("DELETED", known)

    def _tell(self, kind: str, payload: msgspec.Struct) -> None:
        self.events.append(
            Event(
                kind=kind,
                reference=Reference(),
                payload=canonical_json(payload),
                earliest=self._now,
                latest=self._now,
                source="story",
                line=len(self.events),
                cluster="default",
            )
        )


def one_moment(nodes: int, jobs: int) -> Iterator[Event]:
    """Yield the events of a cluster with pending jobs in a tree of queues, before any session."""
    yield from Story(clusters.tree(nodes, jobs)).events


def sessions(count: int) -> Iterator[Event]:
    """Yield the events of a busy cluster: a job of ten pods comes every second, and one goes."""
    whole = clusters.tree(NODES, AT_FIRST + count)
    steady, coming = split(whole)
    story = Story(Cluster(whole.conf, steady))
    running: deque[str] = deque()
    for _ in range(AT_FIRST):
        running.append(_come(story, coming.popleft()))
    for number in range(count):
        story.session(number)
        if len(running) > LIFE:
            story.end(running.popleft())
        running.append(_come(story, coming.popleft()))
        yield from story.events
        story.events.clear()


def split(whole: Cluster) -> tuple[list[Document], deque[list[Document]]]:
    """Return the documents of a cluster that are about no job, and those of each job."""
    steady: list[Document] = []
    jobs: deque[list[Document]] = deque()
    for document in whole.documents:
        if document["kind"] == "PodGroup":
            jobs.append([document])
        elif document["kind"] == "Pod":
            jobs[-1].append(document)
        else:
            steady.append(document)
    return steady, jobs


def _come(story: Story, job: list[Document]) -> str:
    for document in job:
        story.apply("ADDED", document)
    name: str = job[0]["metadata"]["name"]
    return name


def write(log: str, events: Iterator[Event]) -> None:
    """Append events to a new log."""
    with open_log(log, create=True) as store:
        batch: list[Event] = []
        for event in events:
            batch.append(event)
            if len(batch) == EVENTS_AT_ONCE:
                store.append(batch)
                batch = []
        store.append(batch)


def main(log: str, count: int) -> None:
    """Write a story of so many sessions to a log."""
    gc.set_threshold(*GARBAGE)
    write(log, sessions(count))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
