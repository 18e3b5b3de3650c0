"""Write ``docs/behaviours.md`` from the history of releases, so that it cannot say anything else.

``python tools/behaviours.py`` writes it; with ``--check`` it only says whether it is stale, and
exits 1 if it is. Needs Plinian installed, or on ``PYTHONPATH``.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import sys
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from itertools import chain, groupby
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from plinian.engine.volcano import (
    behaviours,
    cache_behaviours,
    controller_behaviours,
    kube_behaviours,
    variants,
)
from plinian.engine.volcano.proofs import claims, is_claim, lack, proof_of, unproven
from plinian.engine.volcano.releases import RELEASES, REPOSITORY, Release, Row
from plinian.engine.volcano.table import TABLE, Part, part_of
from plinian.replay.compare.releases import value_text
from reference import cell, table

PAGE = Path(__file__).resolve().parent.parent / "docs" / "behaviours.md"
MADE = (
    "<!-- Made by tools/behaviours.py from the history. Change the history, then run it again. -->"
)
INTRODUCTION = """
Releases of Volcano differ in what is listed here, in three parts: what [sessions](#sessions)
decide, what the scheduler's [cache](#the-cache-besides-sessions) does besides them, and what the
[controllers](#controllers) do. Each behaviour has a row for every value that it had: the releases
that have it, what that means, where it is to be read in Volcano's source (a path below
`pkg/scheduler/`, or a full one, which begins with `pkg/`), the pull request that brought it, and
what proves it.

A row of sessions is proven by a scenario and a release: our session decides what that release's
scheduler was recorded to decide, and decides otherwise as soon as the row is reverted. The
scenarios are in `tests/data`, and `tests/volcano/test_proofs.py` holds every proof. Rows of the
cache and the controllers are proven by what the code of releases on both sides of the row was
recorded to do with the same input, which `tests/volcano/test_component_proofs.py` holds; we do not
simulate them. `plinian release show RELEASE -o wide` tells the same of one release,
`plinian release diff A B` where two differ, and `plinian release unproven` which rows rest on their
source alone. Rows of `hardened`, a release of our own, claim nothing of Volcano: the tests that
they name hold them.
"""
PARTS = MappingProxyType(
    {
        Part.SESSION: "Sessions",
        Part.CACHE: "The cache, besides sessions",
        Part.CONTROLLERS: "Controllers",
    }
)
SECTIONS = MappingProxyType(
    {
        Part.SESSION: {
            "conf": "Configuration",
            "cache": "What the scheduler knows",
            "framework": "The course of a session",
            "actions": "Actions",
            "plugins": "Plugins",
            "metrics": "Gauges",
        },
        Part.CACHE: {"cache": ""},
        Part.CONTROLLERS: {
            "framework": "All controllers",
            "podgroup": "PodGroups of pods that bring none",
            "cache": "Known jobs",
            "job": "Jobs",
            "queue": "Queues",
            "garbagecollector": "Finished jobs",
            "jobflow": "Flows of jobs",
        },
    }
)
"""What each part is divided into, by folder of the source."""
RECORDS = MappingProxyType(
    {
        Part.SESSION: behaviours.Behaviours,
        Part.CACHE: cache_behaviours.CacheBehaviours,
        Part.CONTROLLERS: controller_behaviours.ControllerBehaviours,
    }
)


def docstrings(source: str) -> dict[tuple[str, str], str]:
    """Return what is said below the attributes of classes, by class and attribute."""
    found = {}
    for thing in ast.walk(ast.parse(source)):
        if not isinstance(thing, ast.ClassDef):
            continue
        for before, node in zip(thing.body, thing.body[1:], strict=False):
            target = (
                before.target
                if isinstance(before, ast.AnnAssign)
                else before.targets[0]
                if isinstance(before, ast.Assign)
                else None
            )
            if isinstance(target, ast.Name) and isinstance(node, ast.Expr):
                found[thing.name, target.id] = inspect.cleandoc(ast.literal_eval(node.value))
    return found


class Place(NamedTuple):
    """Where on the page a row is: places are in the order of the page."""

    part: int
    section: int
    folder: str


def place_of(row: Row) -> Place:
    """Return where on the page a row is, by its source."""
    part = part_of(row.behaviour)
    path = row.source.split()[0].rstrip(",").removeprefix("pkg/controllers/")
    first, _, rest = path.partition("/")
    folder = ""
    if part is Part.SESSION:
        if rest.startswith("factory.go") or first == "util.go":
            first = "conf"
        elif first in {"actions", "plugins"} and not rest.startswith("util/"):
            folder = rest.partition("/")[0]
        else:
            first = {"api": "cache", "util": "framework", "plugins": "framework"}.get(first, first)
    return Place([*PARTS].index(part), [*SECTIONS[part]].index(first), folder)


def spans(row: Row) -> str:
    """Return the releases for which a row holds, neighbours as one."""
    table = TABLE[part_of(row.behaviour)]
    rows = [other for other in table if other.behaviour == row.behaviour]
    flags = [
        ([other for other in rows if other.change.reached(release)][-1] is row, release)
        for release in RELEASES
        if not (release.ours and is_claim(row))
    ]
    runs = [
        [release for _, release in of]
        for holds, of in groupby(flags, key=lambda flag: flag[0])
        if holds
    ]
    return ", ".join(_span(run) for run in runs)


def _span(run: Sequence[Release]) -> str:
    return str(run[0]) if len(run) == 1 else f"{run[0]} – {run[-1]}"


def proof_text(row: Row) -> str:
    """Return what proves a row, or why nothing does."""
    proof = proof_of(row)
    if proof is not None:
        return f"`{proof.case}` under {proof.release}"
    return f"none: {lack(row)}" if is_claim(row) else "the test that the source names"


def link(row: Row) -> str:
    """Return the pull request of a row as a link."""
    if row.pull is None:
        return ""
    return f"[#{row.pull}](https://github.com/{REPOSITORY}/pull/{row.pull})"


def page() -> str:
    """Return what the page should say."""
    modules = (behaviours, kube_behaviours, variants, cache_behaviours, controller_behaviours)
    said = dict(chain.from_iterable(docstrings(inspect.getsource(m)).items() for m in modules))
    by_name: dict[str, list[Row]] = {}
    for row in chain.from_iterable(TABLE.values()):
        by_name.setdefault(row.behaviour, []).append(row)
    lines = [MADE, "", "# Behaviours", *INTRODUCTION.splitlines(), "", *_counts(by_name)]
    ordered = sorted(by_name.values(), key=lambda rows: (place_of(rows[0]), rows[0].behaviour))
    before = Place(-1, -1, "")
    for place, of_place in groupby(ordered, key=lambda rows: place_of(rows[0])):
        lines += _headings(before, place)
        before = place
        for rows in of_place:
            lines += _behaviour(rows, said)
    return "\n".join(lines).rstrip() + "\n"


def _headings(before: Place, place: Place) -> Iterator[str]:
    """Yield the headings between two neighbouring places."""
    part = [*PARTS][place.part]
    section = [*SECTIONS[part].values()][place.section]
    if place.part != before.part:
        yield from (f"## {PARTS[part]}", "")
    if section and place[:2] != before[:2]:
        yield from (f"### {section}", "")
    if place.folder:
        yield from (f"#### {place.folder}", "")


def _counts(by_name: dict[str, list[Row]]) -> Iterator[str]:
    missing = unproven()
    yield (
        f"**{len(by_name)} behaviours; {_proven(len(claims()), len(missing))}, and"
        f" {len(missing)} are not:**"
    )
    yield ""
    heads = ("part", "behaviours", "rows about Volcano", "proven")
    yield from table(heads, map(_count, Part))
    heads = ("behaviour", "value", "releases", "what is missing")
    yield from table(
        heads,
        (
            (f"[`{row.behaviour}`](#{row.behaviour})", value_text(row.value), spans(row), lack(row))
            for row in missing
        ),
    )


def _count(part: Part) -> tuple[str, str, str, str]:
    rows, missing = claims(part), unproven(part)
    names = {row.behaviour for row in TABLE[part]}
    share = 100 * (len(rows) - len(missing)) / len(rows)
    return (
        PARTS[part],
        str(len(names)),
        str(len(rows)),
        f"{len(rows) - len(missing)} ({share:.0f} %)",
    )


def _proven(rows: int, missing: int) -> str:
    proven = rows - missing
    return f"of {rows} rows about Volcano {proven} are proven ({100 * proven / rows:.0f} %)"


def _behaviour(rows: Iterable[Row], said: dict[tuple[str, str], str]) -> Iterator[str]:
    rows = list(rows)
    name = rows[0].behaviour
    records = (each.__name__ for each in RECORDS[part_of(name)].__mro__)
    effect = next(said[record, name] for record in records if (record, name) in said)
    yield from (f"##### {name}", "", cell(effect), "")
    yield from table(
        ("value", "releases", "that is", "source", "pull request", "proof"),
        (
            (
                _value(row.value, said),
                spans(row),
                cell(row.why),
                f"`{row.source}`",
                link(row),
                proof_text(row),
            )
            for row in rows
        ),
    )


def _value(value: object, said: dict[tuple[str, str], str]) -> str:
    text = f"**{value_text(value)}**"
    if not isinstance(value, Enum):
        return text
    return f"{text}: {cell(said[type(value).__name__, value.name])}"


def main() -> int:
    """Write the page, or with ``--check`` say whether it is stale."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if stale")
    options = parser.parse_args()
    text = page()
    stale = not PAGE.exists() or PAGE.read_text("utf-8") != text
    if stale and not options.check:
        PAGE.write_text(text, "utf-8")
    print("stale" if options.check else "written", ":", PAGE.name if stale else "none")
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
