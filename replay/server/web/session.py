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
from ...logs.logged_confs import ConfText, has_no_conf, runs_built_in
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
from .page import NavGroup, page

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


@page(
    "session",
    "This session",
    nav="This session",
    group=NavGroup.SCHEDULER,
    key="o",
    long=True,
    takes=("conf", "action", "about", "skip", "decisions", "pods", "sort_decisions", "sort_pods"),
)
def session(log: Log, look: Look) -> BlockPage:
    """Run the session of the moment, as a release would.

    :raises UsageError: the release is not known.
    """
    moment = log.moment(look.at)
    reach_cache(log, moment, [look.release])
    own = look.get("conf") == BUILT_IN
    conf = chosen_conf(own=own)
    session_run = log.session(
        at=moment, release=look.release, conf=conf, trace=True
    ).without_cache()
    names = names_at(log, moment)
    return BlockPage(
        f"Session of {session_run.release}",
        lambda: _sections(session_run, look, names),
        session_run,
        assumed=assumptions(log, moment, own=own, release=session_run.release),
        not_known=sentences(session_run.not_known),
    )


def _sections(session_run: SessionRun, look: Look, names: StepNames) -> Iterator[Section]:
    """Yield what the session decides, and its steps."""
    release, panic = session_run.release, session_run.result.panic
    said: list[Sentence] = []
    if panic is not None:
        place = f"; at {' < '.join(panic.place)}" if panic.place else ""
        during = f"; while {panic.during}" if panic.during else ""
        said.append(Sentence(f"The scheduler panics: {panic.message}{place}{during}", "panic"))
    rejected = [f"{release} rejects a configuration: {line}" for line in session_run.rejected]
    said += [Sentence(line, "remark") for line in (*rejected, *session_run.result.errors)]
    if look.get("conf") == BUILT_IN:
        other_conf = here_ref("Run it with the log's", conf=None)
    else:
        other_conf = here_ref("Run it with the built-in one", conf=BUILT_IN)
    beside = Ref("Beside another release", "compare")
    confs = Ref("Beside another configuration", "compare", vs_conf=BUILT_IN)
    conf = f"It runs with the configuration {file_name(session_run.conf)}. "
    said.append(Sentence(Words(conf, *joined((other_conf, beside, confs), " · "))))
    yield Section(said)
    decisions, *_, waiting = session_tables(session_run.result, wide=True)
    nothing = Sentence("No pod is bound or evicted, and no PodGroup is enqueued.", "blank")
    yield Section([decisions if decisions.rows else nothing], decisions.title)
    if waiting.rows:
        yield Section([waiting], waiting.title)
    yield Section(list(_steps(session_run, look, names)), "Steps")


def _steps(session_run: SessionRun, look: Look, names: StepNames) -> Iterator[Block]:
    """Yield the steps of an action, about an object."""
    trace, action, about = session_run.result.trace, look.get("action"), look.get("about").strip()
    counts = Counter(trace_step.action for trace_step in trace)
    actions = {name: f"{name} ({many})" for name, many in counts.items() if name}
    fields = [
        FormField("Action", "action", action, {"": "all", **actions}),
        FormField("About", "about", about, {}, {"size": "24"}),
    ]
    every = here_ref("Show all", action=None, about=None, skip=None)
    yield form(look, "Show", fields, after=every if action or about else "")
    steps = [
        (place, trace_step)
        for place, trace_step in enumerate(trace, start=1)
        if (not action or trace_step.action == action) and about in " ".join(trace_step.about)
    ]
    if steps:
        part = some(steps, number(look, "skip"))
        shown = [step_of(*row, names) for row in part.rows]
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
    return (runs_built_in(release), *filled)


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


def step_of(place: int, trace_step: TraceStep, names: StepNames) -> StepShown:
    """Return a step for a page.

    :param place: its number.
    """
    return StepShown(
        number=place,
        action=trace_step.action,
        what=trace_step.what,
        about=tuple(map(names.ref, trace_step.about)),
        by=trace_step.by,
        outcome=outcome_text(trace_step),
        numbers=tuple(
            (name, number_text(value))
            for name, value in compared_in(trace_step.by, trace_step.numbers).items()
        ),
        refuses=_refuses(trace_step),
    )


def _refuses(trace_step: TraceStep) -> bool:
    """Return whether a step holds something up."""
    if trace_step.outcome is StepOutcome.PASSING:
        return not trace_step.many
    return trace_step.outcome in _REFUSALS or trace_step.named == "Unschedulable"
