"""A panic outside of a session's body, as commands show it that run many sessions or none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from crashing import CARD, CONF, NO_CARDS, devices, listed, topology, with_card
from web_pages import pages_of

import plinian
from plinian.replay.cli.main import app

MENDS = "it handles HyperNode two (hypernode.updated)"
AS = "--release v1.12.1"


def logged(folder: Path, case: dict[str, Any]) -> Path:
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


@pytest.fixture(scope="module")
def timed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a log of lists with a time, in which a pod has a card of a node that has none."""
    folder = tmp_path_factory.mktemp("timed")
    place = folder / "timed.db"
    for number, document in enumerate(listed(with_card(CARD))):
        (folder / f"{number}.json").write_text(json.dumps(document))
    (folder / "conf.yaml").write_text(CONF)
    taken = "--taken-at 2026-11-28T10:30:00Z"
    files = " ".join(map(str, sorted(folder.glob("*.json"))))
    assert not printed(f"ingest {files} {taken}", place).count("error")
    return place


@pytest.fixture
def recorded(timed: Path, tmp_path: Path) -> Path:
    """Return the log of lists with a session that the scheduler's log records as one that ended."""
    place, lines = tmp_path / "recorded.db", tmp_path / "scheduler.log"
    place.write_bytes(timed.read_bytes())
    session = "a81ef8ba-14a5-4a1f-96f5-cb02e74eeb5f"
    lines.write_text(
        f"I1128 10:31:00.100001       1 session.go:193] Open Session {session} with <1> Job and "
        "<1> Queues\n"
        f"I1128 10:31:00.300005       1 session.go:240] Close Session {session}\n"
    )
    printed(f"ingest {lines} {timed.parent / 'conf.yaml'} --year 2026", place)
    return place


@pytest.fixture(scope="module")
def pages(mended: Path) -> Iterator[httpx.Client]:
    with pages_of(mended) as client:
        yield client


def printed(command: str, place: Path, code: int | None = 0) -> str:
    """Return what a command prints about a log."""
    result = CliRunner().invoke(app, [*command.split(), "--log", str(place)])
    assert code is None or result.exit_code == code, result.output
    return result.output


def test_a_cluster_that_lives_on_panics_as_its_first_session_does(timed: Path) -> None:
    conf = f"--conf {timed.parent / 'conf.yaml'}"
    assert NO_CARDS in printed(f"session {AS} {conf}", timed)
    found = printed(f"what-if --for 1m {AS} {conf}", timed)
    assert found.index("panic at +0s") < found.index("COURSE")
    assert NO_CARDS in found


def test_both_sides_of_what_if_panic_if_the_change_does_not_help(cards: Path) -> None:
    found = printed(f"what-if {AS} --set queue/default.spec.weight=2", cards)
    assert found.count(f"the scheduler panics while {NO_CARDS}") == 2


def test_a_stored_cache_panics_as_one_that_was_just_built_does(cards: Path) -> None:
    fresh = printed(f"session {AS}", cards)
    assert "3 checkpoints" in printed(f"checkpoint build {AS}", cards)
    assert printed(f"session {AS}", cards) == fresh


def test_a_panic_is_not_compared_with_a_scenario_that_records_nothing(cards: Path) -> None:
    found = printed(f"fidelity {AS}", cards, code=2)
    assert "nothing to compare: the log has 1 session of a scenario" in found
    assert NO_CARDS in printed(f"session {AS}", cards, code=None)


def test_a_panic_where_the_log_records_a_session_that_ended_is_a_difference(recorded: Path) -> None:
    found = printed(f"fidelity {AS}", recorded)
    assert "v1.12.1 panics in 1 session in which the log records no panic" in found
    assert NO_CARDS in found
    with plinian.open(recorded) as log:
        report = plinian.document(log.fidelity(release="v1.12.1"))
    (one,) = report["differences"]
    assert (one["about"], one["recorded"], one["session"]) == ("panic", "", 1)
    assert NO_CARDS in one["again"]
    assert report["panics"]["invented"] == 1


def test_the_cache_after_a_panic_says_so(mended: Path) -> None:
    at = f"--at session:2 {AS}"
    assert "had panicked by then: runtime error" in printed(f"drift {at}", mended)
    assert MENDS in printed(f"belief {at}", mended)
    with plinian.open(mended) as log:
        held = log.belief(at="session:2", release="v1.12.1")
        assert MENDS in held.panic
        assert MENDS in plinian.document(held)["panic"]
        assert not log.belief(at="session:1", release="v1.12.1").panic


def test_sessions_that_both_panic_do_not_only_decide_the_same(mended: Path) -> None:
    found = printed("session --at session:2 --release v1.12.0 --release v1.12.1", mended)
    assert f"v1.12.0: the scheduler panics while {MENDS}" in found
    assert found.index("v1.12.1: the scheduler panics") < found.index("All decide the same.")


def test_a_search_says_of_a_pod_that_the_scheduler_panics(cards: Path) -> None:
    found = printed("bisect --bound ns/wanted-0 --releases v1.12.3..v1.13.0", cards)
    assert "waits; the scheduler panics while it counts the devices of Pod ns/holder" in found
    found = printed("bisect --phase ns/wanted=Running --releases v1.12.3..v1.13.0", cards, None)
    assert "Inqueue; the scheduler panics" in found


def test_a_report_says_with_which_object_the_scheduler_panics(mended: Path) -> None:
    page = mended.parent / "report.html"
    printed(f"report -o {page} --at session:2 {AS}", mended)
    assert MENDS in page.read_text()


@pytest.mark.parametrize("page", ["session", "nodes", "compare", "why/podgroup/ns/wanted"])
def test_pages_say_with_which_object_the_scheduler_panics(pages: httpx.Client, page: str) -> None:
    answer = pages.get(f"/@13/{page}", params={"release": "v1.12.1"})
    assert answer.status_code == 200, answer.text
    assert MENDS in answer.text


@pytest.mark.parametrize(
    "question",
    [
        *(f"{name}?at=session:2" for name in ("session", "belief", "drift", "check")),
        "why?at=session:2&object=podgroup/ns/wanted",
    ],
)
def test_the_json_api_says_with_which_object_the_scheduler_panics(
    pages: httpx.Client, question: str
) -> None:
    answer = pages.get(f"/plinian/v1/{question}&release=v1.12.1")
    assert answer.status_code == 200, answer.text
    assert MENDS in answer.text
