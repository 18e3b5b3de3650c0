"""Run the scenarios of the pages on faults as every release, and draw the outcomes.

``python tools/matrix.py`` writes a picture for each page, ``docs/articles/NNN-matrix.svg``, and the
tables between the lines ``<!-- matrix NNN -->`` and ``<!-- end -->`` of the README there;
``--check`` writes nothing and exits 1 if they are not what the sessions decide today.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

from plinian.engine.volcano.session.history import SUPPORTED, resolve
from plinian.replay.render.simulation import spans
from plinian.replay.simulate.scenario_cases import Case, read_case
from plinian.replay.simulate.simulation import SimulatedSession, Simulation

PAGES = Path(__file__).resolve().parent.parent / "docs" / "articles"
TABLE = re.compile(r"(<!-- matrix (\d+) -->\n).*?(<!-- end -->)", re.DOTALL)
PLACE = re.compile(r"\b(?:plugins|actions)/(\w+)\.")

PANICS, STOPS, WRONG, RIGHT = "panics", "stops", "wrong", "right"


class Outcome(NamedTuple):
    """What came of a scenario: how bad it is, and in a few words what."""

    kind: str
    words: str


class Variant(NamedTuple):
    """A way into a fault: its scenario, in a few words, and the session that is looked at.

    :param step: from 1; the last one if it is 0.
    """

    scenario: str
    words: str
    step: int = 0


class Fault(NamedTuple):
    """A page's fault: how outcomes of its variants are named, and what the picture shows."""

    number: str
    title: str
    outcome_of: Callable[[Sequence[SimulatedSession]], Outcome]
    variants: tuple[Variant, ...]


def crash(sessions: Sequence[SimulatedSession]) -> Outcome | None:
    """Return where the scheduler panicked in one of the sessions; None if it did not."""
    panicked = [
        session.step_result for session in sessions if session.step_result["panic"] is not None
    ]
    if not panicked:
        return None
    place = PLACE.search(panicked[0].get("panic_at") or "")
    if sessions[-1].step_result["panic"] is None:
        return Outcome(PANICS, "panics until there is room")
    return Outcome(PANICS, f"panics in {place[1] if place else 'a session'}")


def overfull(sessions: Sequence[SimulatedSession]) -> Outcome:
    """Name what happens to a node on which more is used than it has."""
    panicked_at = crash(sessions)
    if panicked_at is not None:
        return panicked_at
    nodes = sessions[-1].cache.nodes.values()
    if not any(node.out_of_sync() for node in nodes):
        return Outcome(RIGHT, "no panic")
    idle = [node.idle for node in nodes]
    below = any(min(each.cpu, each.memory, *(each.scalars or {}).values()) < 0 for each in idle)
    return (
        Outcome(WRONG, "no panic, n1 below zero") if below else Outcome(RIGHT, "n1 is left alone")
    )


def unsound(sessions: Sequence[SimulatedSession]) -> Outcome:
    """Name which jobs start beside a queue that exceeds its parent."""
    panicked_at = crash(sessions)
    if panicked_at is not None:
        return panicked_at
    session = sessions[-1]
    logged = " ".join(session.step_result["errors"])
    waiting = waiting_jobs(session)
    if waiting and not session.step_result["binds"]:
        return Outcome(STOPS, "no job starts")
    if waiting:
        return Outcome(WRONG, f"{' and '.join(waiting)} waits")
    if "Failed to get plugin" in logged:
        return Outcome(RIGHT, "all start: no plugin")
    return Outcome(RIGHT, "all start, logged" if logged else "all start")


def recreated(sessions: Sequence[SimulatedSession]) -> Outcome:
    """Return whether the pod that comes with a new PodGroup gets a node."""
    bound = {pod for session in sessions for pod, _ in session.step_result["binds"]}
    if "default/web-2" in bound:
        return Outcome(RIGHT, "web-2 runs")
    return Outcome(STOPS, "web-2 waits for ever")


def siblings(sessions: Sequence[SimulatedSession]) -> Outcome:
    """Return whether children together get past what their parent has."""
    session = sessions[-1]
    if not waiting_jobs(session):
        return Outcome(STOPS, "both run")
    phase = session.step_result["podgroups"]["default/job-2"]["phase"]
    if phase == "Inqueue":
        return Outcome(WRONG, "job-2 enqueued, waits")
    return Outcome(RIGHT, "job-2 held at the gate")


def waiting_jobs(session: SimulatedSession) -> list[str]:
    """Return the names of the jobs with pods that have no node after a session."""
    bound = {pod for pod, _ in session.step_result["binds"]}
    return sorted(
        {
            job.pod_group.metadata.name
            for job in session.cache.jobs.values()
            if job.pod_group is not None
            for task in job.tasks.values()
            if not task.node_name and task.key not in bound
        }
    )


