"""A recorder beside a real API server that is restarted, paused and compacted, and is killed.

The audit log of the server, at level RequestResponse, is the truth. It needs a binary that is both
etcd and kube-apiserver, which ``PLINIAN_TEST_APISERVER`` names.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from api_load import ApiLoad
from real_api_server import VARIABLE, RealApiServer, real_api_server

from plinian.engine.log import LogStore, Query, open_log
from plinian.engine.state.coverage_events import coverage_of
from plinian.engine.state.log_coverage import COVERING, KnownRevisions, LogCoverage

pytestmark = [
    pytest.mark.apiserver,
    pytest.mark.slow,
    pytest.mark.skipif(VARIABLE not in os.environ, reason=f"{VARIABLE} names no API server"),
]

PAIRS = {"pods": ("", "Pod"), "services": ("", "Service")}
KILLS = int(os.environ.get("PLINIAN_TEST_KILLS", "20"))
LIMIT = 240
"""Seconds that a test waits for something that takes a few."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RealApiServer]:
    with real_api_server(tmp_path / "cluster") as running:
        yield running


class Child:
    """A recorder in a process of its own."""

    def __init__(self, server: RealApiServer, place: str, *options: str) -> None:
        words = ["record", "--log", place, "--kubeconfig", str(server.kubeconfig)]
        kinds = ["--kind", "pods", "--kind", "services"]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "plinian", *words, *kinds, *options],
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )

    def kill(self) -> None:
        """End it in the middle of what it does."""
        assert self._process.poll() is None, "a recorder ended by itself"
        self._process.kill()
        self._process.wait()

    def end(self) -> int:
        """Let it end, and return its code."""
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(LIMIT)


class Checked(NamedTuple):
    """What a log has of the truth.

    :param wanted: versions after the first list. :param holes: of those, unseen in holes.
    """

    wanted: int
    holes: int
    spans: dict[str, tuple[KnownRevisions, ...]]


def coverage(log: LogStore) -> LogCoverage:
    return coverage_of(recorded.event for recorded in log.read(Query(kinds=COVERING)))


def check(server: RealApiServer, log: LogStore) -> Checked:
    """Compare a log with what the audit log of a server has."""
    seen: Counter[tuple[str, int | None, bool]] = Counter()
    for recorded in log.read(Query()):
        event = recorded.event
        if event.revision is not None and event.reference.uid:
            gone = event.kind.endswith(".deleted")
            seen[event.reference.uid, event.revision, gone] += 1
    assert max(seen.values()) == 1, seen.most_common(3)
    versions = {(uid, revision) for uid, revision, _ in seen}
    deleted = {uid for uid, _, gone in seen if gone}
    known = coverage(log)
    spans = {resource: known.spans(pair) for resource, pair in PAIRS.items()}
    wanted = holes = 0
    missing = []
    for write in server.accepted():
        if write.resource not in PAIRS:
            continue
        of_kind = spans[write.resource]
        if write.revision is None:
            if len(of_kind) == 1 and any(uid == write.uid for uid, _ in versions):
                assert write.uid in deleted
            continue
        if not of_kind[0].first < write.revision <= of_kind[-1].last:
            continue
        wanted += 1
        if (write.uid, write.revision) not in versions:
            inside = any(span.first < write.revision <= span.last for span in of_kind)
            missing += [write] if inside else []
            holes += 1
    assert missing == []
    return Checked(wanted, holes, spans)


def reaches(place: str, revisions: dict[str, int]) -> None:
    """Wait until a log covers each kind up to a revision."""
    end = time.monotonic() + LIMIT
    while True:
        with open_log(place) as log:
            known = coverage(log)
        ends = {resource: known.spans(PAIRS[resource])[-1:] for resource in revisions}
        if all(spans and spans[0].last >= revisions[resource] for resource, spans in ends.items()):
            return
        assert time.monotonic() < end, f"{ends} do not reach {revisions}"
        time.sleep(0.5)


