"""One pass over a log gives at every moment what a pass of its own would."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from shared_parent import scenario

from plinian.engine.volcano.session.history import resolve
from plinian.replay.belief.belief import beliefs_along
from plinian.replay.cli.main import app
from plinian.replay.logs.log import opened
from plinian.replay.render.documents import json_text
from plinian.replay.sessions.session_answer import scene_at, session_at, session_in
from plinian.replay.sessions.session_moments import SessionMoment, evenly, session_places


def invoke(*arguments: str | Path) -> None:
    """Run a command that succeeds."""
    ran = CliRunner().invoke(app, list(map(str, arguments)))
    assert ran.exit_code == 0, ran.output


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Make the log of the demonstration, and one of a scenario."""
    folder = tmp_path_factory.mktemp("along")
    case = folder / "a.case.json"
    case.write_text(json.dumps(scenario()), "utf-8")
    invoke("ingest", "--log", folder / "case.db", case)
    invoke("demo", "--log", folder / "demo.db")
    return {"case": folder / "case.db", "demo": folder / "demo.db"}


@pytest.mark.parametrize("name", ["case", "demo"])
def test_a_session_on_the_way_is_the_session_at_the_point(logs: dict[str, Path], name: str) -> None:
    behaviours = resolve("v1.12.1")
    with opened(logs[name], read_only=True) as log:
        moments = [place.moment for place in evenly(session_places(log, log.moment()).found, 12)]
        decided = 0
        for moment, (cache,) in beliefs_along(log.store, moments, behaviours):
            way = session_in(scene_at(log, moment), behaviours, cache)
            point = session_at(log, moment.label, release="v1.12.1")
            assert json_text(way.document) == json_text(point.document)
            decided += len(point.result.pod_groups)
        assert len(moments) == (2 if name == "case" else 12)
        assert decided


def test_places_are_the_sessions_that_a_log_tells_of(logs: dict[str, Path]) -> None:
    with opened(logs["case"], read_only=True) as log:
        places = session_places(log, log.moment())
        assert places.logged
        marks = [one.position for one in log.events(kinds=("session.requested",))]
        assert [place.position for place in places.found] == marks
        assert session_places(log, log.moment("rv:12")).found == [
            SessionMoment(log.moment("rv:12"), marks[0])
        ]


def test_without_sessions_places_are_the_changes_that_may_matter(tmp_path: Path) -> None:
    told = scenario(1)
    told["steps"][0]["noSession"] = True
    case, place = tmp_path / "a.case.json", tmp_path / "a.db"
    case.write_text(json.dumps(told), "utf-8")
    invoke("ingest", "--log", place, case)
    with opened(place, read_only=True) as log:
        found = session_places(log, log.moment())
        assert not found.logged
        kinds = ("pod.*", "podgroup.*", "node.*", "queue.*")
        changes = {one.event.revision for one in log.events(kinds=kinds)}
        assert [one.moment.revision for one in found.found] == sorted(changes - {None})
        assert [one.moment.label for one in found.found][-1] == f"rv:{max(changes - {None})}"
