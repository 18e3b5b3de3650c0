"""Races for the list of ignored devices, as lanes and as documents."""

from __future__ import annotations

from plinian.engine.machine.device_race import Explored, Race, explore_device_list
from plinian.engine.volcano.table import cache_behaviours
from plinian.replay.render.device_list import (
    explored_document,
    explored_lines,
    lanes_table,
    releases_table,
)


def found(release: str, race: Race | None = None) -> Explored:
    """Return what a search of a release found."""
    return explore_device_list(cache_behaviours(release), race)


def test_a_lane_shows_what_a_goroutine_stored_or_loaded() -> None:
    explored = found("v1.8.2")
    table = lanes_table(explored.anomalies[0], explored.race.readers)
    assert table.headers == ["STEP", "WRITER", "SESSION", "POINTER TO", "LENGTH", "CAPACITY"]
    assert table.rows == [
        ("1", "stores length 0", "", "array of 4", "0", "4"),
        ("2", "", "loads pointer to array of 4", "array of 4", "0", "4"),
        ("3", "", "loads length 0: not on the list", "array of 4", "0", "4"),
    ]


def test_each_reader_has_a_lane() -> None:
    explored = found("v1.8.2", Race(writes=1, readers=("session", "resync"), as_compiled=True))
    of_resync = next(one for one in explored.anomalies if "the resync" in one.sentence)
    table = lanes_table(of_resync, explored.race.readers)
    assert table.headers[1:4] == ["WRITER", "SESSION", "RESYNC"]
    assert any(row[3] for row in table.rows)


def test_every_anomaly_is_shown_and_how_much_was_searched() -> None:
    text = "".join(explored_lines(found("v1.8.2")))
    assert text.count("\nSTEP ") == 5
    assert text.endswith(
        "v1.8.2 (unlocked): 5 anomalies; 1150 states, 2608 steps, all states seen\n"
    )
    assert "".join(explored_lines(found("v1.9.0"))) == (
        "v1.9.0 (refilled): no anomalies; 40 states, 44 steps, all states seen\n"
    )


def test_a_search_that_was_stopped_says_so() -> None:
    explored = found("v1.9.0")._replace(complete=False)
    assert "".join(explored_lines(explored)).endswith("stopped early\n")


def test_releases_in_which_the_same_was_found_share_a_row() -> None:
    table = releases_table([found(name) for name in ("v1.8.1", "v1.8.2", "v1.9.0", "v1.15.1")])
    assert [(row[0], *row[-2:]) for row in table.rows] == [
        ("v1.8.1..v1.8.2", "3", "2"),
        ("v1.9.0", "<none>", "<none>"),
        ("v1.15.1", "<none>", "<none>"),
    ]


def test_a_document_has_all_steps_of_all_anomalies() -> None:
    explored = found("v1.8.2")
    document = explored_document(explored)
    assert (document["complete"], document["states"], document["steps"]) == (True, 1150, 2608)
    assert [one["kind"] for one in document["anomalies"]] == [
        str(one.kind) for one in explored.anomalies
    ]
    assert document["anomalies"][0]["steps"] == [
        "writer stores length",
        "session loads pointer",
        "session loads length",
    ]
    assert explored_document(found("v1.9.0"))["anomalies"] == []