def begun(server: RealApiServer, place: str) -> Child:
    """Start a recorder, and return once it has listed."""
    with open_log(place, create=True):
        pass
    child = Child(server, place)
    reaches(place, dict.fromkeys(PAIRS, 0))
    return child


def write_last(server: RealApiServer) -> dict[str, int]:
    """Write to each kind once more, and return the revisions; a bookmark would take a minute."""
    specs = {
        "pods": {"containers": [{"name": "c", "image": "i"}]},
        "services": {"clusterIP": "None"},
    }
    revisions = {}
    with server.client() as client:
        for resource, spec in specs.items():
            told = {"metadata": {"generateName": "last-"}, "spec": spec}
            made = client.post(f"/api/v1/namespaces/default/{resource}", json=told)
            made.raise_for_status()
            revisions[resource] = int(made.json()["metadata"]["resourceVersion"])
    return revisions


def is_equal(server: RealApiServer, place: str) -> None:
    """Compare the objects at the end."""
    import plinian  # noqa: PLC0415 -- the public API

    with server.client() as client, plinian.open(place, read_only=True) as opened:
        for resource in PAIRS:
            items = client.get(f"/api/v1/{resource}").json()["items"]
            real = sorted((i["metadata"]["uid"], i["metadata"]["resourceVersion"]) for i in items)
            found = [one["metadata"] for one in opened.get(resource)]
            assert sorted((one["uid"], one["resourceVersion"]) for one in found) == real


def trouble(server: RealApiServer, chance: random.Random) -> str:
    """Let something happen to the server."""
    what = chance.choice(["nothing"] * 6 + ["restart", "pause", "compact"])
    match what:
        case "restart":
            server.restart(chance.uniform(0, 1))
        case "pause":
            with server.paused():
                time.sleep(chance.uniform(0.5, 3))
        case "compact":
            server.compact()
    return what


def test_nothing_is_lost_by_restarts_while_it_records(
    server: RealApiServer, tmp_path: Path
) -> None:
    place = str(tmp_path / "log.db")
    child = begun(server, place)
    with server.client() as client:
        load = ApiLoad(client, 1)
        load.start()
        for _ in range(3):
            time.sleep(2)
            server.restart()
            with server.paused():
                time.sleep(1)
        load.stop()
    reaches(place, write_last(server))
    assert child.end() == 0
    with open_log(place) as log:
        checked = check(server, log)
    assert checked.wanted > 50
    is_equal(server, place)


def test_what_is_compacted_while_no_one_records_is_a_hole(
    server: RealApiServer, tmp_path: Path
) -> None:
    place = str(tmp_path / "log.db")
    begun(server, place).kill()
    for seed in (1, 2):
        with server.client() as client:
            load = ApiLoad(client, seed)
            load.start()
            while load.written < 30 * seed:
                time.sleep(0.1)
            load.stop()
        server.compact()
    server.restart()
    child = Child(server, place)
    reaches(place, write_last(server))
    assert child.end() == 0
    with open_log(place) as log:
        checked = check(server, log)
    assert checked.holes > 0
    assert len(checked.spans["pods"]) == 2
    is_equal(server, place)


def test_a_recorder_that_is_killed_at_any_time_loses_nothing(
    server: RealApiServer, tmp_path: Path
) -> None:
    place = str(tmp_path / "log.db")
    chance = random.Random(KILLS)
    child = begun(server, place)
    happened: Counter[str] = Counter()
    with server.client() as client:
        load = ApiLoad(client, KILLS, rate=20)
        load.start()
        for _ in range(KILLS):
            time.sleep(chance.uniform(0.2, 5))
            happened[trouble(server, chance)] += 1
            child.kill()
            child = Child(server, place)
        load.stop()
    reaches(place, write_last(server))
    assert child.end() == 0
    with open_log(place) as log:
        checked = check(server, log)
    print(f"{KILLS} kills, {dict(happened)}: {checked}")
    assert checked.wanted > 0
    is_equal(server, place)
