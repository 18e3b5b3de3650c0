"""A process of another user, who may read a log but write nothing beside it."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

NOBODY = 65534
_STOP = "stop"

Ask = Callable[..., Any]


@contextmanager
def readable_folder() -> Iterator[Path]:
    """Give a folder that everybody may read, and only its owner may write."""
    with tempfile.TemporaryDirectory(prefix="plinian-readable-") as folder:
        path = Path(folder)
        path.chmod(0o755)
        yield path


@contextmanager
def another_user(serve: Callable[..., Any], *arguments: Any) -> Iterator[Ask]:
    """Run a generator function in a process of another user; give what asks it.

    It yields the answer to what it was sent. Each question is answered by the next value, or by the
    name and the text of what it raised. Modules must be imported before: another user may not read
    the interpreter's own folder. No SQLite file may be open here by then: its locks are no fork's.
    """
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there, serve, arguments), daemon=True)
    process.start()
    there.close()

    def ask(question: Any = None) -> Any:
        here.send(question)
        return here.recv() if here.poll(60) else "no answer"

    try:
        yield ask
    finally:
        here.send(_STOP)
        process.join(20)
        if process.is_alive():
            process.kill()


def _serve(pipe: Connection, serve: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    os.chdir("/")
    answers = serve(*arguments)
    next(answers)
    while True:
        question = pipe.recv()
        if question == _STOP:
            return
        try:
            pipe.send(answers.send(question))
        except Exception as fault:  # noqa: BLE001 -- whatever it is, the test looks at it
            pipe.send((type(fault).__name__, str(fault)))
            return
