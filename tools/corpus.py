"""Run the corpus of Volcano's bugs as every release, and write its table.

``python tools/corpus.py`` runs each scenario of ``docs/corpus`` and writes the table between the
lines ``<!-- corpus -->`` and ``<!-- end -->`` of the README there. ``--check`` writes nothing and
exits 1 if the table is not what comes out. With names it runs only these, and prints their rows.

What a scenario is to show stands in its field ``corpus``, see :class:`Expected`. A scenario of
users' writes is searched for an order that breaks the invariant; one with sessions is simulated,
and its results are compared with the facts that make the wrong end and the right one.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from plinian.engine.kubernetes.api_server import ADDED, Document, place_of
from plinian.engine.kubernetes.store import default_queue
from plinian.engine.machine.checks import violations_in
from plinian.engine.machine.cluster import MADE_OF, Cluster, ClusterSettings, cluster
from plinian.engine.machine.layout import Step
from plinian.engine.machine.natural import Check
from plinian.engine.machine.search import Progress
from plinian.engine.machine.shrink import Shrinker, play
from plinian.engine.machine.user import Act
from plinian.engine.machine.walks import Plan, Strategy, Walks
from plinian.engine.volcano.conf import conf_in_force
from plinian.engine.volcano.releases import RELEASES
from plinian.engine.volcano.session.history import resolve
from plinian.engine.volcano.table import controller_behaviours
from plinian.replay.render.simulation import spans
from plinian.replay.simulate.cases import parse_case
from plinian.replay.simulate.results import StepResult
from plinian.replay.simulate.simulation import simulate

PAGES = Path(__file__).resolve().parent.parent / "docs" / "corpus"
TABLE = re.compile(r"(<!-- corpus -->\n).*?(<!-- end -->)", re.DOTALL)
MACHINE = "machine"
BREAKS, HOLDS, OTHERWISE = "breaks", "holds", "otherwise"
"""How a scenario ends in a release. It may end otherwise where a feature does not exist."""

NOW = 1_800_000_000_000_000
"""The present of all sessions of a machine, in microseconds since 1970."""

_UPSTREAM = "https://github.com/volcano-sh/volcano/issues/"
_RUNS_SOMETHING = frozenset({*MADE_OF, "PodGroup", "Command"})


class Fact(msgspec.Struct):
    """Something about a result.

    :ivar session: which one, from 1. :ivar at: the way to a value in its result.
    :ivar equals: the value, None if it is not there. :ivar contains: a part of it.
    """

    session: int
    at: list[str]
    equals: Any = msgspec.field(default=msgspec.UNSET, name="is")
    contains: Any = msgspec.field(default=msgspec.UNSET, name="has")
    lacks: Any = msgspec.UNSET

    def holds(self, steps: Sequence[StepResult]) -> bool:
        """Say whether it is so."""
        if self.session > len(steps):
            return False
        value: Any = steps[self.session - 1]
        for name in self.at:
            value = value.get(name) if isinstance(value, dict) else None
        if self.equals is not msgspec.UNSET:
            return bool(value == self.equals)
        if self.contains is not msgspec.UNSET:
            return value is not None and self.contains in value
        return value is None or self.lacks not in value


class Expected(msgspec.Struct):
    """What a scenario of the corpus is to show.

    :ivar issues: of Volcano, where it was reported. :ivar title: what goes wrong.
    :ivar breaks: a release in which it does. :ivar holds: one in which it does not; empty if it
        goes wrong in the newest release of Volcano, too.
    :ivar invariant, says: of a machine's violation: its id, and a part of its sentence.
    :ivar strategy, seed, walks: how to search. :ivar same_order: other releases are given only the
        order that the first one breaks in, because they break in others.
    :ivar wrong, right: facts of the two ends.
    """

    bug: str
    title: str
    issues: list[int]
    breaks: str
    holds: str = ""
    invariant: str = ""
    says: str = ""
    strategy: Strategy = Strategy.DELAY
    seed: int = 1
    walks: int = 60
    same_order: bool = False
    wrong: list[Fact] = []
    right: list[Fact] = []


class _Event(msgspec.Struct):
    type: str
    object: Document


class _Step(msgspec.Struct):
    events: list[_Event] = []


class _Machine(msgspec.Struct):
    steps: list[_Step]
    conf: str = ""


class _File(msgspec.Struct):
    corpus: Expected
    mode: str = ""


class Entry(NamedTuple):
    """A scenario of the corpus. :param name: of its files. :param data: its text."""

    name: str
    data: bytes
    mode: str
    expected: Expected


def entries() -> list[Entry]:
    """Return the whole corpus, by name."""
    return [entry_of(path) for path in sorted(PAGES.glob("*.case.json"))]


def entry_of(path: Path) -> Entry:
    """Return the entry in a file."""
    data = path.read_bytes()
    read = msgspec.json.decode(data, type=_File)
    return Entry(path.name.removesuffix(".case.json"), data, read.mode, read.corpus)


def outcome(entry: Entry, release: str, known: Sequence[Step] = ()) -> str:
    """Run a scenario as a release, and say how it ends.

    :param known: an order that another release breaks in, to be tried first.
    """
    if entry.mode != MACHINE:
        return _simulated(entry, release)
    if entry.expected.same_order:
        order = known or found_order(entry, entry.expected.breaks) or ()
        return BREAKS if _breaks_in(entry, release, order) else HOLDS
    if known and _breaks_in(entry, release, known):
        return BREAKS
    return BREAKS if found_order(entry, release) else HOLDS


def _simulated(entry: Entry, release: str) -> str:
    steps = simulate(parse_case(entry.data), resolve(release))
    wrong, right = (
        all(fact.holds(steps) for fact in facts)
        for facts in (entry.expected.wrong, entry.expected.right)
    )
    return OTHERWISE if wrong == right else BREAKS if wrong else HOLDS


# -- machines -------------------------------------------------------------------------------------


def machine_of(entry: Entry, release: str) -> Cluster:
    """Return a scenario as the machine of a release; what is added first exists before."""
    case = msgspec.json.decode(entry.data, type=_Machine)
    acts = [Act(event.type, _placed(event.object)) for step in case.steps for event in step.events]
    begin = next(at for at, act in enumerate(acts) if not _exists_before(act))
    behaviours = resolve(release)
    queues = ("default", "root") if behaviours.root_queue else ("default",)
    return cluster(
        ClusterSettings(
            behaviours=behaviours,
            controllers=controller_behaviours(release),
            conf=conf_in_force(case.conf, behaviours),
            script=acts[begin:],
            now=NOW,
            existing=[*map(default_queue, queues), *(act.document for act in acts[:begin])],
        )
    )


def _exists_before(act: Act) -> bool:
    return act.verb == ADDED and act.document["kind"] not in _RUNS_SOMETHING


def _placed(document: Document) -> Document:
    """Return an object with its namespace."""
    namespace, _, _ = place_of(document).key.rpartition("/")
    metadata = document["metadata"]
    return {**document, "metadata": {**metadata, **({"namespace": namespace} if namespace else {})}}


def found_order(entry: Entry, release: str) -> tuple[Step, ...] | None:
    """Search for an order that breaks the invariant; return it shrunk."""
    expected = entry.expected
    machine, start = machine_of(entry, release)
    check = _check(entry, violations_in(machine, [expected.invariant]))
    search = Walks(machine, start, check, Plan(expected.strategy, expected.seed))
    found = next(search.run(_until(expected.walks)), None)
    if found is None:
        return None
    shrunk = Shrinker(machine, start, check).shrink(found)
    return tuple(map(machine.step, shrunk.steps))


def _until(walks: int) -> Callable[[Progress], bool]:
    """Return what stops a search after so many walks, which count as waiting."""
    return lambda now: now.waiting >= walks


def _check(entry: Entry, check: Check) -> Check:
    """Return a check for what a scenario is to show, and for nothing else."""
    return lambda state: [one for one in check(state) if entry.expected.says in one.sentence]


def _breaks_in(entry: Entry, release: str, order: Sequence[Step]) -> bool:
    machine, start = machine_of(entry, release)
    check = _check(entry, violations_in(machine, [entry.expected.invariant]))
    number = machine.transitions.steps.number
    return bool(check(play(machine, start, [number(step) for step in order]).state))


# -- the table ------------------------------------------------------------------------------------


def outcomes(entry: Entry) -> dict[str, str]:
    """Return how a scenario ends in each release."""
    known = found_order(entry, entry.expected.breaks) if entry.mode == MACHINE else ()
    return {str(one): outcome(entry, str(one), known or ()) for one in RELEASES}


def row(entry: Entry, ends: dict[str, str]) -> str:
    """Return the line of the table for a scenario, with the releases by how it ends in them."""
    expected = entry.expected
    issues = ", ".join(f"[#{number}]({_UPSTREAM}{number})" for number in expected.issues)
    by_end = [
        spans([release for release, end in ends.items() if end == wanted]).replace(",", ", ") or "–"
        for wanted in (BREAKS, HOLDS, OTHERWISE)
    ]
    link = f"[{expected.bug}]({entry.name}.md)"
    return f"| {' | '.join([link, expected.title, issues, *by_end])} |\n"


def table(given: Sequence[Entry], jobs: int) -> Iterator[str]:
    """Yield the lines of the table, as they are run."""
    yield "| bug | what goes wrong | reported | goes wrong in | does not in | ends otherwise in |\n"
    yield "| --- | --- | --- | --- | --- | --- |\n"
    with ProcessPoolExecutor(jobs) as pool:
        for entry, ends in zip(given, pool.map(outcomes, given), strict=True):
            yield row(entry, ends)


def main() -> int:
    """Write the table, or with ``--check`` compare it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if stale")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("names", nargs="*", help="run only these, and print their rows")
    options = parser.parse_args()
    if options.names:
        given = [entry_of(PAGES / f"{name}.case.json") for name in options.names]
        sys.stdout.writelines(table(given, options.jobs))
        return 0
    page = PAGES / "README.md"
    made = "".join(table(entries(), options.jobs))
    text = page.read_text("utf-8")
    new = TABLE.sub(lambda part: part[1] + made + part[2], text)
    if new == text:
        return 0
    print("the table is not what comes out today")
    if not options.check:
        page.write_text(new, "utf-8")
    return int(options.check)


if __name__ == "__main__":
    sys.exit(main())