FAULTS = (
    Fault(
        "000",
        "A node on which more is used than it has",
        overfull,
        (
            Variant("000-allocatable-shrinks", "cpu of the node falls"),
            Variant("000-memory-shrinks", "memory of the node falls"),
            Variant("000-allocatable-shrinks-same-session", "node is overfull when first seen"),
            Variant("000-pods-before-node", "pods are known before the node"),
            Variant("000-nodename-volcano-pod", "spec.nodeName set by hand"),
            Variant("000-nodename-other-scheduler", "a second scheduler fills the node"),
            Variant("000-nodename-then-freed", "… and then pods on it end"),
            Variant("000-releasing-and-shrink", "a pod is being deleted, cpu falls"),
            Variant("000-shrink-and-releasing", "cpu falls, a pod is being deleted"),
            Variant("000-pipelined-then-shrink", "a pod waits for room, cpu falls"),
            Variant("000-preempt-on-negative", "cpu falls, an important pod preempts"),
            Variant("000-gpu-count-shrinks", "8 GPUs become 4"),
            Variant("000-gpu-removed", "8 GPUs vanish"),
        ),
    ),
    Fault(
        "001",
        "A queue that exceeds its parent, and the jobs beside it",
        unsound,
        (
            Variant("001-yaml-no-root", "capability and guarantee of 200 cpu", 1),
            Variant("001-yaml-user-root", "… and a root of 10000000 cpu", 1),
            Variant("001-child-capability-over-root", "capability of 20000 cpu", 1),
            Variant("001-user-root-capability-only", "… and a root of 10000000 cpu", 1),
            Variant("001-guarantee-over-root", "guarantee of 200 cpu", 1),
            Variant("001-deserved-over-root", "deserves 200 cpu", 1),
            Variant("001-child-over-parent-not-root", "capability above a parent below root", 1),
            Variant("001-children-deserved-sum", "children deserve more than their parent", 1),
            Variant("001-children-guarantee-sum", "children's guarantees exceed their parent's", 1),
            Variant("001-node-lost", "25 of 30 cpu, and a node of 10 is lost", 2),
            Variant("001-node-lost-back", "… and comes back", 3),
            Variant("001-gpu-split", "4 of 8 GPUs are split", 2),
            Variant("001-flat-capacity", "no hierarchy: capability of 20000 cpu", 1),
            Variant("001-flat-proportion", "proportion: capability of 20000 cpu", 1),
        ),
    ),
    Fault(
        "002",
        "A PodGroup that is deleted and created again",
        recreated,
        (
            Variant("002-recreate-race-worker-overlap", "worker has the old job when its pod goes"),
            Variant("002-recreate-race-worker-overlap-pod-late", "… and the new pod comes last"),
            Variant("002-recreate-race", "worker acts when all has happened"),
            Variant("002-recreate-race-retry", "worker tries again while the pod goes"),
            Variant("002-recreate-race-two-entries", "worker acts after each change"),
            Variant("002-pg-late", "new pod comes before the old one goes"),
            Variant("002-recreate-slow", "worker is done before the new PodGroup"),
            Variant("002-pg-deleted-under-pending-pod", "PodGroup of a pending pod is deleted"),
        ),
    ),
    Fault(
        "004",
        "Two children that together ask for twice what their parent has",
        siblings,
        (
            Variant("004-both-at-once", "both jobs at once"),
            Variant("004-job2-after-job1", "job-2 when job-1 runs"),
            Variant("004-job2-no-pod", "… and its pod only once it is enqueued"),
            Variant("004-no-sub-capability", "… and children without a capability"),
            Variant("004-flat-capacity", "no hierarchy: job-2 when job-1 runs"),
        ),
    ),
)


class Column(NamedTuple):
    """Releases of which the same comes in all variants of a fault, and what comes."""

    releases: list[str]
    outcomes: tuple[Outcome, ...]


def columns(fault: Fault) -> list[Column]:
    """Return a fault's matrix, releases that do the same together, in the order of the first."""
    cases = [read_case(PAGES / f"{each.scenario}.case.json").case for each in fault.variants]
    found: dict[tuple[Outcome, ...], list[str]] = {}
    for release in map(str, SUPPORTED):
        pairs = zip(fault.variants, cases, strict=True)
        outcomes = tuple(outcome(fault, variant, case, release) for variant, case in pairs)
        found.setdefault(outcomes, []).append(release)
    return [Column(releases, outcomes) for outcomes, releases in found.items()]


def outcome(fault: Fault, variant: Variant, case: Case, release: str) -> Outcome:
    """Return what comes of a variant as a release."""
    sessions = []
    for session in Simulation(case, resolve(release)).sessions():
        sessions.append(session)
        if session.step == variant.step:
            break
    return fault.outcome_of(sessions)


