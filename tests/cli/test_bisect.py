"""``plinian bisect`` where answers come and go, and where the log itself tells of crashes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from decisions import decided
from plinian.engine.events import Event, Reference, canonical_json
from plinian.engine.events.payloads import ProcessPanicked
from plinian.engine.kubernetes.units import parse_time
from plinian.engine.log import open_log
from plinian.engine.model.panic import Panic
from plinian.engine.state.clock import UNDATED
from plinian.replay.cli.main import app
from plinian.replay.compare import log_bisection
from plinian.replay.compare.crashes import LoggedCrash, likeness

ARTICLE = Path(__file__).parents[2] / "docs" / "articles" / "000-allocatable-shrinks.case.json"
STACK = (
    "panic({0x2b1c820?, 0x1fd5583e3770?})\n"
    "volcano.sh/volcano/pkg/scheduler/api.(*Resource).Sub(0x1fd5583ded20)\n"
    "volcano.sh/volcano/pkg/scheduler/api.(*NodeInfo).FutureIdle(0x1fd5583ded20)\n"
    "volcano.sh/volcano/pkg/scheduler/actions/allocate.(*Action).Execute.func1(0x1)\n"
    "volcano.sh/volcano/pkg/scheduler/util.(*predicateHelper).PredicateNodes.func1(0x1)\n"
)
MESSAGE = (
    "resource is not sufficient to do operation: <memory 4294967296.00, cpu -2600.00, pods 108.00>"
    " sub <cpu 0.00, memory 0.00>"
)


def run(*arguments: str | Path) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(app, list(map(str, arguments)))


def told(*arguments: str | Path) -> Any:
    """Return the JSON that a command prints, whatever its exit code."""
    ran = run(*arguments, "-o", "json")
    assert ran.exit_code in {0, 1}, ran.output
    return json.loads(ran.stdout)


def panicked(message: str, stack: str = STACK, component: str = "scheduler") -> Event:
    """Return a crash as a component's log tells of it."""
    payload = ProcessPanicked(component=component, message=message, stack=stack)
    return Event(
        kind="process.panicked",
        reference=Reference("", "", "", ""),
        payload=canonical_json(payload),
        earliest=parse_time("2026-01-02T03:04:05Z"),
        latest=parse_time("2026-01-02T03:05:07Z"),
    )


def log_of(folder: Path, case: dict[str, Any], *crashes: Event) -> Path:
    """Return a log of a scenario, with crashes that were recorded after it."""
    path, place = folder / "a.case.json", folder / "a.db"
    path.write_text(json.dumps(case), "utf-8")
    assert run("ingest", "--log", place, path).exit_code == 0
    with open_log(str(place)) as store:
        store.append(crashes)
    return place


