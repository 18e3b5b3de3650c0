"""Run the corpus of Volcano's bugs as every release, and write its tables.

``python tools/corpus.py`` runs each scenario of ``docs/corpus`` and writes the table between the
lines ``<!-- corpus -->`` and ``<!-- end -->`` of the README there; what pages without such a
scenario say comes between ``<!-- pages -->`` and ``<!-- end -->``. ``--check`` writes nothing and
exits 1 if the tables are not what comes out. With names it runs only these, and prints their rows.

What a scenario is to show stands in its field ``corpus``, see :class:`Expected`. A machine of
users' writes is searched for an order that breaks the invariant; a scenario with sessions is
simulated, and its results are compared with the facts that make the wrong end and the right one.
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

from plinian.engine.machine.machine_layout import WAIT, MachineStep
from plinian.engine.machine.natural import StateViolation
from plinian.engine.machine.shrink import Shrinker
from plinian.engine.machine.state_search import FaultyState, Progress
from plinian.engine.machine.walks import WalkPlan, Walks, WalkStrategy
from plinian.engine.volcano.releases import RELEASES
from plinian.engine.volcano.session.history import resolve
from plinian.replay.explore.explored_scenario import MODE, parse_machine_case
from plinian.replay.explore.scenario_world import ScenarioWorld, run_steps, world_of
from plinian.replay.render.simulation import spans
from plinian.replay.simulate.results import StepResult
from plinian.replay.simulate.scenario_cases import parse_case
from plinian.replay.simulate.simulation import simulate

PAGES = Path(__file__).resolve().parent.parent / "docs" / "corpus"
TABLE = re.compile(r"(<!-- corpus -->\n).*?(<!-- end -->)", re.DOTALL)
LIST = re.compile(r"(<!-- pages -->\n).*?(<!-- end -->)", re.DOTALL)
BREAKS, HOLDS, OTHERWISE = "breaks", "holds", "otherwise"
"""How a scenario ends in a release. It may end otherwise where a feature does not exist."""

RELEASE_NAMES = [str(release) for release in RELEASES]
_UPSTREAM = "https://github.com/volcano-sh/volcano/issues/"
_NONE = "–"
_HEADING = re.compile(r"# (\w+): (.+)\n")
_RELEASES = re.compile(r"\*\*Releases:\*\* (.+?)\. \*\*", re.DOTALL)
_RELEASE = re.compile(r"v\d+\.\d+\.\d+")
_CHECKED = "\n## Checked against the real code\n"


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

    :ivar title: what goes wrong. :ivar issues: of Volcano, where it was reported.
    :ivar page: the page about it; empty if it has the scenario's name.
    :ivar breaks: a release in which it does. :ivar holds: one in which it does not; empty if it
        goes wrong in the newest release of Volcano, too.
    :ivar invariant, says: of a machine's violation: its id, and a part of its sentence.
    :ivar strategy, seed, walks: how to search. :ivar same_order: other releases are given only the
        order that the first one breaks in, because they break in others.
    :ivar order: that order in words, if it is too long for walks at random.
    :ivar delays: holding so many steps up, an exhaustive search finds that order, in minutes.
    :ivar wrong, right: facts of the two ends.
    """

    bug: str
    title: str
    breaks: str
    holds: str = ""
    issues: list[int] = []
    page: str = ""
    invariant: str = ""
    says: str = ""
    strategy: WalkStrategy = WalkStrategy.DELAY
    seed: int = 1
    walks: int = 60
    same_order: bool = False
    order: list[str] = []
    delays: int = 0
    wrong: list[Fact] = []
    right: list[Fact] = []


class _File(msgspec.Struct):
    corpus: Expected | None = None
    mode: str = ""


class Entry(NamedTuple):
    """A scenario of the corpus. :param name: of its file. :param data: its text."""

    name: str
    data: bytes
    mode: str
    expected: Expected

    @property
    def page(self) -> str:
        """The name of the page about it."""
        return f"{self.expected.page or self.name}.md"


