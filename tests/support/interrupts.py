"""A program: runs commands and interrupts each at the n-th call of a function, wherever that is.

Reads requests from standard input, one JSON object a line, and answers each with one. ``command``
is what follows ``plinian``. ``at`` counts calls and returns of Python's and C's functions in the
main thread, from the moment at which the command line takes interrupts. ``times`` is how many come,
one at each point from there on; with ``times`` 0 there is none, and the answer has ``points``.
``within`` is a part of a file's path and a function: counting begins where that is called first.
``bare`` has the command loaded from nothing, else all modules are there already.

Each command has a process of its own, with its own end of the interpreter.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from plinian import __main__ as program

LOADED = (
    *(
        "plinian.replay.cli.main",
        "plinian.replay.ingest.ingest_run",
        "plinian.replay.render.figures",
    ),
    *(
        "plinian.replay.truth.truth",
        "plinian.engine.log.migrating",
        "plinian.engine.log.postgres",
    ),
    *("plinian.replay.render.progress", "sqlalchemy.dialects.sqlite", "psycopg"),
)


class Points:
    """Counts, and interrupts when it is time.

    :param at: the first point. :param times: how many interrupts.
    :param within: where to begin counting; empty is at once.
    """

    def __init__(self, at: int, times: int, within: Sequence[str] = ()) -> None:
        self.count, self._at, self._times = 0, at, times
        self._within = within

    def pass_by(self, frame: FrameType, event: str, _argument: Any) -> None:
        """Count a call or a return."""
        if self._within:
            path, name = self._within
            code = frame.f_code
            if event != "call" or code.co_name != name or path not in code.co_filename:
                return
            self._within = ()
        self.count += 1
        if self._times and self.count >= self._at:
            self._times -= 1
            if not self._times:
                sys.setprofile(None)
            signal.raise_signal(signal.SIGINT)


def run(request: dict[str, Any], told: str) -> None:
    """Run a command in this process, and end it as the command does.

    :param told: a file for the number of points.
    """
    points = Points(request["at"], request["times"], request.get("within") or ())
    command = program._run

    def counted() -> None:
        sys.setprofile(points.pass_by)
        try:
            command()
        finally:
            if not request["times"]:
                sys.setprofile(None)
                Path(told).write_text(str(points.count), "utf-8")

    program._run = counted
    sys.argv = ["plinian", *request["command"]]
    program.main()


def main() -> None:
    """Answer requests until there are no more."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for line in sys.stdin:
        request = json.loads(line)
        if not request.get("bare"):
            for name in LOADED:
                importlib.import_module(name)
        folder = Path(tempfile.mkdtemp())
        said, told = folder / "stderr", folder / "points"
        child = os.fork()
        if not child:
            os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            return run(request, str(told))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        answer = {
            "code": code,
            "stderr": said.read_text("utf-8"),
            "points": int(told.read_text("utf-8")) if told.exists() else None,
        }
        shutil.rmtree(folder)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    return None


main()
