"""Servers that really run, each on a free port of this machine."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from typing import NamedTuple

import httpx
from click.testing import CliRunner
from structlog.typing import FilteringBoundLogger

from plinian.replay.cli.main import app
from plinian.replay.server.running import Serving
from plinian.replay.server.settings import ServerSettings

TOKEN = "a-token-that-is-long-enough"


class Running(NamedTuple):
    """A server, and a client that asks it.

    :param process: its process; None if it is in this one.
    :param place: the file of its log.
    :param said: the lines that it printed until it listened.
    """

    process: subprocess.Popen[str] | None
    client: httpx.Client
    place: Path
    said: tuple[str, ...] = ()

    @property
    def port(self) -> int:
        """Return the port that it listens on."""
        found = self.client.base_url.port
        assert found is not None
        return found


def serving(place: Path | str, *options: str) -> Running:
    """Start a server of a file or of a URL, and return once it listens.

    Nobody reads what it says of each request, unless the options ask for that.
    """
    level = [] if "--log-level" in options else ["--log-level", "warning"]
    words = ["serve", "--log", str(place), "--port", "0", *level, *options]
    process = subprocess.Popen(
        [sys.executable, "-m", "plinian", *words],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    said, found = [], None
    while found is None:
        said.append(process.stderr.readline())
        assert said[-1], f"the server does not listen: {said}"
        found = re.search(r"https?://\S+:\d+", said[-1])
    return Running(process, httpx.Client(base_url=found[0], timeout=120), Path(place), tuple(said))


def ended(running: Running) -> None:
    """End a server."""
    running.client.close()
    running.process.terminate()
    running.process.communicate(timeout=120)


@contextmanager
def serving_here(
    settings: ServerSettings, logger: FilteringBoundLogger | None = None
) -> Iterator[Running]:
    """Serve in a thread of this process: most of what a server of its own takes is its start."""
    listens: Queue[int] = Queue()
    server = Serving(settings, ready=lambda known, _: listens.put(known.port), logger=logger)
    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(server.run)
        try:
            port = listens.get(timeout=120)
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:
                yield Running(None, client, Path(settings.place))
        finally:
            server.stop()
            running.result(timeout=120)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command beside a server, in this process: most of what its own takes is its start."""
    done = CliRunner().invoke(app, arguments)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)
