"""What goes wrong with the log is said to clients without a path or SQL, and in full at home."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from serving import Running, ended, serving
from starlette.requests import Request
from web_pages import pages_of

from plinian.engine.errors import (
    LogCorrupt,
    LogError,
    LogNewer,
    LogNotFound,
    LogOlder,
    LogUnavailable,
    NotKnown,
    ObjectNotFound,
    PlinianError,
    UsageError,
)
from plinian.replay.server.answer_limits import AnswerLimit, TookTooLong
from plinian.replay.server.fault_answers import json_failure, json_fault
from plinian.replay.server.readers import MOST_WAITING_LONG, Readers, ServerBusy
from plinian.replay.server.settings import ServerSettings

PLACE = "/home/somebody/logs/cluster.db"
SQL = 'near "SELEC": syntax error in SELECT secret FROM event'
ABOUT = "/plinian/v1/about"


def answered(fault: PlinianError) -> tuple[int, str]:
    """Return the status and the text of the answer for an error."""
    answer = asyncio.run(json_fault(Request({"type": "http"}), fault))
    return answer.status_code, bytes(answer.body).decode()


@pytest.mark.parametrize(
    "fault",
    [
        LogUnavailable(SQL, where=PLACE, now=f"look at {PLACE}"),
        LogCorrupt(f"the file is damaged: {SQL}", position=7, where=PLACE),
        LogNewer(f"revision 9 in {PLACE}", where=PLACE),
        LogOlder("revision 1", where=PLACE, now=f"run: plinian db upgrade --log {PLACE}"),
        LogNotFound("there is no such file", where=PLACE),
        LogError(SQL, where=PLACE),
        PlinianError(SQL, where=PLACE),
    ],
)
def test_a_fault_of_the_log_is_withheld_from_clients_and_printed_at_home(
    fault: PlinianError, caplog: pytest.LogCaptureFixture
) -> None:
    status, text = answered(fault)
    assert status in {500, 503}
    assert "SELECT" not in text
    assert "somebody" not in text
    assert json.loads(text)["error"]["now"] == "the terminal of the server says more"
    assert PLACE in caplog.text
    assert fault.what.replace('"', "") in caplog.text.replace('"', "")


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (ObjectNotFound("no x"), 404),
        (UsageError("wrong"), 400),
        (NotKnown("not known"), 409),
        (ServerBusy("busy"), 503),
        (TookTooLong(3), 503),
    ],
)
def test_other_errors_say_all_that_the_command_line_says(fault: PlinianError, status: int) -> None:
    found, text = answered(fault)
    assert found == status
    assert fault.what in text


def test_what_is_printed_at_home_moves_no_cursor(caplog: pytest.LogCaptureFixture) -> None:
    answered(LogUnavailable("\x1b[2J\rgone", where=PLACE))
    assert "\x1b" not in caplog.text


def test_a_bug_is_a_plain_answer_with_the_safe_headers() -> None:
    answer = asyncio.run(json_failure(Request({"type": "http"}), KeyError(PLACE)))
    assert answer.status_code == 500
    assert b"somebody" not in answer.body
    assert answer.headers["x-content-type-options"] == "nosniff"


def _gone(place: Path) -> None:
    place.unlink()


def _newer(place: Path) -> None:
    with sqlite3.connect(place) as database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
    _replaced(place)


def _replaced(place: Path) -> None:
    copy = place.with_suffix(".copy")
    copy.write_bytes(place.read_bytes())
    copy.replace(place)


def _broken(place: Path) -> None:
    place.write_bytes(b"no database" * 1000)


@pytest.mark.parametrize("happens", [_gone, _newer, _broken])
def test_a_log_that_goes_away_is_told_and_served_again_once_it_is_back(
    demo_log: Path, tmp_path: Path, happens: Callable[[Path], None]
) -> None:
    folder = tmp_path / "private-folder"
    folder.mkdir()
    place = folder / "cluster.db"
    place.write_bytes(demo_log.read_bytes())
    running = serving(place)
    try:
        assert running.client.get(ABOUT).status_code == 200
        happens(place)
        broken = [running.client.get(f"/plinian/v1/{path}") for path in ("about", "log", "why")]
        for more in ("-wal", "-shm"):
            place.with_name(f"{place.name}{more}").unlink(missing_ok=True)
        back = folder / "back.db"
        back.write_bytes(demo_log.read_bytes())
        back.replace(place)
        again = running.client.get(ABOUT)
    finally:
        ended(running)
    assert {one.status_code for one in broken[:2]} <= {500, 503}
    assert all(one.json()["error"]["what"].startswith("the log ") for one in broken[:2])
    assert broken[2].status_code == 400
    assert "private-folder" not in "".join(one.text for one in broken)
    assert again.status_code == 200


def test_a_question_that_waits_too_long_is_dropped_and_does_not_block_the_lane(
    demo_log: Path,
) -> None:
    async def asked() -> tuple[list[type[Exception]], int]:
        readers = Readers(ServerSettings(str(demo_log)))
        stop = threading.Event()
        running = [
            asyncio.create_task(readers.ask(lambda _log: stop.wait(60), long=True))
            for _ in range(MOST_WAITING_LONG)
        ]
        await asyncio.sleep(0.1)
        refused = []
        try:
            await readers.ask(lambda log: log.moment(), long=True)
        except ServerBusy as fault:
            refused.append(type(fault))
        for task in running[1:]:  # Their clients go away.
            task.cancel()
        await asyncio.wait(running[1:])
        stop.set()
        known = await readers.ask(lambda log: log.moment().known, long=True)
        readers.close()
        return refused, known

    refused, known = asyncio.run(asked())
    assert refused == [ServerBusy]
    assert known > 0


def test_an_answer_that_takes_too_long_ends_where_it_reports_its_progress() -> None:
    limit = AnswerLimit(3600)
    limit.begin()
    limit.progress(1, 2)
    limit.stop()
    with pytest.raises(TookTooLong):
        limit.progress(1, 2)
    short = AnswerLimit(-1)
    short.progress(1, 2)
    short.begin()
    with pytest.raises(TookTooLong, match="takes longer"):
        short.progress(1, 2)


def test_a_budget_ends_a_check(server: Running) -> None:
    answer = server.client.get("/plinian/v1/check", params={"budget": "1ms"})
    assert answer.status_code == 503
    error = answer.json()["error"]
    assert "the answer takes longer than 0.001 s" in error["what"]
    assert "ask in a terminal, which waits: plinian " in error["now"]


@pytest.mark.parametrize("path", ["/api/v1/pods", "/version", ABOUT, "/@1"])
def test_every_door_says_of_a_log_that_is_gone_no_more_than_that(
    demo_log: Path, tmp_path: Path, path: str
) -> None:
    place = tmp_path / "log.db"
    place.write_bytes(demo_log.read_bytes())
    with pages_of(place) as client:
        place.rename(tmp_path / "moved.db")
        answer = client.get(path)
    assert answer.status_code == 503
    assert "the log is not there any more" in answer.text
    assert "plinian ingest" not in answer.text
