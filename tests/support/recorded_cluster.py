"""A small cluster as inputs record it: objects, the scheduler's log, bindings, at given seconds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from plinian.engine.events import Event, Reference, canonical_json, kind_of_version
from plinian.engine.events.payloads import (
    CacheDumped,
    ConfigApplied,
    DecisionLogged,
    MessageLogged,
    PodBound,
    ProcessStarted,
    ScenarioDeclared,
    SessionClosed,
    SessionOpened,
    WatchFollowed,
)
from plinian.engine.kubernetes.units import SECOND_US
from plinian.engine.log import open_log
from plinian.replay.facade.log import Log

START = 1_750_000_000 * SECOND_US
SCHEDULER = "system:serviceaccount:volcano-system:volcano-scheduler"
GROUPS = {
    "PodGroup": "scheduling.volcano.sh",
    "Queue": "scheduling.volcano.sh",
    "PriorityClass": "scheduling.k8s.io",
    "Job": "batch.volcano.sh",
}
CONF = """
actions: "enqueue, allocate, preempt, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
- plugins:
  - name: predicates
  - name: nodeorder
"""

Document = dict[str, Any]


def time(second: float) -> int:
    """Return a time in microseconds since 1970."""
    return START + int(second * SECOND_US)


class RecordedCluster:
    """Collects events; ``second`` is always counted from :data:`START`."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.revision = 0

    def saw(
        self,
        second: float,
        *documents: Document,
        verb: str = "created",
        since: float | None = None,
    ) -> None:
        """Add a version of each object, at a revision of its own.

        :param since: when it was written at the earliest, as a watch has it; by default the second.
        """
        for each in documents:
            self.revision += 1
            copied = msgspec.json.decode(msgspec.json.encode(each))
            metadata, kind = copied["metadata"], copied["kind"]
            metadata["resourceVersion"] = str(self.revision)
            group = GROUPS.get(kind, "")
            names = (metadata.get("namespace", ""), metadata["name"], metadata["uid"])
            self._add(
                kind_of_version(group, kind, verb),
                canonical_json(copied),
                second,
                Reference(group, kind, *names),
                revision=self.revision,
                since=since,
            )

    def started(self, second: float, component: str = "scheduler") -> None:
        """Add that a process logged its start."""
        self._logged("process.started", ProcessStarted(component=component, flags={}), second)

    def opened(self, uid: str, second: float, nodes: int | None = None) -> None:
        """Add that the scheduler logged the beginning of a session, and how many nodes it has."""
        self._logged("session.opened", SessionOpened(session=uid, nodes=nodes), second)

    def closed(self, uid: str, second: float) -> None:
        """Add that the scheduler logged the end of a session."""
        self._logged("session.closed", SessionClosed(session=uid), second)

    def decided(self, uid: str, verb: str, second: float, **about: str) -> None:
        """Add a decision that the scheduler logged: its task, node, reason."""
        said = DecisionLogged(component="scheduler", verb=verb, session=uid, **about)
        self._logged("decision.logged", said, second)

    def said(self, message: str, second: float, uid: str = "") -> None:
        """Add a message that the scheduler logged, in a session or beside one."""
        said = MessageLogged(component="scheduler", severity="E", message=message, session=uid)
        self._logged("message.logged", said, second)

    def configured(self, text: str, second: float) -> None:
        """Add that the scheduler's ConfigMap got a text."""
        self.revision += 1
        applied = canonical_json(ConfigApplied(text=text, configmap="c"))
        about = Reference("", "ConfigMap", "volcano-system", "c", "c")
        self._add("config.applied", applied, second, about, revision=self.revision)

    def dumped(self, second: float, parts: Document) -> None:
        """Add a dump of the scheduler's cache: its parts by name."""
        for index, (part, content) in enumerate(parts.items()):
            dumped = CacheDumped(part=part, index=index, layout="v1.12", content=content)
            self._logged("cache.dumped", dumped, second)

    def bound(self, pod: Document, node: str, second: float, *, actor: str = SCHEDULER) -> None:
        """Add that a pod was bound, and the version of the pod that shows it.

        :param node: empty if the audit log leaves it out; then no version shows it.
        """
        metadata = pod["metadata"]
        self._add(
            "pod.bound",
            canonical_json(PodBound(node=node)),
            second,
            Reference("", "Pod", metadata["namespace"], metadata["name"], metadata["uid"]),
            actor=actor,
        )
        if node:
            placed = {**pod, "spec": {**pod["spec"], "nodeName": node}}
            self.saw(second + 0.01, placed, verb="updated")

    def log(
        self, path: Path, *, conf: str = CONF, whole: bool = True, watched: int | None = None
    ) -> Log:
        """Return a log with all of that.

        :param whole: the log has the whole history of the cluster; else complete watches of what
            sessions need, and nothing that stands for a configuration.
        :param watched: the last revision of these watches; by default the last one.
        """
        events = list(self.events)
        if conf:
            events.insert(0, _event("config.applied", canonical_json(ConfigApplied(text=conf))))
        if whole:
            declared = canonical_json(ScenarioDeclared(until=self.revision))
            events.append(
                _event("scenario.declared", declared, reference=Reference(kind="Scenario"))
            )
        else:
            events += [
                _watch(kind, watched or self.revision)
                for kind in ("Node", "Queue", "PodGroup", "Pod")
            ]
        store = open_log(path, create=True)
        store.append(events)
        return Log(str(path), store)

    def _logged(self, kind: str, payload: msgspec.Struct, second: float) -> None:
        self._add(kind, canonical_json(payload), second)

    def _add(
        self,
        kind: str,
        payload: bytes,
        second: float,
        reference: Reference | None = None,
        *,
        revision: int | None = None,
        actor: str = "",
        since: float | None = None,
    ) -> None:
        self.events.append(
            _event(
                kind,
                payload,
                reference=reference or Reference(),
                revision=revision,
                resource_version="" if revision is None else str(revision),
                earliest=time(second if since is None else since),
                latest=time(second),
                actor=actor,
                line=len(self.events) + 1,
            )
        )


def _watch(kind: str, until: int) -> Event:
    group = GROUPS.get(kind, "")
    followed = WatchFollowed(group=group, listed=kind, since=1, until=until, begin="marked")
    return _event(
        "watch.followed", canonical_json(followed), reference=Reference(group, kind), line=until
    )


def _event(kind: str, payload: bytes, **fields: Any) -> Event:
    return Event(
        **{"reference": Reference(), "source": "recorded", **fields}, kind=kind, payload=payload
    )
