"""``plinian record`` as a process: what it answers over HTTP, and how it ends."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from small_cluster import TOKEN, SmallCluster, small_cluster

import plinian

_AT = r"(?<=metrics at )http://\S+:\d+"
LONGEST_END = 5.0
"""Seconds: a promise of the how-to, and not a measure of speed."""


@pytest.fixture(params=["silent", "busy"])
def cluster(request: pytest.FixtureRequest) -> Iterator[SmallCluster]:
    with small_cluster(busy=request.param == "busy") as made:
        yield made


def _recorder(cluster: SmallCluster, folder: Path, *options: str) -> subprocess.Popen[str]:
    words = ["record", "--log", str(folder / "log.db"), "--kind", "pods", "--log-format", "text"]
    words += ["--kubeconfig", str(cluster.kubeconfig(folder)), *options]
    return subprocess.Popen(
        [sys.executable, "-m", "plinian", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _said(process: subprocess.Popen[str], pattern: str) -> str:
    """Return the first line that a pattern fits."""
    assert process.stderr is not None
    said = []
    while True:
        said.append(process.stderr.readline())
        assert said[-1], f"it ended: {said}"
        if found := re.search(pattern, said[-1]):
            return found[0]


def _until(client: httpx.Client, path: str, status: int) -> httpx.Response:
    end = time.monotonic() + 60
    while (answer := client.get(path)).status_code != status:
        assert time.monotonic() < end, answer.text
        time.sleep(0.1)
    return answer


def test_a_signal_lets_it_store_what_it_has_and_leave(
    cluster: SmallCluster, tmp_path: Path
) -> None:
    process = _recorder(cluster, tmp_path, "--port", "0")
    address = _said(process, _AT)
    with httpx.Client(base_url=address) as client:
        _until(client, "/readyz", 200)
        while not cluster.watches:
            time.sleep(0.05)
        begun = time.monotonic()
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
    assert time.monotonic() - begun < LONGEST_END
    assert process.returncode == 0, err
    assert TOKEN not in out + err
    assert f"Bearer {TOKEN}" in cluster.authorized
    with plinian.open(tmp_path / "log.db", read_only=True) as log:
        kinds = {one.event.kind for one in log.events()}
    assert {"list.observed", "watch.followed"} <= kinds


def test_metrics_grow_with_what_is_recorded(tmp_path: Path) -> None:
    with small_cluster(busy=True) as cluster:
        process = _recorder(cluster, tmp_path, "--port", "0")
        with httpx.Client(base_url=_said(process, _AT)) as client:
            _until(client, "/readyz", 200)
            found = 0.0
            end = time.monotonic() + 60
            while found < 50 and time.monotonic() < end:
                text = client.get("/metrics").text
                (figure,) = re.findall(
                    r"^plinian_record_appended_events_total (\S+)", text, re.MULTILINE
                )
                found = float(figure)
        process.terminate()
        process.communicate(timeout=60)
    assert found >= 50


def test_without_a_port_it_listens_at_none(tmp_path: Path) -> None:
    with small_cluster() as cluster:
        process = _recorder(cluster, tmp_path, "--for", "1s")
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "metrics at" not in err


def test_a_port_in_use_is_said_before_anything_is_recorded(tmp_path: Path) -> None:
    with small_cluster() as cluster:
        port = cluster.server_address[1]
        process = _recorder(cluster, tmp_path, "--port", str(port))
        out, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "another program listens here already" in err
    assert (out, cluster.watches) == ("", 0)
