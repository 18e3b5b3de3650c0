"""No module, and no class, holds a value that can change: what threads share, none can spoil.

``laws.module_state`` reads the code; this looks at what modules hold once they are imported, so it
also sees what a call returned. The page docs/articles/003 says what such a value did to Volcano.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import types
from collections.abc import Iterator
from enum import Enum
from typing import Any

import numpy as np
import pytest

import plinian
from tree import ROOT, files

CHANGEABLE = (list, dict, set, bytearray, BaseException)
NOT_IMPORTED = ("plinian.migrations",)
"""Alembic imports its modules, and only while it migrates."""
FROM_THREADS = frozenset({"concurrent", "threading", "multiprocessing", "asyncio", "_thread"})
WITH_THREADS = {
    "engine/log/connection.py": "a lock, which lets one thread at a time use a connection",
    "engine/log/postgres.py": "a thread waits for the server, while the body uses no connection",
    "engine/log/postgres_check.py": "a thread has a separate connection",
    "engine/log/sqlite_check.py": "a thread has a separate connection",
    "engine/log/event_packing.py": "a lock: threads may share a log, but not a decompressor",
    "replay/truth/log_states.py": "a lock around what threads keep of truths",
    "replay/belief/recent_beliefs.py": "a lock around what threads keep of beliefs",
    "replay/capture/cluster_access.py": "a lock around credentials that threads share",
    "replay/capture/watched_lines.py": "a flag: the recorder stops the thread of the stream",
    "replay/capture/outbox.py": "locks around what waits between reading threads and the writer",
    "replay/capture/stream_thread.py": "a thread a stream; its outbox takes what it reads",
    "replay/capture/growing_file.py": "a flag: the recorder stops the thread of the file",
    "replay/capture/followed_file.py": "a flag: the recorder stops the thread of the file",
    "replay/capture/audit_losses.py": "a lock around changes that streams and a webhook note",
    "replay/capture/audit_inbox.py": "threads of a server wait for the commits of a recorder",
    "replay/server/audit_webhook.py": "a thread for each batch; the event loop waits",
    "replay/capture/index_builder.py": "a thread waits for a process that has its own connection",
    "replay/capture/recorder_kubeconfig.py": "the number of a thread whose log lines it keeps",
    "replay/capture/cache_dumps.py": "a flag: the recorder stops the thread of the dumps",
    "replay/capture/recorder.py": "a flag that stops it; it starts the threads of the streams",
    "replay/cli/stopping.py": "a timer, which only sets that flag",
    "replay/server/recorder_site.py": "a thread has the event loop beside a recorder",
    "replay/server/readers.py": "threads share a log; counts are of the loop",
    "replay/server/shared_log.py": "a lock around which log is open, and how many use it",
    "replay/server/answer_limits.py": "a flag: the event loop stops a thread of readers.py",
    "replay/server/guard.py": "waits in the event loop, and starts nothing",
    "replay/server/works.py": "no thread: tasks of the event loop; a flag as in limits.py",
    "replay/server/kubernetes/served_branch.py": "one thread, which alone has the branch",
    "replay/server/client_patience.py": "no thread: timers of the event loop",
    "replay/server/api/routes.py": "no thread: tasks of the event loop",
    "replay/server/web/streamed_pages.py": "no thread: a task of the event loop",
    "replay/server/mcp/door.py": "no thread: a task of the event loop",
    "replay/server/mcp/stdio.py": "a thread has the event loop, and the first one only waits",
    "replay/server/kept_answers.py": "a lock around the answers that threads keep",
    "replay/server/kubernetes/watch/watching.py": "one thread, which alone has the watches",
    "replay/server/kubernetes/watch/channels.py": "waits in the event loop, and starts nothing",
    "replay/server/kubernetes/watch/course.py": "a task of the event loop moves the moment",
    "replay/server/kubernetes/watch/watches.py": "no thread: two tasks of the loop a client",
    "replay/parallel.py": "processes, which start fresh and share nothing",
}
"""Modules that start threads or processes, or lock, and what these share."""


def held(value: Any) -> Iterator[Any]:
    """Yield a value, and all in it: a tuple cannot change, but what is in it may."""
    yield value
    if isinstance(value, types.MappingProxyType):
        for key, part in value.items():
            yield from held(key)
            yield from held(part)
    elif isinstance(value, tuple | frozenset):
        for part in value:
            yield from held(part)


def can_change(value: Any) -> bool:
    """Whether code could change a value in place; an exception gets a traceback when raised."""
    if isinstance(value, np.ndarray):
        return bool(value.flags.writeable) and value.size > 0
    return isinstance(value, CHANGEABLE)


def spoilable(module: types.ModuleType) -> Iterator[str]:
    """Yield the names of what can change in a module and its classes."""
    for name, value in vars(module).items():
        if not name.startswith("__") and any(map(can_change, held(value))):
            yield name
        if isinstance(value, type) and value.__module__ == module.__name__:
            yield from (f"{name}.{own}" for own in _spoilable_in(value))


def _spoilable_in(owner: type) -> Iterator[str]:
    """Yield attributes of a class that can change; Python's own begin with an underscore."""
    machinery = issubclass(owner, tuple | Enum)
    for name, value in vars(owner).items():
        made_by_python = name.startswith("__") or (machinery and name.startswith("_"))
        if not made_by_python and any(map(can_change, held(value))):
            yield name


MODULES = tuple(
    module.name
    for module in pkgutil.walk_packages(plinian.__path__, "plinian.")
    if not module.name.startswith(NOT_IMPORTED)
)


def test_no_module_holds_a_value_that_can_change() -> None:
    found = {
        f"{name}: {place}" for name in MODULES for place in spoilable(importlib.import_module(name))
    }
    assert not found


@pytest.mark.parametrize(
    "text",
    [
        "X = sorted((2, 1))",
        "X = ({},)",
        "import types\nX = types.MappingProxyType({1: [2]})",
        "import numpy\nX = numpy.zeros(2)",
        "X = ValueError('raised again and again')",
        "class X:\n    all = []",
    ],
)
def test_a_value_that_can_change_is_noticed(text: str) -> None:
    module = types.ModuleType("made")
    exec(text, module.__dict__)
    for value in vars(module).values():
        if isinstance(value, type):
            value.__module__ = "made"
    assert [place.partition(".")[0] for place in spoilable(module)] == ["X"]


def test_values_that_cannot_change_are_none_of_these() -> None:
    module = types.ModuleType("made")
    module.__dict__.update(a=(1, frozenset({2})), b=types.MappingProxyType({3: "c"}))
    frozen = np.ones(2)
    frozen.flags.writeable = False
    module.__dict__["c"] = frozen
    assert not list(spoilable(module))


def _imports(text: str) -> set[str]:
    """Return the first names of the modules that a text imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {one.name.partition(".")[0] for one in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").partition(".")[0])
    return found


def test_threads_and_processes_are_started_where_it_is_said_what_they_share() -> None:
    shipped = [path for path in files() if path.startswith(("engine/", "replay/", "migrations/"))]
    starting = {
        path
        for path in shipped
        if path.endswith(".py") and _imports((ROOT / path).read_text("utf-8")) & FROM_THREADS
    }
    assert starting == WITH_THREADS.keys()
