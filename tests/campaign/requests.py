"""Requests to a server at random: questions with odd values, paths, heads, bodies, torn bytes.

None may fail with status 500, show a traceback or a folder of this machine, or end the server; and
the server's memory stays bounded.
"""

from __future__ import annotations

import json
import socket
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import NamedTuple
from urllib.parse import quote

import psutil
from api_questions import QUESTIONS
from serving import Running, ended, serving

import plinian
from plinian.replay.server.api.operation import Operation
from plinian.replay.server.api.table import OPERATIONS

MOST_MB = 600
"""What the server may use on the log of the demo, with all that sessions and searches load."""

LONGEST = 60.0
"""How long an answer may take, in seconds, on a machine with much else to do."""

ODD = (
    *("", "x", " ", "-", "/", "..", "../../etc/passwd", "%", "%00", "\x00", "\x1b[31m", "\n"),
    *("é", "٣", "\u202e", "'", '"', "<script>", "a/b", "a/b/c", "a/b/c/d", "{}", "[]", "null"),
    *("true", "0", "1", "-1", "1e9", "9" * 30, "9" * 5000, "NaN", "@", "@0", "@1", "@99999999"),
    *("rv:", "rv:0", "rv:99999999999999999999", "-5m", "-99999h", "now", "end", "session:1"),
    *("session:0", "session:99999", "2026-11-21T01:53:36Z", "9999-12-31T23:59:59Z", "main@7"),
    *("pods", "queue/gold", "pod/default/gpu-2-gpu-0", "job/gpu-2", "node/node-1", "v1.12.1"),
    *("v0.0.0", "hardened", "pod.*", "*", "I-04", "10s", "0s", "1ms", "x=y", "!x", "a in (b"),
    *("1-1@1", "200-200@4446", "999999999-1000@99", "queue/gold.spec.weight=9", "spec.x=1,"),
    *("actions: enqueue", "tiers: [", "x" * 20_000),
)
RAW = (
    b"",
    b"\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET /\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nHost: localhost\r\n\r\n",
    b"GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"CONNECT localhost:1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
    b"GET /\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /%ff%00%0d%0aX:y HTTP/1.1\r\nHost: localhost\r\nCookie: \xff=;;=\r\n\r\n",
)


class Found(NamedTuple):
    """What the attack found. :param peak_mb: the most memory that the server used."""

    statuses: Counter[int]
    faults: list[str]
    peak_mb: int

    def __str__(self) -> str:
        counted = ", ".join(
            f"{count} × {status}" for status, count in sorted(self.statuses.items())
        )
        return f"{self.statuses.total()} requests: {counted}; {self.peak_mb} MB"


def run(*, seed: int, count: int, seconds: float, folder: Path) -> Found:
    """Send requests until there were so many, or the time is over."""
    with plinian.demo(folder / "demo.db") as log:
        sources = {Path(one.event.source) for one in log.events()}
    # The log knows the folder of an input; no answer may name it.
    folders = (str(folder), *sorted({str(one.parent) for one in sources if one.is_absolute()}))
    running = serving(folder / "demo.db")
    try:
        return _attack(running, Random(seed), count, seconds, folders)
    finally:
        ended(running)


def _attack(
    running: Running, random: Random, count: int, seconds: float, folders: Sequence[str]
) -> Found:
    end, process = time.monotonic() + seconds, psutil.Process(running.process.pid)
    statuses: Counter[int] = Counter()
    faults: list[str] = []
    peak = 0
    for _ in range(count):
        if time.monotonic() > end:
            break
        asked, status, body = _one(running, random)
        statuses[status] += 1
        faults += faults_of(asked, status, body, folders)
        if running.process.poll() is not None:
            faults.append(f"the server ended after {asked}")
            break
        peak = max(peak, process.memory_info().rss >> 20)
    if peak >= MOST_MB:
        faults.append(f"{peak} MB of memory, {MOST_MB} allowed")
    return Found(statuses, faults, peak)


def faults_of(asked: str, status: int, body: bytes, folders: Sequence[str] = ()) -> list[str]:
    """Return what is wrong with an answer."""
    wrong = []
    if status == 500:
        wrong.append("status 500")
    if b"Traceback" in body:
        wrong.append("a traceback")
    wrong += [f"names {folder}" for folder in folders if folder.encode() in body]
    if asked.startswith("GET /plinian/v1/") and status:
        try:
            json.loads(body)
        except ValueError:
            wrong.append("no JSON")
    return [f"{asked[:300]}: {one}" for one in wrong]


def _one(running: Running, random: Random) -> tuple[str, int, bytes]:
    """Send one request, and return it with the status and body of its answer; 0 if none came."""
    if random.random() < 0.15:
        return _raw(running.port, random)
    if random.random() < 0.15:
        path = "/" + "/".join(quote(random.choice(ODD)[:500]) for _ in range(random.randint(0, 4)))
        answer = running.client.get(path, timeout=LONGEST)
        return f"GET {path}", answer.status_code, answer.content
    operation = random.choice(OPERATIONS)
    path, query = _question(operation, random)
    answer = running.client.get(path, params=query, timeout=LONGEST)
    return f"GET {path} {query}", answer.status_code, answer.content


def _question(operation: Operation, random: Random) -> tuple[str, list[tuple[str, str]]]:
    """Return a question with a few odd values."""
    values = {
        name: [value] if isinstance(value, str) else list(value)
        for name, value in QUESTIONS[operation.name].items()
    }
    for _ in range(random.randint(0, 3)):
        name = random.choice([one.name for one in operation.parameters] or ["x"])
        values[name] = [random.choice(ODD) for _ in range(random.choice((1, 1, 1, 2)))]
    if "budget" in {one.name for one in operation.parameters}:
        values["budget"] = ["200ms"]
    path = operation.url
    for one in operation.parameters:
        if one.in_path:
            word = quote(values.pop(one.name)[0][:500], safe="")
            path = path.replace(f"{{{one.name}}}", word)
    short = [(name, one[:5000]) for name, some in values.items() for one in some]
    return f"/plinian/v1/{path}", short


def _raw(port: int, random: Random) -> tuple[str, int, bytes]:
    """Send bytes that may be no request, sometimes torn or with a byte flipped."""
    sent = bytearray(random.choice(RAW))
    if sent and random.random() < 0.5:
        sent[random.randrange(len(sent))] ^= 1 << random.randrange(8)
    if random.random() < 0.3:
        del sent[random.randint(0, len(sent)) :]
    answer = b""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(bytes(sent))
        connection.shutdown(socket.SHUT_WR)
        while some := connection.recv(1 << 16):
            answer += some
    words = answer.split(b" ", 2)
    status = int(words[1]) if len(words) > 2 and words[1].isdigit() else 0
    return f"{bytes(sent)!r}", status, answer.partition(b"\r\n\r\n")[2]
