"""Processes that begin with modules loaded: a program imports these once, and forks itself.

Most of what a short process costs is its imports, and they are seldom what a test is about. Each
process here is a new one, with an end of its own: it can be killed, and what it holds is counted
from its start.

Run as a program, this answers requests from standard input, one JSON array a line:
``["start", CALL, ARGUMENTS, OUT, ERR]`` with the number of a process that calls a function,
``["wait", NUMBER]`` with its exit code, and ``["poll", NUMBER]`` with that, or null if it runs.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

COMMAND = "forking:command"
"""Runs ``plinian`` with the arguments."""


def command(*words: str) -> None:
    """Run the command line as the installed program does."""
    from plinian.__main__ import main  # noqa: PLC0415 -- the client has no need of it

    sys.argv = ["plinian", *words]
    main()


class Forked:
    """A process.

    :param said: a folder with what it writes.
    """

    def __init__(self, server: Forking, pid: int, said: Path) -> None:
        self.pid = pid
        self._server, self._said = server, said
        self._code: int | None = None

    @property
    def stdout(self) -> str:
        """What it wrote to standard output so far."""
        return (self._said / "out").read_text("utf-8")

    @property
    def stderr(self) -> str:
        """What it wrote to standard error so far."""
        return (self._said / "err").read_text("utf-8")

    def poll(self) -> int | None:
        """Return its exit code; None if it runs."""
        if self._code is None:
            self._code = self._server.ask("poll", self.pid)
        return self._code

    def wait(self) -> int:
        """Wait for its end, and return its exit code."""
        if self._code is None:
            self._code = self._server.ask("wait", self.pid)
        assert self._code is not None
        return self._code

    def kill(self) -> None:
        """Kill it unless it has ended, and wait for that."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)
            self.wait()


class Forking:
    """The program that forks itself."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self._process, self._folder = process, folder

    def ask(self, *request: Any) -> Any:
        """Return the answer to a request."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def start(self, call: str, *arguments: str) -> Forked:
        """Start a process that calls ``module:function`` with the arguments."""
        said = Path(tempfile.mkdtemp(dir=self._folder))
        for name in ("out", "err"):
            (said / name).touch()
        pid = self.ask("start", call, arguments, str(said / "out"), str(said / "err"))
        return Forked(self, pid, said)


@contextmanager
def forking(folder: Path, *modules: str) -> Iterator[Forking]:
    """Start the program with modules loaded.

    :param folder: for what processes write.
    """
    path = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    with subprocess.Popen(
        [sys.executable, __file__, *modules],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path)},
    ) as process:
        yield Forking(process, folder)


def _call(call: str, arguments: list[str], out: str, err: str) -> None:
    """Be the new process."""
    for number, path in enumerate((os.devnull, out, err)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_APPEND if number else os.O_RDONLY), number)
    module, _, name = call.partition(":")
    getattr(importlib.import_module(module), name)(*arguments)


def main() -> None:
    """Answer requests until there are no more; nothing that was started is left behind."""
    for name in sys.argv[1:]:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    running: set[int] = set()
    for line in sys.stdin:
        kind, *rest = json.loads(line)
        answer: int | None
        if kind == "start":
            answer = os.fork()
            if not answer:
                return _call(*rest)
            running.add(answer)
        else:
            ended, status = os.waitpid(rest[0], os.WNOHANG if kind == "poll" else 0)
            running.discard(ended)
            answer = os.waitstatus_to_exitcode(status) if ended else None
        print(json.dumps(answer), flush=True)
    for pid in running:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return None


if __name__ == "__main__":
    main()
