"""A recorder of Plinian's own API server of the past, through a network that spoils answers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from branches import BRANCH, with_branch
from credential_server import kubeconfig
from faulty_proxy import FaultyProxy, Spoiled
from running_recorders import recording
from serving import TOKEN, Running, serving_here

import plinian
from plinian.engine.log import Query, open_log
from plinian.engine.state.coverage_events import coverage_of
from plinian.engine.state.log_coverage import COVERING
from plinian.replay.capture import cluster_access
from plinian.replay.capture.cluster_access import ClusterAccess
from plinian.replay.capture.recorded_cluster import RecordOptions
from plinian.replay.capture.recorded_kinds import RECORDED
from plinian.replay.server.settings import ServerSettings

KINDS = ("pods", "nodes", "podgroups", "queues", "jobs", "priorityclasses", "configmaps")
OPTIONS = RecordOptions(kinds=KINDS, scheduler_namespace="volcano-system")
PODS = "/api/v1/namespaces/default/pods"
FAULTS = {
    "cut at once": Spoiled(cut=0),
    "cut in the headers": Spoiled(cut=60),
    "cut within a line": Spoiled(cut=900),
    "cut later": Spoiled(cut=20_000),
    "stalls": Spoiled(cut=1500, stalls=True),
    "slow": Spoiled(delay=0.005, piece=4000),
    "busy": Spoiled("429 Too Many Requests", "Retry-After: 1\r\n"),
    "fails": Spoiled("500 Internal Server Error"),
    "expired": Spoiled("410 Gone"),
    "no streamed lists": Spoiled("422 Unprocessable Entity"),
    "moved": Spoiled("302 Found", "Location: /\r\n"),
}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the log of the demo."""
    place = tmp_path_factory.mktemp("past") / "demo.db"
    plinian.demo(place).close()
    return place


@pytest.fixture(scope="module")
def past(demo: Path) -> Iterator[Running]:
    """Return a server of its end, which needs a token."""
    with serving_here(ServerSettings(place=str(demo), port=0, token=TOKEN)) as running:
        yield running


def objects(place: Path, branch: str = "main") -> dict[str, list[dict[str, Any]]]:
    """Return all objects at the end of a log."""
    with plinian.open(place, read_only=True, branch=branch) as log:
        found = {}
        for name in KINDS:
            kept = [one for one in log.get(name) if _is_recorded(one)]
            found[name] = sorted(kept, key=lambda one: one["metadata"]["uid"])
        return found


def _is_recorded(document: dict[str, Any]) -> bool:
    """Return whether it is of the scheduler's namespace, if it is a ConfigMap."""
    elsewhere = document["metadata"].get("namespace") != "volcano-system"
    return not (document["kind"] == "ConfigMap" and elsewhere)


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_the_served_moment_is_recorded_whatever_the_network_does(
    demo: Path, past: Running, tmp_path: Path, fault: Spoiled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_access, "READ_SECONDS", 2)
    place = tmp_path / "log.db"
    with FaultyProxy(past.port) as proxy, open_log(str(place), create=True) as store:
        url = f"http://127.0.0.1:{proxy.port}"
        access = ClusterAccess(kubeconfig(tmp_path, url, {"token": TOKEN}))
        # Discovery, lists and watches of each kind: some of them are spoiled.
        proxy.faults.extend([None, fault, fault, None, fault] * 6)
        with recording(store, access, OPTIONS) as running:
            running.waits_for(lambda _: not proxy.faults)
            running.settles()
    assert objects(place) == objects(demo)
    assert covered(place) >= {name for name, found in objects(demo).items() if found}


def covered(place: Path) -> set[str]:
    """Return the kinds that a log covers in one span each, as far as there is anything of them."""
    with open_log(str(place)) as store:
        known = coverage_of(recorded.event for recorded in store.read(Query(kinds=COVERING)))
    spans = {kind.plural: known.spans(kind.pair) for kind in RECORDED}
    return {name for name, of_kind in spans.items() if len(of_kind) == 1}


def test_a_past_that_is_written_meanwhile(demo: Path, tmp_path: Path) -> None:
    branched, place = with_branch(demo, tmp_path / "branched.db"), tmp_path / "log.db"
    settings = ServerSettings(place=str(branched), branch=BRANCH, port=0, writable=True)
    with (
        serving_here(settings) as served,
        FaultyProxy(served.port) as proxy,
        open_log(str(place), create=True) as store,
    ):
        url = f"http://127.0.0.1:{proxy.port}"
        access = ClusterAccess(kubeconfig(tmp_path, url, {}))
        with recording(store, access, OPTIONS) as running:
            running.settles()
            for number, fault in enumerate(FAULTS.values()):
                proxy.faults.extend([fault, None])
                _write(served, number)
                threading.Event().wait(0.2)
            end = _write(served, 99)
            proxy.faults.clear()
            running.waits_for(
                lambda now: all(
                    (stream.revision or 0) >= end
                    for stream in now.streams
                    if stream.resource == "pods"
                )
            )
            running.settles()
    assert objects(place) == objects(branched, BRANCH)


def _write(served: Running, number: int) -> int:
    """Create a pod, change it, and delete every second one; return its last revision."""
    spec = {"containers": [{"name": "c", "image": "i"}]}
    name = f"made-{number}"
    made = served.client.post(PODS, json={"metadata": {"name": name}, "spec": spec})
    assert made.status_code == 201, made.text
    merge = {"Content-Type": "application/merge-patch+json"}
    told = {"metadata": {"labels": {"n": str(number)}}}
    changed = served.client.patch(f"{PODS}/{name}", json=told, headers=merge)
    if number % 2 == 0:
        served.client.delete(f"{PODS}/{name}", params={"gracePeriodSeconds": "0"})
    return int(changed.json()["metadata"]["resourceVersion"])
