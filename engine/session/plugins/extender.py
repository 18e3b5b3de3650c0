"""Plugin ``extender``: a service of one's own is asked.

What it would answer cannot be known: only recorded answers are given. A question without one is a
call that failed, with all that follows, and the session's errors say so.

Source: pkg/scheduler/plugins/extender/extender.go, argument.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from ...volcano.conf import Arguments
from ..extension import ScoreError
from ..reasons import PASS, StatusCode
from ..session import Session
from ..tables import Floats, Ints, Rows
from ..trace import PERMIT, REJECT, Verdict

EXTENDER_ANSWERS = "extender-answers"
"""Under this name the process keeps the recorded answers, by (verb, what was asked about).

That is ``ns/pod node`` for predicates, ``ns/pod`` for priorities and for victims, ``ns/podgroup``
or a queue's name, and nothing for the opening and the close. An answer is the JSON object that the
service sent; victims are named by ``ns/pod``.
"""

Answer = Mapping[str, Any]


class Extender:
    """Asks a service wherever the configuration names a verb for it.

    Arguments: ``extender.ignorable`` (bool, false), and a verb (a text) for each of
    ``extender.onSessionOpenVerb``, ``…predicateVerb``, ``…prioritizeVerb``, ``…preemptableVerb``,
    ``…reclaimableVerb``, ``…queueOverusedVerb``, ``…jobEnqueueableVerb``, ``…jobReadyVerb``.
    """

    name: ClassVar[str] = "extender"

    def __init__(self, arguments: Arguments) -> None:
        self._arguments = arguments
        self._ignorable = arguments.get_bool("extender.ignorable", False)

    def on_session_open(self, ssn: Session) -> None:
        """Tell the service; if it answers, register what there are verbs for."""
        self._ssn = ssn
        self._answers: Mapping[tuple[str, str], Answer] = ssn.process.kept.get(EXTENDER_ANSWERS, {})
        opening = self._verb("onSessionOpen")
        if opening and self._ask(opening, "") is None and not self._ignorable:
            return
        name = self.name
        registrations: tuple[tuple[str, Callable[[str], None]], ...] = (
            ("predicate", lambda verb: ssn.add_predicate(name, self._predicate(verb), per="task")),
            ("prioritize", lambda verb: ssn.add_batch_node_order(name, self._prioritize(verb))),
            ("preemptable", lambda verb: ssn.add_preemptable(name, self._evictable(verb))),
            ("reclaimable", lambda verb: ssn.add_reclaimable(name, self._evictable(verb))),
            ("jobEnqueueable", lambda verb: ssn.add_job_enqueueable(name, self._enqueueable(verb))),
            ("queueOverused", lambda verb: ssn.add_overused(name, self._overused(verb))),
            ("jobReady", lambda verb: ssn.add_job_ready(name, self._job_ready(verb))),
        )
        for point, register in registrations:
            verb = self._verb(point)
            if verb:
                register(verb)

    def on_session_close(self, ssn: Session) -> None:
        """Do nothing: the service's answer to the close has no effect."""

    def _verb(self, point: str) -> str:
        return self._arguments.get_str(f"extender.{point}Verb", "")

    def _ask(self, verb: str, about: str) -> Answer | None:
        answer = self._answers.get((verb, about))
        if answer is None:
            told = f" about {about}" if about else ""
            text = f"extender: no answer to {verb}{told} was recorded; the call counts as failed"
            self._ssn.errors.append(text)
        return answer

    def _predicate(self, verb: str) -> Callable[[int, Rows], Ints]:
        names, intern = self._ssn.nodes.names, self._ssn.reasons.intern

        def verdict(key: str, node: int) -> int:
            answer = self._ask(verb, f"{key} {names[node]}")
            if answer is None:
                return PASS if self._ignorable else intern(StatusCode.ERROR, "the call failed")
            message = answer.get("status", "")
            if not message:
                return PASS
            return intern(StatusCode(answer.get("code", 0) or StatusCode.ERROR), message)

        def predicate(task: int, rows: Rows) -> Ints:
            key = self._ssn.tasks.info[task].key
            return np.array([verdict(key, node) for node in rows.tolist()], dtype=np.int32)

        return predicate

    def _prioritize(self, verb: str) -> Callable[[int, Rows], Floats | None]:
        names = self._ssn.nodes.names

        def prioritize(task: int, rows: Rows) -> Floats | None:
            answer = self._ask(verb, self._ssn.tasks.info[task].key)
            if answer is None:
                if self._ignorable:
                    return None
                raise ScoreError("the call failed")
            scores = answer.get("nodeScore")
            if answer.get("errorMessage") or scores is None:
                raise ScoreError(answer.get("errorMessage", ""))
            return np.array([float(scores.get(names[node], 0.0)) for node in rows.tolist()])

        return prioritize

    def _evictable(self, verb: str) -> Callable[[int, list[int]], tuple[list[int] | None, int]]:
        info = self._ssn.tasks.info

        def evictable(evictor: int, candidates: list[int]) -> tuple[list[int] | None, int]:
            answer = self._ask(verb, info[evictor].key)
            if answer is None:
                return None, PERMIT if self._ignorable else REJECT
            row = {info[task].key: task for task in candidates}
            victims = [row[key] for key in answer.get("victims") or () if key in row]
            return victims, int(answer.get("status", 0))

        return evictable

    def _enqueueable(self, verb: str) -> Callable[[int], Verdict]:
        def enqueueable(job: int) -> Verdict:
            answer = self._ask(verb, self._ssn.jobs.keys[job])
            if answer is None:
                return Verdict(PERMIT if self._ignorable else REJECT, "the call failed")
            vote = int(answer.get("status", 0))
            return Verdict((vote > 0) - (vote < 0))

        return enqueueable

    def _overused(self, verb: str) -> Callable[[str], Verdict]:
        def overused(queue: str) -> Verdict:
            answer = self._ask(verb, queue)
            if answer is None:
                return Verdict(REJECT if self._ignorable else PERMIT, "the call failed")
            return Verdict(PERMIT if answer.get("overused") else REJECT)

        return overused

    def _job_ready(self, verb: str) -> Callable[[int], bool]:
        def job_ready(job: int) -> bool:
            answer = self._ask(verb, self._ssn.jobs.keys[job])
            return not self._ignorable if answer is None else bool(answer.get("status"))

        return job_ready
