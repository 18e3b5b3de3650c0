"""A server that answers only who shows the right credentials, and kubeconfigs for it."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


class CredentialServer:
    """Answers requests with an empty document, or with 401.

    :param accepts: whether a header ``Authorization`` is right.
    :ivar shown: all that was shown. :ivar refused: how many requests were refused.
    """

    def __init__(
        self, accepts: Callable[[str], bool], *, tls: ssl.SSLContext | None = None
    ) -> None:
        self._accepts = accepts
        self.shown: list[str] = []
        self.refused = 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._scheme = "http" if tls is None else "https"
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)

    @property
    def url(self) -> str:
        """The address."""
        return f"{self._scheme}://127.0.0.1:{self._server.server_address[1]}"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            """Looks at credentials."""

            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                """Answer."""
                shown = self.headers.get("Authorization", "")
                outer.shown.append(shown)
                right = outer._accepts(shown)
                outer.refused += not right
                body = b"{}" if right else b'{"message":"who are you"}'
                self.send_response(200 if right else 401)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        return Handler

    @contextmanager
    def running(self) -> Iterator[CredentialServer]:
        """Run it in the body."""
        thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join(60)


def kubeconfig(folder: Path, url: str, user: dict[str, Any], **cluster: Any) -> str:
    """Write a kubeconfig, and return its path."""
    place = folder / "kubeconfig"
    told = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": url, **cluster}}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "c",
    }
    place.write_text(json.dumps(told))
    return str(place)
