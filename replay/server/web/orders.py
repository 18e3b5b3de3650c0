"""Orders of a cluster's steps as pictures in lanes: where marks stand, and what was held up."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ....engine.machine.machine import State
from ....engine.machine.machine_layout import FAULTS, MachineStep
from ....engine.machine.natural import USER
from ...explore.replaying import Replay
from ...explore.scenario_world import ScenarioWorld, run_steps
from ...explore.story import TIME, Story, StoryStep, story_of
from ...render.race import shown_moments, used_lanes
from ...render.tables import cut

MOST_STEPS = 200
"""Steps of a picture."""

MOST_NATURAL = 5000
"""Steps of the natural order that are made at most before users have written all."""

_ROW, _TOP, _LEFT, _LETTER, _TEXT = 24, 44, 52, 7, 90
"""The size of a picture: rows, margins, the width of a letter, letters of a sentence."""


class ComponentLane(msgspec.Struct, frozen=True, kw_only=True):
    """A component, and where its line is."""

    name: str
    x: int


class StepMark(msgspec.Struct, frozen=True, kw_only=True):
    """A step. :param shape: ``step``, ``writes`` or ``panics``.

    :param early: another step was due before it. :param alone: nothing is held up any more.
    :param short: the sentence as far as there is room.
    """

    number: int
    x: int
    y: int
    shape: str
    actor: str
    sentence: str
    short: str
    early: bool
    alone: bool


class DelayedStep(msgspec.Struct, frozen=True, kw_only=True):
    """A step that was due and came late, as a line from where it was due to where it came.

    :param made: its number; 0 if it never came.
    """

    what: str
    due: int
    made: int
    x: int
    begin: int
    end: int


class OrderPicture(msgspec.Struct, frozen=True, kw_only=True):
    """An order of steps in lanes. :param left_out: how many steps are not in it.

    :param wrong: what is wrong in the end, as sentences.
    """

    title: str
    width: int
    height: int
    text_x: int
    lanes: tuple[ComponentLane, ...]
    marks: tuple[StepMark, ...]
    held: tuple[DelayedStep, ...]
    left_out: int
    wrong: tuple[str, ...]


def orders_of(replay: Replay) -> Iterator[OrderPicture]:
    """Yield the order of a token, and the order in which nothing is held up."""
    yield _picture(
        "This order", replay.story, tuple(violation.sentence for violation in replay.violations)
    )
    world = replay.world
    steps = natural_steps(world)
    wrong = tuple(violation.sentence for violation in run_steps(world, steps).violations)
    yield _picture("Nothing is held up", story_of(world, steps), wrong)


def natural_steps(world: ScenarioWorld) -> list[MachineStep]:
    """Return the steps in the natural order until users have written all that they write."""
    machine, state, machine_steps = world.machine, world.start, list[MachineStep]()
    while len(machine_steps) < MOST_NATURAL and _users_go_on(world, state):
        moves = world.natural.moves(state)
        usual = next((move for move in moves if not _fails(machine.step(move.step))), None)
        if usual is None:
            break
        machine_steps.append(machine.step(usual.step))
        state = usual.state
    return machine_steps


def _users_go_on(world: ScenarioWorld, state: State) -> bool:
    steps = world.machine.enabled(state)
    return any(world.machine.step(number).part == USER for number in steps)


def _fails(step: MachineStep) -> bool:
    """Return whether a step is a fault, which no natural order has."""
    return bool(step.fault) or step.part == FAULTS


def _picture(title: str, story: Story, wrong: tuple[str, ...]) -> OrderPicture:
    lanes, x = [], _LEFT
    for name in _lanes(story):
        x += max(30, len(name) * _LETTER // 2 + 10)
        lanes.append(ComponentLane(name=name, x=x))
        x += max(30, len(name) * _LETTER // 2 + 10)
    shown = list(shown_moments(story))
    places = {lane.name: lane.x for lane in lanes}
    rows = {story_step.number: _TOP + at * _ROW for at, story_step in enumerate(shown[:MOST_STEPS])}
    marks = [
        _mark(story_step, rows[story_step.number], places, lanes[0].x)
        for story_step in shown[:MOST_STEPS]
    ]
    bottom = _TOP + len(marks) * _ROW
    return OrderPicture(
        title=title,
        width=x + 16 + _TEXT * _LETTER,
        height=bottom,
        text_x=x + 16,
        lanes=tuple(lanes),
        marks=tuple(marks),
        held=tuple(_held(story, rows, places, bottom)),
        left_out=len(story.moments) - len(marks),
        wrong=wrong,
    )


def _lanes(story: Story) -> list[str]:
    """Return the lanes of a picture: of all that write, and of all whose steps are shown."""
    shown = {*used_lanes(story), *(moment.actor for moment in shown_moments(story))}
    return [name for name in story.lanes if name in shown] or list(story.lanes[:1])


def _mark(story_step: StoryStep, y: int, places: dict[str, int], first: int) -> StepMark:
    time = story_step.actor == TIME
    return StepMark(
        number=story_step.number,
        x=places.get(story_step.actor, first if time else _LEFT - 14),
        y=y,
        shape="panics"
        if story_step.panic
        else "writes"
        if story_step.writes
        else "time"
        if time
        else "step",
        actor=story_step.actor,
        sentence=story_step.sentence,
        short=cut(story_step.sentence, _TEXT),
        early=story_step.instead_of is not None,
        alone=story_step.alone,
    )


def _held(
    story: Story, rows: dict[int, int], places: dict[str, int], bottom: int
) -> Iterator[DelayedStep]:
    for delay in story.delays:
        begin = rows.get(delay.due)
        end = rows.get(delay.made, bottom - _ROW // 2)
        if begin is None:
            begin = next((y for number, y in rows.items() if number >= delay.due), bottom)
        yield DelayedStep(
            what=delay.what,
            due=delay.due,
            made=delay.made,
            x=places.get(delay.held.part, _LEFT - 14),
            begin=begin,
            end=max(begin, end),
        )
