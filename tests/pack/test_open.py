"""What ``open`` says of a pack, and of a file that is none, or damaged."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import plinian
from packs import TIME
from plinian.engine.errors import InputError
from plinian.engine.events import canonical_json
from plinian.engine.log import open_log
from plinian.engine.log.store import Query
from plinian.replay.cli.main import app
from plinian.replay.moments.slices import begin_of
from plinian.replay.pack import pack_reading as reading


@pytest.fixture(scope="module")
def incident(recording: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a pack with the command; for reading only."""
    place = tmp_path_factory.mktemp("incident") / "incident.plinian"
    result = run(
        *("pack", "--log", str(recording), "--at", TIME, "--around", "10s"),
        *("--ask", "why does gpu-2 wait?", "-o", str(place)),
    )
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    return place


def run(*words: str) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(app, list(words))


def test_open_shows_what_it_is_and_that_the_answer_is_as_expected(incident: Path) -> None:
    result = run("open", str(incident))
    assert result.exit_code == 0, result.stderr
    for text in ("why does gpu-2 wait?", "as expected", "the original ones", "no changes in"):
        assert text in result.stdout


def test_any_command_reads_a_pack_as_it_reads_the_log(recording: Path, incident: Path) -> None:
    for command in (["get", "pods", "-A"], ["session"], ["belief", "jobs"], ["drift"]):
        both = [run(*command, "--at", TIME, "--log", str(place)) for place in (recording, incident)]
        assert both[0].exit_code == 0
        assert both[0].stdout == both[1].stdout


def test_sqlite_alone_shows_what_a_pack_is(incident: Path) -> None:
    with sqlite3.connect(incident) as connection:
        rows = dict(connection.execute("SELECT name, value FROM pack"))
    assert rows["question"] == "why does gpu-2 wait?"
    assert rows["release"] == "v1.12.1"
    assert rows["format"] == str(reading.FORMAT)


def test_another_answer_than_the_expected_one_is_a_difference(
    incident: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plinian.replay.pack.opened.digest_of", lambda _: "0" * 64)
    result = run("open", str(incident))
    assert result.exit_code == 1
    assert "not as expected" in result.stdout


def flipped(data: bytes) -> bytes:
    """Return the bytes of a file with one bit of an event flipped."""
    place = data.index(b"slice.began") + 3
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda data: data[: len(data) // 2], "cut short"),
        (lambda data: data[:50], "cut short"),
        (lambda _: b"not a pack at all" * 100, "this is not a pack"),
        (lambda _: b"", "this is not a pack"),
    ],
    ids=["half", "few-bytes", "text", "empty"],
)
def test_a_file_that_is_cut_or_is_no_pack_is_named_so(
    incident: Path, tmp_path: Path, damage: Callable[[bytes], bytes], said: str
) -> None:
    place = tmp_path / "it.plinian"
    place.write_bytes(damage(incident.read_bytes()))
    result = run("open", str(place))
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stdout == ""


def test_a_flipped_bit_in_an_event_or_in_the_table_is_found(incident: Path, tmp_path: Path) -> None:
    place = tmp_path / "it.plinian"
    shutil.copy(incident, place)
    with sqlite3.connect(place) as connection:
        connection.execute("UPDATE pack SET value = 'v1.8.2' WHERE name = 'release'")
    changed = run("open", str(place))
    assert changed.exit_code == 2
    assert "the table pack" in changed.stderr
    place.write_bytes(flipped(incident.read_bytes()))
    assert run("open", str(place)).exit_code == 2


def test_a_damaged_pack_is_asked_for_again(incident: Path, tmp_path: Path) -> None:
    """Bits flipped all over the file: the answer is as expected, or the message says what helps."""
    place, data = tmp_path / "it.plinian", incident.read_bytes()
    damaged = 0
    for number in range(24):
        at = number * len(data) // 24 + 2_999 + number * 37
        place.write_bytes(data[:at] + bytes([data[at] ^ (1 << number % 8)]) + data[at + 1 :])
        result = run("open", str(place))
        if result.exit_code != 0:
            damaged += 1
            assert result.exit_code == 2, (at, result.stdout, result.stderr)
            assert "ask the sender for the file again" in result.stderr, (at, result.stderr)
            assert "restore" not in result.stderr
            assert str(place) in result.stderr
    assert damaged > 6


