"""Questions that take minutes: progress, an end on request, and a result that stays."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from web_pages import data_at, finished_page, page_at, pages_of, shown

import plinian
from plinian.replay.facade.documents import document
from plinian.replay.facade.log import Log
from plinian.replay.server import works
from plinian.replay.server.readers import MOST_WAITING_WORKS, Readers, ServerBusy
from plinian.replay.server.settings import ServerSettings
from plinian.replay.server.works import RunningWork, Works, WorkStopped, WorkWatch

AT = "/@1901"
SOON = 60
LATER = 0.01


@pytest.fixture(scope="module")
def client(demo_log: Path) -> Iterator[httpx.Client]:
    with pages_of(demo_log) as found:
        yield found


# -- works themselves ----------------------------------------------------------------------------


def _in_loop(place: Path, story: Callable[[Works], Any]) -> Any:
    """Run a story with works of a log."""

    async def run() -> Any:
        readers = Readers(ServerSettings(place=str(place)))
        try:
            return await story(Works(readers))
        finally:
            readers.close()

    return asyncio.run(run())


def _until_stopped(_log: Log, watch: WorkWatch) -> int:
    """Count until the watch ends it, and return an answer as after an interrupt."""
    count = 0
    try:
        while True:
            count += 1
            watch.report("it counts", count, 0)
            time.sleep(LATER)
    except KeyboardInterrupt:
        return count


async def _begun(work: RunningWork) -> None:
    while work.watch.words != "it counts":  # noqa: ASYNC110 -- another thread says it
        await asyncio.sleep(LATER)


def test_a_question_runs_once_for_all_who_look(demo_log: Path) -> None:
    ran = list[int]()

    async def story(found: Works) -> None:
        same = [found.of("a", lambda _log, _watch: ran.append(1) or 7) for _ in range(3)]
        for one in same:
            await one.wait(SOON)
        assert {one.answer() for one in same} == {7}
        assert found.of("a", lambda _log, _watch: 8).answer() == 7

    _in_loop(demo_log, story)
    assert ran == [1]


def test_a_stop_keeps_what_was_found(demo_log: Path) -> None:
    async def story(found: Works) -> None:
        work = found.of("a", _until_stopped)
        await _begun(work)
        found.stop("a")
        await work.wait(SOON)
        assert work.answer() > 0
        assert found.of("a", _until_stopped) is work

    _in_loop(demo_log, story)


def test_again_begins_it_again(demo_log: Path) -> None:
    async def story(found: Works) -> None:
        work = found.of("a", lambda _log, _watch: 1)
        await work.wait(SOON)
        found.forget("a")
        again = found.of("a", lambda _log, _watch: 2)
        await again.wait(SOON)
        assert again.answer() == 2

    _in_loop(demo_log, story)


def test_a_stop_before_there_is_anything_says_so(demo_log: Path) -> None:
    def never(_log: Log, watch: WorkWatch) -> None:
        while True:
            watch.report("it counts")
            time.sleep(LATER)

    async def story(found: Works) -> None:
        work = found.of("a", never)
        await _begun(work)
        found.stop("a")
        await work.wait(SOON)
        with pytest.raises(WorkStopped, match="before there was a result"):
            work.answer()

    _in_loop(demo_log, story)


def test_work_that_no_request_looks_at_ends(
    demo_log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(works, "ABANDONED_SECONDS", 0.05)

    async def story(found: Works) -> None:
        work = found.of("a", _until_stopped)
        while not work.is_done:  # noqa: ASYNC110 -- wait() would be a request
            await asyncio.sleep(LATER)
        assert work.answer() > 0

    _in_loop(demo_log, story)


def test_a_server_refuses_more_work_than_it_can_do_and_tries_again_later(demo_log: Path) -> None:
    async def story(found: Works) -> None:
        going = [found.of(place, _until_stopped) for place in range(MOST_WAITING_WORKS)]
        await _begun(going[0])
        refused = found.of("more", _until_stopped)
        await refused.wait(SOON)
        with pytest.raises(ServerBusy):
            refused.answer()
        for place, one in enumerate(going):
            found.stop(place)
            await one.wait(SOON)
        assert found.of("more", lambda _log, _watch: 5) is not refused

    _in_loop(demo_log, story)


def test_results_of_old_work_are_dropped(demo_log: Path) -> None:
    async def story(found: Works) -> int:
        def one(_log: Log, _watch: WorkWatch) -> int:
            return 1

        for place in range(works.MOST_KEPT * 2):
            await found.of(place, one).wait(SOON)
        return sum(found.of(place, one).is_done for place in range(works.MOST_KEPT))

    assert _in_loop(demo_log, story) == 0


def test_the_end_of_a_server_ends_work(demo_log: Path) -> None:
    async def story(found: Works) -> None:
        await _begun(found.of("a", _until_stopped))

    _in_loop(demo_log, story)
    assert not [one for one in threading.enumerate() if one.name.startswith("work") and _busy(one)]


def _busy(thread: threading.Thread) -> bool:
    thread.join(SOON)
    return thread.is_alive()


# -- pages that are worked on --------------------------------------------------------------------


def test_a_long_search_shows_how_far_it_is_and_stops(client: httpx.Client) -> None:
    path = f"{AT}/races?run=yes&budget=2m&strategy=random&objects=job/default/late-1"
    page = page_at(client, path)
    stop = next(made for tag, made in page.elements if made.get("action", "").endswith("do=stop"))
    assert stop["method"] == "post"
    assert any(tag == "progress" for tag, _ in page.elements)
    for _ in range(600):
        part = client.get(f"{path}&part=progress").text
        if "It searches" in part:
            break
        time.sleep(LATER)
    assert "It searches: " in part
    answer = client.post(stop["action"])
    assert answer.status_code == 303
    assert answer.headers["location"] == path
    found = finished_page(client, path)
    assert "stopped by hand" in found.text
    assert page_at(client, path).text == found.text


def test_a_stranger_page_cannot_stop_work(client: httpx.Client) -> None:
    answer = client.post(f"{AT}/races?run=yes&do=stop", headers={"Origin": "http://example.com"})
    assert answer.status_code == 403


def test_what_is_worked_on_is_not_kept_by_browsers(client: httpx.Client) -> None:
    finished_page(client, f"{AT}/what-if?for=5s")
    answer = client.get(f"{AT}/what-if?for=5s")
    assert answer.headers["cache-control"] == "no-store"
    assert "etag" not in answer.headers


# -- what-if over time ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def log(demo_log: Path) -> Iterator[Log]:
    with plinian.open(demo_log) as found:
        yield found


def test_the_twin_of_a_cluster_that_lives_on_is_that_of_the_command(
    client: httpx.Client, log: Log
) -> None:
    query = urlencode({"for": "20s", "add_node": "node-3", "cordon": "node-0", "each": "yes"})
    found = log.forecast("20s", at="@1901", add_nodes=["node-3"], cordon=["node-0"], each=True)
    assert data_at(client, f"{AT}/what-if?{query}") == shown(found)


def test_variants_over_time_stand_side_by_side(client: httpx.Client) -> None:
    query = urlencode({"for": "20s", "add_node": "node-3", "cordon": "node-0", "each": "yes"})
    page = finished_page(client, f"{AT}/what-if?{query}")
    for text in ("original", "node like node-3", "cordon node-0", "How sure:", "STARTED"):
        assert text in page.text
    assert "--for 20s" in page.text


def test_a_course_without_changes_is_one_course(client: httpx.Client) -> None:
    page = finished_page(client, f"{AT}/what-if?for=20s&arrivals=no&keep=later")
    assert "Nothing is written from outside" in page.text
    assert "--for 20s --no-arrivals --keep later" in page.text


def test_a_wrong_duration_is_said_on_the_page(client: httpx.Client) -> None:
    page = finished_page(client, f"{AT}/what-if?for=soon")
    assert "write a duration" in page.text
    assert data_at(client, f"{AT}/what-if?for=soon")["error"]["what"]


def test_what_if_asks_about_a_branch(demo_log: Path, tmp_path: Path) -> None:
    place = tmp_path / "branched.db"
    place.write_bytes(demo_log.read_bytes())
    with plinian.open(place) as own:
        own.forecast("20s", at="@1901", add_nodes=["node-3"], keep="more-nodes")
        expected = own.what_if(at="more-nodes", cordon=["node-0"])
    with pages_of(place) as client:
        assert "more-nodes" in page_at(client, f"{AT}/what-if").text
        query = "branch=more-nodes&cordon=node-0"
        assert data_at(client, f"/@4446/what-if?{query}") == document(expected)
        page = page_at(client, f"{AT}/what-if?branch=nowhere&cordon=node-0")
        assert "there is no branch" in page.text
