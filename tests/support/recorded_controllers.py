"""Recorded cases of controllers, run on Plinian's components and its API server.

A case is run as it was recorded: a step is done to the API server or the informers; then everything
is delivered and worked off, unless the step says ``idle``. What came of each step is returned in
the form of the recording (see ``tests/data/README.md``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from recorded_documents import COUNTS, difference, stored, without
from recorded_views import VIEWS, View
from recording_client import Fault, RecordingClient, subject

from plinian.engine.kubernetes.api_errors import AlreadyExists, NotFound, Refused
from plinian.engine.kubernetes.api_server import ApiServer, Document, WatchEvent, merged, place_of
from plinian.engine.kubernetes.object_table import ObjectTable
from plinian.engine.kubernetes.units import SECOND_US
from plinian.engine.kubernetes.work_queue import CONTROLLER_RATE, WorkQueue
from plinian.engine.model.panic import Panic
from plinian.engine.volcano.controllers.behaviours import ControllerBehaviours
from plinian.engine.volcano.releases import parse_release
from plinian.engine.volcano.table import controller_behaviours

MOST_DELAYS = 201
"""After so many delays a step was ended, and ``and so on`` recorded."""

FIRST_WITH_PARENTS = parse_release("v1.9.0")
"""The first release whose queues keep their parent."""


class ControllerRun:
    """One case on the controllers of one release.

    :param restored: put other controllers in place of all after each step, which hold the same.
    :ivar noted: what came of the steps so far.
    """

    def __init__(self, case: dict[str, Any], release: str, *, restored: bool = False) -> None:
        self._release = parse_release(release)
        self._own = controller_behaviours(release)
        self._restored = restored
        self.api = ApiServer()
        self.client = RecordingClient(self.api)
        self.noted: list[dict[str, Any]] = []
        self._notices: list[WatchEvent] = []
        self._held: set[str] = set()
        self._taking: dict[str, list[str]] = {}
        self._worked: list[str] = []
        self._seen: dict[str, Any] = {}
        self._listed: dict[tuple[str, str, str], Document] = {}
        self._now = 0
        for step in case.get("before", ()):
            self.client.made(step["create"])
        objects = ObjectTable()
        self._views: dict[str, View] = {
            name: VIEWS[name](self._own, objects) for name in case["controllers"]
        }
        self._settle()

    def step(self, given: dict[str, Any]) -> bool:
        """Do a step and note what came of it; say whether the process goes on."""
        noted: dict[str, Any] = {}
        try:
            self._do(given)
            if given.get("idle"):
                while self._deliver():
                    pass
            else:
                self._settle()
                self._wait(round(given.get("wait", 0) * SECOND_US))
        except Refused as refused:
            noted["refused"] = str(refused)
            self._settle()
        except Panic as panic:
            noted["panic"] = panic.message
        self._note(noted)
        if self._restored:
            self._restore()
        return "panic" not in noted

    def _restore(self) -> None:
        for view in self._views.values():
            kept = view.controller.kept()
            hash(kept)
            view.controller = view.make()
            view.controller.restore(kept)
            assert view.controller.kept() == kept

    def _do(self, given: dict[str, Any]) -> None:
        acts: dict[str, Callable[[Any], None]] = {
            "create": self._create,
            "update": self._change,
            "status": self._change,
            "delete": self._delete,
            "gone": lambda document: self._delete(document, grace=0),
            "fail": lambda fault: self.client.faults.append(Fault(fault)),
            "see": self._see,
            "hold": self._held.update,
            "release": self._held.difference_update,
            "taking": lambda taken: self._taking.update({taken["queue"]: taken["release"]}),
        }
        for name, act in acts.items():
            if name in given:
                act(given[name])

    def _known(self, given: Document) -> Document:
        """Return an object without what the API of the release does not know: parents of queues."""
        if given["kind"] != "Queue" or self._release >= FIRST_WITH_PARENTS:
            return given
        return {**given, "spec": without(given.get("spec", {}), {"parent"})}

    def _create(self, given: Document) -> None:
        try:
            self.client.made(self._known(given))
        except AlreadyExists:
            raise AlreadyExists(f"{subject(*place_of(given))} already exists") from None

    def _change(self, given: Document) -> None:
        kind, key = place_of(given)
        held, given = self._existing(given), self._known(given)
        if held.get("status", {}).get(COUNTS) == {}:
            given = merged(given, {"status": {COUNTS: None}})
        self.api.patch(kind, key, given)
        self.client.decoded.add((kind, key))

    def _delete(self, given: Document, grace: int | None = None) -> None:
        self._existing(given)
        self.api.delete(*place_of(given), grace=grace)

    def _existing(self, given: Document) -> Document:
        found = self.api.find(*place_of(given))
        if found is None:
            raise NotFound(f"{subject(*place_of(given))} not found")
        return found

    def _see(self, given: dict[str, Any]) -> None:
        """Let informers see what did not happen."""
        self._deliver()
        seen = WatchEvent(given["verb"], *place_of(given["object"]), given["object"])
        for name, view in self._views.items():
            if seen.kind in view.controller.kinds:
                self._deliver_to(name, view, seen)

    def _settle(self) -> None:
        """Deliver and work until nothing is left to do at this time."""
        while self._deliver() or self._work():
            pass

    def _deliver(self) -> bool:
        """Deliver everything that is not held; say whether there was anything."""
        self._notices += self.api.take_changes()
        waiting = [notice for notice in self._notices if notice.kind not in self._held]
        for notice in waiting:
            self._notices.remove(notice)
            for name, view in self._views.items():
                if notice.kind in view.controller.kinds:
                    self._deliver_to(name, view, notice)
        return bool(waiting)

    def _deliver_to(self, name: str, view: View, notice: WatchEvent) -> None:
        change = self.client.as_typed(notice) if view.typed else notice
        view.controller.deliver(*change, self.client)
        if notice.kind in view.listers():
            listed = view.listers()[notice.kind].get(notice.key)
            self._listed.pop((name, notice.kind, notice.key), None)
            if listed is not None:
                self._listed[name, notice.kind, notice.key] = listed

    def _work(self) -> bool:
        """Let the first worker that has something to do take one item; say whether any had."""
        for view in self._views.values():
            for step, queue in view.steps():
                if step in view.controller.steps():
                    self._work_once(view, step, queue)
                    return True
        return False

    def _work_once(self, view: View, step: str, queue: str) -> None:
        self.client.compares = view.compares
        if not queue:
            view.controller.step(step, self.client)
            return
        first = view.queues()[queue].ready()[0]
        self._worked.append(f"{queue} {view.item(queue, first)}")
        if queue not in self._taking:
            view.controller.step(step, self.client)
            return
        item = view.controller.take(step)
        self._held -= set(self._taking.pop(queue))
        self._deliver()
        view.controller.finish(step, item, self.client)

    def _wait(self, time: int) -> None:
        """Let time pass; none at all lets nothing be due that was left behind."""
        delays = 0
        while time and (due := self._next_due()) is not None and due <= time:
            if delays == MOST_DELAYS:
                self._worked.append("and so on")
                self._now += time
                for _, _, queue in self._queues():
                    queue.now += time  # The rest of the time passed, and nothing was due.
                return
            self._advance(max(due, 0))
            time -= max(due, 0)
            delays += 1
            self._settle()
        if time:
            self._advance(time)

    def _next_due(self) -> int | None:
        dues = [view.controller.due() for view in self._views.values()]
        return min((due for due in dues if due is not None), default=None)

    def _advance(self, by: int) -> None:
        self._now += by
        for view in self._views.values():
            view.controller.advance(by)

    def _queues(self) -> Iterator[tuple[View, str, WorkQueue[Any]]]:
        for view in self._views.values():
            for name, queue in view.queues().items():
                yield view, name, queue

    def _note(self, noted: dict[str, Any]) -> None:
        noted |= {"api": self.client.requests, "events": self.client.events}
        noted |= {"worked": self._worked, "spoilt": self._spoilt()}
        self._notices += self.api.take_changes()
        noted["held"] = [f"{notice.verb} {notice.kind} {notice.key}" for notice in self._notices]
        self.client.requests, self.client.events, self._worked = [], [], []
        if "panic" not in noted:
            queues = {name: self._queue(view, name, queue) for view, name, queue in self._queues()}
            noted["queues"] = {name: queue for name, queue in queues.items() if queue}
        noted = {name: what for name, what in noted.items() if what}
        for view in self._views.values():
            for what, seen in view.seen().items():
                if seen != self._seen.get(what, {}):
                    noted[what] = self._seen[what] = seen
        self.noted.append(noted)

    def _spoilt(self) -> dict[str, Any]:
        """Return what was written to objects of listers since this was looked at."""
        found = {}
        for (name, kind, key), before in self._listed.items():
            now = self._views[name].listers()[kind].get(key)
            if now is not None and now != before:
                found[f"{kind} {key}"] = difference(before, now)
                self._listed[name, kind, key] = now
        return found

    def _queue(self, view: View, name: str, queue: WorkQueue[Any]) -> dict[str, Any]:
        held = queue.waiting()
        if not held.items():
            return {}
        since = self._now - queue.now
        waiting = held.of(lambda item: view.item(name, item))
        failures: Counter[str] = Counter()
        for item, times in waiting.failures:
            failures[item] += times  # Requests that are different may look alike.
        noted = {
            "ready": waiting.ready,
            "later": sorted(
                f"{item} at {view.later(since + due)}" for item, due in waiting.delayed
            ),
            "failures": dict(failures),
            "never done": [item for item, _ in waiting.taken],
        }
        return {name: what for name, what in noted.items() if what}

    def outcome(self) -> dict[str, Any]:
        """Return all that came of the case, in the form of the recording."""
        return {
            "steps": self.noted,
            "stored": stored(self.api),
            "informers": 1
            if self._own.informers_shared
            else sum(view.informers for view in self._views.values()),
        }


def what_matters(release: str) -> tuple[ControllerBehaviours, bool]:
    """Return all that a run takes from its release; the name itself is not part of it."""
    behaviours = replace(controller_behaviours(release), release="")
    return behaviours, parse_release(release) >= FIRST_WITH_PARENTS


def run(case: dict[str, Any], release: str, *, restored: bool = False) -> dict[str, Any]:
    """Return what Plinian's controllers of a release do with a case, as it was recorded."""
    with limits_of_each_item_alone():
        made = ControllerRun(case, release, restored=restored)
        for step in case["steps"]:
            if not made.step(step):
                break
        return made.outcome()


@contextmanager
def limits_of_each_item_alone() -> Iterator[None]:
    """Let work queues not limit how many items fail in a second: those of the recorder did not."""
    made = WorkQueue.__init__
    defaults = made.__defaults__
    assert defaults is not None
    assert defaults[0] == CONTROLLER_RATE
    made.__defaults__ = (None, *defaults[1:])
    try:
        yield
    finally:
        made.__defaults__ = defaults
