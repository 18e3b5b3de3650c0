"""A real etcd and a real kube-apiserver, which tests start, stop, pause and compact.

``PLINIAN_TEST_APISERVER`` names a binary that is either of them by the name that it is called by:
a module of Go with ``main`` of both.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import httpx

VARIABLE = "PLINIAN_TEST_APISERVER"
_TOKEN = "admin-of-tests"
_POLICY = """\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: RequestResponse, verbs: [create, update, patch, delete, deletecollection]}]
"""
_KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "%s", certificate-authority: "%s"}}]
users: [{name: u, user: {token: %s}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
"""
_MOST_SECONDS = 240


class Accepted(NamedTuple):
    """A write that the API server accepted, by its audit log.

    :param revision: of the version that it left; None for a deletion.
    """

    resource: str
    uid: str
    revision: int | None


class RealApiServer:
    """An API server with an etcd of its own, in a folder.

    :ivar kubeconfig: of an administrator. :ivar url: its address.
    """

    def __init__(self, binary: Path, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(exist_ok=True)
        for name in ("etcd", "kube-apiserver"):
            (folder / name).symlink_to(binary)
        self._etcd_port, self._peer_port, port = _free_ports(3)
        self._etcd_url, self.url = (
            f"http://127.0.0.1:{self._etcd_port}",
            f"https://127.0.0.1:{port}",
        )
        self._port = port
        (folder / "policy.yaml").write_text(_POLICY)
        (folder / "tokens.csv").write_text(f'{_TOKEN},admin,admin,"system:masters"\n')
        key = ["openssl", "genrsa", "-out", str(folder / "sa.key"), "2048"]
        subprocess.run(key, check=True, capture_output=True)
        self.kubeconfig = folder / "kubeconfig"
        certificate = folder / "certs" / "apiserver.crt"
        self.kubeconfig.write_text(_KUBECONFIG % (self.url, certificate, _TOKEN))
        self._etcd: subprocess.Popen[bytes] | None = None
        self._api: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start both, and return once they answer."""
        if self._etcd is None:
            here, peer = self._etcd_url, f"http://127.0.0.1:{self._peer_port}"
            self._etcd = self._started(
                "etcd",
                f"--data-dir={self._folder}/data",
                "--unsafe-no-fsync",
                *(f"--listen-client-urls={here}", f"--advertise-client-urls={here}"),
                *(f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}"),
                f"--initial-cluster=default={peer}",
            )
        key = self._folder / "sa.key"
        self._api = self._started(
            "kube-apiserver",
            *(f"--etcd-servers={self._etcd_url}", f"--secure-port={self._port}"),
            *("--bind-address=127.0.0.1", f"--cert-dir={self._folder}/certs"),
            *(f"--token-auth-file={self._folder}/tokens.csv", "--authorization-mode=RBAC"),
            *("--service-account-issuer=https://k", f"--service-account-key-file={key}"),
            f"--service-account-signing-key-file={key}",
            *(
                "--disable-admission-plugins=ServiceAccount",
                "--service-cluster-ip-range=10.0.0.0/24",
            ),
            f"--audit-policy-file={self._folder}/policy.yaml",
            f"--audit-log-path={self._folder}/audit.log",
        )
        end = time.monotonic() + _MOST_SECONDS
        while not self._is_ready():
            assert self._api.poll() is None, (self._folder / "kube-apiserver.out").read_text()[
                -2000:
            ]
            assert time.monotonic() < end, "the API server does not become ready"
            time.sleep(0.1)

    def _started(self, name: str, *words: str) -> subprocess.Popen[bytes]:
        with (self._folder / f"{name}.out").open("ab") as out:
            return subprocess.Popen([self._folder / name, *words], stdout=out, stderr=out)

    def _is_ready(self) -> bool:
        with suppress(httpx.HTTPError):
            return self.client().get("/readyz").text == "ok"
        return False

    def client(self) -> httpx.Client:
        """Return a client of an administrator."""
        return httpx.Client(
            base_url=self.url,
            verify=False,
            timeout=30,
            headers={"Authorization": f"Bearer {_TOKEN}"},
        )

    def restart(self, away: float = 0.0) -> None:
        """Kill the API server, and start it again some seconds later; etcd goes on."""
        assert self._api is not None
        self._api.kill()
        self._api.wait()
        time.sleep(away)
        self.start()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let the API server stand still: its connections stay, and nothing answers."""
        assert self._api is not None
        self._api.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._api.send_signal(signal.SIGCONT)

    def revision(self) -> int:
        """Return the revision of etcd."""
        with self.client() as client:
            listed = client.get("/api/v1/namespaces", params={"limit": "1"}).json()
        return int(listed["metadata"]["resourceVersion"])

    def compact(self) -> None:
        """Let etcd forget all that is older than now."""
        told = {"revision": self.revision(), "physical": True}
        httpx.post(f"{self._etcd_url}/v3/kv/compaction", json=told, timeout=60).raise_for_status()

    def accepted(self) -> Iterator[Accepted]:
        """Yield all writes that the API server accepted."""
        for line in (self._folder / "audit.log").read_bytes().splitlines():
            record = json.loads(line)
            about = record.get("objectRef", {})
            if record["stage"] != "ResponseComplete" or record["responseStatus"]["code"] >= 300:
                continue
            found: dict[str, Any] = record.get("responseObject") or {}
            metadata = found.get("metadata", {})
            if record["verb"] == "delete":
                uid = metadata.get("uid") or (found.get("details") or {}).get("uid")
                yield Accepted(about["resource"], uid, None)
            elif metadata.get("resourceVersion") and about.get("subresource") is None:
                yield Accepted(about["resource"], metadata["uid"], int(metadata["resourceVersion"]))

    def stop(self) -> None:
        """End both."""
        for process in (self._api, self._etcd):
            if process is not None:
                process.send_signal(signal.SIGCONT)
                process.kill()
                process.wait()


@contextmanager
def real_api_server(folder: Path) -> Iterator[RealApiServer]:
    """Run a real API server."""
    server = RealApiServer(Path(os.environ[VARIABLE]).resolve(), folder)
    try:
        server.start()
        yield server
    finally:
        server.stop()


def _free_ports(count: int) -> list[int]:
    """Return ports that nothing listens on."""
    with_port = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [each.getsockname()[1] for each in with_port]
    finally:
        for each in with_port:
            each.close()