def entries() -> list[Entry]:
    """Return all scenarios that say what they are to show, by name."""
    found = map(entry_of, sorted(PAGES.glob("*.case.json")))
    return [entry for entry in found if entry is not None]


def entry_of(path: Path) -> Entry | None:
    """Return the entry in a file; None if it says of nothing that it goes wrong."""
    data = path.read_bytes()
    read = msgspec.json.decode(data, type=_File)
    if read.corpus is None:
        return None
    return Entry(path.name.removesuffix(".case.json"), data, read.mode, read.corpus)


def command(entry: Entry) -> str:
    """Return the command that shows the bug to a reader."""
    expected, file = entry.expected, f"{entry.name}.case.json"
    if entry.mode != MODE:
        releases = filter(None, (expected.breaks, expected.holds))
        return f"plinian simulate {file} {' '.join(f'--release {one}' for one in releases)}"
    how = f"--strategy {expected.strategy} --seed {expected.seed} --budget 20s"
    if expected.order:
        how = f"--delays {expected.delays} --budget 3m"
    return (
        f"plinian explore {file} --release {expected.breaks} --invariant {expected.invariant} {how}"
    )


def outcome(entry: Entry, release: str, known: Sequence[MachineStep] = ()) -> str:
    """Run a scenario as a release, and say how it ends.

    :param known: an order that another release breaks in, to be tried first.
    """
    if entry.mode != MODE:
        return _simulated(entry, release)
    expected = entry.expected
    if expected.same_order or expected.order:
        order = known or order_of(entry)
        return BREAKS if _breaks_in(entry, release, order) else HOLDS
    if known and _breaks_in(entry, release, known):
        return BREAKS
    return BREAKS if _found(entry, world(entry, release)) else HOLDS


def _simulated(entry: Entry, release: str) -> str:
    steps = simulate(parse_case(entry.data), resolve(release))
    wrong, right = (
        all(fact.holds(steps) for fact in facts)
        for facts in (entry.expected.wrong, entry.expected.right)
    )
    return OTHERWISE if wrong == right else BREAKS if wrong else HOLDS


# -- machines -------------------------------------------------------------------------------------


def world(entry: Entry, release: str) -> ScenarioWorld:
    """Return a scenario as the machine of a release, in which its invariant is checked."""
    return world_of(parse_machine_case(entry.data), release, [entry.expected.invariant])


def order_of(entry: Entry) -> tuple[MachineStep, ...]:
    """Return an order in which the first release breaks; empty if none is found."""
    if given := entry.expected.order:
        return tuple(map(step_in, given))
    return found_order(entry, entry.expected.breaks) or ()


def step_in(words: str) -> MachineStep:
    """Return a step by its words, those of ``str(step)``."""
    if words == str(WAIT):
        return WAIT
    part, _, name = words.partition(" ")
    verb, _, kind = name.partition(" ")
    return MachineStep(part, kind=kind) if verb == "sees" else MachineStep(part, name=name)


def found_order(entry: Entry, release: str) -> tuple[MachineStep, ...] | None:
    """Search for an order that breaks the invariant; return it shrunk."""
    searched = world(entry, release)
    found = _found(entry, searched)
    if found is None:
        return None
    shrunk = Shrinker(searched.machine, searched.start, searched.check).shrink(found)
    return tuple(map(searched.machine.step, shrunk.steps))


def _found(entry: Entry, searched: ScenarioWorld) -> FaultyState | None:
    """Search for an order that breaks the invariant; return it as it was found."""
    plan = WalkPlan(entry.expected.strategy, entry.expected.seed)
    walks = Walks(searched.machine, searched.start, searched.check, plan)
    all_found = walks.run(_until(entry.expected.walks))
    return next((one for one in all_found if _is_shown(entry, one.violation)), None)