def test_a_damaged_row_without_a_name_is_found(incident: Path, tmp_path: Path) -> None:
    place = tmp_path / "it.plinian"
    shutil.copy(incident, place)
    with sqlite3.connect(place) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        for name in ("object", "symbol"):
            guards = connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?", (name,)
            ).fetchall()
            for (guard,) in guards:
                connection.execute(f'DROP TRIGGER "{guard}"')
        (text,) = connection.execute(
            "SELECT sql FROM sqlite_master WHERE name = 'object'"
        ).fetchone()
        loose = text.replace("NOT NULL", "")
        connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'object'", (loose,))
    with sqlite3.connect(place) as connection:
        connection.execute("UPDATE object SET namespace_id = NULL WHERE id = 9")
    result = run("open", str(place))
    assert (result.exit_code, "ask the sender" in result.stderr) == (2, True), result.stderr


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ("CREATE TRIGGER t AFTER INSERT ON event BEGIN SELECT 1; END", "trigger 't'"),
        ("CREATE VIEW v AS SELECT 1", "view 'v'"),
        ("CREATE TABLE more (a)", "table 'more'"),
        ("CREATE INDEX i ON event (actor_id)", "index 'i'"),
        ("ALTER TABLE event ADD COLUMN more INTEGER", "table 'event' with other columns"),
        ("ALTER TABLE pack ADD COLUMN more GENERATED ALWAYS AS (1)", "table 'pack' with other"),
        (
            (
                "DROP TABLE dictionary; CREATE VIEW dictionary AS WITH RECURSIVE n (id) AS"
                " (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id, x'00' AS data FROM n"
            ),
            "view 'dictionary'",
        ),
    ],
)
def test_a_file_with_more_than_a_pack_has_is_refused_before_it_is_read(
    incident: Path, tmp_path: Path, made: str, said: str
) -> None:
    changed = tmp_path / "changed.plinian"
    changed.write_bytes(incident.read_bytes())
    with closing(sqlite3.connect(changed)) as connection:
        connection.executescript(made)
    with pytest.raises(InputError) as raised:
        plinian.open_pack(changed)
    assert said in raised.value.what


def test_a_log_is_no_pack_and_a_missing_file_is_missing(recording: Path, tmp_path: Path) -> None:
    log = run("open", str(recording))
    assert (log.exit_code, "a log, but not a pack" in log.stderr) == (2, True)
    missing = run("open", str(tmp_path / "none.plinian"))
    assert (missing.exit_code, "there is no such file" in missing.stderr) == (2, True)


def test_a_pack_of_a_newer_format_or_without_an_end_is_refused(
    incident: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "FORMAT", 0)
    newer = run("open", str(incident))
    assert (newer.exit_code, "knows up to 0" in newer.stderr) == (2, True)
    monkeypatch.undo()
    cut = tmp_path / "cut.plinian"
    with open_log(str(incident), read_only=True) as source, open_log(cut, create=True) as store:
        whole = [one.event for one in source.read(Query())]
        store.append([event for event in whole if event.kind != "slice.ended"])
    result = run("open", str(cut))
    assert (result.exit_code, "its end is missing" in result.stderr) == (2, True)


def test_json_has_all_decisions(incident: Path) -> None:
    found = json.loads(run("open", str(incident), "-o", "json").stdout)
    assert found["as_expected"] is True
    assert sum(found["expected"]["decisions"].values()) == len(found["decisions"])


def test_a_place_that_cannot_be_written_and_a_wrong_duration_are_refused(
    recording: Path, tmp_path: Path
) -> None:
    for words, said in (
        (("-o", str(tmp_path)), "this is a folder"),
        (("-o", str(tmp_path / "none" / "it.plinian")), "its folder does not exist"),
        (("-o", str(tmp_path / "x"), "--around", "soon"), "invalid --around"),
        (("-o", str(tmp_path / "x"), "--map", "m"), "--map works with --redact only"),
    ):
        result = run("pack", "--log", str(recording), *words)
        assert (result.exit_code, said in result.stderr) == (2, True), result.stderr
    assert list(tmp_path.iterdir()) == []


def test_only_a_pack_is_replaced_by_a_pack(recording: Path, tmp_path: Path) -> None:
    log, text, pack = (tmp_path / name for name in ("log.db", "notes.txt", "it.plinian"))
    shutil.copy(recording, log)
    text.write_text("notes", "utf-8")
    for place in (log, text):
        before = place.read_bytes()
        refused = run("pack", "--log", str(log), "--at", TIME, "--around", "1s", "-o", str(place))
        assert (refused.exit_code, "which is no pack" in refused.stderr) == (2, True)
        assert place.read_bytes() == before
    for around in ("1s", "2s"):
        words = ("--at", TIME, "--around", around, "-o", str(pack))
        assert run("pack", "--log", str(log), *words).exit_code == 0
    assert run("open", str(pack)).exit_code == 0


def test_a_pack_of_a_pack_knows_no_more_than_the_first(
    recording: Path, incident: Path, tmp_path: Path
) -> None:
    second = tmp_path / "second.plinian"
    words = ("--at", TIME, "--around", "1h", "-o", str(second))
    assert run("pack", "--log", str(incident), *words).exit_code == 0
    first, again = (
        json.loads(run("open", str(one), "-o", "json").stdout) for one in (incident, second)
    )
    assert (again["begin"], again["digest"]) == (first["begin"], first["digest"])
    both = [
        run("get", "pods", "-A", "--at", TIME, "--log", str(one)).stdout
        for one in (recording, second)
    ]
    assert both[0] == both[1]


def test_the_begin_of_a_log_that_is_no_slice_is_none(recording: Path, incident: Path) -> None:
    with open_log(str(recording), read_only=True) as log, open_log(str(incident)) as pack:
        assert begin_of(log) is None
        begin = begin_of(pack)
    assert begin is not None
    assert b"known" in canonical_json(begin.slice)
