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
from itertools import groupby
from pathlib import Path
from types import MappingProxyType

from plinian.engine.volcano import behaviours, variants
from plinian.engine.volcano.history import HISTORY
from plinian.engine.volcano.proofs import is_claim, lack, proof_of, unproven
from plinian.engine.volcano.releases import RELEASES, REPOSITORY, Release, Row
from plinian.replay.releases import value_text
from reference import cell, table

PAGE = Path(__file__).resolve().parent.parent / "docs" / "behaviours.md"
MADE = (
    "<!-- Made by tools/behaviours.py from the history. Change the history, then run it again. -->"
)
INTRODUCTION = """
Releases of Volcano differ in what is listed here. Each behaviour has a row for every value that it
had: the releases that have it, what that means, where it is to be read in Volcano's source (paths
are below `pkg/scheduler/`), the pull request that brought it, and what proves it.

A row is proven by a scenario and a release: our session decides what that release's scheduler was
recorded to decide, and decides otherwise as soon as the row is reverted. The scenarios are in
`tests/data`, and `tests/volcano/test_proofs.py` holds every proof. `plinian release show RELEASE
-o wide` tells the same of one release, `plinian release diff A B` where two differ, and
`plinian release unproven` which rows rest on their source alone. Rows of `hardened`, a release of
our own, claim nothing of Volcano: the tests that they name hold them.
"""
PARTS = MappingProxyType(
    {
        "conf": "Configuration",
        "cache": "What the scheduler knows",
        "framework": "Sessions",
        "actions": "Actions",
        "plugins": "Plugins",
        "metrics": "Gauges",
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


def part_of(row: Row) -> tuple[int, str]:
    """Return what a row concerns: the place of the part of the page, and the section in it."""
    first, _, rest = row.source.split()[0].rstrip(",").partition("/")
    if rest.startswith("factory.go") or first == "util.go":
        part, section = "conf", ""
    elif first in {"actions", "plugins"} and not rest.startswith("util/"):
        part, section = first, rest.partition("/")[0]
    else:
        part = {"api": "cache", "util": "framework", "plugins": "framework"}.get(first, first)
        section = ""
    return [*PARTS].index(part), section


def spans(row: Row) -> str:
    """Return the releases for which a row holds, neighbours as one."""
    rows = [other for other in HISTORY if other.behaviour == row.behaviour]
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
    said = docstrings(inspect.getsource(behaviours)) | docstrings(inspect.getsource(variants))
    by_name: dict[str, list[Row]] = {}
    for row in HISTORY:
        by_name.setdefault(row.behaviour, []).append(row)
    lines = [MADE, "", "# Behaviours", *INTRODUCTION.splitlines(), "", *_count(by_name), ""]
    ordered = sorted(by_name.values(), key=lambda rows: (part_of(rows[0]), rows[0].behaviour))
    for part, of_part in groupby(ordered, key=lambda rows: part_of(rows[0])[0]):
        lines += [f"## {[*PARTS.values()][part]}", ""]
        for section, of_section in groupby(of_part, key=lambda rows: part_of(rows[0])[1]):
            lines += [f"### {section}", ""] if section else []
            for rows in of_section:
                lines += _behaviour(rows, said)
    return "\n".join(lines).rstrip() + "\n"


def _count(by_name: dict[str, list[Row]]) -> Iterator[str]:
    claims, missing = [row for row in HISTORY if is_claim(row)], unproven()
    proven = len(claims) - len(missing)
    yield (
        f"**{len(by_name)} behaviours, {len(claims)} rows about Volcano: {proven} are proven"
        f" ({100 * proven / len(claims):.0f} %), {len(missing)} are not:**"
    )
    yield ""
    heads = ("behaviour", "value", "releases", "what is missing")
    yield from table(
        heads,
        (
            (f"[`{row.behaviour}`](#{row.behaviour})", value_text(row.value), spans(row), lack(row))
            for row in missing
        ),
    )


def _behaviour(rows: Iterable[Row], said: dict[tuple[str, str], str]) -> Iterator[str]:
    rows = list(rows)
    name = rows[0].behaviour
    yield from (f"#### {name}", "", cell(said["Behaviours", name]), "")
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
