"""Fields of the wrong type, in scenarios and objects, for every command that reads them.

Recorded scenarios are changed at a few places at random: a text becomes a list, an object a number,
a list a text with a lone surrogate. Then each must end in an answer or in a clean error.
"""

from __future__ import annotations

import copy
import json
import lzma
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from click.testing import CliRunner

from plinian.engine.errors import PlinianError
from plinian.engine.log import open_log
from plinian.replay.cli.main import app
from plinian.replay.ingest.ingest_run import IngestOptions, ingest

DATA = Path(__file__).parent.parent / "data"
CORPORA = ("decided.jsonl.xz", "devices.jsonl.xz", "groups.jsonl.xz")
RELEASES = ("v1.8.2", "v1.10.0", "v1.12.1", "v1.13.0", "v1.14.2", "v1.15.1")

LONG = "x" * 5000
NONSENSE: tuple[Any, ...] = (
    *(None, "", "x", " ", "\n", "-", "/", "a/b/c", -1, 0, 1, 1.5, 2**40, 2**63, 10**30, -(2**70)),
    *(True, False, [], {}, [None], ["x"], {"x": None}, {"": {}}, [[]], [{}], {"name": 1}),
    *("\ud800", "a\udc80b", "\x00", "\x1b[31m", LONG, "9" * 400, "1e400", "NaN", "٣", "é"),
    *("9999-12-31T23:59:59-23:59", "2026-01-01T00:00:00Z", "1Gi", "100%", "v1", "Pod"),
)
SLOWEST = 20.0
"""Seconds that a run may take on a machine with much else to do."""

LONGEST = 4500
"""Characters of a line of a message."""


class Figures(NamedTuple):
    """What a campaign found. :param failures: a line for each run that broke."""

    runs: int
    by_command: Mapping[str, int]
    by_code: Mapping[int, int]
    slowest: float
    failures: tuple[str, ...]


@cache
def scenarios() -> tuple[dict[str, Any], ...]:
    """Return the recorded scenarios, the small ones."""
    found = []
    for name in CORPORA:
        for line in lzma.decompress((DATA / name).read_bytes()).splitlines():
            case = json.loads(line).get("case")
            if case and len(line) < 60_000:
                found.append(case)
    return tuple(found)


def _places(value: Any, depth: int = 0) -> Iterator[tuple[Any, Any]]:
    """Yield (holder, key) of everything inside a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, one in list(inner):
        yield value, key
        if isinstance(one, dict | list) and depth < 30:
            yield from _places(one, depth + 1)


def mutated(random: Random, document: Any, changes: int) -> Any:
    """Return a document with so many places changed."""
    document = copy.deepcopy(document)
    for _ in range(changes):
        places = list(_places(document))
        if not places:
            break
        holder, key = random.choice(places)
        how = random.randrange(8)
        if how == 0:
            del holder[key]
        elif how == 1:
            holder[key] = [holder[key]]
        elif how == 2:
            holder[key] = {"x": holder[key]}
        elif how == 3:
            other, name = random.choice(places)
            holder[key] = copy.deepcopy(other[name])
        elif how == 4 and isinstance(holder, dict):
            holder[random.choice(["", "spec", "metadata", "\ud800", LONG])] = holder.pop(key)
        else:
            holder[key] = copy.deepcopy(random.choice(NONSENSE))
    return document


def case_of(random: Random) -> Any:
    """Return a scenario with fields of the wrong type; mostly inside of its objects."""
    case = copy.deepcopy(random.choice(scenarios()))
    if random.random() < 0.15:
        return mutated(random, case, random.randint(1, 3))
    events = [event for step in case["steps"] for event in step.get("events") or []]
    for event in random.sample(events, min(len(events), random.randint(1, 4))):
        if "object" in event:
            event["object"] = mutated(random, event["object"], random.randint(1, 3))
    return case


def list_of(random: Random) -> Any:
    """Return a list as kubectl has it, of objects with fields of the wrong type."""
    case = case_of(random)
    steps = case.get("steps") if isinstance(case, dict) else None
    items = []
    for step in steps if isinstance(steps, list) else ():
        events = step.get("events") if isinstance(step, dict) else None
        for event in events if isinstance(events, list) else ():
            one = event.get("object") if isinstance(event, dict) else None
            if isinstance(one, dict) and isinstance(one.get("metadata"), dict):
                number = str(len(items) + 1)
                one["metadata"] |= {"uid": f"u{number}", "resourceVersion": number}
                items.append(one)
    return {"apiVersion": "v1", "kind": "List", "items": items}


def patch_of(random: Random, case: Any) -> str:
    """Return a patch that is given on the command line, mostly to an object that there is."""
    text = json.dumps(case)
    found = [
        (kind, name)
        for kind in ("Queue", "Pod", "Node", "PodGroup")
        for name in ("default", "a", "b", "n1", "n0", "q1", "p1", *_names_in(case, kind))
        if json.dumps(name) in text
    ]
    kind, name = random.choice([*found, ("Queue", "default")])
    part = random.choice(["metadata", "spec", "status", "kind", "apiVersion"])
    change = {part: copy.deepcopy(random.choice(NONSENSE))}
    if random.random() < 0.5:
        change = {"metadata": {random.choice(["name", "namespace", "labels", "uid"]): change}}
    return f"{kind.lower()}/{name}={json.dumps(change)}"


def _names_in(case: Any, kind: str) -> Iterator[str]:
    """Yield the names of a kind's objects, as far as these have any."""
    for holder, key in _places(case) if isinstance(case, dict | list) else ():
        one = holder[key]
        if isinstance(one, dict) and one.get("kind") == kind:
            metadata = one.get("metadata")
            name = metadata.get("name") if isinstance(metadata, dict) else None
            if isinstance(name, str) and name.isascii() and name:
                yield name


