"""The page of races: a bounded search from the moment, and one order beside the natural one."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

import msgspec

from ....engine.errors import PlinianError
from ...explore.replaying import Replay, replay
from ...explore.run import EXHAUSTIVE, STRATEGIES, Anomaly, Exploration
from ...explore.story import TIME, Moment, Story, story_of
from ...explore.world import run_steps
from ...facade.documents import document
from ...facade.exploring import explore_in
from ...facade.log import Log
from ...render.race import cure_line, in_log_line, shown_moments, used_lanes
from ...render.simulation import spans
from ...render.tables import cut
from .look import Look
from .page import page

BUDGETS = ("5s", "10s", "30s", "60s")
"""How long a search may take in a browser; the command takes any time."""

MOST_STEPS = 200
_ROW, _TOP, _LEFT, _LETTER, _TEXT = 24, 44, 52, 7, 90
"""The size of a picture: rows, margins, the width of a letter, letters of a sentence."""


class Lane(msgspec.Struct, frozen=True, kw_only=True):
    """A component, and where its line is."""

    name: str
    x: int


class Mark(msgspec.Struct, frozen=True, kw_only=True):
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


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """A step that was due and came late, as a line from where it was due to where it came.

    :param made: its number; 0 if it never came.
    """

    what: str
    due: int
    made: int
    x: int
    begin: int
    end: int


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """An order of steps in lanes. :param left_out: how many steps are not in it.

    :param wrong: what is wrong in the end, as sentences.
    """

    title: str
    width: int
    height: int
    text_x: int
    lanes: tuple[Lane, ...]
    marks: tuple[Mark, ...]
    held: tuple[Held, ...]
    left_out: int
    wrong: tuple[str, ...]


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """An anomaly of a search."""

    invariant: str
    sentence: str
    in_log: str
    steps: int
    breaks: str
    holds: str
    cure: str
    token: str


class Form(msgspec.Struct, frozen=True, kw_only=True):
    """What to search for."""

    objects: str
    until: str
    strategy: str
    budget: str
    seed: str


class Races(msgspec.Struct, frozen=True, kw_only=True):
    """A search, or one order.

    :param fault: why there is no answer, and ``now`` what to do.
    :param assumed: what the search had to assume about the log.
    :param orders: the order of the token, and the natural one.
    :param command: gives the same in a terminal.
    """

    form: Form
    budgets: tuple[str, ...]
    strategies: tuple[str, ...]
    fault: str
    now: str
    searched: bool
    complete: bool
    states: int
    turns: int
    more: int
    assumed: tuple[str, ...]
    found: tuple[Found, ...]
    token: str
    orders: tuple[Picture, ...]
    command: str
    result: Exploration | Replay | None


def _json(found: Races) -> Any:
    """Return what the command prints; null if nothing was asked."""
    if found.fault:
        return {"error": {"what": found.fault, "now": found.now}}
    return None if found.result is None else document(found.result)


@page("races", template="races.html", title="Races", nav="Races", key="r", long=True, json=_json)
def races(log: Log, look: Look) -> Races:
    """Search from the moment if ``run=yes``, or run the order of ``token`` again."""
    form, token = _form(look), look.get("token").strip()
    result: Exploration | Replay | None = None
    fault, now = "", ""
    try:
        if token:
            result = replay(token, look.get("release") or None)
        elif look.get("run") == "yes":
            result = _searched(log, look, form)
    except PlinianError as wrong:
        fault, now = wrong.what, wrong.now
    search = result if isinstance(result, Exploration) else None
    return Races(
        form=form,
        budgets=BUDGETS,
        strategies=STRATEGIES,
        fault=fault,
        now=now,
        searched=search is not None,
        complete=search is not None and search.complete,
        states=0 if search is None else search.states,
        turns=0 if search is None else search.turns,
        more=0 if search is None else search.more,
        assumed=() if search is None else (search.case.about,),
        found=() if search is None else tuple(map(_found, search.anomalies)),
        token=token,
        orders=tuple(_orders(result)) if isinstance(result, Replay) else (),
        command=_command(look, form, token),
        result=result,
    )


def _form(look: Look) -> Form:
    budget, strategy = look.get("budget"), look.get("strategy")
    seed = look.get("seed")
    return Form(
        objects=" ".join(look.get("objects").replace(",", " ").split()),
        until=look.get("until", "end").strip(),
        strategy=strategy if strategy in STRATEGIES else EXHAUSTIVE,
        budget=budget if budget in BUDGETS else BUDGETS[1],
        seed=seed if seed.isascii() and seed.isdigit() and len(seed) < 10 else "0",
    )


def _searched(log: Log, look: Look, form: Form) -> Exploration:
    return explore_in(
        log,
        look.at,
        until=form.until,
        objects=form.objects.split(),
        release=look.release,
        budget=form.budget,
        strategy=form.strategy,
        seed=int(form.seed),
    )


def _found(one: Anomaly) -> Found:
    told = one.releases
    return Found(
        invariant=one.violation.invariant,
        sentence=one.violation.sentence,
        in_log=in_log_line(one),
        steps=len(one.steps),
        breaks=spans(told.breaks) if told.breaks else "none",
        holds=spans(told.holds) if told.holds else "none" if told.complete else "not tried",
        cure=cure_line(one),
        token=one.token,
    )


def _orders(found: Replay) -> Iterator[Picture]:
    """Yield the order of a token, and the order in which nothing is held up."""
    yield _picture("This order", found.story, tuple(one.sentence for one in found.violations))
    world = found.world
    usual = run_steps(world, ())
    wrong = tuple(one.sentence for one in usual.violations)
    yield _picture("Nothing is held up", story_of(world, ()), wrong)


def _picture(title: str, story: Story, wrong: tuple[str, ...]) -> Picture:
    lanes, x = [], _LEFT
    for name in used_lanes(story) or list(story.lanes[:1]):
        x += max(28, len(name) * _LETTER // 2 + 6)
        lanes.append(Lane(name=name, x=x))
        x += max(28, len(name) * _LETTER // 2 + 6)
    shown = list(shown_moments(story))
    places = {one.name: one.x for one in lanes}
    rows = {one.number: _TOP + at * _ROW for at, one in enumerate(shown[:MOST_STEPS])}
    marks = [_mark(one, rows[one.number], places, lanes[0].x) for one in shown[:MOST_STEPS]]
    bottom = _TOP + len(marks) * _ROW
    return Picture(
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


def _mark(one: Moment, y: int, places: dict[str, int], first: int) -> Mark:
    time = one.actor == TIME
    return Mark(
        number=one.number,
        x=places.get(one.actor, first if time else _LEFT - 14),
        y=y,
        shape="panics" if one.panic else "writes" if one.writes else "time" if time else "step",
        actor=one.actor,
        sentence=one.sentence,
        short=cut(one.sentence, _TEXT),
        early=one.instead_of is not None,
        alone=one.alone,
    )


def _held(
    story: Story, rows: dict[int, int], places: dict[str, int], bottom: int
) -> Iterator[Held]:
    for one in story.delays:
        begin = rows.get(one.due)
        end = rows.get(one.made, bottom - _ROW // 2)
        if begin is None:
            begin = next((y for number, y in rows.items() if number >= one.due), bottom)
        yield Held(
            what=one.what,
            due=one.due,
            made=one.made,
            x=places.get(one.held.part, _LEFT - 14),
            begin=begin,
            end=max(begin, end),
        )


def _command(look: Look, form: Form, token: str) -> str:
    """Return the command that does the same, with more time, in a terminal."""
    if token:
        return shlex.join(["plinian", "explore", "--replay", token])
    words = ["plinian", "explore", "--at", look.at, "--until", form.until]
    words += [word for name in form.objects.split() for word in ("--object", name)]
    words += ["--release", look.release, "--strategy", form.strategy, "--budget", "10m"]
    return shlex.join([*words, *(["--seed", form.seed] if form.strategy != EXHAUSTIVE else [])])


PAGES = (races,)
