"""Mutated inputs of every format, and mutated flags: what they make of an ingest or a command.

Nothing but a message may come of one: a traceback, more than five seconds, or more than 600 MB are
findings. The same seed gives the same inputs.
"""

from __future__ import annotations

import gzip
import io
import random
import resource
import signal
import tarfile
import tempfile
import time
import traceback
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir, contextmanager
from pathlib import Path
from types import FrameType, MappingProxyType
from typing import Any, NamedTuple

from click.testing import CliRunner

from clusters import DATA, compact, initial_end, pod, watched
from plinian.engine.errors import PlinianError
from plinian.engine.log import LogStore, open_log
from plinian.replay.cli.main import app
from plinian.replay.ingest.ingest_run import IngestOptions, ingest
from plinian.replay.truth.truth import build_index

HANG_SECONDS = 5.0
MOST_MB = 600
_CASES_OF_A_LOG = 200
_SAMPLE = 12_000
"""Bytes of a recorded input that are mutated: so many are read quickly."""

_TOKENS = (
    *(b"{", b"}", b"[", b"]", b'"', b":", b",", b"\n", b"\r\n", b"\t", b"\0", b"\\", b"\xff"),
    *(b"null", b"true", b"-1", b"0", b"1e999", b"9" * 30, b"9" * 5000, b"1." + b"0" * 3000),
    *(rb"\u0000", rb"\ud800", rb"\ud800\udc00", b"\xed\xa0\x80", "é٣\u2028".encode(), b"\x1b[2J"),
    *(b"[" * 300, b'{"a":' * 300, b"[" * 3000, b"a" * 3000, b" " * 3000, b"\n" * 3000),
    *(b"9999-12-31T23:59:59-23:59", b"0001-01-01T00:00:00+23:59", b"2026-02-30T00:00:00Z"),
    *(b'"resourceVersion":"1"', b'"kind":"List"', b'"items":[]', b'"metadata":null', b"&a", b"*a"),
    *(b"---\n", b"- ", b"<<: *a\n", b"!!binary x", b"!!int y", b"? x\n", b"&a [*a]", b"%YAML 9\n"),
    *(b"Enter Allocate ...", b"panic: x\n", b'FLAG: --scheduler-conf="x"\n', b"actions: 1\n"),
)
_FLAG_VALUES = (
    *(
        "",
        " ",
        "0",
        "-1",
        "1",
        "9" * 30,
        "9" * 10_000,
        "@1",
        "@-1",
        "@" + "9" * 9000,
        "rv:",
        "rv:1",
    ),
    *(
        "end",
        "now",
        "-5m",
        "-" + "9" * 400 + "d",
        "10:42",
        "25:99",
        "2026-02-30",
        "a\nb",
        "\x1b[2J",
    ),
    *(
        "9999-12-31T23:59:59-23:59",
        "0001-01-01T00:00:00+23:59",
        "٣",
        "é" * 2000,
        "a" * 5000,
        "\udcff",
    ),
    *(
        "pod/p0",
        "pods",
        "pod/",
        "/",
        "a/b/c",
        "*",
        "(((",
        "[",
        "a=b",
        "a!=b,c in (d",
        "{.items[*]}",
    ),
    *("{" * 500, "[?(@.a==1)]", "{.a[99999999999999999999]}", "main", "default", "json", "yaml"),
    *(
        "wide",
        "jsonpath={.items[*].metadata.name}",
        "jsonpath={" + "." * 3000,
        "v1.12.1",
        "v9",
        "v1.",
    ),
    *("custom-columns=A:.metadata.name", "a,b,c", "--", "-", "/dev/null", "nowhere", "{}", "null"),
)
_COMMANDS = (
    *("status", "events", "get", "describe", "history", "diff", "digest", "verify", "export"),
    *("belief", "session", "drift", "bisect", "upgrade-check", "simulate", "lint", "ingest"),
    *("release", "db", "checkpoint", "branch", "completion", "version"),
)
_FLAGS = (
    *("--at", "--cluster", "--branch", "--as-known-at", "-o", "--limit", "--kind", "--since"),
    *("--after", "-l", "--field-selector", "-n", "--sort-by", "--release", "--conf", "--patch"),
    *("--now", "--taken-at", "--year", "--assume", "--choose", "--object", "--actor", "--source"),
    *("--all", "--who", "--summary", "--exit-code", "--strict", "-A", "--skip-malformed", "-w"),
)


