"""The page of one session: what it decides, and every step; or two sessions side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from ....engine.session.framework.trace import StepOutcome, TraceStep
from ....engine.state.truth import Truth
from ...facade.documents import document
from ...facade.log import Log
from ...logs.assumptions import assumptions_at
from ...logs.scheduler_confs import ConfText, has_no_conf
from ...moments.moment import Moment
from ...render.session import number_text
from ...sessions.session import SessionRun
from ...sessions.step_words import outcome_text
from ..reach import reach_cache
from .bounded import Some, number, some
from .look import Look
from .notes import POD, PODGROUP, QUEUE, file_name, sentences
from .page import page

BUILT_IN = "built-in"
"""The configuration of a release itself, in place of the log's."""

_REFUSALS = frozenset({StepOutcome.OVERUSED, StepOutcome.REJECT, StepOutcome.STAYS_PENDING})


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """A step of a session.

    :param number: from 1. :param about: the objects in words, and ``objects`` as links name them;
        empty where no object has the name.
    :param numbers: what was compared: names and amounts. :param refuses: it holds something up.
    """

    number: int
    action: str
    what: str
    about: tuple[str, ...]
    objects: tuple[str, ...]
    by: str
    outcome: str
    numbers: tuple[tuple[str, str], ...]
    refuses: bool


class Decided(msgspec.Struct, frozen=True, kw_only=True):
    """A decision. :param object: as links name it. :param value: the node or the reason.

    :param node: the node, as links name it; empty if the decision has none.
    """

    decision: str
    object: str
    value: str
    node: str


class Count(msgspec.Struct, frozen=True, kw_only=True):
    """An action, and how many steps it made."""

    action: str
    steps: int


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """A session.

    :param conf: the source of its configuration; ``confs`` are what can be chosen.
    :param rejected: configurations that the release does not accept, and why.
    :param waiting: pods that are not placed, and why.
    :param action: and ``about``: of the steps that are shown; empty is all.
    """

    release: str
    conf: str
    own_conf: bool
    rejected: tuple[str, ...]
    panic: str
    panic_at: tuple[str, ...]
    panic_during: str
    decisions: Some[Decided]
    waiting: Some[Decided]
    counts: tuple[Count, ...]
    action: str
    about: str
    steps: Some[Step]
    errors: tuple[str, ...]
    assumed: tuple[str, ...]
    not_known: tuple[str, ...]
    answer: SessionRun


def _json(found: Session) -> Any:
    """Return the session as the command prints it with ``--trace``."""
    return document(found.answer)


@page(
    "session",
    template="session.html",
    title="Session",
    nav="Session",
    key="o",
    long=True,
    json=_json,
)
def session(log: Log, look: Look) -> Session:
    """Run the session of the moment, as a release would.

    :raises UsageError: the release is not known.
    """
    moment = log.moment(look.at)
    reach_cache(log, moment, [look.release])
    own = look.get("conf") == BUILT_IN
    conf = chosen_conf(own=own)
    answer = log.session(at=moment, release=look.release, conf=conf, trace=True).without_cache()
    result, names = answer.result, names_at(log, moment)
    action, about = look.get("action"), look.get("about").strip()
    steps = [
        (place, one)
        for place, one in enumerate(result.trace, start=1)
        if (not action or one.action == action) and about in " ".join(one.about)
    ]
    part = some(steps, number(look, "skip"))
    counts = Counter(one.action for one in result.trace)
    return Session(
        release=answer.release,
        conf=file_name(answer.conf),
        own_conf=own,
        rejected=answer.rejected,
        panic="" if result.panic is None else result.panic.message,
        panic_at=() if result.panic is None else tuple(result.panic.place),
        panic_during="" if result.panic is None else result.panic.during,
        decisions=some(list(_decisions(answer)), number(look, "decisions")),
        waiting=some(list(_waiting(answer)), number(look, "waiting")),
        counts=tuple(Count(action=one, steps=many) for one, many in counts.items()),
        action=action,
        about=about,
        steps=Some(
            rows=tuple(step_of(place, one, names) for place, one in part.rows),
            skip=part.skip,
            total=part.total,
        ),
        errors=tuple(result.errors),
        assumed=assumptions(log, moment, own=own, release=answer.release),
        not_known=sentences(answer.not_known),
        answer=answer,
    )


