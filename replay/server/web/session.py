"""The page of one session: what it decides, and every step; or two sessions side by side.

Its steps have a template: a step refuses, or compares any numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from ....engine.session.framework.trace import StepOutcome, TraceStep
from ....engine.state.truth_fold import Truth
from ...facade.log import Log
from ...logs.assumptions import assumptions_at
from ...logs.logged_confs import ConfText, has_no_conf
from ...moments.moment import Moment
from ...render.blocks import (
    Block,
    Ref,
    Section,
    Sentence,
    Words,
    here_ref,
    joined,
    object_ref,
)
from ...render.session import number_text, session_tables
from ...sessions.session_answer import SessionRun
from ...sessions.step_words import compared_in, outcome_text
from ..reach import reach_cache
from .blocks import BlockPage, drawn
from .bounded import number, some
from .forms import FormField, form
from .look import Look
from .notes import POD, PODGROUP, QUEUE, file_name, sentences
from .page import page

BUILT_IN = "built-in"
"""The configuration of a release itself, in place of the log's."""

_REFUSALS = frozenset({StepOutcome.OVERUSED, StepOutcome.REJECT, StepOutcome.STAYS_PENDING})


class StepShown(NamedTuple):
    """A step of a session.

    :param number: from 1. :param about: the objects; those that exist are links.
    :param numbers: what was compared: names and amounts. :param refuses: it holds something up.
    """

    number: int
    action: str
    what: str
    about: tuple[str, ...]
    by: str
    outcome: str
    numbers: tuple[tuple[str, str], ...]
    refuses: bool


@page("session", "Session", nav="Session", key="o", long=True)
def session(log: Log, look: Look) -> BlockPage:
    """Run the session of the moment, as a release would.

    :raises UsageError: the release is not known.
    """
    moment = log.moment(look.at)
    reach_cache(log, moment, [look.release])
    own = look.get("conf") == BUILT_IN
    conf = chosen_conf(own=own)
    found = log.session(at=moment, release=look.release, conf=conf, trace=True).without_cache()
    names = names_at(log, moment)
    return BlockPage(
        f"Session of {found.release}",
        lambda: _sections(found, look, names),
        found,
        assumed=assumptions(log, moment, own=own, release=found.release),
        not_known=sentences(found.not_known),
    )


def _sections(found: SessionRun, look: Look, names: StepNames) -> Iterator[Section]:
    """Yield what the session decides, and its steps."""
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
    yield Section(list(_steps(found, look, names)), "Steps")


def _steps(found: SessionRun, look: Look, names: StepNames) -> Iterator[Block]:
    """Yield the steps of an action, about an object."""
    trace, action, about = found.result.trace, look.get("action"), look.get("about").strip()
    counts = Counter(one.action for one in trace)
    actions = {one: f"{one} ({many})" for one, many in counts.items() if one}
    fields = [
        FormField("Action", "action", action, {"": "all", **actions}),
        FormField("About", "about", about, {}, {"size": "24"}),
    ]
    every = here_ref("Show all", action=None, about=None, skip=None)
    yield form(look, "Show", fields, after=every if action or about else "")
    steps = [
        (place, one)
        for place, one in enumerate(trace, start=1)
        if (not action or one.action == action) and about in " ".join(one.about)
    ]
    if steps:
        part = some(steps, number(look, "skip"))
        shown = [step_of(*one, names) for one in part.rows]
        yield drawn(look, "steps.html", part=part, steps=shown)
    elif action or about:
        wanted = f"{f' action {action}' if action else ''}{f' about “{about}”' if about else ''}"
        more = "A job has steps under the name of its PodGroup."
        yield Sentence(f"No step fits:{wanted}. {more}", "blank")
    else:
        yield Sentence("The session made no step.", "blank")


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

    def ref(self, name: str) -> str:
        """Return a name; it leads to its object if there is one."""
        place, slash, rest = name.partition("/")
        if not slash:
            return object_ref(f"queue/{name}", name) if ("", name) in self._queues else name
        for kind, names in (("pod", self._pods), ("podgroup", self._podgroups)):
            if (place, rest) in names:
                return object_ref(f"{kind}/{name}", name)
        return name


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
        about=tuple(map(names.ref, one.about)),
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
