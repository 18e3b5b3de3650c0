"""A real vc-scheduler schedules on a branch, where one is found: it is built outside the project.

``PLINIAN_TEST_VC_SCHEDULER`` names its binary, built from ``./cmd/scheduler`` of Volcano, and
``PLINIAN_TEST_VC_RELEASE`` the release, if it is not v1.12.1.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from branches import BRANCH, with_branch
from informers import until
from serving import Running, ended, run, serving

import plinian

BINARY = os.environ.get("PLINIAN_TEST_VC_SCHEDULER", "")
RELEASE = os.environ.get("PLINIAN_TEST_VC_RELEASE", "v1.12.1")
MOMENT = "rv:391"
"""A moment of the demo's log at which two gangs have just come, and fit."""

pytestmark = [
    pytest.mark.scheduler,
    pytest.mark.skipif(
        not BINARY,
        reason="PLINIAN_TEST_VC_SCHEDULER names no vc-scheduler: build one from Volcano",
    ),
]


def bound(place: Path) -> set[str]:
    """Return the pods that got a node on the branch."""
    with plinian.open(place, branch=BRANCH) as log:
        before = {pod.reference.name for pod in log.entries("pods", at=MOMENT) if pod.fact.node}
        now = {pod.reference.name for pod in log.entries("pods") if pod.fact.node}
    return now - before


def predicted(place: Path) -> set[str]:
    """Return the pods that a session at the moment binds."""
    answer = run("session", "--log", str(place), "--at", MOMENT, "--release", RELEASE)
    return set(re.findall(r"^bind +default/(\S+)", answer.stdout, re.MULTILINE))


def scheduler(server: Running, folder: Path) -> subprocess.Popen[bytes]:
    """Start the scheduler; its log is not in the folder of its configuration, which it watches."""
    kubeconfig, conf = folder / "kubeconfig", folder / "conf" / "scheduler.conf"
    base = str(server.client.base_url)
    made = run("kubeconfig", "--log", str(server.place), "--server", base, "-o", str(kubeconfig))
    assert made.returncode == 0, made.stderr
    conf.parent.mkdir()
    with plinian.open(server.place) as log:
        (found,) = log.events(kinds=("config.applied",), limit=1)
    conf.write_text(json.loads(found.event.payload)["text"])
    with (folder / "scheduler.log").open("wb") as told:
        return subprocess.Popen(
            [
                *(BINARY, "--kubeconfig", str(kubeconfig), "--scheduler-conf", str(conf)),
                *("--listen-address", "127.0.0.1:0", "--healthz-address", "127.0.0.1:0", "-v", "3"),
            ],
            stdout=told,
            stderr=told,
        )


def test_a_real_scheduler_binds_what_a_session_predicts(demo_log: Path, tmp_path: Path) -> None:
    place = with_branch(demo_log, tmp_path / "log.db", MOMENT)
    wanted = predicted(place)
    assert len(wanted) > 3
    server = serving(place, "--branch", BRANCH, "--writable")
    process = scheduler(server, tmp_path)
    try:
        until(lambda: bound(place) >= wanted, seconds=120)
        assert bound(place) == wanted
        assert process.poll() is None, (tmp_path / "scheduler.log").read_text()[-2000:]
    finally:
        process.terminate()
        process.wait(60)
        ended(server)
    with plinian.open(place, branch=BRANCH) as log:
        actors = {
            each.event.actor for each in log.events(kinds=("pod.updated",), source="plinian serve")
        }
        assert [one["spec"]["holderIdentity"] for one in log.get("lease")], "it was elected"
    assert actors == {Path(BINARY).name}
    logged = run("ingest", str(tmp_path / "scheduler.log"), "--log", str(place), "--branch", BRANCH)
    assert logged.returncode == 0, logged.stderr
    with plinian.open(place) as log:
        fork = next(one.fork for one in log.store.branches() if one.name == BRANCH)
    asked = ("--branch", BRANCH, "--since", f"{BRANCH}@{fork}", "--release", RELEASE)
    compared = run("fidelity", "--log", str(place), *asked, "-o", "json")
    assert compared.stdout, compared.stderr
    found = json.loads(compared.stdout)
    assert found["bindings"]["recorded"] == len(wanted)
    assert found["sessions"]["exact"] == found["sessions"]["run"] > 0, found["differences"]
