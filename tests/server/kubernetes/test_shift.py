"""Times are moved by one amount: in fields that hold times, everywhere, and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from informers import METADATA, PODS, TABLE, Informer, lines, until
from serving import Running, ended, run, serving
from web_pages import pages_of

from plinian.replay.server.kubernetes import kubernetes_routes
from plinian.replay.server.kubernetes.wire.shifted_times import Shift, shift_to

AT, TARGET = "2026-11-21T01:53:36Z", "2026-11-25T12:00:00Z"
DELTA = datetime.fromisoformat(TARGET) - datetime.fromisoformat(AT)
DAY = Shift(86_400)

_TEXTS = st.text(st.sampled_from('aT"\\:{},\n\u20ac'), max_size=8) | st.sampled_from(
    ["startTime", "creationTimestamp", '"startTime":"2026-01-01T00:00:00Z"', "2026-01-01T00:00:00Z"]
)
_TIMES = st.datetimes(
    datetime.fromisoformat("1971-01-01"), datetime.fromisoformat("2900-01-01")
).map(lambda at: f"{at:%FT%T}")
_FREE = st.dictionaries(_TEXTS, _TEXTS, max_size=3)
_OBJECTS = st.fixed_dictionaries(
    {},
    optional={
        "annotations": _FREE,
        "data": _FREE,
        "creationTimestamp": st.builds(str.__add__, _TIMES, st.sampled_from(["Z", ".123456Z"])),
        "startedAt": _TIMES.map(lambda at: f"{at}+05:30"),
        "message": _TEXTS,
        "notBefore": _TIMES.map(lambda at: f"{at}Z"),
        "eventTime": st.none(),
    },
)


def _encoded(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def _by_hand(document: dict[str, Any], seconds: int) -> dict[str, Any]:
    moved = dict(document)
    for name in ("creationTimestamp", "startedAt"):
        if name in moved:
            at = datetime.fromisoformat(moved[name][:19]) + timedelta(seconds=seconds)
            moved[name] = at.isoformat() + moved[name][19:]
    return moved


@given(st.lists(_OBJECTS, max_size=3), st.integers(-10_000_000, 10_000_000))
def test_fields_that_hold_times_are_moved_and_nothing_else(
    documents: list[dict[str, Any]], seconds: int
) -> None:
    whole = {"kind": "X", "metadata": {}, "status": {"conditions": documents}}
    wanted = {**whole, "status": {"conditions": [_by_hand(one, seconds) for one in documents]}}
    moved = Shift(seconds).applied(_encoded(whole))
    assert json.loads(moved) == wanted
    assert Shift(-seconds).applied(moved) == _encoded(whole)


@pytest.mark.parametrize(
    ("field", "time", "shown"),
    [
        ("creationTimestamp", "2026-02-28T23:59:59Z", "2026-03-01T23:59:59Z"),
        ("timeAdded", "2026-11-21T01:53:37Z", "2026-11-22T01:53:37Z"),
        ("eventTime", "2026-11-21T01:53:37.000001Z", "2026-11-22T01:53:37.000001Z"),
        ("lastTransitionTime", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ("finishedAt", "9999-12-31T12:00:00Z", "9999-12-31T12:00:00Z"),
        ("startTime", "2026-02-30T00:00:00Z", "2026-02-30T00:00:00Z"),
        ("startTime", "2026-11-21T01:53:37", "2026-11-21T01:53:37"),
        ("ageTime", "10s", "10s"),
        ("value", "2026-11-21T01:53:37Z", "2026-11-21T01:53:37Z"),
    ],
)
def test_a_field(field: str, time: str, shown: str) -> None:
    assert DAY.applied(_encoded({field: time})) == _encoded({field: shown})


def test_what_people_wrote_is_not_moved() -> None:
    applied = '{"status":{"startTime":"2026-11-21T01:53:37Z"}}'
    whole = {"metadata": {"annotations": {"last": applied, "startTime": "2026-11-21T01:53:37Z"}}}
    assert DAY.applied(_encoded(whole)) == _encoded(whole)


def test_a_shift_is_whole_seconds_and_none_without_a_time() -> None:
    assert shift_to(5_000_000, 1_400_000) == Shift(3)
    assert shift_to(None, 1) == shift_to(1, None) == Shift(0)
    assert Shift(0).applied(b"x") == b"x"


@pytest.fixture(scope="module")
def shifted(demo_log: Path) -> Iterator[Running]:
    """Return a server of a moment that is shown as another time."""
    running = serving(demo_log, "--at", AT, "--shift-times", TARGET)
    yield running
    ended(running)


def _created(document: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(document["metadata"]["creationTimestamp"])


def _items(running: Running, path: str, accept: str = "") -> list[dict[str, Any]]:
    headers = {"Accept": accept} if accept else {}
    document = running.client.get(path, headers=headers).json()
    found: list[dict[str, Any]] = document.get("items") or document["rows"]
    return found


@pytest.mark.parametrize("path", [PODS, "/api/v1/nodes", "/api/v1/events"])
def test_lists_are_moved_in_every_form(server: Running, shifted: Running, path: str) -> None:
    plain, moved = _items(server, f"/at/{AT}{path}"), _items(shifted, path)
    assert [_created(one) + DELTA for one in plain] == [_created(one) for one in moved]
    assert [_created(one) for one in _items(shifted, path, METADATA.format("List"))] == [
        _created(one) for one in moved
    ]
    rows = _items(shifted, path, TABLE)
    assert [_created(row["object"]) for row in rows] == [_created(one) for one in moved]
    assert [row["cells"] for row in rows] == [
        row["cells"] for row in _items(server, f"/at/{AT}{path}", TABLE)
    ], "ages are of the moment, moved or not"


def test_one_object_and_a_watch_show_what_the_list_shows(shifted: Running) -> None:
    first = _items(shifted, PODS)[0]
    assert shifted.client.get(f"/api/v1/namespaces/default/pods/{_name(first)}").json() == first
    watched = {
        _name(one["object"]): one["object"] for one in lines(shifted.client, PODS, timeoutSeconds=1)
    }
    assert watched == {_name(one): one for one in _items(shifted, PODS)}


def _name(document: dict[str, Any]) -> str:
    found: str = document["metadata"]["name"]
    return found


def test_every_moment_that_a_path_names_is_shown_as_that_time(shifted: Running) -> None:
    pods = f"/at/2026-11-21T01:54:36Z{PODS}"
    later = {one["metadata"]["uid"]: _created(one) for one in _items(shifted, pods)}
    now = {one["metadata"]["uid"]: _created(one) for one in _items(shifted, PODS)}
    both = later.keys() & now.keys()
    assert both
    assert {now[uid] - later[uid] for uid in both} == {timedelta(minutes=1)}
    watched = lines(shifted.client, pods, timeoutSeconds=1)
    assert {one["object"]["metadata"]["uid"]: _created(one["object"]) for one in watched} == later


def test_people_are_told(shifted: Running, server: Running) -> None:
    for path in (PODS, "/api/v1/nodes/node-1"):
        assert (
            "times are shown 4 days, 10:06:24 later" in shifted.client.get(path).headers["Warning"]
        )
        assert "times" not in server.client.get(path).headers.get("Warning", "")


def test_a_play_keeps_the_shift_that_it_began_with(demo_log: Path, server: Running) -> None:
    running = serving(demo_log, "--at", AT, "--play", "50x", "--shift-times", TARGET)
    informer = Informer(f"http://127.0.0.1:{running.port}", PODS)
    recorded = {one["metadata"]["uid"]: _created(one) for one in _items(server, PODS)}
    until(lambda: informer.store.keys() == recorded.keys())
    shown = {uid: _created(one) for uid, one in informer.store.items()}
    assert shown == {uid: at + DELTA for uid, at in recorded.items()}
    ended(running)
    informer.close()


def test_now_is_the_start_of_the_server(demo_log: Path, server: Running) -> None:
    before = datetime.now(UTC)
    running = serving(demo_log, "--at", AT, "--shift-times", "now")
    after = datetime.now(UTC)
    shown, recorded = (_created(_items(one, f"/at/{AT}{PODS}")[0]) for one in (running, server))
    at = datetime.fromisoformat(AT) + (shown - recorded)
    assert before - timedelta(seconds=1) <= at <= after
    ended(running)


@pytest.mark.parametrize("text", ["soon", "", "-5m"])
def test_what_is_no_time_is_refused(demo_log: Path, text: str) -> None:
    done = run("serve", "--log", str(demo_log), "--port", "0", "--shift-times", text)
    assert done.returncode == 2
    assert "is no time" in done.stderr


def test_below_now_each_answer_has_the_ages_of_the_moment(
    demo_log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also long after a kubeconfig was written."""
    with pages_of(demo_log) as client:
        recorded = client.get(f"/at/{AT}{PODS}").json()["items"]
        for hours in (0, 5):
            clock = datetime(2027, 1, 1, hours, tzinfo=UTC)
            monkeypatch.setattr(kubernetes_routes, "time", clock.timestamp)
            shown = client.get(f"/now/at/{AT}{PODS}").json()["items"]
            ages = [clock - _created(one) for one in shown]
            wanted = [datetime.fromisoformat(AT) - _created(one) for one in recorded]
            assert all(
                abs(age - age_then) < timedelta(seconds=5)
                for age, age_then in zip(ages, wanted, strict=True)
            )
