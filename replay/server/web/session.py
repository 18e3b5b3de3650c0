"""The page of one session: what it decides, and every step; or two sessions side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ....engine.session.framework.trace import StepOutcome, TraceStep
from ....engine.state.truth_fold import Truth
from ...facade.documents import document
from ...facade.log import Log
from ...logs.assumptions import assumptions_at
from ...logs.logged_confs import ConfText, has_no_conf
from ...moments.moment import Moment
from ...render.blocks import Ref, Section, Sentence, Words, here_ref, joined
from ...render.session import number_text, session_tables
from ...sessions.session_answer import SessionRun
from ...sessions.step_words import compared_in, outcome_text
from ..reach import reach_cache
from .blocks import answer
from .bounded import Some, number, some
from .look import Look
from .notes import POD, PODGROUP, QUEUE, file_name, sentences
from .page import page

BUILT_IN = "built-in"
"""The configuration of a release itself, in place of the log's."""

_REFUSALS = frozenset({StepOutcome.OVERUSED, StepOutcome.REJECT, StepOutcome.STAYS_PENDING})


class StepShown(msgspec.Struct, frozen=True, kw_only=True):
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


class Count(msgspec.Struct, frozen=True, kw_only=True):
    """An action, and how many steps it made."""

    action: str
    steps: int


class SessionPage(msgspec.Struct, frozen=True, kw_only=True):
    """A session.

    :param action: and ``about``: of the steps that are shown; empty is all.
    """

    counts: tuple[Count, ...]
    action: str
    about: str
    steps: Some[StepShown]
    assumed: tuple[str, ...]
    not_known: tuple[str, ...]
    answer: SessionRun


def _json(found: SessionPage) -> Any:
    """Return the session as the command prints it with ``--trace``."""
    return document(found.answer)


def _shown(found: SessionPage, look: Look) -> Mapping[str, Any]:
    return answer(look, f"Session of {found.answer.release}", _sections(found.answer, look))


def _sections(found: SessionRun, look: Look) -> Iterator[Section]:
    """Yield what the session decides; the page has its steps below."""
    release, panic = found.release, found.result.panic
    said: list[Sentence] = []
    if panic is not None:
        place = f"; at {' < '.join(panic.place)}" if panic.place else ""
        during = f"; while {panic.during}" if panic.during else ""
        said.append(Sentence(f"The scheduler panics: {panic.message}{place}{during}", "panic"))
    rejected = [f"{release} rejects a configuration: {line}" for line in found.rejected]
    said += [Sentence(line, "remark") for line in (*rejected, *found.result.errors)]
    if look.get("conf") == BUILT_IN:
        other = here_ref("Run it with the log's", conf=None)
    else:
        other = here_ref("Run it with the built-in one", conf=BUILT_IN)
    beside = Ref("Beside another release", "compare")
    confs = Ref("Beside another configuration", "compare", vs_conf=BUILT_IN)
    conf = f"It runs with the configuration {file_name(found.conf)}. "
    said.append(Sentence(Words(conf, *joined((other, beside, confs), " · "))))
    yield Section(said)
    decisions, *_, waiting = session_tables(found.result, wide=True)
    nothing = Sentence("No pod is bound or evicted, and no PodGroup is enqueued.", "blank")
    yield Section([decisions if decisions.rows else nothing], decisions.title)
    if waiting.rows:
        yield Section([waiting], waiting.title)


@page(
    "session",
    template="session.html",
    title="Session",
    nav="Session",
    key="o",
    long=True,
    json=_json,
    show=_shown,
)
def session(log: Log, look: Look) -> SessionPage:
    """Run the session of the moment, as a release would.

    :raises UsageError: the release is not known.
    """
    moment = log.moment(look.at)
    reach_cache(log, moment, [look.release])
    own = look.get("conf") == BUILT_IN
    conf = chosen_conf(own=own)
    found = log.session(at=moment, release=look.release, conf=conf, trace=True).without_cache()
    result, names = found.result, names_at(log, moment)
    action, about = look.get("action"), look.get("about").strip()
    steps = [
        (place, one)
        for place, one in enumerate(result.trace, start=1)
        if (not action or one.action == action) and about in " ".join(one.about)
    ]
    part = some(steps, number(look, "skip"))
    counts = Counter(one.action for one in result.trace)
    return SessionPage(
        counts=tuple(Count(action=one, steps=many) for one, many in counts.items()),
        action=action,
        about=about,
        steps=Some(
            rows=tuple(step_of(place, one, names) for place, one in part.rows),
            skip=part.skip,
            total=part.total,
        ),
        assumed=assumptions(log, moment, own=own, release=found.release),
        not_known=sentences(found.not_known),
        answer=found,
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


class StepNames:
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


def names_at(log: Log, moment: Moment) -> StepNames:
    """Return the names at a moment, after a session in it: its cache makes room for the state."""
    log.make_room()
    return StepNames(log.truth(moment))


def step_of(place: int, one: TraceStep, names: StepNames) -> StepShown:
    """Return a step for a page.

    :param place: its number.
    """
    return StepShown(
        number=place,
        action=one.action,
        what=one.what,
        about=one.about,
        objects=tuple(map(names.object, one.about)),
        by=one.by,
        outcome=outcome_text(one),
        numbers=tuple(
            (name, number_text(value)) for name, value in compared_in(one.by, one.numbers).items()
        ),
        refuses=_refuses(one),
    )


def _refuses(one: TraceStep) -> bool:
    """Return whether a step holds something up."""
    if one.outcome is StepOutcome.PASSING:
        return not one.many
    return one.outcome in _REFUSALS or one.named == "Unschedulable"


def numbered(steps: Sequence[TraceStep], names: StepNames) -> list[StepShown]:
    """Return the steps of a session for a page."""
    return [step_of(place, one, names) for place, one in enumerate(steps, start=1)]


PAGES = (session,)
