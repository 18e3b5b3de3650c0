"""A proxy between a client and a server on this machine, which spoils answers as a network does."""

from __future__ import annotations

import select
import socket
import threading
from collections import deque
from contextlib import suppress
from typing import NamedTuple, Self

_PIECE = 2**16
_LOOK = 0.05


class Spoiled(NamedTuple):
    """What happens to the answer of one request.

    :param status: the proxy answers by itself, with this status. :param headers: in that case.
    :param cut: after so many bytes the connection is closed. :param stalls: or nothing more comes.
    :param delay: seconds before each piece. :param piece: bytes that are passed on at once.
    """

    status: str = ""
    headers: str = ""
    cut: int | None = None
    stalls: bool = False
    delay: float = 0
    piece: int = _PIECE


class FaultyProxy:
    """Passes on bytes to a port of this machine, with a thread for each connection.

    :ivar faults: of the next requests; None for one that is left alone. :ivar port: its own.
    :ivar requests: how many there were.
    """

    def __init__(self, target: int) -> None:
        self._target = target
        self.faults: deque[Spoiled | None] = deque()
        self.requests = 0
        self._listens = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listens.getsockname()[1]
        self._ends = threading.Event()
        self._accepts = threading.Thread(target=self._accept, daemon=True)

    def __enter__(self) -> Self:
        self._accepts.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._listens.close()
        self._accepts.join(60)

    def _accept(self) -> None:
        while not self._ends.is_set():
            with suppress(OSError, ValueError):
                if select.select([self._listens], [], [], _LOOK)[0]:
                    client, _ = self._listens.accept()
                    threading.Thread(target=self._pass_on, args=(client,), daemon=True).start()

    def _pass_on(self, client: socket.socket) -> None:
        with client, suppress(OSError), socket.create_connection(("127.0.0.1", self._target)) as to:
            spoiled, passed = Spoiled(), 0
            while not self._ends.is_set():
                for ready in select.select([client, to], [], [], _LOOK)[0]:
                    piece = ready.recv(spoiled.piece)
                    if not piece:
                        return
                    if ready is client:
                        self.requests += 1
                        spoiled, passed = self._next(), 0
                        if spoiled.status:
                            client.sendall(_answer(spoiled))
                            return
                        to.sendall(piece)
                        continue
                    if spoiled.delay:
                        self._ends.wait(spoiled.delay)
                    left = len(piece) if spoiled.cut is None else spoiled.cut - passed
                    client.sendall(piece[: max(left, 0)])
                    passed += len(piece)
                    if left < len(piece) and self._is_over(client, spoiled):
                        return

    def _next(self) -> Spoiled:
        try:
            return self.faults.popleft() or Spoiled()
        except IndexError:
            return Spoiled()

    def _is_over(self, client: socket.socket, spoiled: Spoiled) -> bool:
        """Return once the connection is to be closed: at once, or when the client gives it up."""
        while spoiled.stalls and not self._ends.is_set():
            if select.select([client], [], [], _LOOK)[0] and not client.recv(1):
                break
        return True


def _answer(spoiled: Spoiled) -> bytes:
    body = b'{"kind":"Status","message":"said by a proxy"}'
    headers = f"Content-Length: {len(body)}\r\nConnection: close\r\n{spoiled.headers}"
    return f"HTTP/1.1 {spoiled.status}\r\n{headers}\r\n".encode() + body
