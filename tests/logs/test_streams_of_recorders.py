"""What a log says of the streams that were recorded into it, and of the holes that remain."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import plinian
from plinian.engine.events import Event, Reference, canonical_json
from plinian.engine.events.payloads import WatchFollowed, WatchRepaired
from plinian.engine.log import MAIN, open_log
from plinian.replay.cli.main import app
from plinian.replay.coverage.coverage import unknown_at
from plinian.replay.moments.stream_holes import left_unseen

SECOND = 1_000_000
HEARD = 1_796_000_000 * SECOND
PODS = Reference("", "Pod", "")
UNSEEN = ("short-lived", "bounded", "compacted")


def _followed(since: int, until: int, *, interrupted: bool = False, at: int | None = None) -> Event:
    span = WatchFollowed(
        group="",
        listed="Pod",
        since=since,
        until=until,
        begin="marked",
        interrupted=interrupted,
        until_at=at,
    )
    return _event("watch.followed", span, at)


def _event(kind: str, payload: WatchFollowed | WatchRepaired, at: int | None = None) -> Event:
    return Event(
        kind=kind,
        reference=PODS,
        payload=canonical_json(payload),
        source="record:pods",
        cluster="default",
        latest=at,
    )


def _repaired(unseen: str) -> Event:
    hole = WatchRepaired(
        group="", listed="Pod", after=20, before=40, versions=3, requests=9, unseen=unseen
    )
    return _event("watch.repaired", hole)


@pytest.fixture(params=UNSEEN)
def unseen(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def place(tmp_path: Path, unseen: str) -> Path:
    """Return a log of a stream that was cut from rv:20 to rv:40."""
    path = tmp_path / "log.db"
    with open_log(str(path), create=True) as store:
        store.append(
            [
                _followed(10, 20, interrupted=True, at=HEARD),
                _repaired(unseen),
                _followed(40, 50, at=HEARD + 90 * SECOND),
            ],
            branch=MAIN,
        )
    _ingest(path, 12, 50)
    return path


def _ingest(place: Path, *revisions: int) -> None:
    """Append a pod of each of some revisions."""
    paths = []
    for revision in revisions:
        metadata = {"name": f"p-{revision}", "uid": f"u-{revision}", "namespace": "default"}
        metadata["resourceVersion"] = str(revision)
        paths.append(place.with_name(f"{revision}.json"))
        paths[-1].write_text(json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": metadata}))
    with plinian.open(place) as log:
        log.ingest(paths, partial_lists=True)


def test_a_stream_says_up_to_where_it_goes_and_which_holes_remain(place: Path, unseen: str) -> None:
    with plinian.open(place, read_only=True) as log:
        (stream,) = log.status().streams
        assert log.status().tables()["streams"].cells[-1] == [1]
    assert (stream.stream, stream.revision) == ("pods", 50)
    assert stream.heard == HEARD + 90 * SECOND
    (hole,) = stream.holes
    assert (hole.after, hole.before, hole.versions, hole.unseen) == (20, 40, 3, unseen)


def test_the_warning_about_a_hole_says_what_a_repair_left(place: Path, unseen: str) -> None:
    with plinian.open(place, read_only=True) as log:
        (unknown,) = unknown_at(log, log.moment("rv:30"), [("", "Pod")])
    assert unknown.reason.startswith("not known between ")
    assert unknown.reason.endswith(f": the watch was interrupted; {left_unseen(unseen)}")
    assert unknown.document.message == f"pods: {unknown.reason}"


def test_text_and_json_of_status_show_them(place: Path, unseen: str) -> None:
    text = CliRunner().invoke(app, ["status", "--log", str(place)]).stdout
    head, rest = text.partition("STREAMS\n")[2].split("\n", 1)
    assert head.split() == ["STREAM", "HOLES", "BEFORE", "THE", "END", "UP", "TO", "HEARD"]
    assert rest.split()[:2] == ["pods", "1"]
    assert rest.split()[3] == "rv:50"
    assert f"pods: a hole between rv:20 and rv:40: {left_unseen(unseen)}\n" in rest
    document = json.loads(
        CliRunner().invoke(app, ["status", "--log", str(place), "-o", "json"]).stdout
    )
    (stream,) = document["clusters"][0]["streams"]
    assert stream["heard"].startswith("2026-")
    assert stream["holes"][0]["unseen"] == unseen


def test_a_log_without_a_recorder_has_no_such_section(tmp_path: Path) -> None:
    place = tmp_path / "log.db"
    open_log(str(place), create=True).close()
    _ingest(place, 12)
    assert "STREAMS" not in CliRunner().invoke(app, ["status", "--log", str(place)]).stdout


def test_each_way_in_which_a_hole_remains_has_words() -> None:
    assert len({left_unseen(one) for one in UNSEEN} - {""}) == len(UNSEEN)
    assert left_unseen("something newer") == ""
