"""Follows a live cluster into which objects were put: when they start, and what they wait for."""

from __future__ import annotations

from collections.abc import Iterable

from ...engine.kubernetes.api_server import (
    DELETED,
    ENDED,
    ApiServer,
    Document,
    ObjectKey,
    controller_of,
    place_of,
)
from ...engine.machine.live import WrittenObject
from ...engine.session.framework.session_outcome import SessionResult
from ..answers.answering_session import POD
from ..explore.families import group_of
from ..what_if.changed_sessions import LaterState
from ..what_if.changed_world import WrittenSince
from .submission import SubmittedObject

ADDED = "ADDED"


class StartCourse:
    """What happens to one object.

    :ivar pods: its pods that exist, with their nodes; empty without one. :ivar groups: the keys of
        its PodGroups. :ivar bound: when each of its pods got a node.
    :ivar enqueued: when a session first enqueued a PodGroup of it. :ivar started: when as many pods
        had nodes as it needs. :ivar waited: the state after the first session that neither enqueued
        it nor gave a pod of it a node. :ivar evicts: the pods that sessions evicted that kept nodes
        for it.
    """

    def __init__(self, submitted: SubmittedObject) -> None:
        self.submitted = submitted
        self.pods: dict[str, str] = {}
        self.groups: list[str] = []
        self.bound: dict[str, int] = {}
        self.enqueued: int | None = None
        self.started: int | None = None
        self.waited: LaterState | None = None
        self.evicts: list[str] = []
        self.needs = 1

    @property
    def is_placed(self) -> bool:
        """Whether it started, and all of its pods have nodes."""
        return self.started is not None and all(self.pods.values())


class StartWatch:
    """Follows the objects, and keeps what was written since the beginning.

    :param tried: the objects that are asked about. :param begin: microseconds since 1970.
    """

    def __init__(self, tried: Iterable[SubmittedObject]) -> None:
        self.courses = [StartCourse(each) for each in tried]
        self._of = {course.submitted.key: course for course in self.courses}
        self._since: dict[ObjectKey, WrittenSince] = {}
        self._by_pod: dict[str, StartCourse] = {}
        self.server = ApiServer()

    def begun(self, server: ApiServer) -> None:
        """Know what exists at the beginning."""
        self.server = server

    def note(self, written: WrittenObject) -> None:
        """Note a change of an object."""
        change, document = written.change, written.change.document
        place = ObjectKey(change.kind, change.key)
        self._since[place] = WrittenSince(document, change.verb == DELETED)
        if change.kind == "PodGroup" and change.verb == ADDED:
            course = self._course_of(document)
            if course is not None:
                course.groups.append(change.key)
        elif change.kind == "Pod":
            self._pod(written)

    def _pod(self, written: WrittenObject) -> None:
        change, pod = written.change, written.change.document
        if change.verb == ADDED:
            course = self._course_of(pod)
            if course is not None:
                self._by_pod[change.key] = course
        course = self._by_pod.get(change.key)
        if course is None:
            return
        ended = (pod.get("status") or {}).get("phase") in ENDED
        if change.verb == DELETED:
            course.pods.pop(change.key, None)
            self._by_pod.pop(change.key)
            return
        node = pod["spec"].get("nodeName") or ""
        group = group_of(pod)
        if group is not None and group.key not in course.groups:
            course.groups.append(group.key)
        course.pods[change.key] = node
        if node:
            # The first time counts: a pod keeps the node that it got.
            course.bound.setdefault(change.key, written.at)
        self._settle(course, written.at, counts=not ended)

    def _settle(self, course: StartCourse, at: int, *, counts: bool) -> None:
        course.needs = self._needed(course)
        placed = sum(1 for node in course.pods.values() if node)
        if course.started is None and counts and placed >= course.needs:
            course.started = at

    def _needed(self, course: StartCourse) -> int:
        """Return how many pods must have nodes: as many as its PodGroups need together."""
        if course.submitted.pair == POD:
            return 1
        groups = (self.server.find("PodGroup", key) for key in course.groups)
        least = (int((group.get("spec") or {}).get("minMember") or 1) for group in groups if group)
        # Before there is a PodGroup, a single pod with a node is a start.
        return max(sum(least), 1)

    def _course_of(self, document: Document) -> StartCourse | None:
        """Return the object that an object belongs to: by its PodGroup or its uppermost owner."""
        group = group_of(document)
        if group is not None and group in self._of:
            return self._of[group]
        top: Document | None = document
        while top is not None:
            place = place_of(top)
            if place in self._of:
                return self._of[place]
            top = self._owner(top, document)
        return None

    def _owner(self, document: Document, below: Document) -> Document | None:
        reference = controller_of(document)
        if reference is None:
            return None
        metadata = {
            "name": reference["name"],
            # An owner is in the namespace of what it owns.
            "namespace": below["metadata"].get("namespace") or "default",
        }
        version = reference.get("apiVersion", "")
        named = {"apiVersion": version, "kind": reference["kind"], "metadata": metadata}
        return self.server.find(*place_of(named))

    def after_session(self, result: SessionResult | None, at: int) -> None:
        """Note what a session did for each object that has not started before it."""
        if result is None:
            return
        bound, kept = {pod for pod, _ in result.binds}, {pod for pod, _ in result.pipelined}
        for course in self.courses:
            # What started in this very session still counts what the session did for it.
            if course.started is not None and course.started < at:
                continue
            enqueued = any(group in result.enqueued for group in course.groups)
            if enqueued and course.enqueued is None:
                course.enqueued = at
            own = course.pods.keys()
            if not own.isdisjoint(kept):
                # A session does not say for which pod it evicts: all that it evicts counts here.
                course.evicts += [pod for pod, _ in result.evictions if pod not in course.evicts]
            # A kept node is no step: the pod goes on waiting until it is bound.
            moves = enqueued or not own.isdisjoint(bound)
            if not moves and course.started is None and course.waited is None:
                course.waited = self.state(at)

    def state(self, now: int) -> LaterState:
        """Return what was written until now."""
        return LaterState(tuple(self._since.values()), now)

    @property
    def all_placed(self) -> bool:
        """Whether all objects started, and all of their pods have nodes."""
        return all(course.is_placed for course in self.courses)
