"""``plinian record`` as a process: what it answers over HTTP, and how it ends."""

from __future__ import annotations

import re
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from certificates import pair_in
from credential_server import kubeconfig
from serving import run
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
        process = _recorder(cluster, tmp_path, "--for", "8s")
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


@pytest.mark.parametrize("ends", ["--for", "signal"])
def test_one_that_never_reached_the_server_fails(tmp_path: Path, ends: str) -> None:
    place = kubeconfig(tmp_path, "https://127.0.0.1:9", {})
    words = ["record", "--log", str(tmp_path / "log.db"), "--kubeconfig", place]
    if ends == "--for":
        done = run(*words, "--for", "2s", "--log-format", "text")
        code, out, err = done.returncode, done.stdout, done.stderr
    else:
        process = subprocess.Popen(
            [sys.executable, "-m", "plinian", *words, "--log-format", "text"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        _said(process, "streams wait before they try again")
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
        code = process.returncode
    assert (code, out) == (2, "")
    last = err.splitlines()[-1]
    assert "never reached https://127.0.0.1:9: connection refused; check that" in last


@pytest.mark.parametrize("command", ["record --serve", "serve --record"])
def test_one_process_records_and_serves_what_it_records(command: str, tmp_path: Path) -> None:
    with small_cluster(busy=True) as cluster:
        kubeconfig = str(cluster.kubeconfig(tmp_path))
        words = [*command.split(), "--log", str(tmp_path / "log.db"), "--kubeconfig", kubeconfig]
        process = subprocess.Popen(
            [sys.executable, "-m", "plinian", *words, "--port", "0", "--log-format", "text"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        with httpx.Client(base_url=_said(process, r"http://\S+:\d+(?=/ )"), timeout=60) as client:
            first = client.get("/@last").json()["last"]
            assert first, "it serves when it has the first lists"
            assert client.get("/readyz").status_code == 200
            assert "plinian_record_commits_total" in client.get("/metrics").text
            assert "first" in client.get("/api/v1/namespaces/default/pods").text
            moment = client.get(f"/@{first}")
            assert "data-grows" in moment.text
            end = time.monotonic() + 60
            while client.get("/@last").json()["last"] == first and time.monotonic() < end:
                time.sleep(0.1)
            assert client.get("/@last").json()["last"] > first
            assert client.get(f"/@{first}").status_code == 200, "a moment stays a link"
            begun = time.monotonic()
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate(timeout=60)
    assert time.monotonic() - begun < LONGEST_END
    assert process.returncode == 0, err
    assert "Traceback" not in err


@pytest.mark.parametrize("option", ["--at=@1", "--play=10x", "--shift-times=now"])
def test_what_is_recorded_is_served_at_its_end(option: str, tmp_path: Path) -> None:
    with small_cluster() as cluster:
        words = ["serve", "--record", "--log", str(tmp_path / "log.db"), option]
        words += ["--kubeconfig", str(cluster.kubeconfig(tmp_path))]
        done = run(*words)
    assert done.returncode == 2
    assert "what is recorded is served as it is, at its end" in done.stderr


def test_other_machines_read_a_log_only_with_a_token(tmp_path: Path) -> None:
    with small_cluster() as cluster:
        words = ["record", "--serve", "--listen", "0.0.0.0", "--log", str(tmp_path / "log.db")]
        done = run(*words, "--kubeconfig", str(cluster.kubeconfig(tmp_path)))
    assert done.returncode == 2
    assert "no token protects the log" in done.stderr


@pytest.mark.parametrize("serves", [False, True])
def test_what_it_answers_can_be_encrypted(tmp_path: Path, *, serves: bool) -> None:
    own = pair_in(tmp_path, "server")
    options = ["--port", "0", "--tls-cert", str(own.certificate), "--tls-key", str(own.key)]
    with small_cluster() as cluster:
        process = _recorder(cluster, tmp_path, *options, *["--serve"] * serves)
        address = _said(process, r"https://[^\s/]+:\d+")
        context = ssl.create_default_context(cafile=str(own.certificate))
        with httpx.Client(base_url=address, verify=context, timeout=60) as client:
            assert client.get("/livez").status_code == 200
            _until(client, "/readyz", 200)  # One that is stopped before its first list fails.
            assert client.get("/@last").status_code == (200 if serves else 404)
        with pytest.raises(httpx.HTTPError):
            httpx.get(f"{address}/livez".replace("https", "http"))
        process.terminate()
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err


@pytest.mark.parametrize(
    ("address", "host"), [("127.0.0.1:9", "127.0.0.1"), ("a:9", "a"), ("[::1]:9", "::1")]
)
def test_an_address_with_a_port_is_refused_as_that(tmp_path: Path, address: str, host: str) -> None:
    done = run("serve", "--listen", address, "--log", str(tmp_path / "log.db"))
    assert done.returncode == 2
    assert f"--listen {host} --port 9" in done.stderr