class Figures(NamedTuple):
    """What a run found.

    :param cases: inputs and commands that were tried. :param peak_mb: the most memory so far.
    :param tracebacks: and ``hangs``: how to come by each: seed, number, and what happened.
    """

    cases: int
    seconds: float
    tracebacks: list[str]
    hangs: list[str]
    slowest: float
    peak_mb: int

    def __str__(self) -> str:
        return (
            f"inputs: {self.cases} cases in {self.seconds:.0f} s:"
            f" {len(self.tracebacks)} tracebacks, {len(self.hangs)} over {HANG_SECONDS:.0f} s"
            f" (slowest {self.slowest:.1f} s),"
            f" {self.peak_mb} MB at most"
        )


class _Hang(BaseException):
    """Something took too long."""


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise _Hang


@contextmanager
def _watched(seconds: float) -> Iterator[None]:
    """Interrupt what is inside after so much time of the processor: a busy machine is no hang.

    Again and again, since Python drops what is raised in some places (where objects are let go of).
    """
    before = signal.signal(signal.SIGVTALRM, _interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def samples() -> dict[str, bytes]:
    """Return a small input of each format: the begin of what was recorded, or made up."""
    found = dict[str, bytes]()
    for path in sorted(DATA.glob("*.gz")):
        if not path.name.startswith(("decided", "believed")):
            data = gzip.decompress(path.read_bytes())
            found[path.name.removesuffix(".gz")] = data[: data.rfind(b"\n", 0, _SAMPLE) + 1] or data
    # Lists are one text: cut, they would be damaged before they are mutated.
    found["pods.json"] = compact(
        {
            "kind": "PodList",
            "apiVersion": "v1",
            "metadata": {"resourceVersion": "9"},
            "items": [pod("a", 1), pod("b", 2)],
        }
    )
    found["made.jsonl"] = watched(("ADDED", pod("a", 3)), initial_end(5), ("MODIFIED", pod("a", 6)))
    usage = {"type": "usage.measured", "observedAt": "2026-01-01T00:00:00Z", "node": "n"}
    found["usage.jsonl"] = compact({**usage, "cpu": {"10m": 1.5}}) + b"\n"
    found["s.conf"] = b'actions: "enqueue, allocate"\ntiers:\n- plugins:\n  - name: gang\n'
    queue: dict[str, Any] = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue"}
    queue["metadata"] = {"name": "q"}
    steps = [{"conf": "tiers: []", "events": [{"type": "ADDED", "object": queue}]}]
    found["a.case.json"] = compact({"steps": steps, "conf": 'actions: "allocate"\ntiers: []'})
    return found


def _mutated(data: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    """Return data with a few changes: bytes flipped, cut, moved, repeated, tokens put in."""
    text = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
        place = chance.randrange(len(text) + 1)
        end = min(len(text), place + chance.choice((1, 1, 4, 16, 64, 512)))
        match chance.randrange(9):
            case 0 if place < len(text):
                text[place] ^= 1 << chance.randrange(8)
            case 1:
                del text[place:end]
            case 2:
                del text[place:]
            case 3:
                text[place:place] = text[place:end] * chance.choice((1, 2, 50))
            case 4:
                other = chance.choice(others)
                begin = chance.randrange(len(other) + 1)
                text[place:end] = other[begin : begin + chance.choice((8, 64, 2000))]
            case 5:
                text[place:end] = chance.choice(_TOKENS)
            case _:
                _replace_value(text, place, chance)
    return bytes(text)


def _replace_value(text: bytearray, place: int, chance: random.Random) -> None:
    """Put a token in the place of a value of JSON or YAML, so that the rest stays well formed."""
    colon = text.find(b":", place)
    if colon < 0:
        return
    begin = colon + 1
    end = begin
    if text[begin : begin + 1] == b'"':
        end = text.find(b'"', begin + 1) + 1 or begin
    else:
        while end < len(text) and text[end] not in b",}]\n":
            end += 1
    token = chance.choice(_TOKENS)
    whole = (
        b'"' + token + b'"',
        token,
        b"{}",
        b"[]",
        b'[{"a":null}]',
        b'""',
        b"7",
        b"1.5",
        b"null",
    )
    text[begin:end] = chance.choice(whole)


def _by_line(before: bytes, after: bytes = b"") -> Callable[[bytes], bytes]:
    """Return what puts something before and after each line."""
    return lambda data: b"".join(
        before + line + after + b"\n" for line in data.removesuffix(b"\n").split(b"\n")
    )


def _in_records(record: Callable[[str], Any], *, array: bool = False) -> Callable[[bytes], bytes]:
    """Return what makes a record in JSON of each line: one a line, or an array of all."""

    def wrapped(data: bytes) -> bytes:
        lines = data.decode(errors="replace").removesuffix("\n").split("\n")
        records = [record(line) for line in lines]
        return compact(records) if array else b"".join(compact(one) + b"\n" for one in records)

    return wrapped


_TIME_OF_A_RECORD = "2026-11-28T10:00:00.5Z"
WRAPPERS: Mapping[str, Callable[[bytes], bytes]] = MappingProxyType(
    {
        "kubectl logs --prefix": _by_line(b"[pod/volcano-scheduler-7d9/volcano-scheduler] "),
        "stern": _by_line(b"volcano-scheduler-7d9 volcano-scheduler "),
        "stern with colours": _by_line(b"\x1b[36mscheduler-7d9\x1b[0m \x1b[32mscheduler\x1b[0m "),
        "docker compose": _by_line(b"scheduler-1  | "),
        "a quotation": _by_line(b"> "),
        "a quotation of a quotation": _by_line(b"> > "),
        "spaces": _by_line(b"    "),
        "lines of Windows": _by_line(b"", b"\r"),
        "a block of code": lambda data: b"```\n" + data + b"```\n",
        "docker's json-file": _in_records(
            lambda line: {"log": f"{line}\n", "stream": "stderr", "time": _TIME_OF_A_RECORD}
        ),
        "Cloud Logging": _in_records(
            lambda line: {"textPayload": line, "timestamp": _TIME_OF_A_RECORD}, array=True
        ),
        "Cloud Logging, fields": _in_records(
            lambda line: {
                "jsonPayload": {"message": line, "pid": "1"},
                "severity": "INFO",
                "sourceLocation": {"file": "session.go", "line": "193"},
                "timestamp": _TIME_OF_A_RECORD,
            }
        ),
        "Elasticsearch": lambda data: compact(
            {"hits": {"hits": [{"_source": {"log": data.decode(errors="replace")}}]}}
        ),
    }
)
"""What lines are wrapped in, by name: as people and collectors of logs do it."""


def _wrapped(data: bytes, chance: random.Random) -> bytes:
    """Return data as it is, or wrapped once, or twice."""
    for _ in range(chance.choice((0, 0, 0, 1, 1, 2))):
        data = WRAPPERS[chance.choice(list(WRAPPERS))](data)
    return data


def _packed(data: bytes, name: str, chance: random.Random) -> bytes:
    """Return data as it is, or compressed or in an archive, and that mutated."""
    way = chance.randrange(20)
    out = io.BytesIO()
    if way == 0:
        out.write(gzip.compress(data, 1, mtime=0))
    elif way == 1:
        with tarfile.open(fileobj=out, mode="w") as archive:
            header = tarfile.TarInfo(name)
            header.size = len(data)
            archive.addfile(header, io.BytesIO(data))
    elif way == 2:
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr(zipfile.ZipInfo(name), data)
    else:
        return data
    return _mutated(out.getvalue(), chance, [data]) if chance.randrange(2) else out.getvalue()


def _feed(store: LogStore, path: Path, chance: random.Random, cluster: str) -> None:
    options = IngestOptions(
        cluster=cluster,
        skip_malformed=chance.randrange(3) > 0,
        partial_lists=chance.randrange(8) == 0,
        year=chance.choice((None, 2026, 2026, 9999)),
    )
    try:
        ingest(store, [str(path)], options)
    except PlinianError:
        return
    if chance.randrange(4) == 0:
        build_index(store, cluster=cluster)


def _ask(log: str, runner: CliRunner, chance: random.Random) -> str:
    """Run a command with arguments that nobody would give; return its traceback, if it has one."""
    words = [chance.choice(_COMMANDS)]
    for _ in range(chance.randrange(5)):
        flag = chance.choice(_FLAGS)
        value = chance.choice(_FLAG_VALUES)
        words += chance.choice(([flag, value], [f"{flag}={value}"], [value], [flag]))
    if chance.randrange(4):
        words += ["--log", log]
    result = runner.invoke(app, words, env={"PLINIAN_TRACEBACK": "1"})
    if result.exception is None or isinstance(result.exception, SystemExit | PlinianError):
        return ""
    where = traceback.format_exception(result.exception)[-6:]
    return f"{[word[:60] for word in words]}: {''.join(where)}"


def run(*, seed: int, count: int, seconds: float) -> Figures:
    """Try so many mutated inputs and commands, or as many as time allows.

    :param seed: of everything that is random. :param seconds: after which no more are tried.
    """
    given = samples()
    tracebacks, hangs = list[str](), list[str]()
    slowest, done, begin = 0.0, 0, time.monotonic()
    # Commands may write files of odd names to where they are.
    with tempfile.TemporaryDirectory(prefix="plinian-campaign-") as name, chdir(name):
        folder = Path(name)
        with open_log(folder / "asked.db", create=True) as store:
            (folder / "good.jsonl").write_bytes(given["made.jsonl"])
            ingest(store, [str(folder / "good.jsonl")])
        for number in range(count):
            if time.monotonic() - begin > seconds:
                break
            chance = random.Random(f"{seed}/{number}")
            last = time.process_time()
            try:
                with _watched(HANG_SECONDS):
                    fault = _one(number, folder, given, chance)
            except _Hang:
                fault = ""
                hangs.append(f"seed {seed}, case {number}")
            if fault:
                tracebacks.append(f"seed {seed}, case {number}: {fault}")
            slowest = max(slowest, time.process_time() - last)
            done += 1
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return Figures(done, time.monotonic() - begin, tracebacks, hangs, slowest, peak)


def _one(number: int, folder: Path, given: dict[str, bytes], chance: random.Random) -> str:
    """Try one case; return its traceback, or nothing."""
    if number % 10 == 0:
        return _ask(str(folder / "asked.db"), CliRunner(), chance)
    name = chance.choice(sorted(given))
    data = _mutated(_wrapped(given[name], chance), chance, list(given.values()))
    data = _packed(data, name, chance)
    path = folder / name
    path.write_bytes(data)
    # Each is of a cluster of its own, in a log that is not kept for long: to found one takes time.
    place = folder / f"fed-{number // _CASES_OF_A_LOG}.db"
    try:
        with open_log(place, create=True) as store:
            _feed(store, path, chance, f"c{number}")
    except Exception:  # noqa: BLE001 - whatever it is, it is what is looked for
        return f"{name}: {''.join(traceback.format_exc().splitlines(keepends=True)[-8:])}"
    finally:
        path.unlink()
        if number % _CASES_OF_A_LOG == _CASES_OF_A_LOG - 1:
            for left in folder.glob("fed-*"):
                left.unlink()
    return ""


Tell = Callable[[str], None]


def main(*, seed: int, count: int, seconds: float, tell: Tell = print) -> bool:
    """Run, print the figures and the first findings, and say whether there were none."""
    figures = run(seed=seed, count=count, seconds=seconds)
    tell(str(figures))
    for finding in (*figures.tracebacks[:10], *figures.hangs[:10]):
        tell(finding)
    return not figures.tracebacks and not figures.hangs and figures.peak_mb < MOST_MB