def run(seed: int = 1, count: int = 200, seconds: float = 60.0) -> Figures:
    """Run commands on mutated inputs; the same for the same seed.

    :param count: how many runs at most. :param seconds: after which none is begun.
    """
    until = time.monotonic() + seconds
    campaign = _Campaign()
    number = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        while campaign.runs.total() < count and time.monotonic() < until:
            random = Random(f"{seed}/{number}")
            number += 1
            for arguments in _commands(random, folder, number, campaign):
                if campaign.runs.total() >= count or time.monotonic() > until:
                    break
                campaign.run(arguments, number)
            for path in folder.iterdir():
                path.unlink()
    return campaign.figures()


def _commands(
    random: Random, folder: Path, number: int, campaign: _Campaign
) -> Iterator[Sequence[str]]:
    """Yield commands on one mutated input."""
    path, place = folder / "x.case.json", folder / "log.db"
    listed = number % 3 == 2
    document = list_of(random) if listed else case_of(random)
    path.write_text(json.dumps(document))
    release = ["--release", random.choice(RELEASES)]
    if not listed:
        yield ["simulate", str(path), *release]
        yield ["simulate", str(path), *release, "--patch", patch_of(random, document)]
    yield ["lint", str(path)]
    if not campaign.ingested(path, place, number):
        return
    log = ["--log", str(place)]
    yield ["session", *log, *release, "--assume"]
    yield random.choice(
        [
            ["get", "all", "-A", *log],
            ["get", "pods,nodes,podgroups,queues", "-A", "-o", "wide", *log],
            ["get", "pods", "-A", "-o", "yaml", *log],
            ["get", "pods", "-A", "--field-selector", "spec.nodeName=n1", *log],
            ["describe", "pods", "-A", *log],
            ["describe", "nodes,queues,podgroups", "-A", *log],
            ["belief", *log],
            ["drift", *log],
            ["events", "-o", "wide", *log],
            ["diff", "@1", "end", *log],
            ["status", *log],
            ["digest", *log],
        ]
    )


class _Campaign:
    """Runs commands, and keeps what became of them."""

    def __init__(self) -> None:
        self.runs: Counter[str] = Counter()
        self._codes: Counter[int] = Counter()
        self._slowest = 0.0
        self._failures: list[str] = []
        self._runner = CliRunner()

    def figures(self) -> Figures:
        """Return what was found."""
        return Figures(
            self.runs.total(),
            dict(self.runs),
            dict(self._codes),
            round(self._slowest, 2),
            tuple(self._failures),
        )

    def run(self, arguments: Sequence[str], number: int) -> None:
        """Run a command."""
        began = time.monotonic()
        done = self._runner.invoke(app, list(arguments))
        took = time.monotonic() - began
        self._slowest = max(self._slowest, took)
        self.runs[arguments[0]] += 1
        self._codes[done.exit_code] += 1
        where = f"input {number}: {' '.join(arguments)[:200]}"
        said = done.stderr
        if not isinstance(done.exception, SystemExit | None):
            self._failures.append(f"{where}: {done.exception!r:.300}")
        elif (
            done.exit_code not in {0, 1, 2}
            or "internal error of Plinian" in said
            or "Traceback" in said
        ):
            self._failures.append(f"{where}: {done.exit_code}: {said[:300]}")
        elif any(len(line) > LONGEST for line in said.splitlines()):
            self._failures.append(f"{where}: a line of a message is too long: {said[:100]}")
        if took > SLOWEST:
            self._failures.append(f"{where}: took {took:.1f} s")

    def ingested(self, path: Path, place: Path, number: int) -> bool:
        """Ingest a file, and say whether the log has anything."""
        self.runs["ingest"] += 1
        try:
            with open_log(place, create=True) as store:
                return ingest(store, [str(path)], IngestOptions(skip_malformed=True)).appended > 0
        except PlinianError:
            return False
        except Exception as fault:  # noqa: BLE001 -- that is what is looked for
            self._failures.append(f"input {number}: ingest: {fault!r:.300}")
            return False