def table(fault: Fault, matrix: Sequence[Column]) -> str:
    """Return a matrix as a table of Markdown; its scenarios are links."""
    heads = ["scenario", "what is different", *(spans(c.releases) for c in matrix)]
    lines = [heads, ["---"] * len(heads)]
    for row, variant in enumerate(fault.variants):
        link = f"[{variant.scenario[4:]}]({variant.scenario}.case.json)"
        lines.append([link, variant.words, *(column.outcomes[row].words for column in matrix)])
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


LABEL, ROW, LINE, EDGE = 300, 30, 18, 16
LOOK = (
    'role="img" aria-labelledby="title about" font-size="13"'
    ' font-family="ui-sans-serif, system-ui, sans-serif"'
)
STYLE = """  <style>
    .panics { fill: #b8412f; } .stops { fill: #e8a13c; } .wrong { fill: #f5e1a4; }
    .right { fill: #cfe3c4; } .text { fill: #1f2530; } .over { fill: #ffffff; font-weight: 600; }
    .head { fill: #1f2530; font-weight: 600; } .code { font-family: ui-monospace, monospace; }
  </style>
"""


def picture(fault: Fault, matrix: Sequence[Column]) -> str:
    """Return a matrix as a picture: a row for each variant, a column for releases that agree."""
    heads = [spans(column.releases).split(",") for column in matrix]
    top = EDGE + 32 + LINE * max(map(len, heads))
    lefts = [*accumulate(map(_width, heads, matrix), initial=EDGE + LABEL)]
    width, height = lefts[-1] + EDGE, top + ROW * len(fault.variants) + EDGE
    title = escape(fault.title)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" {LOOK}>\n',
        f'  <title id="title">{title}, release by release</title>\n',
        f'  <desc id="about">{escape(described(fault, matrix))}</desc>\n',
        STYLE,
        f'  <rect width="{width}" height="{height}" rx="10" fill="#fafbfc"/>\n',
        f'  <text class="head" x="{EDGE}" y="{EDGE + 14}" font-size="16">{title}</text>\n',
    ]
    for left, lines in zip(lefts, heads, strict=False):
        for line, text in enumerate(lines):
            parts.append(_text("head code", left + 6, EDGE + 42 + LINE * line, text))
    for row, variant in enumerate(fault.variants):
        y = top + ROW * row
        parts.append(_text("text", EDGE, y + 19, variant.words))
        for left, right, column in zip(lefts, lefts[1:], matrix, strict=False):
            parts += _cell(column.outcomes[row], left, y, right - left)
    return "".join(parts) + "</svg>\n"


def _width(head: Sequence[str], column: Column) -> int:
    """Return how wide a column is, for the longest text in it."""
    words = max(len(each.words) for each in column.outcomes)
    return max(7 * words + 22, 8 * max(map(len, head)) + 16)


def _text(kind: str, x: int, y: int, text: str) -> str:
    return f'  <text class="{kind}" x="{x}" y="{y}">{escape(text)}</text>\n'


def _cell(outcome: Outcome, x: int, y: int, width: int) -> Iterator[str]:
    place = f'x="{x}" y="{y}" width="{width - 3}" height="{ROW - 3}"'
    yield f'  <rect class="{outcome.kind}" {place} rx="4"/>\n'
    yield _text("over" if outcome.kind == PANICS else "text", x + 8, y + 19, outcome.words)


def described(fault: Fault, matrix: Sequence[Column]) -> str:
    """Return in sentences what a picture shows, for those who cannot see it."""
    found = []
    for column in matrix:
        scenarios: dict[str, list[str]] = {}
        for variant, each in zip(fault.variants, column.outcomes, strict=True):
            scenarios.setdefault(each.words, []).append(variant.scenario)
        parts = [f"{words}: {', '.join(names)}" for words, names in scenarios.items()]
        found.append(f"{spans(column.releases)}: {'; '.join(parts)}.")
    return " ".join(found)


def main() -> int:
    """Write the pictures and tables, or with ``--check`` compare them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if stale")
    options = parser.parse_args()
    matrices = {fault.number: columns(fault) for fault in FAULTS}
    faults = {fault.number: fault for fault in FAULTS}
    made = {
        PAGES / f"{number}-matrix.svg": picture(faults[number], matrix)
        for number, matrix in matrices.items()
    }
    index = PAGES / "README.md"
    made[index] = TABLE.sub(
        lambda part: part[1] + table(faults[part[2]], matrices[part[2]]) + part[3],
        index.read_text("utf-8"),
    )
    stale = False
    for path, text in made.items():
        if path.exists() and path.read_text("utf-8") == text:
            continue
        stale = True
        print(f"{path.name} is not what the sessions decide today")
        if not options.check:
            path.write_text(text, "utf-8")
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