def _until(walks: int) -> Callable[[Progress], bool]:
    """Return what stops a search after so many walks, which count as waiting."""
    return lambda now: now.waiting >= walks


def _is_shown(entry: Entry, violation: StateViolation) -> bool:
    """Say whether a violation is what a scenario is to show."""
    expected = entry.expected
    return violation.invariant == expected.invariant and expected.says in violation.sentence


def _breaks_in(entry: Entry, release: str, order: Sequence[MachineStep]) -> bool:
    ran = run_steps(world(entry, release), order)
    return any(_is_shown(entry, violation) for violation in ran.violations)


# -- the table ------------------------------------------------------------------------------------


def outcomes(entry: Entry) -> dict[str, str]:
    """Return how a scenario ends in each release."""
    known = order_of(entry) if entry.mode == MODE else ()
    return {str(one): outcome(entry, str(one), known) for one in RELEASES}


def row(entry: Entry, ends: dict[str, str]) -> str:
    """Return the line of the table for a scenario, with the releases by how it ends in them."""
    expected = entry.expected
    issues = ", ".join(f"[#{number}]({_UPSTREAM}{number})" for number in expected.issues)
    by_end = [
        spans([release for release, end in ends.items() if end == wanted]).replace(",", ", ")
        for wanted in (BREAKS, HOLDS, OTHERWISE)
    ]
    link = f"[{expected.bug}]({entry.page})"
    cells = [link, expected.title, issues, *by_end, ", ".join(checked(entry.page))]
    return f"| {' | '.join(cell or _NONE for cell in cells)} |\n"


def table(given: Sequence[Entry], jobs: int) -> Iterator[str]:
    """Yield the lines of the table, as they are run."""
    yield (
        "| bug | what goes wrong | reported | goes wrong in | does not in | ends otherwise in "
        "| real code of |\n"
    )
    yield "| --- | --- | --- | --- | --- | --- | --- |\n"
    with ProcessPoolExecutor(jobs) as pool:
        for entry, ends in zip(given, pool.map(outcomes, given), strict=True):
            yield row(entry, ends)


def checked(page: str) -> list[str]:
    """Return the releases whose real code was compared, as a page says."""
    _, _, text = (PAGES / page).read_text("utf-8").partition(_CHECKED)
    return sorted({*_RELEASE.findall(text)}, key=RELEASE_NAMES.index)


def pages_alone(given: Sequence[Entry]) -> Iterator[str]:
    """Yield a line for each page of a bug that no scenario shows by itself."""
    shown = {entry.page for entry in given}
    yield "| bug | what it is | releases | real code of |\n| --- | --- | --- | --- |\n"
    for path in sorted(PAGES.glob("*.md")):
        text = path.read_text("utf-8")
        heading, releases = _HEADING.match(text), _RELEASES.search(text)
        if path.name in shown or heading is None or releases is None:
            continue
        code = ", ".join(checked(path.name)) or _NONE
        yield f"| [{heading[1]}]({path.name}) | {heading[2]} | {releases[1]} | {code} |\n"


def written(text: str, jobs: int) -> str:
    """Return the text of the README with its tables as they come out."""
    given = entries()
    rows, others = "".join(table(given, jobs)), "".join(pages_alone(given))
    text = TABLE.sub(lambda part: part[1] + rows + part[2], text)
    return LIST.sub(lambda part: part[1] + others + part[2], text)


def main() -> int:
    """Write the tables, or with ``--check`` compare them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if stale")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("names", nargs="*", help="run only these, and print their rows")
    options = parser.parse_args()
    if options.names:
        given = [one for one in entries() if one.name in options.names]
        sys.stdout.writelines(table(given, options.jobs))
        return 0
    page = PAGES / "README.md"
    text = page.read_text("utf-8")
    new = written(text, options.jobs)
    if new == text:
        return 0
    print("the tables are not what comes out today")
    if not options.check:
        page.write_text(new, "utf-8")
    return int(options.check)


if __name__ == "__main__":
    sys.exit(main())
