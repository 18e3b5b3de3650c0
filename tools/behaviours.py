"""Write ``docs/behaviours.md`` from the table of releases, so that it cannot say anything else.

``python tools/behaviours.py`` writes it; with ``--check`` it only says whether it is stale, and
exits 1 if it is. Needs Plinian installed, or on ``PYTHONPATH``.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import inspect
import sys
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from itertools import chain, groupby
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import plinian.engine.volcano.cache.behaviours as cache
import plinian.engine.volcano.controllers.behaviours as controllers
import plinian.engine.volcano.session.behaviours as session
from plinian.engine.volcano.proofs import claims, is_claim, lack, proof_of, unproven
from plinian.engine.volcano.releases import RELEASES, REPOSITORY, Release, Row, effects_of
from plinian.engine.volcano.table import TABLE, Part, part_of
from plinian.replay.compare.releases import value_text
from reference import cell, table

PAGE = Path(__file__).resolve().parent.parent / "docs" / "behaviours.md"
MADE = "<!-- Made by tools/behaviours.py from the table. Change a row there, then run it again. -->"
INTRODUCTION = """
Releases of Volcano differ in what this page lists, in three parts: what [sessions](#sessions)
decide, what the scheduler's [cache](#the-cache-besides-sessions) does besides them, and what the
[controllers](#controllers) do. Each part is divided by subject. Each behaviour has a row for every
value that it had: the releases that have it, what it means for an operator, where to read it in
Volcano's source (a path below `pkg/scheduler/`, or a full one, which begins with `pkg/`), the pull
request that brought it, and what proves it.

A row of sessions is proven by a scenario and a release: Plinian's session decides what that
release's scheduler was recorded to decide, and decides otherwise when the row is reverted. The
scenarios are in `tests/data`, and `tests/volcano/test_proofs.py` checks every proof. A row of the
cache or the controllers is proven by what the code of releases on both sides of the row was
recorded to do with the same input, which `tests/volcano/test_component_proofs.py` checks.

`plinian release show RELEASE -o wide` shows this for one release, `plinian release diff A B` shows
where two differ, each also for one subject (`--subject NAME`), and `plinian release unproven` lists
the rows that rest on their source alone.

What a release changed in an action is under the subject of its name, and under the subjects that it
shares with others:

| action | subjects |
| --- | --- |
| `enqueue` | enqueue, queues, queue_tree |
| `allocate` | allocate, filters, scores, gangs, topology, devices, queues, queue_tree |
| `backfill` | backfill, filters, scores |
| `preempt` | preempt, evictions, filters, scores, gangs |
| `reclaim` | reclaim, evictions, filters, gangs, devices, queues, queue_tree |

So `plinian release diff v1.13.0 v1.14.0 --subject reclaim --subject evictions` begins with which
pods v1.14.0 reclaims for which queues. All actions also depend on `pods`, `nodes` and
`configuration`.

Rows of `hardened`, Plinian's own release, claim nothing about Volcano: their source names the test
that holds them.
"""
PARTS = MappingProxyType(
    {
        Part.SESSION: "Sessions",
        Part.CACHE: "The cache, besides sessions",
        Part.CONTROLLERS: "Controllers",
    }
)
RECORDS: Mapping[Part, type] = MappingProxyType(
    {
        Part.SESSION: session.Behaviours,
        Part.CACHE: cache.CacheBehaviours,
        Part.CONTROLLERS: controllers.ControllerBehaviours,
    }
)
"""By part, the record that has a field for each of its behaviours."""


def docstrings(source: str) -> dict[tuple[str, str], str]:
    """Return what is said below the values of enumerations, by class and value."""
    found = {}
    for thing in ast.walk(ast.parse(source)):
        if not isinstance(thing, ast.ClassDef):
            continue
        for before, node in zip(thing.body, thing.body[1:], strict=False):
            target = before.targets[0] if isinstance(before, ast.Assign) else None
            if isinstance(target, ast.Name) and isinstance(node, ast.Expr):
                found[thing.name, target.id] = inspect.cleandoc(ast.literal_eval(node.value))
    return found


class Subject(NamedTuple):
    """A module of the table: what a group of behaviours is about."""

    part: Part
    name: str
    """The name of the module, for ``--subject``."""
    said: str
    """What the module says in its first sentence."""
    behaviours: tuple[str, ...]


def subjects() -> Iterator[Subject]:
    """Yield the subjects in the order in which the records list them."""
    for part, record in RECORDS.items():
        for base in record.__bases__:
            said = inspect.cleandoc(sys.modules[base.__module__].__doc__ or "").partition("\n")[0]
            name = base.__module__.rpartition(".")[2]
            yield Subject(part, name, said, tuple(field.name for field in dataclasses.fields(base)))


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
    bases = [base for record in RECORDS.values() for base in record.__bases__]
    effects = dict(chain.from_iterable(effects_of(base).items() for base in bases))
    modules = (sys.modules[base.__module__] for base in bases)
    said = dict(chain.from_iterable(docstrings(inspect.getsource(m)).items() for m in modules))
    by_name: dict[str, list[Row]] = {}
    for row in chain.from_iterable(TABLE.values()):
        by_name.setdefault(row.behaviour, []).append(row)
    lines = [MADE, "", "# Behaviours", *INTRODUCTION.splitlines(), "", *_counts(by_name)]
    for part, of_part in groupby(subjects(), key=lambda subject: subject.part):
        lines += [f"## {PARTS[part]}", ""]
        for subject in of_part:
            lines += [*_heading(subject.said), "", f"Subject: `{subject.name}`.", ""]
            for name in subject.behaviours:
                lines += _behaviour(effects[name], by_name[name], said)
    return "\n".join(lines).rstrip() + "\n"


def _heading(said: str) -> Iterator[str]:
    """Yield a subject's title, and below it what follows the colon."""
    title, _, rest = said.removesuffix(".").replace("``", "`").partition(": ")
    yield f"### {title}"
    if rest:
        yield from ("", f"{rest[0].upper()}{rest[1:]}.")


def _counts(by_name: dict[str, list[Row]]) -> Iterator[str]:
    missing = unproven()
    yield (
        f"**{len(by_name)} behaviours; {_proven(len(claims()), len(missing))}, and"
        f" {len(missing)} are not:**"
    )
    yield ""
    heads = ("part", "behaviours", "rows about Volcano", "proven")
    yield from table(heads, map(_count, Part))
    heads = ("behaviour", "value", "releases", "why there is no proof")
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


def _behaviour(effect: str, rows: Sequence[Row], said: dict[tuple[str, str], str]) -> Iterator[str]:
    yield from (f"#### {rows[0].behaviour}", "", cell(effect), "")
    yield from table(
        ("value", "releases", "meaning", "source", "pull request", "proof"),
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
