"""Kubeconfigs as people have them, and answers that a network spoils."""

from __future__ import annotations

import json
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from certificates import pair_in
from credential_server import CredentialServer, kubeconfig

from plinian.engine.errors import UsageError
from plinian.replay.capture.cluster_access import (
    NO_QUERY,
    ClusterAccess,
    ServerRefusal,
    Stalled,
    Unreachable,
    whole,
)

LIMIT = 120


@contextmanager
def serving(*tokens: str) -> Iterator[tuple[CredentialServer, set[str]]]:
    """Run a server, with the tokens that it accepts."""
    right = {f"Bearer {token}" for token in tokens}
    with CredentialServer(right.__contains__).running() as server:
        yield server, right


def ask(access: ClusterAccess) -> bytes:
    return whole(access, "/api/v1", NO_QUERY)


def test_a_token(tmp_path: Path) -> None:
    with serving("mine") as (server, _):
        access = ClusterAccess(kubeconfig(tmp_path, server.url, {"token": "mine"}))
        assert ask(access) == b"{}"
        assert access.server == server.url
        assert server.refused == 0


def test_a_token_that_is_wrong(tmp_path: Path) -> None:
    with serving("mine") as (server, _):
        access = ClusterAccess(kubeconfig(tmp_path, server.url, {"token": "yours"}))
        for _ in range(3):
            with pytest.raises(ServerRefusal) as refused:
                ask(access)
            assert refused.value.code == 401
            said = "the server does not accept the credentials (401: who are you)"
            assert (refused.value.what, refused.value.where) == (said, server.url)
            assert refused.value.now.startswith("check the credentials")


def test_a_name_with_a_password(tmp_path: Path) -> None:
    with CredentialServer(lambda shown: shown.startswith("Basic ")).running() as server:
        user = {"username": "me", "password": "secret"}
        assert ask(ClusterAccess(kubeconfig(tmp_path, server.url, user))) == b"{}"