def shrinks_and_grows() -> dict[str, Any]:
    """Return a scenario that v1.8.2 dies of only while a node is too small for what runs there."""
    case: dict[str, Any] = json.loads(ARTICLE.read_text("utf-8"))
    (node, *_) = (event["object"] for event in case["steps"][0]["events"])
    quiet: dict[str, Any] = {"events": []}
    case["steps"] += [{"events": [{"type": "MODIFIED", "object": node}]}, quiet]
    return case


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return its log, which tells of no crash."""
    return log_of(tmp_path, shrinks_and_grows())


def test_a_panic_between_sessions_without_one_is_found_without_a_flag(log: Path) -> None:
    found = told("bisect", "--log", log, "--panic", "--release", "v1.8.2")
    answers = [probe["answer"] for probe in found["probes"]]
    assert answers[0] is False
    assert answers.index(True) >= 1
    assert (found["searched"], found["release"], found["crashes"]) == ("sessions", "v1.8.2", [])
    assert found["flip"]["events"]
    assert found == told("bisect", "--log", log, "--panic", "--release", "v1.8.2", "--linear")


def test_halving_that_finds_nothing_says_that_it_asked_at_the_ends_alone(log: Path) -> None:
    ran = run("bisect", "--log", log, "--panic", "--release", "v1.8.2", "--halve")
    assert ran.exit_code == 1
    assert "panic: no at both ends (rv:1 and rv:" in ran.stdout
    assert "leave out --halve to check every session" in ran.stdout


def test_a_search_that_finds_nothing_says_where_it_asked(log: Path) -> None:
    ran = run("bisect", "--log", log, "--panic")
    assert ran.exit_code == 1
    assert "at every recorded session between" in ran.stdout
    probes = told("bisect", "--log", log, "--panic")["probes"]
    assert f"({len(probes)} checked)" in ran.stdout
    without = [probe for probe in probes if probe["says"] == "no panic; there is no node"]
    assert len(without) == 1
    assert f"({len(probes) - len(without) - 2} more)" in ran.stdout


def test_several_processes_find_what_one_finds(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ("bisect", "--log", log, "--panic", "--release", "v1.8.2")
    for more in ((), ("--from", "@1")):
        alone = told(*asked, *more, "-j", "1")
        with monkeypatch.context() as patched:
            patched.setattr(log_bisection, "STRETCH", 2)
            assert told(*asked, *more, "-j", "2") == alone


def test_the_release_is_one_that_dies_where_the_log_tells_of_a_crash(tmp_path: Path) -> None:
    case = json.loads(ARTICLE.read_text("utf-8"))
    log = log_of(
        tmp_path, case, panicked("of another component", "", "controllers"), panicked(MESSAGE)
    )
    ran = run("bisect", "--log", log, "--panic")
    assert ran.exit_code == 0, ran.output
    assert "The log records 1 crash, but not the release." in ran.stderr
    assert "Using v1.8.2; choose another with --release." in ran.stderr
    assert MESSAGE in ran.stdout
    found = told("bisect", "--log", log, "--panic")
    assert found["release"] == "v1.8.2"
    assert found["release_because"]["same"] is True
    assert found["release_because"]["releases"][-1] == "v1.8.2"
    (crash,) = found["crashes"]
    assert (crash["message"], crash["observed_at"]) == (MESSAGE, "2026-01-02T03:05:07Z")
    assert (crash["earliest"], crash["latest"]) == ("2026-01-02T03:04:05Z", "2026-01-02T03:05:07Z")
    assert "2026-01-02T03:04:05Z..03:05:07Z" in ran.stdout
    assert found["flip"]["before"]["says"] == "alive"
    other = told("bisect", "--log", log, "--panic", "--release", "v1.9.0")
    assert (other["release"], other["release_because"], other["flip"]) == ("v1.9.0", None, None)


def test_a_crash_that_no_release_dies_of_is_said_to_be_one(tmp_path: Path) -> None:
    case = dict(decided()["hdrf-1"]["case"])
    case["steps"] = [{"events": []}, {"events": []}]
    log = log_of(tmp_path, case, panicked("concurrent map writes", "goroutine 1 [running]:"))
    ran = run("bisect", "--log", log, "--panic")
    assert ran.exit_code == 1
    assert "No session of a known release panics there. Using v1.12.1" in ran.stderr
    assert "concurrent map writes" in ran.stdout


@pytest.mark.parametrize(
    ("place", "message", "like"),
    [
        (("api.(*Resource).Sub", "api.(*NodeInfo).FutureIdle"), MESSAGE, 2),
        (("api.(*NodeInfo).FutureIdle", "api.(*Resource).Sub"), MESSAGE, 1),
        (("api.(*Resource).Sub",), "other", 1),
        ((), "other", 0),
        (("framework.OpenSession",), MESSAGE.replace("pods 108.00", "pods 107.00"), 0),
    ],
)
def test_crashes_are_told_apart_by_stack_and_words(
    place: Sequence[str], message: str, like: int
) -> None:
    crash = LoggedCrash(7, UNDATED, 7, MESSAGE, STACK)
    assert likeness(Panic(message, tuple(place)), crash) == like
    words = " sub ".join(reversed(MESSAGE.split(" sub ")))
    assert likeness(Panic(words), LoggedCrash(7, UNDATED, 7, MESSAGE, "")) == 1
