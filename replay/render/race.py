"""A race as text: a sentence, lanes, where the order differs; and when writes end badly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import Any

import msgspec

from ...engine.kubernetes.counts import counted
from ...engine.kubernetes.units import SECOND_US
from ...engine.machine.machine_faults import NO_FAULTS, FaultLimits
from ...engine.machine.state_search import Progress
from ...engine.machine.walks import WalkBound
from ..explore.exploration import EXHAUSTIVE, Anomaly, Exploration, SearchPlan
from ..explore.replaying import Replay
from ..explore.scenario_world import ScenarioWorld
from ..explore.story import SERVER, TIME, Story, StoryStep
from ..explore.window_words import ToldWindow, ToldWrite
from ..moments.times import known_text
from .layout import kept, pieces
from .simulation import spans
from .tables import NONE, PLAIN, Style, Table, TextColumn, lines_of, paragraph, table_of

WIDTH = 100
MARK, WRITES, PANICS, IDLE = "●", "◆", "✖", "│"
_GAP = 2
_HELD = "!"
_ALONE = "from here on nothing is held up any more:"
_LEAST = 24
"""Characters that a sentence beside the last lane has at least."""


def lanes_lines(story: Story, *, style: Style = PLAIN) -> Iterator[str]:
    """Yield a table with a column for each component, and a line for each step that matters."""
    lanes = used_lanes(story) or list(story.lanes[:1])
    digits = max(4, len(str(len(story.moments))))
    places = _places(lanes, digits + _GAP + 1)
    if style.width is not None and style.width < places[-1] + _LEAST:
        yield from _narrow_lines(story, style)
        return
    head = "STEP".ljust(places[0])
    for lane, place in zip(lanes, places, strict=True):
        head = head.ljust(place) + lane
    yield style.bold(head.rstrip()) + "\n"
    shown = list(shown_moments(story))
    first_alone = next((story_step for story_step in shown if story_step.alone), None)
    for moment in shown:
        if moment is first_alone:
            yield f"{'':{digits}}  {_ALONE}\n"
        yield from _row(moment, lanes, places, digits, style)
    if left_out := len(story.moments) - len(shown):
        yield f"{'':{digits}}  {_left_out(left_out)}\n"


def shown_moments(story: Story) -> Iterator[StoryStep]:
    """Yield the steps that matter, or came late; time that passes between them is one step."""
    late = {delay.made for delay in story.delays}
    passed, since = 0.0, None
    for moment in story.moments:
        # Steps that only let time pass become one, before the next step that is shown.
        if moment.actor == TIME:
            passed, since = passed + moment.seconds, since or moment
        elif moment.matters or moment.number in late:
            if since is not None:
                yield since._replace(sentence=f"{passed:g} s pass")
                passed, since = 0.0, None
            yield moment


def used_lanes(story: Story) -> list[str]:
    """Return the components that do something that others can notice."""
    actors = {moment.actor for moment in story.moments if moment.matters}
    return [lane for lane in story.lanes if lane in actors and lane != SERVER]


def _places(lanes: Sequence[str], begin: int) -> list[int]:
    places = [begin]
    for lane in lanes[:-1]:
        places.append(places[-1] + len(lane) + _GAP)
    return places


def _row(
    moment: StoryStep, lanes: Sequence[str], places: Sequence[int], digits: int, style: Style
) -> Iterator[str]:
    """Yield the lines of a step: its mark in its lane, and its sentence beside it."""
    mark = _mark(moment)
    # The API server and time have no lane: they stand at the left.
    at = places[lanes.index(moment.actor)] if moment.actor in lanes else places[0]
    begin = f"{moment.number:>{digits}}{_HELD if moment.instead_of else ' '}"
    text = moment.sentence
    right, left = _room(style) - at - 2, at - places[0] - 1
    # To the right of the mark, unless only the left has enough room for the sentence.
    if len(text) <= right or right >= left:
        first, *rest = _lines(text, right, style)
        yield f"{begin:{places[0]}}{_ticks(places, places[0], at)}{mark} {first}\n"
        for line in rest:
            yield f"{'':{places[0]}}{_ticks(places, places[0], at)}  {line}\n"
        return
    first, *rest = _lines(text, left, style)
    yield f"{begin:{places[0]}}{first:>{left}} {mark}\n"
    for line in rest:
        yield f"{'':{places[0]}}{line:>{left}}\n"


def _mark(moment: StoryStep) -> str:
    return PANICS if moment.panic else WRITES if moment.writes else MARK


def _narrow_lines(story: Story, style: Style) -> Iterator[str]:
    """Yield the steps with their components in one column, where lanes do not fit side by side."""
    shown = list(shown_moments(story))
    first_alone = next((story_step for story_step in shown if story_step.alone), None)
    rows: list[tuple[str, str, str]] = []
    for moment in shown:
        number = f"{moment.number}{_HELD * bool(moment.instead_of)}"
        if moment is first_alone:
            rows.append(("", "", _ALONE))
        actor = moment.actor if moment.actor in story.lanes else ""
        rows.append((number, actor, f"{_mark(moment)} {moment.sentence}"))
    yield from lines_of(Table(("STEP", "COMPONENT", "DOES"), rows, keep=("DOES",)), style=style)
    if left_out := len(story.moments) - len(shown):
        yield from wrapped(_left_out(left_out), style)


def _room(style: Style) -> int:
    return WIDTH if style.width is None else min(style.width, WIDTH)


def _lines(text: str, width: int, style: Style) -> list[str]:
    """Return a text in lines; a terminal parts no word."""
    if style.width is not None:
        return list(pieces(text, width, long=kept))
    return wrap(text, width, break_on_hyphens=False) or [""]


def _ticks(places: Sequence[int], begin: int, end: int) -> str:
    """Return the lines of the lanes left of a mark."""
    return "".join(IDLE if at in places else " " for at in range(begin, end))


def parting_lines(story: Story, style: Style = PLAIN) -> Iterator[str]:
    """Yield where an order differs from the natural one."""
    if not story.delays:
        yield "The order is the natural one: nothing is held up.\n"
        return
    yield f"Where this order differs from the natural one ({_HELD} in the table):\n"
    for delay in story.delays:
        made = f"comes only as step {delay.made}" if delay.made else "never comes"
        text = f"due at step {delay.due}, {made}: {delay.what}"
        yield from wrapped(text, style, begin="  ", indent="    ")


def writes_lines(story: Story, style: Style = PLAIN) -> Iterator[str]:
    """Yield what each step wrote to the API server."""
    yield "What was written to the API server:\n"
    for moment in story.moments:
        for write in moment.writes:
            uid = write.after["metadata"].get("uid", "")
            text = f"{moment.number:>4}  {moment.actor}: {write.sentence} (uid {uid})"
            yield from wrapped(text, style, indent=" " * 8)


def releases_line(anomaly: Anomaly) -> str:
    """Return in which releases the same order ends so, and in which not."""
    runs = anomaly.releases
    breaks, holds = (spans(names) or "none" for names in (runs.breaks, runs.holds))
    if not runs.complete:
        return f"In this order: breaks {breaks}; the other releases were not tried.\n"
    return f"In this order: breaks {breaks}; holds {holds}.\n"


def cure_line(anomaly: Anomaly) -> str:
    """Return what makes the difference between releases; empty if nothing is known."""
    cure = anomaly.cure
    if cure is None:
        return ""
    names = ", ".join(
        f"{behaviour.behaviour} ({behaviour.values[0]} → {behaviour.values[-1]})"
        for behaviour in cure.behaviours
    )
    what = (
        f"this makes the difference alone: {names}"
        if names
        else (
            "no behaviour of sessions or controllers makes the difference alone; "
            f"see plinian release diff {cure.breaks} {cure.holds}"
        )
    )
    return f"{cure.breaks} breaks and {cure.holds} holds: {what}."


def anomaly_lines(anomaly: Anomaly, story: Story, style: Style = PLAIN) -> Iterator[str]:
    """Yield one anomaly: its sentence, its lanes, its releases, its token."""
    violation = anomaly.violation
    yield from wrapped(style.bold(f"{violation.invariant}: {violation.sentence}"), style)
    yield "\n"
    yield from wrapped(in_log_line(anomaly), style)
    yield from lanes_lines(story, style=style)
    yield "\n"
    yield from parting_lines(story, style)
    yield "\n"
    yield from wrapped(releases_line(anomaly).rstrip(), style)
    yield from wrapped(cure_line(anomaly), style)
    yield f"Digest of the end: {anomaly.digest}\n"
    yield "\n"
    yield "To see this run again, with what each step wrote:\n"
    yield f"  plinian explore --replay {anomaly.token}\n"
    yield "To walk through it by hand: plinian step TOKEN\n"


def replay_lines(again: Replay, style: Style = PLAIN) -> Iterator[str]:
    """Yield the lanes of a run, what it wrote, what is wrong in the end, and its digest."""
    case = again.token.case
    yield style.bold(f"{case.name} as {again.release}") + "\n\n"
    yield from lanes_lines(again.story, style=style)
    yield "\n"
    yield from parting_lines(again.story, style)
    yield "\n"
    yield from writes_lines(again.story, style)
    yield "\n"
    for violation in again.violations:
        yield from wrapped(style.removed(f"{violation.invariant}: {violation.sentence}"), style)
    if not again.violations:
        yield "Nothing is wrong in the end.\n"
    yield f"Digest of the end: {again.digest}\n"


def in_log_line(anomaly: Anomaly) -> str:
    """Return where the log shows the same, if it does; else nothing."""
    shown = anomaly.in_log
    if shown is None:
        return ""
    since = known_text(shown.span)
    when = f" ({since})" if since else ""
    return f"The log shows the same of {shown.name} since @{shown.position}{when}."


def wrapped(text: str, style: Style = PLAIN, *, begin: str = "", indent: str = "") -> Iterator[str]:
    """Yield a sentence in lines that fit; an empty one has none.

    :param begin: what the first line begins with. :param indent: what further lines begin with.
    """
    if style.width is None:
        lines = wrap(
            text, WIDTH, initial_indent=begin, subsequent_indent=indent, break_on_hyphens=False
        )
        yield from (f"{line}\n" for line in lines)
    elif text:
        narrow = msgspec.structs.replace(style, width=_room(style))
        yield from paragraph(f"{begin}{text}", narrow, indent=indent.removeprefix(begin))


def may_fail(faults: FaultLimits) -> str:
    """Return what may fail, and how often, as in ``watch 1, request 2``."""
    return ", ".join(f"{kind} {often}" for kind, often in faults._asdict().items() if often)


def limits_line(plan: SearchPlan, faults: FaultLimits = NO_FAULTS) -> str:
    """Return which orders an exhaustive search tries, and how to try more."""
    never = f"; these components are never late: {', '.join(plan.prompt)}" if plan.prompt else ""
    never += f"; in each may fail: {may_fail(faults)}" if any(faults) else ""
    if plan.delays is None:
        return f"Trying every order{never}."
    return (
        f"Trying every order with at most {_delays(plan.delays)}{never}. "
        "Try more with --delays N, or --delays all."
    )


def _delays(number: int) -> str:
    return "1 delay" if number == 1 else f"{number} delays"


def summary_lines(result: Exploration, style: Style = PLAIN) -> Iterator[str]:
    """Yield how much was searched, whether that is all, and what never happened."""
    count = len(result.anomalies) + result.more
    anomalies = f"{count or 'no'} anomal{'y' if count == 1 else 'ies'}"
    how = (
        _seen(result.plan, result.case.faults)
        if result.complete
        else "stopped early, so there may be more"
    )
    if result.interrupted:
        how = "interrupted, so there may be more"
    turns, ends = _words_of(result.plan)
    nothing = nothing_searched(result)
    if nothing:
        plan = f"{result.plan.release}, {result.plan.strategy}"
        yield from wrapped(f"{plan}: nothing was searched. {nothing}", style)
        return
    yield from wrapped(
        f"{result.plan.release}, {result.plan.strategy}: {anomalies}; {result.states} states, "
        f"{result.turns} {turns}, {result.ends} {ends}, {how}",
        style,
    )
    made, never = result.coverage.made, result.coverage.never
    all_kinds = counted(len(made) + len(never), "kind of steps was", "kinds of steps were")
    kinds = f"{len(made)} of {all_kinds} made"
    yield from wrapped(f"{kinds}; never: {', '.join(never)}" if never else kinds, style)
    if result.bound is not None:
        yield from wrapped(bound_line(result.bound), style)


def _left_out(steps: int) -> str:
    """Return how many steps a story leaves out, and which."""
    return (
        f"left out: {counted(steps, 'step')}, deliveries and work that write nothing"
        if steps > 1
        else "left out: 1 step, which writes nothing"
    )


def nothing_searched(result: Exploration) -> str:
    """Return why a search saw nothing but its begin; empty if it saw more, or found something."""
    if result.turns or result.anomalies:
        return ""
    if result.interrupted:
        return "It was interrupted before the first step."
    if not result.complete:
        return "The time was over before the first step: search for longer."
    return (
        "No component has anything to do at the begin, and users write nothing in the time that "
        "is searched: begin earlier, or end later, so that a write of users is in between."
    )


def _seen(plan: SearchPlan, faults: FaultLimits) -> str:
    """Return what a complete search has seen."""
    limit = "" if plan.delays is None else f" with at most {_delays(plan.delays)}"
    never = f" in which {', '.join(plan.prompt)} are never late" if plan.prompt else ""
    failing = f", in which these may fail: {may_fail(faults)}," if any(faults) else ""
    return f"all orders{limit}{never}{failing} seen"


def _words_of(plan: SearchPlan) -> tuple[str, str]:
    return ("turns", "ends") if plan.strategy == EXHAUSTIVE else ("steps", "walks")


def bound_line(bound: WalkBound) -> str:
    """Return with which probability walks by priorities find a fault, at the least."""
    return (
        f"Each walk finds a fault that depends on the order of {bound.depth} of its "
        f"{counted(bound.steps, 'step')} with a probability of at least {bound.of_one:.1e} "
        f"(1 in {counted(bound.kinds, 'kind of steps', 'kinds of steps')} x "
        f"{bound.steps}^{bound.depth - 1}); "
        f"{counted(bound.walks, 'walk')} with at least {bound.of_all:.1e}."
    )


def progress_line(plan: SearchPlan, now: Progress, passed: float) -> str:
    """Return how far a search is, and how fast."""
    turns, _ = _words_of(plan)
    left = (
        f"{now.waiting} states to go on from"
        if plan.strategy == EXHAUSTIVE
        else f"{now.waiting} walks, {now.waiting / passed:.1f} a second"
    )
    return (
        f"{passed:.0f} s: {now.states} states, {now.steps} {turns}, "
        f"{now.steps / passed:.0f} {turns}/s, {left}"
    )


def windows_lines(
    world: ScenarioWorld, writes: Sequence[ToldWrite], style: Style = PLAIN
) -> Iterator[str]:
    """Yield a table of the windows, and what is wrong then."""
    rows = [(write, window) for write in writes for window in write.windows]
    if rows:
        yield from lines_of(table_of(_WINDOWS, rows), style=style)
        yield "\n"
    for violation in dict.fromkeys(
        violation for _, window in rows for violation in window.violations
    ):
        yield from wrapped(f"{violation.invariant}: {violation.sentence}", style)
    for write, window in rows:
        if window.token:
            begin = _seconds(window.begin)
            yield "\n"
            yield from wrapped(
                f"To see this run ({write.sentence} at {begin}), step by step:", style
            )
            yield f"  plinian explore --replay {window.token}\n"
    if rows:
        yield "\n"
    yield from wrapped(windows_summary(world, writes), style)


def windows_summary(world: ScenarioWorld, writes: Sequence[ToldWrite]) -> str:
    """Return what was tried, and how many windows there are."""
    count = sum(len(write.windows) for write in writes)
    tried = len(writes)
    if not tried:
        return f"{world.release}: the user writes only once, so there is nothing to put off"
    windows = f"{count or 'no'} window{'' if count == 1 else 's'}"
    return (
        f"{world.release}, if nothing is late but a write of the user: {windows} in which it ends "
        f"badly; {tried} write{'' if tried == 1 else 's'} tried. Times are those after the write "
        "before it; at 0s all has been done that follows from that one and needs no time."
    )


def _seconds(microseconds: int) -> str:
    text = f"{microseconds / SECOND_US:.6f}"
    return f"{text.rstrip('0').rstrip('.')}s"


def _until(window: ToldWindow) -> str:
    return NONE if window.end is None else _seconds(window.end)


def _lasts(window: ToldWindow) -> str:
    return "for ever" if window.end is None else _seconds(window.end - window.begin)


_WINDOWS: Sequence[TextColumn[tuple[ToldWrite, ToldWindow]]] = (
    TextColumn("WRITE", lambda row: row[0].sentence),
    TextColumn("FROM", lambda row: _seconds(row[1].begin), keep=True),
    TextColumn("UNTIL", lambda row: _until(row[1]), keep=True),
    TextColumn("LASTS", lambda row: _lasts(row[1])),
    TextColumn("BEGINS WITH", lambda row: row[1].opens or NONE, keep=True),
    TextColumn("ENDS WITH", lambda row: row[1].closes or NONE),
)


def windows_document(world: ScenarioWorld, writes: Sequence[ToldWrite]) -> dict[str, Any]:
    """Return the windows for programs."""
    return {
        "case": world.case.name,
        "release": world.release,
        "writes": [
            {
                "number": write.number,
                "write": write.sentence,
                "windows": [_window_document(window) for window in write.windows],
            }
            for write in writes
        ],
    }


def _window_document(window: ToldWindow) -> dict[str, Any]:
    end = window.end
    return {
        "begin_seconds": window.begin / SECOND_US,
        "end_seconds": None if end is None else end / SECOND_US,
        "begins_with": window.opens or None,
        "ends_with": window.closes or None,
        "token": window.token or None,
        "violations": [violation._asdict() for violation in window.violations],
    }
