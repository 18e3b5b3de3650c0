"""Find recorded outcomes that prove the rows of the history, and keep them with the tests.

``PYTHONPATH=tests:tests/support python tools/proofs.py [SUITE…]``; a suite is a folder of scenarios
(``NAME.case.json``) and of what real schedulers did with them (``NAME.RELEASE.json``). A row is
proven by a scenario that a simulation decides as recorded, and otherwise with the row reverted.
Writes ``engine/volcano/proofs/session.py`` and ``tests/data/proving.jsonl.xz``. Proofs that hold
are kept, only rows without one are searched for; among the scenarios that prove a row those win
that are kept already, then the smallest.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import lzma
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from proof_tables import VOLCANO, proof_table

from decisions import decided, short
from plinian.engine.volcano.proofs import Proof, key_of, reverted
from plinian.engine.volcano.proofs.session import PROOFS, RECORDED
from plinian.engine.volcano.releases import Row, parse_release
from plinian.engine.volcano.session.behaviours import Behaviours
from plinian.engine.volcano.session.history import HISTORY, behaviours, resolve, rows_of
from plinian.replay.simulate.scenario_cases import parse_case
from proving import PROVING, Recording, proving, recording

MODULE = VOLCANO / "proofs" / "session.py"

COST_OF_ANOTHER = 4
"""How many times larger a scenario may be that is kept already than one that is not."""

NOTHING = MappingProxyType(
    {
        **dict.fromkeys(("panic", "panic_at", "restarted")),
        **dict.fromkeys(("binds", "evictions", "pipelined", "out_of_sync_nodes_after"), ()),
        **{key: {} for key in ("podgroups", "queues", "metrics", "fit_errors", "nominated")},
        **{key: {} for key in ("evict_reasons", "node_scores", "pod_conditions")},
        "errors": (),
    }
)
"""The values of a long result's parts that it leaves out."""


OPTIONAL = MappingProxyType(
    {
        "metrics": "gauges",
        "pod_conditions": "told",
        "errors": "errors",
        "node_scores": "node_scores",
    }
)
"""Parts of a long result that are only compared if it has them, and their names in the short."""


class Asked:
    """How a release behaves, and what of it was asked for."""

    def __init__(self, behaviours: Behaviours) -> None:
        self._behaviours = behaviours
        self.fields: set[str] = set()

    def __getattr__(self, field: str) -> Any:
        self.fields.add(field)
        return getattr(self._behaviours, field)


class Candidate:
    """A recorded outcome that may prove rows."""

    def __init__(self, name: str, release: str, paths: tuple[Path, Path] | None) -> None:
        self.name = name
        self.release = release
        self._paths = paths
        self._leaves_out: frozenset[str] = frozenset()
        self.kept = paths is None
        """It is with the tests already."""
        self.size = paths[0].stat().st_size if paths else kept_size(name)

    @property
    def recording(self) -> Recording:
        """Scenario and outcome."""
        if self._paths is None:
            return recording(self.name, self.release)
        case, steps = parse_case(self._paths[0].read_bytes()), self.document[1]
        return Recording(self.name, self.release, case, steps)

    @property
    def document(self) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """The scenario and the steps of its outcome, as they are kept."""
        assert self._paths is not None
        case, result = (json.loads(path.read_text("utf-8")) for path in self._paths)
        return case, [_shortened(step, self._leaves_out) for step in result["steps"]]

    @cached_property
    def asked(self) -> frozenset[str]:
        """The behaviours that were asked for; none if the outcome is not the recorded one."""
        if asked := self._asked():
            return asked
        # A session does not report every line that Volcano logs as an error.
        self._leaves_out = frozenset({"errors"})
        return self._asked()

    def _asked(self) -> frozenset[str]:
        behaviours: Any = Asked(resolve(self.release))
        parts = self.recording.differences(behaviours)
        return frozenset() if parts else frozenset(behaviours.fields)

    def depends_on(self, rows: Sequence[Row]) -> bool:
        """Return whether the outcome is another with rows reverted."""
        values = {row.behaviour: reverted(row) for row in rows}
        try:
            return bool(self.recording.differences(behaviours(self.release, **values)))
        except Exception:  # noqa: BLE001 - a mix that no release has need not run
            return len(rows) > 1

    def proven(self, rows: Sequence[Row], *, singly: bool) -> Iterator[Row]:
        """Yield which of rows the outcome depends on.

        :param singly: try them one by one. Else those that are reverted together without effect
            are not: few of them would have one alone.
        """
        if singly:
            yield from (row for row in rows if self.depends_on([row]))
            return
        if not rows or not self.depends_on(rows):
            return
        if len(rows) == 1:
            yield rows[0]
            return
        half = len(rows) // 2
        yield from self.proven(rows[:half], singly=False)
        yield from self.proven(rows[half:], singly=False)

    def open_rows(self, rows: Iterable[Row]) -> list[Row]:
        """Return the rows that hold for the release and that the scenario's sessions read."""
        held = rows_of(parse_release(self.release))
        rows = [row for row in rows if held[row.behaviour] is row]
        return [row for row in rows if row.behaviour in self.asked] if rows else []


