"""Plugin ``extender``: calls a custom HTTP service.

Its answers cannot be computed: only recorded answers are used. A request without one is a
failed call, with all its consequences, and the session's errors report it.

Source: pkg/scheduler/plugins/extender/extender.go, argument.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar

import msgspec
import numpy as np
from msgspec.structs import fields

from ...model.session_tables import Floats, Ints, Rows
from ...volcano.conf import Arguments
from ..framework.plugin_registry import ScoreError
from ..framework.session import Session
from ..framework.trace import ABSTAIN, PERMIT, REJECT, Vote
from ..framework.vote_details import Spares
from ..reasons.objections import Objection
from ..reasons.statuses import PASS, StatusCode
from .shared.decoded_arguments import decode_texts
from .shared.filter_errors import error_code

Answer = Mapping[str, Any]

_FAILED = Objection("the call failed")


class _Opening(msgspec.Struct):
    """An answer of which nothing is read."""


class _Predicate(msgspec.Struct):
    status: str | None = None
    code: int | None = None


class _Status(msgspec.Struct, rename="pascal"):
    code: int | None = None
    reason: str | None = None


class _Listed(msgspec.Struct):
    """An answer about a node, as older releases read it."""

    status: list[_Status | None] | None = None


class _Prioritize(msgspec.Struct, rename="camel"):
    node_score: dict[str, float] | None = None
    error_message: str | None = None


class _Evictable(msgspec.Struct):
    status: int | None = None
    victims: list[str] | None = None


class _Enqueueable(msgspec.Struct):
    status: int | None = None


class _Overused(msgspec.Struct):
    overused: bool | None = None


class _Ready(msgspec.Struct):
    status: bool | None = None


class _Event(msgspec.Struct, rename="camel"):
    error_message: str | None = None


_Shape = TypeVar("_Shape", bound=msgspec.Struct)
_CODES = frozenset(StatusCode)
_CURABLE = frozenset({StatusCode.SUCCESS, StatusCode.UNSCHEDULABLE})
_MANAGED = "extender.managedResources"


class Extender:
    """Calls a service at each point for which the configuration names a verb.

    Arguments: ``extender.ignorable`` (bool, false), and a verb (a text) for each of
    ``extender.onSessionOpenVerb``, ``…predicateVerb``, ``…prioritizeVerb``, ``…preemptableVerb``,
    ``…reclaimableVerb``, ``…queueOverusedVerb``, ``…jobEnqueueableVerb``, ``…jobReadyVerb``. Newer
    releases have ``…allocateFuncVerb`` and ``…deallocateFuncVerb``, and a list
    ``extender.managedResources``: the service is not called for pods that request none of these.
    """

    name: ClassVar[str] = "extender"

    def __init__(self, arguments: Arguments) -> None:
        self._arguments = arguments
        self._ignorable = arguments.get_bool("extender.ignorable", False)
        self._managed: frozenset[str] = frozenset()

    def on_session_open(self, ssn: Session) -> None:
        """Notify the service; if it answers, register the points with verbs.

        :raises Panic: the managed resources are not a list of names.
        """
        self._ssn = ssn
        if ssn.behaviours.extender_managed_resources:
            self._managed = frozenset(decode_texts(self._arguments, _MANAGED))
        self._answers = ssn.process.external.extender_answers
        opening = self._verb("onSessionOpen")
        # `OnSessionOpen` returns before it registers anything.
        if opening and self._ask(opening, "", _Opening) is None and not self._ignorable:
            return
        name = self.name
        registrations: tuple[tuple[str, Callable[[str], None]], ...] = (
            (
                "predicate",
                lambda verb: ssn.registry.add_predicate(name, self._predicate(verb), per="task"),
            ),
            (
                "prioritize",
                lambda verb: ssn.registry.add_batch_node_order(name, self._prioritize(verb)),
            ),
            (
                "preemptable",
                lambda verb: ssn.registry.add_preemptable(name, self._evictable(verb), per="task"),
            ),
            (
                "reclaimable",
                lambda verb: ssn.registry.add_reclaimable(name, self._evictable(verb), per="task"),
            ),
            (
                "jobEnqueueable",
                lambda verb: ssn.registry.add_job_enqueueable(name, self._enqueueable(verb)),
            ),
            ("queueOverused", lambda verb: ssn.registry.add_overused(name, self._overused(verb))),
            ("jobReady", lambda verb: ssn.registry.add_job_ready(name, self._job_ready(verb))),
        )
        for point, register in registrations:
            verb = self._verb(point)
            if verb:
                register(verb)
        if ssn.behaviours.extender_notified_of_placements:
            verbs = (self._verb("allocateFunc"), self._verb("deallocateFunc"))
            allocate, deallocate = (self._notifier(verb) if verb else None for verb in verbs)
            ssn.registry.add_event_handler(allocate=allocate, deallocate=deallocate)

    def on_session_close(self, ssn: Session) -> None:
        """Do nothing: the service's answer to the close has no effect."""

    def _verb(self, point: str) -> str:
        return self._arguments.get_str(f"extender.{point}Verb", "")

    def _is_managed(self, task: int) -> bool:
        """Return whether a pod names a resource that the service manages, if it manages any."""
        if not self._managed:
            return True
        spec = self._ssn.tasks.info[task].pod.spec
        return any(
            not self._managed.isdisjoint(
                (*container.resources.requests, *container.resources.limits)
            )
            for container in (*spec.containers, *spec.init_containers)
        )

    def _notifier(self, verb: str) -> Callable[[int, int], str | None]:
        def notify(task: int, _: int) -> str | None:
            if not self._is_managed(task):
                return None
            answer = self._ask(verb, self._ssn.tasks.info[task].key, _Event)
            if answer is None:
                return None if self._ignorable else "the call failed"
            return answer.error_message or None

        return notify

    def _ask(self, verb: str, about: str, shape: type[_Shape]) -> _Shape | None:
        """Return the answer; if there is none, or Go could not decode it, add an error."""
        answer = self._answers.get((verb, about))
        asked = f"{verb} about {about}" if about else verb
        if answer is None:
            text = f"extender: no answer to {asked} was recorded; the call counts as failed"
            self._ssn.errors.append(text)
            return None
        try:
            return msgspec.convert(_spelt(answer, shape), type=shape)
        except msgspec.ValidationError as fault:
            reason = str(fault).replace("`", "")
            text = f"extender: the answer to {asked} is none: {reason}; the call counts as failed"
            self._ssn.errors.append(text)
            return None

    def _predicate(self, verb: str) -> Callable[[int, Rows], Ints]:
        names, verdict = self._ssn.nodes.names, self._listed_verdict
        if not self._ssn.behaviours.extender_lists_statuses:
            verdict = self._verdict

        def predicate(task: int, rows: Rows) -> Ints:
            if not self._is_managed(task):
                return np.full(len(rows), PASS, dtype=np.int32)
            key = self._ssn.tasks.info[task].key
            asked = (f"{key} {names[node]}" for node in rows.tolist())
            return np.array([verdict(verb, about) for about in asked], dtype=np.int32)

        return predicate

    def _verdict(self, verb: str, about: str) -> int:
        answer = self._ask(verb, about, _Predicate)
        if answer is None:
            return self._unanswered(StatusCode.ERROR)
        if not answer.status:
            return PASS
        # A message without a code is an error, for services that know no codes.
        code = answer.code or StatusCode.ERROR
        # Volcano checks for no unknown code, so the node passes.
        known = code in _CODES
        said = Objection(answer.status)
        return self._ssn.reasons.intern(StatusCode(code), said) if known else PASS

    def _listed_verdict(self, verb: str, about: str) -> int:
        """Return a verdict by the codes of all statuses of a list; their reasons are joined.

        Source: pkg/scheduler/util/predicate_helper.go StatusSets.
        """
        answer = self._ask(verb, about, _Listed)
        if answer is None:
            return self._unanswered(error_code(self._ssn, StatusCode.UNSCHEDULABLE))
        listed = [each for each in answer.status or () if each is not None]
        codes = {each.code or StatusCode.SUCCESS for each in listed} & _CODES
        if codes <= {StatusCode.SUCCESS}:
            return PASS
        final = StatusCode.UNSCHEDULABLE_AND_UNRESOLVABLE
        code = StatusCode.UNSCHEDULABLE if codes <= _CURABLE else final
        reason = ",".join(each.reason for each in listed if each.reason)
        return self._ssn.reasons.intern(code, Objection(reason))

    def _unanswered(self, code: StatusCode) -> int:
        return PASS if self._ignorable else self._ssn.reasons.intern(code, _FAILED)

    def _prioritize(self, verb: str) -> Callable[[int, Rows], Floats | None]:
        names = self._ssn.nodes.names

        def prioritize(task: int, rows: Rows) -> Floats | None:
            if not self._is_managed(task):
                return None
            answer = self._ask(verb, self._ssn.tasks.info[task].key, _Prioritize)
            if answer is None:
                if self._ignorable:
                    return None
                raise ScoreError("the call failed")
            scores = answer.node_score
            if answer.error_message or scores is None:
                raise ScoreError(answer.error_message or "")
            return np.array([scores.get(names[node], 0.0) for node in rows.tolist()])

        return prioritize

    def _evictable(self, verb: str) -> Callable[[int, list[int]], tuple[list[int] | None, int]]:
        info, trace = self._ssn.tasks.info, self._ssn.trace

        def evictable(evictor: int, candidates: list[int]) -> tuple[list[int] | None, int]:
            if not self._is_managed(evictor):
                return None, ABSTAIN
            answer = self._ask(verb, info[evictor].key, _Evictable)
            if answer is None:
                return None, PERMIT if self._ignorable else REJECT
            row = {info[task].key: task for task in candidates}
            victims = [row[key] for key in answer.victims or () if key in row]
            if trace.staying is not None:
                for _ in range(len(candidates) - len(victims)):
                    trace.spare(Spares.EXTENDER, "")
            return victims, answer.status or 0

        return evictable

    def _enqueueable(self, verb: str) -> Callable[[int], Vote]:
        def enqueueable(job: int) -> Vote:
            answer = self._ask(verb, self._ssn.jobs.keys[job], _Enqueueable)
            if answer is None:
                return Vote(PERMIT if self._ignorable else REJECT, "the call failed")
            vote = answer.status or 0
            return Vote((vote > 0) - (vote < 0))

        return enqueueable

    def _overused(self, verb: str) -> Callable[[str], Vote]:
        def overused(queue: str) -> Vote:
            answer = self._ask(verb, queue, _Overused)
            if answer is None:
                return Vote(REJECT if self._ignorable else PERMIT, "the call failed")
            return Vote(PERMIT if answer.overused else REJECT)

        return overused

    def _job_ready(self, verb: str) -> Callable[[int], bool]:
        def job_ready(job: int) -> bool:
            answer = self._ask(verb, self._ssn.jobs.keys[job], _Ready)
            # `!ignorable`, as for an overused queue: if failures are not to be ignored, one makes
            # every job ready.
            return not self._ignorable if answer is None else bool(answer.status)

        return job_ready


def _spelt(answer: Answer, shape: type[msgspec.Struct]) -> dict[str, Any]:
    """Return an answer with the field names of a shape: Go ignores their case."""
    names = {field.encode_name.casefold(): field.encode_name for field in fields(shape)}
    spelt = {names.get(name.casefold(), name): value for name, value in answer.items()}
    if shape is _Listed and isinstance(spelt.get("status"), list):
        spelt["status"] = [
            _spelt(each, _Status) if isinstance(each, Mapping) else each for each in spelt["status"]
        ]
    return spelt
