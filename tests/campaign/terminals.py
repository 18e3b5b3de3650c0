"""Names that would drive a terminal, in every command, on a terminal and through a pipe.

A log is made of a small cluster in which every name and text is hostile. Then commands are run, and
what they print is looked at byte by byte: besides text there may be new lines, tabs that we wrote,
and on a terminal our own colours.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import pty
import re
import select
import signal
import sys
import tempfile
import termios
import time
import traceback
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import plinian.engine
import plinian.replay
from plinian.replay.cli.main import main
from plinian.replay.ingest.ingest_run import IngestOptions, ingest_at

VOLCANO = "scheduling.volcano.sh/v1beta1"
WORD = "pwned"
"""Stands in every hostile text, so that a run which shows none of them is noticed."""

COLOURS = re.compile(r"\x1b\[(?:0|1|31|32|33)m")
OF_PROGRESS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")
"""What rich draws a bar with, on a standard error that is a terminal."""

CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)

HOSTILE = (
    *("\x1b]0;{}\x07", "\x1b[2J{}", "\x1b[35m{}", "\x1b[7m{}", "{}\r", "{}\x07", "\x9b31m{}"),
    *("\x9d0;{}\x9c", "\x7f{}", "\u202e{}\u202c", "\u2066{}", "{}\u2028x", "{}\x85x", "{}\x0bx"),
    *("{}\nplinian: a line of its own", "\x08\x08{}", "\x1bP{}\x1b\\", "\x00{}", "{}\tx", "\x0e{}"),
)


class Figures(NamedTuple):
    """What a campaign found. :param failures: a line for each output with a control character."""

    runs: int
    by_command: Mapping[str, int]
    failures: tuple[str, ...]


class _Hostile:
    """Gives hostile texts, each of them another."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._number = 0

    def text(self) -> str:
        self._number += 1
        forms = self._random.sample(HOSTILE, 2)
        return "".join(form.format(f"{WORD}{self._number}") for form in forms)


def _object(h: _Hostile, kind: str, api: str, name: str, revision: int, **parts: Any) -> Any:
    metadata = {
        "name": name,
        "uid": f"uid-{kind}-{name}{h.text()}",
        "resourceVersion": str(revision),
        "creationTimestamp": "2026-01-02T12:00:00Z",
        "labels": {h.text(): h.text()},
        "annotations": {h.text(): h.text(), "scheduling.k8s.io/group-name": parts.pop("of", "")},
    }
    if "namespace" in parts:
        metadata["namespace"] = parts.pop("namespace")
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **parts}


class World(NamedTuple):
    """A hostile cluster: names to ask for, and its versions of objects."""

    space: str
    pod: str
    node: str
    group: str
    queue: str
    versions: list[tuple[str, Any]]


def world(random: Random) -> World:
    """Return a cluster in which every name and every message is hostile."""
    h = _Hostile(random)
    space, pod, node, group, queue = (h.text() for _ in range(5))
    amounts = {"cpu": "8", "memory": "16Gi", "pods": "110"}
    condition = {"type": h.text(), "status": "False", "reason": h.text(), "message": h.text()}
    of_node = {"spec": {"taints": [{"key": h.text(), "effect": "NoSchedule"}]}}
    of_node["status"] = {"allocatable": amounts, "nodeInfo": {"kubeletVersion": h.text()}}
    requests = {"requests": {"cpu": "2"}}
    container = {"name": h.text(), "image": h.text(), "resources": requests}
    spec = {"schedulerName": "volcano", "containers": [container]}
    waiting = {"phase": "Pending", "conditions": [condition], "reason": h.text()}
    event = {
        "involvedObject": {"kind": "Pod", "name": pod, "namespace": space},
        "reason": h.text(),
        "message": h.text(),
        "type": h.text(),
        "source": {"component": h.text()},
    }
    of_group = {"spec": {"minMember": 1, "queue": queue}, "status": {"phase": "Inqueue"}}
    bound = {**spec, "nodeName": node, "priorityClassName": h.text()}
    later = {"phase": h.text(), "conditions": [condition | {"message": h.text()}]}
    place = {"namespace": space}
    told = [
        ("ADDED", _object(h, "Node", "v1", node, 1, **of_node)),
        ("ADDED", _object(h, "Queue", VOLCANO, queue, 2, spec={"weight": 1}, status={})),
        ("ADDED", _object(h, "PodGroup", VOLCANO, group, 3, **of_group, **place)),
        ("ADDED", _object(h, "Pod", "v1", pod, 4, of=group, spec=spec, status=waiting, **place)),
        ("ADDED", _object(h, h.text(), h.text(), h.text(), 5, spec={})),
        ("ADDED", _object(h, "Event", "v1", h.text(), 6, **event, **place)),
    ]
    changed = json.loads(json.dumps(told[3][1]))
    changed["metadata"]["resourceVersion"] = "7"
    changed["metadata"]["labels"] = {h.text(): h.text()}
    changed |= {"spec": bound, "status": later}
    return World(space, pod, node, group, queue, [*told, ("MODIFIED", changed)])


