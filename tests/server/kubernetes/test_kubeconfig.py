"""A kubeconfig names moments, is for its owner alone, and a real kubectl takes it."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from serving import Running, ended, run, serving

TOKEN = "a-token-that-is-long-enough"
KUBECTL = shutil.which("kubectl")

needs_kubectl = pytest.mark.skipif(KUBECTL is None, reason="no kubectl is installed here")


@pytest.fixture(scope="module")
def token_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with a token."""
    file = tmp_path_factory.mktemp("token") / "token"
    file.write_text(TOKEN)
    return file


@pytest.fixture(scope="module")
def protected(demo_log: Path, token_file: Path) -> Iterator[Running]:
    """Return a server that needs the token."""
    running = serving(demo_log, "--token-file", str(token_file))
    yield running
    ended(running)


def test_each_moment_has_a_context(demo_log: Path) -> None:
    made = run("kubeconfig", "--log", str(demo_log), "--at", "rv:391", "--at", "@3000")
    found = yaml.safe_load(made.stdout)
    assert found["current-context"] == "demo@rv:391"
    assert [one["cluster"]["server"] for one in found["clusters"]] == [
        "http://127.0.0.1:8001/at/rv:391",
        "http://127.0.0.1:8001/at/@3000",
        "http://127.0.0.1:8001/now/at/rv:391",
        "http://127.0.0.1:8001/now/at/@3000",
    ]
    names = ["demo@rv:391", "demo@3000", "demo@rv:391-now", "demo@3000-now"]
    assert [one["name"] for one in found["contexts"]] == names


def test_without_a_moment_it_is_the_one_that_is_served(demo_log: Path) -> None:
    found = yaml.safe_load(run("kubeconfig", "--log", str(demo_log)).stdout)
    assert found["clusters"][0]["cluster"]["server"] == "http://127.0.0.1:8001"
    assert found["clusters"][1]["cluster"]["server"] == "http://127.0.0.1:8001/now"
    assert found["current-context"] == "demo"


def test_a_point_that_the_log_does_not_have_is_refused(demo_log: Path) -> None:
    done = run("kubeconfig", "--log", str(demo_log), "--at", "@999999")
    assert done.returncode == 2
    assert "beyond the end of the log" in done.stderr


def test_a_file_is_new_and_private(demo_log: Path, tmp_path: Path) -> None:
    file = tmp_path / "kc"
    assert run("kubeconfig", "--log", str(demo_log), "-o", str(file)).returncode == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    again = run("kubeconfig", "--log", str(demo_log), "-o", str(file))
    assert again.returncode != 0
    assert "exists already" in again.stderr


def test_the_token_is_in_the_address(demo_log: Path, protected: Running, token_file: Path) -> None:
    server = f"http://127.0.0.1:{protected.port}"
    made = run(
        *("kubeconfig", "--log", str(demo_log), "--at", "rv:391"),
        *("--server", server, "--token-file", str(token_file)),
    )
    cluster, _ = yaml.safe_load(made.stdout)["clusters"]
    assert protected.client.get("/api/v1/pods").status_code == 401
    address = f"{cluster['cluster']['server']}/api/v1/pods"
    assert protected.client.get(address).json()["metadata"]["resourceVersion"] == "391"


@pytest.fixture(scope="module")
def config(
    demo_log: Path,
    protected: Running,
    token_file: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """Return a kubeconfig of the protected server."""
    file = tmp_path_factory.mktemp("kc") / "kc"
    server = f"http://127.0.0.1:{protected.port}"
    run(
        *("kubeconfig", "--log", str(demo_log), "--at", "rv:391", "--at", "end"),
        *("--server", server, "--token-file", str(token_file), "-o", str(file)),
    )
    return file


def kubectl(config: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run kubectl."""
    assert KUBECTL is not None
    home = {**os.environ, "HOME": str(config.parent)}
    return subprocess.run(
        [KUBECTL, "--kubeconfig", str(config), *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=home,
    )


@needs_kubectl
def test_get_shows_what_the_log_holds(config: Path, demo_log: Path) -> None:
    done = kubectl(config, "get", "pods", "-A", "-o", "json")
    names = {one["metadata"]["name"] for one in json.loads(done.stdout)["items"]}
    own = run("get", "pods", "-A", "--at", "rv:391", "--log", str(demo_log), "-o", "json")
    assert names == {one["metadata"]["name"] for one in json.loads(own.stdout)["items"]}
    assert names


@needs_kubectl
def test_tables_have_a_servers_columns(config: Path) -> None:
    done = kubectl(config, "get", "pg,q")
    assert "STATUS" in done.stdout
    assert "MINMEMBER" in done.stdout
    assert "queue.scheduling.volcano.sh/gold" in done.stdout
    (gold,) = [line for line in done.stdout.splitlines() if "queue.scheduling" in line][2:3]
    assert gold.split()[1:3] == ["root", "Open"]


@needs_kubectl
def test_a_context_of_now_has_ages_that_clients_count_themselves(config: Path) -> None:
    then = kubectl(config, "events", "-A", "--context", "demo@end")
    now = kubectl(config, "events", "-A", "--context", "demo@end-now")
    assert (then.returncode, now.returncode) == (0, 0), now.stderr
    assert "times are shown" in now.stderr
    ages = {line.split()[1] for line in now.stdout.splitlines()[1:]}
    assert ages
    assert all(re.fullmatch(r"\d+s|\dm(\d+s)?", age) for age in ages), ages


@needs_kubectl
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("describe", "node", "node-1"), "Allocatable:"),
        (("explain", "pod.spec.nodeName"), "FIELD: nodeName"),
        (("explain", "podgroup.spec.minMember"), "<integer>"),
        (("explain", "podgroup.spec"), "How many pods must be able to start together"),
        (("explain", "queue.spec.weight"), "Its share of what is free"),
        (("explain", "vcjob.spec.tasks.replicas"), "How many pods the task has."),
        (("api-resources",), "podgroups"),
        (("auth", "can-i", "list", "pods"), "yes"),
        (("wait", "--for=condition=Ready", "node/node-1", "--timeout=60s"), "condition met"),
        (("get", "pods", "--chunk-size=3", "-o", "name"), "pod/"),
    ],
)
def test_a_question_is_answered(config: Path, arguments: tuple[str, ...], said: str) -> None:
    done = kubectl(config, *arguments)
    assert done.returncode == 0, done.stderr
    assert said in done.stdout


@needs_kubectl
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("delete", "node", "node-1"), "MethodNotAllowed"),
        (("create", "namespace", "new"), "MethodNotAllowed"),
        (("get", "pod", "nope"), 'pods "nope" not found'),
        (("top", "nodes"), "Metrics API not available"),
    ],
)
def test_what_cannot_be_done_is_said(config: Path, arguments: tuple[str, ...], said: str) -> None:
    done = kubectl(config, *arguments)
    assert done.returncode == 1
    assert said in done.stderr
