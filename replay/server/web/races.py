"""The page of races: a bounded search from the moment, and one order beside the natural one.

It has a template: two orders are drawn in lanes, and a script goes through them.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import msgspec

from ....engine.errors import PlinianError
from ....engine.kubernetes.counts import counted
from ...facade.documents import document
from ...facade.log import Log
from ...render.simulation import spans
from .look import Look
from .page import page

if TYPE_CHECKING:
    from ....engine.machine.state_search import Progress
    from ...explore.exploration import Anomaly, Exploration
    from ...explore.explore_task import SearchWatcher
    from ...explore.replaying import Replay
    from ..works import WorkWatch

BUDGETS = ("5s", "10s", "30s", "60s", "2m")
"""How long a search may take in a browser; the command takes any time."""


class FoundAnomaly(msgspec.Struct, frozen=True, kw_only=True):
    """An anomaly of a search."""

    invariant: str
    sentence: str
    in_log: str
    steps: int
    breaks: str
    holds: str
    cure: str
    token: str


class SearchForm(msgspec.Struct, frozen=True, kw_only=True):
    """What to search for."""

    objects: str
    until: str
    strategy: str
    budget: str
    seed: str


class Races(msgspec.Struct, frozen=True, kw_only=True):
    """A search, or one order.

    :param fault: why there is no answer, and ``now`` what to do.
    :param interrupted: a person stopped the search; what was found by then is here.
    :param nothing: why nothing was searched; empty if something was.
    :param assumed: what the search had to assume about the log.
    :param orders: pictures of the order of the token, and of the natural one.
    :param command: gives the same in a terminal.
    """

    form: SearchForm
    budgets: tuple[str, ...]
    strategies: tuple[str, ...]
    fault: str
    now: str
    searched: bool
    complete: bool
    interrupted: bool
    states: int
    turns: int
    more: int
    nothing: str
    assumed: tuple[str, ...]
    found: tuple[FoundAnomaly, ...]
    token: str
    orders: tuple[Any, ...]
    command: str
    result: Any


def _json(found: Races) -> Any:
    """Return what the command prints; null if nothing was asked."""
    if found.fault:
        return {"error": {"what": found.fault, "now": found.now}}
    return None if found.result is None else document(found.result)


def _searches(look: Look) -> bool:
    """Return whether a look asks for a search."""
    return look.get("run") == "yes" and not look.get("token").strip()


@page(
    "races",
    template="races.html",
    title="Races",
    nav="Races",
    key="r",
    long=True,
    runs=_searches,
    json=_json,
)
def races(log: Log, look: Look, watch: WorkWatch | None = None) -> Races:
    """Search from the moment if ``run=yes``, or run the order of ``token`` again."""
    from ...explore.exploration import STRATEGIES, Exploration  # noqa: PLC0415
    from ...explore.replaying import Replay, replay  # noqa: PLC0415 -- loads much
    from ...render.race import nothing_searched  # noqa: PLC0415
    from .orders import orders_of  # noqa: PLC0415

    form, token = _form(look), look.get("token").strip()
    result: Exploration | Replay | None = None
    fault, now = "", ""
    try:
        if token:
            result = replay(token, look.get("release") or None)
        elif _searches(look):
            result = _searched(log, look, form, watch)
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
        interrupted=search is not None and search.interrupted,
        states=0 if search is None else search.states,
        turns=0 if search is None else search.turns,
        more=0 if search is None else search.more,
        nothing="" if search is None else nothing_searched(search) or "",
        assumed=() if search is None else (search.case.about,),
        found=() if search is None else tuple(map(_found, search.anomalies)),
        token=token,
        orders=tuple(orders_of(result)) if isinstance(result, Replay) else (),
        command=_command(look, form, token),
        result=result,
    )


def _form(look: Look) -> SearchForm:
    from ...explore.exploration import EXHAUSTIVE, STRATEGIES  # noqa: PLC0415 -- loads much

    budget, strategy = look.get("budget"), look.get("strategy")
    seed = look.get("seed")
    return SearchForm(
        objects=" ".join(look.get("objects").replace(",", " ").split()),
        until=look.get("until", "end").strip(),
        strategy=strategy if strategy in STRATEGIES else EXHAUSTIVE,
        budget=budget if budget in BUDGETS else BUDGETS[1],
        seed=seed if seed.isascii() and seed.isdigit() and len(seed) < 10 else "0",
    )


def _searched(log: Log, look: Look, form: SearchForm, watch: WorkWatch | None) -> Exploration:
    from ...explore.explore_task import QUIET  # noqa: PLC0415 -- loads much
    from ...facade.exploring import explore_in  # noqa: PLC0415

    return explore_in(
        log,
        look.at,
        until=form.until,
        objects=form.objects.split(),
        release=look.release,
        budget=form.budget,
        strategy=form.strategy,
        seed=int(form.seed),
        watcher=QUIET if watch is None else _watcher(watch, form),
    )


def _watcher(watch: WorkWatch, form: SearchForm) -> SearchWatcher:
    """Return what reports how far a search is."""
    from ...budget import budget_seconds  # noqa: PLC0415 -- loads much
    from ...explore.explore_task import SearchWatcher  # noqa: PLC0415

    budget, found = budget_seconds(form.budget), list[str]()

    def progress(now: Progress, seconds: float) -> None:
        states, steps = counted(now.states, "state"), counted(now.steps, "step")
        anomalies = counted(len(found), "anomaly", "anomalies")
        words = f"It searches: {states}, {steps}, {anomalies}."
        watch.report(words, int(1000 * seconds), int(1000 * budget))

    def releases(done: int, total: int) -> None:
        anomalies = counted(len(found), "anomaly", "anomalies")
        words = f"It tries the {anomalies} as every release: {done} of {total}."
        watch.report(words, done, total)

    return SearchWatcher(
        progress=progress, notice=lambda one: found.append(one.invariant), releases=releases
    )


def _found(one: Anomaly) -> FoundAnomaly:
    from ...render.race import cure_line, in_log_line  # noqa: PLC0415 -- loads much

    runs = one.releases
    return FoundAnomaly(
        invariant=one.violation.invariant,
        sentence=one.violation.sentence,
        in_log=in_log_line(one),
        steps=len(one.steps),
        breaks=spans(runs.breaks) if runs.breaks else "none",
        holds=spans(runs.holds) if runs.holds else "none" if runs.complete else "not tried",
        cure=cure_line(one),
        token=one.token,
    )


def _command(look: Look, form: SearchForm, token: str) -> str:
    """Return the command that does the same, with more time, in a terminal."""
    if token:
        return shlex.join(["plinian", "explore", "--replay", token])
    words = ["plinian", "explore", "--at", look.at, "--until", form.until]
    words += [word for name in form.objects.split() for word in ("--object", name)]
    words += ["--release", look.release, "--strategy", form.strategy, "--budget", "10m"]
    return shlex.join([*words, *(["--seed", form.seed] if form.strategy != "exhaustive" else [])])


PAGES = (races,)