def write_inputs(folder: Path, random: Random) -> World:
    """Write a hostile cluster as a watch, an audit log, a log of a scheduler, and a scenario."""
    made, h = world(random), _Hostile(random)
    lines = [json.dumps({"type": kind, "object": one}) for kind, one in made.versions]
    (folder / f"w\x1b[31m{WORD}\u202e.jsonl").write_text("\n".join(lines) + "\n")
    record = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "RequestResponse",
        "auditID": "a",
        "stage": "ResponseComplete",
        "verb": "update",
        "user": {"username": h.text()},
        "userAgent": h.text(),
        "objectRef": {"resource": "pods", "namespace": made.space, "name": made.pod},
        "stageTimestamp": "2026-01-02T12:00:01.000000Z",
    }
    refused = {"code": 409, "reason": h.text(), "message": h.text()}
    records = [
        record | {"responseStatus": {"code": 200}, "responseObject": made.versions[-1][1]},
        record | {"responseStatus": refused},
    ]
    (folder / "audit.log").write_text("".join(json.dumps(one) + "\n" for one in records))
    job = f"{made.space}/{made.group}".replace("\n", "")
    klog = [
        "I0102 12:00:00.000000 1 session.go:1] Open Session d3b07384-d113 with <1> Job and <1> Q",
        f"I0102 12:00:00.100000 1 allocate.go:1] Binding Task <{job}> to node <{made.node!s}>",
        f"E0102 12:00:01.000000 1 cache.go:9] {h.text()}",
        f"panic: {h.text()}",
    ]
    (folder / "scheduler.log").write_text("\n".join(klog) + "\n")
    _write_scenario(folder / "x.case.json", made, h)
    return made


def _write_scenario(path: Path, made: World, h: _Hostile) -> None:
    documents = [json.loads(json.dumps(one)) for kind, one in made.versions if kind == "ADDED"]
    for one in documents:
        for field in ("uid", "resourceVersion", "creationTimestamp"):
            del one["metadata"][field]
    events = [{"type": "ADDED", "object": one} for one in documents[:4]]
    case = {"name": h.text(), "steps": [{"events": events}, {"events": []}]}
    path.write_text(json.dumps(case))


