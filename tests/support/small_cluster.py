"""An API server over HTTP that has pods alone, for commands that record: silent or busy."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "a-token-of-the-cluster"
_FIRST = 10


class SmallCluster(ThreadingHTTPServer):
    """It lists one pod, and then sends nothing more, or a change every few milliseconds.

    :ivar watches: how many watches began. :ivar authorized: what clients showed.
    """

    daemon_threads = True

    def __init__(self, *, busy: bool) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.busy, self.watches = busy, 0
        self.authorized: set[str] = set()
        self.ends = threading.Event()

    def kubeconfig(self, folder: Path) -> Path:
        """Write a kubeconfig, and return its path."""
        server = f"http://127.0.0.1:{self.server_address[1]}"
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": {"server": server}}],
            "users": [{"name": "u", "user": {"token": TOKEN}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "c",
        }
        path = folder / "kubeconfig"
        path.write_text(json.dumps(document))
        return path


@contextmanager
def small_cluster(*, busy: bool = False) -> Iterator[SmallCluster]:
    """Run one in this process."""
    server = SmallCluster(busy=busy)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.ends.set()
        server.shutdown()
        server.server_close()


def _pod(revision: int, name: str = "first") -> dict[str, Any]:
    metadata = {
        "name": name,
        "namespace": "default",
        "uid": f"u-{name}",
        "resourceVersion": str(revision),
        "creationTimestamp": "2026-11-21T01:53:00Z",
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": []}}


class _Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: SmallCluster

    def do_GET(self) -> None:
        self.server.authorized.add(self.headers.get("Authorization", ""))
        url = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        if url.path == "/api/v1":
            self._document({"resources": [{"name": "pods", "verbs": ["list", "watch"]}]})
        elif url.path != "/api/v1/pods":
            self._document({"kind": "Status", "code": 404, "message": "no such thing"}, 404)
        elif query.get("watch"):
            self._watch(query)
        else:
            listed = {"apiVersion": "v1", "kind": "PodList", "items": [_pod(_FIRST)]}
            self._document({**listed, "metadata": {"resourceVersion": str(_FIRST)}})

    def _document(self, document: dict[str, Any], code: int = 200) -> None:
        body = json.dumps(document).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _watch(self, query: dict[str, str]) -> None:
        if query.get("sendInitialEvents"):
            self._document({"kind": "Status", "code": 400, "message": "not supported"}, 400)
            return
        self.server.watches += 1
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        revision = int(query["resourceVersion"])
        while not self.server.ends.wait(0.005 if self.server.busy else 0.2):
            if self.server.busy:
                revision += 1
                line = json.dumps({"type": "ADDED", "object": _pod(revision, f"p-{revision}")})
                try:
                    self.wfile.write(f"{len(line) + 1:x}\r\n{line}\n\r\n".encode())
                except OSError:
                    return

    def log_message(self, *_: object) -> None:
        """Say nothing."""
