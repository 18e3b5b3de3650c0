"""``plinian explore``: search among the possible orders of a cluster's steps."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from . import options
from .command import command
from .shell import note, shows_progress, style

if TYPE_CHECKING:
    from ..explore.run import Exploration, Plan
    from ..explore.scenario import MachineCase

STRATEGIES = ("exhaustive", "pct", "random", "delay")
WORKLOADS = "deployments,replicasets,statefulsets"


def _strategy(_ctx: click.Context, _option: click.Parameter, value: str) -> str:
    if value not in STRATEGIES:
        raise click.BadParameter(f"no strategy {value!r}; choose {', '.join(STRATEGIES)}")
    return value


@command("explore")
@click.argument(
    "case",
    required=False,
    type=click.Path(path_type=Path),
    metavar="CASE",
    help="A scenario file with mode machine: what users write.",
)
@options.release
@click.option("--steps", type=click.IntRange(min=1), metavar="N", help="Stop after so many turns.")
@click.option(
    "--budget",
    default="60s",
    show_default=True,
    metavar="DURATION",
    help="Stop the search after this time; shrinking and other releases come on top.",
)
@click.option(
    "--strategy",
    default="exhaustive",
    show_default=True,
    callback=_strategy,
    metavar="|".join(STRATEGIES),
    help="Every order, or orders picked at random.",
)
@click.option(
    "--seed",
    default=0,
    show_default=True,
    type=click.IntRange(min=0),
    metavar="S",
    help="Of the orders that are picked at random.",
)
@click.option(
    "--jobs",
    "-j",
    default=1,
    show_default=True,
    type=click.IntRange(min=1),
    metavar="J",
    help="Number of processes.",
)
@click.option(
    "--invariant",
    "invariants",
    multiple=True,
    metavar="ID",
    help="Only violations of this invariant, as in I-04; repeatable.",
)
@click.option(
    "--prompt",
    default=WORKLOADS,
    show_default=True,
    metavar="NAMES",
    help="Components that act at once, with commas between; none lets all of them lag.",
)
@click.option("--replay", metavar="TOKEN", help="Run the order of a token again.")
@options.text_or_json
def explore(
    case: Path | None,
    release: str,
    steps: int | None,
    budget: str,
    strategy: str,
    seed: int,
    jobs: int,
    invariants: tuple[str, ...],
    prompt: str,
    replay: str | None,
    output: str,
) -> None:
    """Search for an order of a cluster's steps that ends badly.

    A scenario says what users write. Everything else can happen in any order: informers deliver,
    workers take items, sessions run, pods start and end. Each order that ends in the violation of
    an invariant is an anomaly.
    """
    from ...engine.errors import UsageError
    from ..explore.scenario import read_machine_case

    if replay is not None:
        _replay(replay, output)
        return
    if case is None:
        raise UsageError("nothing to explore", now="name a scenario, or a token after --replay")
    read = read_machine_case(case)
    _search(read, _plan(read))


def _plan(read: MachineCase) -> Plan:
    raise NotImplementedError(read)


def _search(read: MachineCase, plan: Plan) -> Exploration:
    raise NotImplementedError(read, plan)


def _replay(token: str, output: str) -> None:
    raise NotImplementedError(token, output, sys, note, shows_progress, style)