def commands(made: World) -> list[list[str]]:
    """Return commands that show hostile names, or are given them."""
    space, pod, case = ["-n", made.space], f"pod/{made.pod}", "in/x.case.json"
    gets = [
        ["get", kind, "-A", *form]
        for kind in ("pods", "nodes", "podgroups", "queues", "events", "all")
        for form in ([], ["-o", "wide"], ["--show-labels"])
    ]
    forms = ["json", "yaml", "name", "jsonpath={.items[*].metadata.name}"]
    forms += ["custom-columns=A:.metadata.name,B:.metadata.labels"]
    return [
        *gets,
        *(["get", "pods", "-A", "-o", form] for form in forms),
        *(["get", pod, *space, "-o", form] for form in ("json", "yaml")),
        ["get", "pods", "-A", "-w", "--limit", "1"],
        ["get", f"pod/no{made.pod}", *space],
        ["get", made.pod],
        ["get", "pods", "-l", made.pod],
        ["get", "pods", *space, "--at", made.pod],
        ["get", "pods", "-n", f"x{made.space}"],
        ["describe", pod, *space],
        ["describe", f"node/{made.node}"],
        ["describe", f"queue/{made.queue}"],
        ["describe", f"podgroup/{made.group}", *space],
        ["history", pod, *space],
        ["history", pod, *space, "-o", "json"],
        ["history", f"pod/x{made.pod}", *space],
        *(["diff", "rv:4", "rv:7", *form] for form in ([], ["--who"], ["--summary"])),
        ["diff", "rv:4", "rv:7", "-o", "json"],
        *(["events", *form] for form in ([], ["-o", "wide"], ["-o", "json"], ["-o", "ndjson"])),
        ["events", "-o", "ndjson", "--payload"],
        ["events", "--source", made.pod],
        ["events", "--kind", made.pod],
        ["events", "--object", pod],
        ["status"],
        ["status", "-o", "json"],
        ["belief"],
        ["belief", "-o", "json"],
        ["drift"],
        ["session", "--release", "v1.12.1"],
        ["session", "--release", "v1.12.1", "--trace", "-o", "wide"],
        ["session", "--release", "v1.12.1", "--release", "v1.8.0"],
        ["session", "--release", made.pod],
        ["bisect", "--release", "v1.12.1", "--pod", made.pod],
        ["upgrade-check", "v1.12.1", "v1.14.2"],
        ["simulate", case, "--release", "v1.12.1"],
        ["simulate", case, "--release", "v1.12.1", "--show"],
        *_others(made),
    ]


def _others(made: World) -> list[list[str]]:
    """Return commands on a whole log or on files, complaints, and what completes a word."""
    return [
        ["lint", "in"],
        ["lint", "in", "-o", "json"],
        ["digest"],
        ["verify"],
        ["db", "info"],
        ["branch", "list"],
        ["checkpoint", "list"],
        ["branch", "create", made.pod],
        ["export", f"{made.pod}.xyz".replace("\0", "")],
        ["ingest", f"in/no{made.pod}".replace("\0", "")],
        ["ingest", "in", "--log", "other.db", "--year", "2026"],
        [made.pod],
        ["get", f"--{made.pod}"],
        ["events", "--limit", made.pod],
        ["__complete", "--", "get", "pod/"],
        ["__complete", "--", "get", "pods", "-n", ""],
    ]


class Run(NamedTuple):
    """What one run printed. :param code: its exit code; None if it ran too long."""

    out: bytes
    err: bytes
    code: int | None


def run_command(
    arguments: Sequence[str], folder: Path, *, terminal: bool, err_terminal: bool = False
) -> Run:
    """Run a command in a process of its own, with standard output a terminal or a pipe."""
    ends = [_end(terminal=terminal), _end(terminal=err_terminal)]
    child = os.fork()
    if not child:
        _be_child(arguments, folder, ends)
    for _, inner in ends:
        os.close(inner)
    read = _read_all([outer for outer, _ in ends], child)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return Run(*read, None if code == -signal.SIGKILL else code)


def _end(*, terminal: bool) -> tuple[int, int]:
    """Return two ends: ours to read from, and the command's to write to."""
    if not terminal:
        return os.pipe()
    outer, inner = pty.openpty()
    attributes = termios.tcgetattr(inner)
    attributes[1] &= ~termios.OPOST  # A new line stays one.
    termios.tcsetattr(inner, termios.TCSANOW, attributes)
    return outer, inner


def _be_child(arguments: Sequence[str], folder: Path, ends: list[tuple[int, int]]) -> None:
    code = 99
    try:
        os.chdir(folder)
        for number, (outer, inner) in enumerate(ends, start=1):
            os.close(outer)
            os.dup2(inner, number)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
        os.environ |= {"TERM": "xterm", "COLUMNS": "100"}
        os.environ.setdefault("PLINIAN_LOG", "log.db")
        os.environ.pop("NO_COLOR", None)
        sys.argv = ["plinian", *arguments]
        try:
            main()
            code = 0
        except SystemExit as left:
            code = left.code if isinstance(left.code, int) else 1
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:  # noqa: BLE001 -- the child must not go on as its parent
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(code)


