"""A server in a separate process, and what it costs."""

from __future__ import annotations

import subprocess
import sys
import time
from http.client import HTTPConnection
from pathlib import Path
from typing import NamedTuple, Self


class Answered(NamedTuple):
    """An answer: its status and size, and what it cost. :param cpu: of the server, in seconds."""

    status: int
    size: int
    cpu: float
    wall: float


class Server:
    """A server of a log in a separate process.

    :param options: of ``plinian serve``.
    :ivar start: seconds from the start of the process until it listens.
    :ivar start_cpu: the CPU seconds until then.
    """

    def __init__(self, place: Path, *options: str) -> None:
        begin = time.perf_counter()
        command = [*(sys.executable, "-m", "plinian", "serve", "--log", str(place)), *options]
        self.process = subprocess.Popen(
            [*command, "--port", "0"], stderr=subprocess.PIPE, text=True
        )
        assert self.process.stderr is not None
        self.said: list[str] = []
        while "http://127.0.0.1:" not in (line := self.process.stderr.readline()):
            assert line, f"the server does not listen: {self.said}"
            self.said.append(line)
        self.port = int(line.partition("http://127.0.0.1:")[2].partition("/")[0])
        self.start = time.perf_counter() - begin
        self.start_cpu = self.cpu()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, path: str, accept: str = "*/*") -> Answered:
        """Ask for a path and read the answer."""
        cpu, begin = self.cpu(), time.perf_counter()
        connection = HTTPConnection("127.0.0.1", self.port, timeout=600)
        connection.request("GET", path, headers={"Accept": accept})
        answer, size = connection.getresponse(), 0
        while part := answer.read(1 << 20):
            size += len(part)
        connection.close()
        return Answered(answer.status, size, self.cpu() - cpu, time.perf_counter() - begin)

    def cpu(self) -> float:
        """Return the CPU seconds that the process took (Linux)."""
        fields = Path(f"/proc/{self.process.pid}/schedstat").read_text().split()
        threads = Path(f"/proc/{self.process.pid}/task").iterdir()
        spent = [int((one / "schedstat").read_text().split()[0]) for one in threads]
        return max(sum(spent), int(fields[0])) / 1e9

    def peak_mb(self) -> float:
        """Return the most memory that the process held (Linux)."""
        return self._status("VmHWM")

    def now_mb(self) -> float:
        """Return the memory that the process holds (Linux)."""
        return self._status("VmRSS")

    def close(self) -> None:
        """End it."""
        self.process.terminate()
        self.process.communicate(timeout=60)

    def _status(self, name: str) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition(f"{name}:")[2].split()[0]) / 1024
