"""The page of races: a bounded search from the moment, and one order beside the natural one.

Orders have a template: they are drawn in lanes, and a script goes through them.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from ....engine.errors import PlinianError
from ....engine.kubernetes.counts import counted
from ...facade.log import Log
from ...render.blocks import (
    Block,
    CommandLine,
    Drawn,
    Marked,
    Section,
    Sentence,
    Words,
    here_ref,
    moment_ref,
)
from ...render.simulation import spans
from .assets import assets
from .blocks import BlockPage, drawn, fault_data, fault_sentence, page_blocks
from .forms import FormField, choices_of, form
from .look import Look
from .page import NavGroup, page

if TYPE_CHECKING:
    from ....engine.machine.state_search import Progress
    from ...explore.exploration import Anomaly, Exploration
    from ...explore.explore_task import SearchWatcher
    from ...explore.replaying import Replay
    from ..works import WorkWatch

BUDGETS = ("5s", "10s", "30s", "60s", "2m")
"""How long a search may take in a browser; the command takes any time."""


class SearchForm(NamedTuple):
    """What to search for."""

    objects: str
    until: str
    strategy: str
    budget: str
    seed: str
    token: str


def _searches(look: Look) -> bool:
    """Return whether a look asks for a search."""
    return look.get("run") == "yes" and not look.get("token").strip()


@page(
    "races",
    "Races",
    nav="Races",
    group=NavGroup.CHECK,
    key="r",
    long=True,
    runs=_searches,
    takes=("objects", "until", "strategy", "budget", "seed", "token", "run", "do"),
)
def races(log: Log, look: Look, watch: WorkWatch | None = None) -> BlockPage:
    """Search from the moment if ``run=yes``, or run the order of ``token`` again."""
    from ...explore.replaying import Replay, replay  # noqa: PLC0415 -- loads much
    from .orders import orders_of  # noqa: PLC0415

    asked = _asked(look)
    result: Exploration | Replay | None = None
    fault: PlinianError | None = None
    try:
        if asked.token:
            result = replay(asked.token, look.get("release") or None)
        elif _searches(look):
            result = _searched(log, look, asked, watch)
    except PlinianError as wrong:
        fault = wrong

    def sections() -> Iterator[Section]:
        yield Section(list(_forms(asked, look)))
        if fault is not None:
            yield Section([fault_sentence(fault)])
        elif isinstance(result, Replay):
            orders, static = list(orders_of(result)), assets().path
            yield Section([drawn(look, "orders.html", orders=orders, static=static)])
        elif result is not None:
            yield from _found(result, asked, look)
        yield Section([CommandLine(_command(look, asked), "In a terminal, with more time:")])

    return BlockPage(
        "Races",
        sections,
        result if fault is None else fault_data(fault),
        when=Words("from ", moment_ref(look.position)),
    )


def _forms(asked: SearchForm, look: Look) -> Iterator[Block]:
    """Yield a form for a search, and one for an order."""
    from ...explore.exploration import STRATEGIES  # noqa: PLC0415 -- loads much

    makes = f"Plinian makes a cluster of what existed at {look.at}"
    lets = "lets users write what they wrote then"
    yield Sentence(
        f"{makes}, {lets}, and searches for an order of all other steps that ends badly."
    )
    few = {"size": "20", "placeholder": "deployment/web"}
    search = [
        FormField("Writes until", "until", asked.until, attributes={"size": "10"}),
        FormField("Only these objects", "objects", asked.objects, attributes=few),
        FormField("Strategy", "strategy", asked.strategy, choices_of(STRATEGIES)),
        FormField("For", "budget", asked.budget, choices_of(BUDGETS)),
        FormField("Seed", "seed", asked.seed, attributes={"size": "4", "inputmode": "numeric"}),
    ]
    typed = {"size": "24", "spellcheck": "false"}
    token = FormField("Or show the order of a token", "token", asked.token, attributes=typed)
    yield form(look, "Search", search, drops=("token",), adds={"run": "yes"})
    names = [form_field.name for form_field in search]
    yield form(look, "Show", [token], drops=("run", *names))


def _found(search: Exploration, asked: SearchForm, look: Look) -> Iterator[Section]:
    """Yield what a search found."""
    from ...render.race import nothing_searched  # noqa: PLC0415 -- loads much

    many = len(search.anomalies) + search.more
    title = counted(many, "anomaly", "anomalies") if many else "No anomalies"
    ran = f"{counted(search.states, 'state')} and {counted(search.turns, 'step')}"
    ended = f"stopped after {asked.budget}, so there may be more"
    if search.complete:
        ended = "all orders that the strategy allows"
    elif search.interrupted:
        ended = "stopped by hand, so there may be more"
    nothing = nothing_searched(search)
    again = Markup('<form method="post" action="{}"><button>Search again</button></form>')
    blocks: list[Block] = [
        Sentence(nothing or f"{ran}, {ended}."),
        Drawn(again.format(look.here(do="again"))),
        Sentence(Words(Marked("Assumed:", "name"), f" {search.case.about}"), "assumed"),
        *(_anomaly(anomaly, look) for anomaly in search.anomalies),
    ]
    yield Section(blocks, "Nothing was searched" if nothing else title)


def _anomaly(anomaly: Anomaly, look: Look) -> Block:
    from ...render.race import cure_line, in_log_line  # noqa: PLC0415 -- loads much

    runs = anomaly.releases
    breaks = spans(runs.breaks) if runs.breaks else "none"
    holds = spans(runs.holds) if runs.holds else "none" if runs.complete else "not tried"
    leads = counted(len(anomaly.steps), "step leads", "steps lead")
    said = [
        Sentence(anomaly.violation.sentence, "sentence"),
        *(Sentence(line) for line in (in_log_line(anomaly),) if line),
        Sentence(
            f"{leads} there. In this order: breaks {breaks}; holds {holds}. {cure_line(anomaly)}"
        ),
        Sentence(here_ref("Show both orders", "button", token=anomaly.token, run=None)),
    ]
    card = Markup('<article class="why">{}</article>')
    blocks = page_blocks(look, [Section(said, anomaly.violation.invariant)], level=3)
    return Drawn(card.format(blocks))


def _asked(look: Look) -> SearchForm:
    from ...explore.exploration import EXHAUSTIVE, STRATEGIES  # noqa: PLC0415 -- loads much

    budget, strategy = look.get("budget"), look.get("strategy")
    seed = look.get("seed")
    return SearchForm(
        objects=" ".join(look.get("objects").replace(",", " ").split()),
        until=look.get("until", "end").strip(),
        strategy=strategy if strategy in STRATEGIES else EXHAUSTIVE,
        budget=budget if budget in BUDGETS else BUDGETS[1],
        seed=seed if seed.isascii() and seed.isdigit() and len(seed) < 10 else "0",
        token=look.get("token").strip(),
    )


def _searched(log: Log, look: Look, asked: SearchForm, watch: WorkWatch | None) -> Exploration:
    from ...explore.explore_task import QUIET  # noqa: PLC0415 -- loads much
    from ...facade.exploring import explore_in  # noqa: PLC0415

    return explore_in(
        log,
        look.at,
        until=asked.until,
        objects=asked.objects.split(),
        release=look.release,
        budget=asked.budget,
        strategy=asked.strategy,
        seed=int(asked.seed),
        watcher=QUIET if watch is None else _watcher(watch, asked),
    )


def _watcher(watch: WorkWatch, asked: SearchForm) -> SearchWatcher:
    """Return what reports how far a search is."""
    from ...budget import budget_seconds  # noqa: PLC0415 -- loads much
    from ...explore.explore_task import SearchWatcher  # noqa: PLC0415

    budget, violated = budget_seconds(asked.budget), list[str]()

    def progress(now: Progress, seconds: float) -> None:
        states, steps = counted(now.states, "state"), counted(now.steps, "step")
        anomalies = counted(len(violated), "anomaly", "anomalies")
        words = f"It searches: {states}, {steps}, {anomalies}."
        watch.report(words, int(1000 * seconds), int(1000 * budget))

    def releases(done: int, total: int) -> None:
        anomalies = counted(len(violated), "anomaly", "anomalies")
        words = f"It tries the {anomalies} as every release: {done} of {total}."
        watch.report(words, done, total)

    return SearchWatcher(
        progress=progress,
        notice=lambda violation: violated.append(violation.invariant),
        releases=releases,
    )


def _command(look: Look, asked: SearchForm) -> str:
    """Return the command that does the same, with more time, in a terminal."""
    if asked.token:
        return shlex.join(["plinian", "explore", "--replay", asked.token])
    words = ["plinian", "explore", "--at", look.at, "--until", asked.until]
    words += [word for name in asked.objects.split() for word in ("--object", name)]
    words += ["--release", look.release, "--strategy", asked.strategy, "--budget", "10m"]
    return shlex.join([*words, *(["--seed", asked.seed] if asked.strategy != "exhaustive" else [])])