def _read_all(ends: list[int], child: int, *, seconds: float = 60) -> list[bytes]:
    """Read until all ends are closed; a child that takes too long is ended."""
    read: dict[int, list[bytes]] = {end: [] for end in ends}
    open_ends, until = set(ends), time.monotonic() + seconds
    while open_ends:
        ready, _, _ = select.select(sorted(open_ends), [], [], max(0.0, until - time.monotonic()))
        if not ready:
            os.kill(child, signal.SIGKILL)
            break
        for end in ready:
            piece = b""
            with suppress(OSError):  # Of a terminal whose other end is closed.
                piece = os.read(end, 1 << 16)
            read[end].append(piece)
            if not piece:
                open_ends.discard(end)
    for end in ends:
        os.close(end)
    return [b"".join(read[end]) for end in ends]


def faults(run: Run, *, terminal: bool, err_terminal: bool) -> list[str]:
    """Return what is wrong with what a run printed."""
    found = []
    for name, raw, coloured in (("out", run.out, terminal), ("err", run.err, err_terminal)):
        text = raw.decode("utf-8", "surrogateescape")
        for one in HOSTILE:
            begin = one.partition("{}")[0]
            if begin and f"{begin}{WORD}" in text:
                found.append(f"{name}: {begin!r} is obeyed")
        if coloured:
            text = COLOURS.sub("", text)
            text = OF_PROGRESS.sub("", text) if name == "err" else text
        if control := CONTROL.search(text):
            found.append(f"{name}: {text[max(0, control.start() - 20) : control.end() + 20]!r}")
        # On a terminal a cell may go on in the next line, wherever it has room.
        if not coloured and "\nplinian: a line of its own" in text:
            found.append(f"{name}: a name begins a line")
    if run.code is None or run.code not in {0, 1, 2}:
        found.append(f"exit code {run.code}: {run.err[-300:]!r}")
    if b"internal error of Plinian" in run.err or b"Traceback" in run.err:
        found.append(f"it broke: {run.err[-300:]!r}")
    return found


def preload() -> None:
    """Import everything once, so that the processes of runs need not."""
    for package in (plinian.engine, plinian.replay):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)


def run(seed: int = 1, count: int = 200, seconds: float = 60.0) -> Figures:
    """Run commands on hostile logs, and look at what they print; the same for the same seed.

    :param count: how many runs at most. :param seconds: after which none is begun.
    """
    preload()
    until = time.monotonic() + seconds
    runs: Counter[str] = Counter()
    failures: list[str] = []
    seen = False
    number = 0
    while sum(runs.values()) < count and time.monotonic() < until:
        random = Random(f"{seed}/{number}")
        number += 1
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            made = _made(folder, random)
            some = commands(made)
            random.shuffle(some)
            for arguments in some:
                if sum(runs.values()) >= count or time.monotonic() > until:
                    break
                ends = {
                    "terminal": random.random() < 0.5,
                    "err_terminal": random.random() < 0.3,
                }
                done = run_command([_given(one) for one in arguments], folder, **ends)
                runs[arguments[0] if arguments[0].isprintable() else "?"] += 1
                seen = seen or WORD.encode() in done.out
                failures += [f"{arguments[:3]!r}: {fault}" for fault in faults(done, **ends)]
    if runs and not seen:
        failures.append("no run showed a hostile name: nothing was tried")
    return Figures(sum(runs.values()), dict(runs), tuple(failures))


def _given(argument: str) -> str:
    """Return an argument as a system can pass it: without NUL."""
    return argument.replace("\0", "")


def _made(folder: Path, random: Random) -> World:
    (folder / "in").mkdir()
    made = write_inputs(folder / "in", random)
    options = IngestOptions(year=2026, skip_malformed=True)
    ingest_at(folder / "log.db", [str(folder / "in")], options)
    return made