def test_a_file_with_a_token_that_rotates(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("first")
    with serving("first") as (server, right):
        access = ClusterAccess(kubeconfig(tmp_path, server.url, {"tokenFile": str(file)}))
        for token in ("first", "second", "third"):
            right.clear()
            right.add(f"Bearer {token}")
            file.write_text(token)
            for _ in range(2):
                assert ask(access) == b"{}"
        assert server.refused == 2


PLUGIN = """\
#!/bin/sh
echo run >> "{runs}"
cat "{credential}"
"""


class Plugin:
    """An exec plugin: a shell script, and the token that it hands out next."""

    def __init__(self, folder: Path) -> None:
        self._runs, self._credential = folder / "runs", folder / "credential"
        self.script = folder / "plugin"
        self.script.write_text(PLUGIN.format(runs=self._runs, credential=self._credential))
        self.script.chmod(0o755)

    def hands_out(self, token: str, seconds: float | None = None) -> None:
        status = {"token": token}
        if seconds is not None:
            end = datetime.now(UTC) + timedelta(seconds=seconds)
            status["expirationTimestamp"] = end.strftime("%Y-%m-%dT%H:%M:%SZ")
        told = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential"}
        self._credential.write_text(json.dumps({**told, "status": status}))

    @property
    def runs(self) -> int:
        return len(self._runs.read_text().splitlines())

    def user(self) -> dict[str, object]:
        version = "client.authentication.k8s.io/v1"
        told = {"apiVersion": version, "command": str(self.script), "interactiveMode": "Never"}
        return {"exec": told}


def test_a_plugin_whose_tokens_are_refused_sooner_or_later(tmp_path: Path) -> None:
    plugin = Plugin(tmp_path)
    plugin.hands_out("0")
    with serving("0") as (server, right):
        access = ClusterAccess(kubeconfig(tmp_path, server.url, plugin.user()))
        for token in ("0", "1", "2"):
            plugin.hands_out(token)
            right.clear()
            right.add(f"Bearer {token}")
            for _ in range(2):
                assert ask(access) == b"{}"
        assert plugin.runs == 3
        assert server.refused == 2


def test_a_plugin_whose_tokens_last_five_seconds(tmp_path: Path) -> None:
    plugin = Plugin(tmp_path)
    with serving("first", "second") as (server, right):
        plugin.hands_out("first", 5)
        access = ClusterAccess(kubeconfig(tmp_path, server.url, plugin.user()))
        assert ask(access) == b"{}"
        plugin.hands_out("second", 3600)
        threading.Event().wait(6)
        right.discard("Bearer first")
        assert ask(access) == b"{}"
        runs = plugin.runs
        assert ask(access) == b"{}"
        assert plugin.runs == runs


def test_threads_that_are_refused_together_run_a_plugin_once(tmp_path: Path) -> None:
    plugin = Plugin(tmp_path)
    plugin.hands_out("old")
    with serving("old") as (server, right):
        access = ClusterAccess(kubeconfig(tmp_path, server.url, plugin.user()))
        ask(access)
        plugin.hands_out("new")
        right.clear()
        right.add("Bearer new")
        got: list[bytes] = []
        threads = [
            threading.Thread(target=lambda: got.append(ask(access)), daemon=True) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(LIMIT)
        assert got == [b"{}"] * 8
        assert plugin.runs == 2


@pytest.mark.parametrize("text", ["{", "a: [", "", "[]", "3", '{"kind": "Config"}', "\x00"])
def test_a_kubeconfig_that_is_spoiled_while_it_is_needed_again(tmp_path: Path, text: str) -> None:
    with serving("first") as (server, right):
        place = kubeconfig(tmp_path, server.url, {"token": "first"})
        access = ClusterAccess(place)
        right.clear()
        Path(place).write_text(text)
        with pytest.raises(UsageError):
            ClusterAccess(place)
        with pytest.raises(Unreachable, match="no credentials"):
            ask(access)
        right.add("Bearer second")
        kubeconfig(tmp_path, server.url, {"token": "second"})
        assert ask(access) == b"{}"


def test_a_client_certificate(tmp_path: Path) -> None:
    own, client = pair_in(tmp_path, "server"), pair_in(tmp_path, "client")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(own.certificate, own.key)
    tls.load_verify_locations(client.certificate)
    tls.verify_mode = ssl.CERT_REQUIRED
    trusts = {"certificate-authority": str(own.certificate)}
    shows = {"client-certificate": str(client.certificate), "client-key": str(client.key)}
    with CredentialServer(lambda _: True, tls=tls).running() as server:
        assert ask(ClusterAccess(kubeconfig(tmp_path, server.url, shows, **trusts))) == b"{}"
        with pytest.raises(Unreachable):
            ask(ClusterAccess(kubeconfig(tmp_path, server.url, {}, **trusts)))
        with pytest.raises(Unreachable):
            ask(ClusterAccess(kubeconfig(tmp_path, server.url, shows)))


def reached(folder: Path, url: str) -> Unreachable:
    with pytest.raises(Unreachable) as found:
        ask(ClusterAccess(kubeconfig(folder, url, {})))
    assert found.value.where == url
    return found.value


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    for scheme in ("http", "https"):
        fault = reached(tmp_path, f"{scheme}://127.0.0.1:9")
        assert fault.what == "connection refused"
        assert fault.now.startswith("check that the server runs")


def test_a_name_that_is_not_known(tmp_path: Path) -> None:
    fault = reached(tmp_path, "https://no-such-host.invalid:6443")
    assert fault.what == "the name of the server is not known"


def test_a_server_that_speaks_no_tls(tmp_path: Path) -> None:
    with serving() as (server, _):
        fault = reached(tmp_path, server.url.replace("http:", "https:"))
    assert (fault.what, fault.now) == ("it is not an HTTPS server", "is this an https port?")


def test_a_certificate_that_is_not_trusted(tmp_path: Path) -> None:
    own = pair_in(tmp_path, "server")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(own.certificate, own.key)
    with CredentialServer(lambda _: True, tls=tls).running() as server:
        fault = reached(tmp_path, server.url)
    assert fault.what.startswith("the certificate of the server is not trusted: self")


def test_a_certificate_that_is_not_looked_at_writes_no_warning_of_the_library(
    tmp_path: Path,
) -> None:
    own = pair_in(tmp_path, "server")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(own.certificate, own.key)
    with CredentialServer(lambda _: True, tls=tls).running() as server:
        place = kubeconfig(tmp_path, server.url, {}, **{"insecure-skip-tls-verify": True})
        code = (
            "import sys; from plinian.replay.capture.cluster_access import *\n"
            "print(whole(ClusterAccess(sys.argv[1]), '/api/v1', NO_QUERY))"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, place], capture_output=True, text=True, check=False
        )
    assert (done.stdout, done.stderr) == ("b'{}'\n", "")


def test_a_server_that_takes_a_request_and_says_nothing(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listens:
        url = f"http://127.0.0.1:{listens.getsockname()[1]}"
        with pytest.raises(Unreachable) as found:
            ClusterAccess(kubeconfig(tmp_path, url, {})).open("/x", NO_QUERY, quiet=1)
    assert found.value.what == "no answer within 1 s"


def test_a_body_that_another_thread_closes(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listens:
        url = f"http://127.0.0.1:{listens.getsockname()[1]}"
        access = ClusterAccess(kubeconfig(tmp_path, url, {}))
        bodies, seen = [], []

        def read() -> None:
            body = access.open("/x", NO_QUERY, quiet=LIMIT)
            bodies.append(body)
            try:
                seen.extend(body.chunks())
            except Unreachable as fault:
                seen.append(type(fault))

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        client, _ = listens.accept()
        with client:
            client.recv(2**16)
            client.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
            end = time.monotonic() + LIMIT
            while not (bodies and seen) and time.monotonic() < end:
                time.sleep(0.01)
            bodies[0].close()
            reader.join(LIMIT)
        assert not reader.is_alive()
        assert seen[0] == b"abc"


def test_a_server_that_sends_nothing_more(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listens:
        url = f"http://127.0.0.1:{listens.getsockname()[1]}"
        access = ClusterAccess(kubeconfig(tmp_path, url, {}))

        def answer() -> None:
            client, _ = listens.accept()
            client.recv(2**16)
            client.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
            done.wait(LIMIT)
            client.close()

        done = threading.Event()
        threading.Thread(target=answer, daemon=True).start()
        chunks = access.open("/x", NO_QUERY, quiet=1).chunks()
        assert next(chunks) == b"abc"
        with pytest.raises(Stalled):
            next(chunks)
        done.set()