def chosen_conf(*, own: bool) -> ConfText | None:
    """Return the empty configuration, with which a release uses its own, or None for the log's."""
    return ConfText("", BUILT_IN) if own else None


def assumptions(log: Log, moment: Moment, *, own: bool, release: str) -> tuple[str, ...]:
    """Return what an answer assumes, as sentences."""
    filled = assumptions_at(log, moment)
    if own or not has_no_conf(log, moment):
        return filled
    return (
        f"the log holds no configuration of the scheduler: {release} runs with its built-in one",
        *filled,
    )


class Names:
    """What the names in steps mean at a moment: pods and PodGroups, or queues."""

    def __init__(self, truth: Truth) -> None:
        self._queues, self._pods, self._podgroups = (
            truth.names(*kind) for kind in (QUEUE, POD, PODGROUP)
        )

    def object(self, name: str) -> str:
        """Return an object as links name it; empty if there is none."""
        place, slash, rest = name.partition("/")
        if not slash:
            return f"queue/{name}" if ("", name) in self._queues else ""
        for kind, names in (("pod", self._pods), ("podgroup", self._podgroups)):
            if (place, rest) in names:
                return f"{kind}/{name}"
        return ""


def names_at(log: Log, moment: Moment) -> Names:
    """Return the names at a moment, after a session in it: its cache makes room for the state."""
    log.make_room()
    return Names(log.truth(moment))


def step_of(place: int, one: TraceStep, names: Names) -> Step:
    """Return a step for a page.

    :param place: its number.
    """
    return Step(
        number=place,
        action=one.action,
        what=one.what,
        about=one.about,
        objects=tuple(map(names.object, one.about)),
        by=one.by,
        outcome=outcome_text(one),
        numbers=tuple((name, number_text(value)) for name, value in one.numbers.items()),
        refuses=_refuses(one),
    )


def _refuses(one: TraceStep) -> bool:
    """Return whether a step holds something up."""
    if one.outcome is StepOutcome.PASSING:
        return not one.many
    return one.outcome in _REFUSALS or one.named == "Unschedulable"


def _decisions(answer: SessionRun) -> Iterator[Decided]:
    result = answer.result
    for key in result.enqueued:
        yield _decided("enqueue", f"podgroup/{key}", "")
    for word, pairs in (("bind", result.binds), ("pipeline", result.pipelined)):
        for pod, node in pairs:
            yield _decided(word, f"pod/{pod}", node, node=f"node/{node}")
    for pod, reason in result.evictions:
        yield _decided("evict", f"pod/{pod}", reason)


def _decided(decision: str, name: str, value: str, *, node: str = "") -> Decided:
    return Decided(decision=decision, object=name, value=value, node=node)


def _waiting(answer: SessionRun) -> Iterator[Decided]:
    """Yield why pods are not placed: no node fits them, or the message of their condition."""
    result = answer.result
    messages = {key: one.message for key, one in result.pod_conditions.items()}
    messages.update((key, text) for key, text in result.fit_errors.items() if text)
    placed = {pod for pod, _ in (*result.binds, *result.pipelined)}
    for pod, text in sorted(messages.items()):
        if pod not in placed:
            yield _decided("waits", f"pod/{pod}", text)


def numbered(steps: Sequence[TraceStep], names: Names) -> list[Step]:
    """Return the steps of a session for a page."""
    return [step_of(place, one, names) for place, one in enumerate(steps, start=1)]


PAGES = (session,)