def _shortened(step: dict[str, Any], leaves_out: frozenset[str]) -> dict[str, Any]:
    """Return a step as it is kept: in short form, without what is empty or left out."""
    if "podgroups" not in step and "metrics" not in step:
        return step
    groups = {
        key: {**dict.fromkeys(("running", "succeeded", "failed"), 0), "conditions": [], **group}
        for key, group in (step.get("podgroups") or {}).items()
    }
    reasons = {**dict.fromkeys(step.get("evictions") or (), ""), **step.get("evict_reasons", {})}
    known = {key: value for key, value in step.items() if value is not None}
    made = short({**NOTHING, **known, "podgroups": groups, "evict_reasons": reasons})
    omitted = leaves_out | {name for long, name in OPTIONAL.items() if long not in step}
    return {
        key: value
        for key, value in made.items()
        if key not in omitted and (key in OPTIONAL.values() or value not in (None, [], {}, ()))
    }


class Proofs:
    """The rows of the history, and what proves each, as far as it is known."""

    def __init__(self, candidates: Iterable[Candidate]) -> None:
        self._candidates = {(each.name, each.release): each for each in candidates}
        self.found: dict[tuple[str, str], Proof] = {}

    def keep(self) -> None:
        """Take the proofs that there are, if they still hold."""
        for row in HISTORY:
            place = PROOFS.get(key_of(row))
            if place is None:
                continue
            candidate = self._candidates.get(place)
            if candidate and candidate.open_rows([row]) and candidate.depends_on([row]):
                self.found[key_of(row)] = Proof(*place)
            else:
                sys.stderr.write(f"{' '.join(key_of(row))}: {Proof(*place)} proves it no more\n")

    def search(self, rows: Iterable[Row], *, singly: bool) -> None:
        """Look for proofs of those of rows that have none; ``singly`` as in ``proven``."""
        missing = [row for row in rows if key_of(row) not in self.found]
        for candidate in sorted(self._candidates.values(), key=self._preference):
            for row in candidate.proven(candidate.open_rows(missing), singly=singly):
                self.found[key_of(row)] = proof = Proof(candidate.name, candidate.release)
                missing.remove(row)
                sys.stderr.write(f"{' '.join(key_of(row))}: {proof}; {len(missing)} left\n")

    @staticmethod
    def _preference(candidate: Candidate) -> tuple[int, str, str]:
        worth = 1 if candidate.kept else COST_OF_ANOTHER
        return (candidate.size * worth, candidate.name, candidate.release)

    def module(self) -> str:
        """Return the text of the module that lists the proofs."""
        return proof_table(
            MODULE,
            {*RECORDED, *(each.release for each in self._candidates.values())},
            sorted(self.found.items()),
            recorded_is="Releases of which decisions were recorded.",
            proofs_are="By behaviour and where its row landed on the main line: the scenario, and"
            " the release.",
        )

    def lines(self) -> Iterator[str]:
        """Yield what the tests have to keep beyond the recorded scenarios, by name."""
        needed: dict[str, dict[str, Any]] = {}
        for name, release in sorted(set(self.found.values())):
            if release in decided().get(name, {}):
                continue
            kept = proving().get(name, {})
            candidate = self._candidates[name, release]
            case, steps = (
                (kept["case"], kept[release]["steps"]) if release in kept else candidate.document
            )
            line = needed.setdefault(name, {"name": name, "case": case})
            line[release] = {"steps": steps}
        for line in needed.values():
            yield json.dumps(line, separators=(",", ":"), sort_keys=True, ensure_ascii=False)


@cache
def kept_size(name: str) -> int:
    """Return how large a scenario is that is kept."""
    return len(json.dumps((decided().get(name) or proving()[name])["case"]))


def candidates(suites: Sequence[Path]) -> Iterator[Candidate]:
    """Yield the recorded outcomes that are kept, and those of the suites."""
    kept = {
        (name, release)
        for runs in (decided(), proving())
        for name, of in runs.items()
        for release in of.keys() - {"name", "case"}
    }
    for name, release in sorted(kept):
        yield Candidate(name, release, None)
    for suite in suites:
        for path in sorted(suite.glob("*.case.json")):
            name = path.name.removesuffix(".case.json")
            for result in sorted(path.parent.glob(f"{name}.v*.json")):
                release = result.name.removeprefix(f"{name}.").removesuffix(".json")
                if (name, release) not in kept:
                    yield Candidate(name, release, (path, result))


def main() -> None:
    """Keep the proofs that hold, look for others, and write both down."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("suites", nargs="*", type=Path, metavar="SUITE")
    parser.add_argument(
        "--from-scratch", action="store_true", help="forget the proofs that there are"
    )
    parser.add_argument("--singly", action="store_true", help="try every row by itself: thorough")
    parser.add_argument("--row", default="*", metavar="GLOB", help="behaviours to search for")
    parser.add_argument("--case", default="*", metavar="GLOB", help="scenarios to search in")
    arguments = parser.parse_args()
    proofs = Proofs(
        each
        for each in candidates(arguments.suites)
        if each.kept or fnmatch.fnmatch(each.name, arguments.case)
    )
    if not arguments.from_scratch:
        proofs.keep()
    wanted = [row for row in HISTORY if fnmatch.fnmatch(row.behaviour, arguments.row)]
    proofs.search(wanted, singly=arguments.singly)
    PROVING.write_bytes(lzma.compress("".join(f"{line}\n" for line in proofs.lines()).encode()))
    MODULE.write_text(proofs.module(), "utf-8")
    sys.stdout.write(f"{len(proofs.found)} of {len(HISTORY)} rows are proven\n")


if __name__ == "__main__":
    main()
