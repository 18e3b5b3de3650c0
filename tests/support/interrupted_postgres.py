"""A Postgres server that goes away and comes back: a way to it that a test can cut."""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit, urlunsplit

_AT_ONCE = 1 << 16


class Way:
    """Passes bytes between clients and a server, unless it is cut.

    :ivar url: of the log, by this way.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._server = parts.hostname or "127.0.0.1", parts.port or 5432
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._port = self._listener.getsockname()[1]
        user, at, _ = parts.netloc.rpartition("@")
        self.url = urlunsplit(parts._replace(netloc=f"{user}{at}127.0.0.1:{self._port}"))
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._listen()

    def cut(self) -> None:
        """End all connections, and refuse new ones, as a server that stopped does."""
        with self._lock, suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()
        with self._lock:
            for one in self._open:
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        """Accept connections again."""
        self._listener = socket.create_server(("127.0.0.1", self._port))
        self._listen()

    def _listen(self) -> None:
        self._thread = threading.Thread(target=self._accept, args=(self._listener,), daemon=True)
        self._thread.start()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            server = socket.create_connection(self._server)
            with self._lock:
                self._open |= {client, server}
            threading.Thread(target=self._pass, args=(client, server), daemon=True).start()

    def _pass(self, client: socket.socket, server: socket.socket) -> None:
        other = {client: server, server: client}
        with client, server, suppress(OSError):
            while True:
                for one in select.select([client, server], [], [])[0]:
                    data = one.recv(_AT_ONCE)
                    if not data:
                        return
                    other[one].sendall(data)
        with self._lock:
            self._open -= {client, server}


@contextmanager
def way_to(url: str) -> Iterator[Way]:
    """Lend a way to a server, and cut it in the end."""
    way = Way(url)
    try:
        yield way
    finally:
        way.cut()
