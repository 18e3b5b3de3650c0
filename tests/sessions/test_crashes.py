"""A scheduler that panics outside of the body of a session, as every door shows it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from crashing import (
    CARD,
    CONF,
    MALFORMED,
    NO_CARDS,
    SHARING,
    devices,
    topology,
)

import plinian
from plinian.engine.volcano.session.history import resolve
from plinian.replay.belief.belief import belief_at, beliefs_along
from plinian.replay.cli.main import app
from plinian.replay.simulate.scenario_cases import parse_case
from plinian.replay.simulate.simulation import simulate

Document = dict[str, Any]
MENDS = "it handles HyperNode two (hypernode.updated)"


def logged(folder: Path, case: Document) -> Path:
    """Return a log of a scenario."""
    scenario, place = folder / "crash.case.json", folder / "crash.db"
    scenario.write_text(json.dumps(case))
    with plinian.open(place, create=True) as log:
        log.ingest([scenario])
    return place


@pytest.fixture(scope="module")
def cards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a log in which a pod has a card of a node that has none."""
    return logged(tmp_path_factory.mktemp("cards"), devices(CARD))


@pytest.fixture(scope="module")
def mended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a log of three sessions; an event before the second one ends the process."""
    return logged(tmp_path_factory.mktemp("mended"), topology())


@pytest.fixture
def log(cards: Path) -> Iterator[Any]:
    with plinian.open(cards) as opened:
        yield opened


def printed(command: str, place: Path, code: int | None = 0) -> str:
    """Return what a command prints about a log."""
    result = CliRunner().invoke(app, [*command.split(), "--log", str(place)])
    assert code is None or result.exit_code == code, result.output
    return result.output


@pytest.mark.parametrize(
    ("annotations", "conf", "registers"),
    [
        (CARD, CONF, False),
        (CARD, SHARING, False),
        (MALFORMED, CONF, False),
        (MALFORMED, CONF, True),
    ],
)
def test_a_session_of_a_log_panics_where_a_process_that_has_run_before_does(
    tmp_path: Path, annotations: dict[str, str], conf: str, registers: object
) -> None:
    case = devices(annotations, conf=conf, registers=bool(registers))
    again = parse_case(json.dumps({**case, "steps": [*case["steps"], {"events": []}]}).encode())
    same = ("panic", "panic_at", "panic_during")
    with plinian.open(logged(tmp_path, case)) as log:
        for release in ("v1.8.0", "v1.12.4", "v1.13.0", "v1.14.4", "v1.15.1"):
            *_, last = simulate(again, resolve(release))
            found = plinian.document(log.session(release=release))
            assert [found[name] or None for name in same] == [last.get(name) for name in same]


def test_the_panic_has_its_place_and_its_object(log: Any) -> None:
    panic = log.session(release="v1.12.1").result.panic
    assert panic.place[-1] == "api.(*NodeInfo).addResource"
    assert panic.during == NO_CARDS


def test_a_panic_while_the_snapshot_is_taken_is_in_every_answer(cards: Path) -> None:
    release = "--release v1.12.1"
    for command in (
        f"session {release}",
        f"why podgroup/wanted -n ns {release}",
        f"why queue/default {release}",
    ):
        assert NO_CARDS in printed(command, cards)
    assert NO_CARDS in printed(f"check {release} --settle 0s", cards, None)
    assert "v1.12.1 panics where v1.13.0 does not" in printed(
        "upgrade-check --from v1.12.1 --to v1.13.0", cards
    )
    assert "panics" in printed(f"what-if {release} --set queue/default.spec.weight=2", cards)


def test_the_cause_of_a_crash_is_the_behaviour_that_says_so(cards: Path) -> None:
    found = printed("bisect --panic --releases v1.12.3..v1.13.0", cards)
    assert "Cause: devices_counted_without_plugin\n" in found
    assert "does no harm" in found


def test_an_event_that_ends_the_process_is_an_answer_of_the_moment_after_it(mended: Path) -> None:
    with plinian.open(mended) as log:
        at = [log.session(at=f"session:{number}", release="v1.12.1") for number in (1, 2, 3)]
    assert [one.result.panic is None for one in at] == [True, False, True]
    assert at[1].result.panic is not None
    assert at[1].result.panic.during == MENDS
    assert not at[1].result.binds


def test_an_event_that_ends_the_process_is_found_by_searches(mended: Path) -> None:
    assert "no until rv:" in printed("bisect --panic --release v1.12.1", mended)
    found = printed("upgrade-check --from v1.11.0 --to v1.12.1", mended)
    assert found.startswith("Verdict: v1.12.1 panics where v1.11.0 does not (1 session)")
    assert "hypernodes_in_cache" in found
    assert MENDS in printed("check --release v1.12.1 --settle 0s", mended, None)


def test_a_crash_between_two_moments_belongs_to_the_later_one(mended: Path) -> None:
    behaviours = resolve("v1.12.1")
    with plinian.open(mended) as log:
        first, last = log.moment("session:1"), log.moment("session:3")
        (_, (before,)), (_, (after,)) = [
            (moment, [one.crash for one in caches])
            for moment, caches in beliefs_along(log.store, [first, last], behaviours)
        ]
        assert before is None
        assert after is not None
        assert belief_at(log.store, last, behaviours).crash is None
    assert after.during == MENDS


def test_a_stored_cache_remembers_that_its_process_has_just_started(mended: Path) -> None:
    behaviours = resolve("v1.12.1")
    with plinian.open(mended) as log:
        moment = log.moment("session:2")
        read = belief_at(log.store, moment, behaviours, use_stored=False)
        found = belief_at(log.store, moment, behaviours)
    assert read.crash is not None
    assert str(read.crash) == str(found.crash)
