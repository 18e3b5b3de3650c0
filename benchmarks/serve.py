"""The Kubernetes API of the past, of a large cluster: lists, tables, and many watches of one play.

CPU is that of the server's process; the peer is the reading of the same objects from the log.
"""

from __future__ import annotations

import json
import selectors
import socket
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from plinian.engine.events import Event
from plinian.engine.ingest.objects.version_events import version_event
from plinian.engine.log import open_log
from plinian.replay.logs.log import opened
from plinian.replay.truth.truth import build_index

from .measure import Result, clock
from .served import Server

PODS, WATCHERS, EVENTS_A_SECOND, SECONDS = 20_000, 100, 1_000, 10
BEGIN_US = 1_767_225_600_000_000
SECOND_US = 1_000_000
_EVENT = b'{"type":'
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


def run(folder: Path, *, scale: float = 1.0) -> Iterator[Result]:
    """Serve a log; at scale 1 with 20,000 pods."""
    pods = int(PODS * scale)
    place = folder / "log.db"
    _build(place, pods)
    with opened(place, read_only=True) as log:
        entries = log.truth(f"rv:{pods}").of("", "Pod")
        with clock() as read:
            log.store.payloads([entry.position for entry in entries])
    yield _milliseconds(f"read {pods:,} pods from the log", read.cpu, None)
    server = _Server(place, "--at", f"rv:{pods}")
    for what, accept, limit in (
        ("list of pods, first", "application/json", 1500.0),
        ("list of pods, again", "application/json", 300.0),
        ("table of pods, first", TABLE, 1500.0),
        ("table of pods, again", TABLE, 300.0),
    ):
        yield _milliseconds(f"{what}, {pods:,}", server.asked("/api/v1/pods", accept), limit)
    yield Result(
        benchmark="serve",
        figure="peak memory of the server after lists",
        value=server.peak_mb(),
        unit="MB",
        limit=300.0,
    )
    yield from _watched(server)
    yield Result(
        benchmark="serve",
        figure="peak memory of the server",
        value=server.peak_mb(),
        unit="MB",
        limit=300.0,
    )
    server.close()


def _milliseconds(figure: str, seconds: float, limit: float | None) -> Result:
    return Result(benchmark="serve", figure=figure, value=seconds * 1000, unit="ms", limit=limit)


def _watched(server: _Server) -> Iterator[Result]:
    """Let many watches see what is played, and compare the CPU with the time that it took."""
    watches = [server.watch() for _ in range(WATCHERS)]
    chosen = selectors.DefaultSelector()
    for one in watches:
        chosen.register(one, selectors.EVENT_READ)
    wanted = EVENTS_A_SECOND * SECONDS * WATCHERS
    seen, tails = 0, dict.fromkeys(watches, b"")
    begin, cpu = time.perf_counter(), server.cpu()
    server.play(1.0)
    while seen < wanted and time.perf_counter() - begin < SECONDS * 6:
        for key, _ in chosen.select(timeout=1):
            assert isinstance(key.fileobj, socket.socket)
            received = tails[key.fileobj] + key.fileobj.recv(1 << 20)
            seen += received.count(_EVENT)
            tails[key.fileobj] = received[1 - len(_EVENT) :]
    used, took = server.cpu() - cpu, time.perf_counter() - begin
    for one in watches:
        one.close()
    yield Result(
        benchmark="serve",
        figure=f"watched events delivered, {WATCHERS} watches of {EVENTS_A_SECOND:,}/s",
        value=seen / wanted * 100,
        unit="%",
        limit=99.9,
        better="more",
        note=f"in {took:.0f} s",
    )
    yield Result(
        benchmark="serve",
        figure="deliveries to watches",
        value=seen / used,
        unit="/CPU s",
        limit=60_000.0,
        better="more",
    )
    yield Result(
        benchmark="serve",
        figure=f"CPU for {SECONDS} seconds of them",
        value=used / SECONDS * 100,
        unit="% a core",
        limit=100.0,
    )


class _Server(Server):
    """A server whose moment is played."""

    def asked(self, path: str, accept: str) -> float:
        """Ask, and return the server's CPU seconds."""
        answer = self.get(path, accept)
        assert answer.status == 200, answer.status
        return answer.cpu

    def watch(self) -> socket.socket:
        """Begin a watch of all pods from now on."""
        opened_socket = socket.create_connection(("127.0.0.1", self.port))
        path = f"/api/v1/pods?watch=1&resourceVersion={self._revision()}"
        opened_socket.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        while b"\r\n\r\n" not in opened_socket.recv(1 << 16):
            pass
        return opened_socket

    def play(self, speed: float) -> None:
        """Let the served moment move on."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=600)
        body = json.dumps({"command": "play", "speed": speed})
        connection.request("POST", "/plinian/v1/play", body)
        assert connection.getresponse().status == 200
        connection.close()

    def _revision(self) -> int:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=600)
        connection.request("GET", "/plinian/v1/play")
        found: int = json.load(connection.getresponse())["revision"]
        connection.close()
        return found


def _build(place: Path, pods: int) -> None:
    """Write a log in which all pods exist, and then change at a steady rate."""
    changes = EVENTS_A_SECOND * SECONDS
    with open_log(place, create=True) as store:
        store.append([_version(number, number + 1, BEGIN_US) for number in range(pods)])
        store.append(
            [
                _version(
                    number % pods,
                    pods + number + 1,
                    BEGIN_US + SECOND_US + number * SECOND_US // EVENTS_A_SECOND,
                )
                for number in range(changes)
            ]
        )
        build_index(store, cluster="default")


def _version(number: int, revision: int, time_us: int) -> Event:
    """Return a version of a pod of about 2 KB."""
    name = f"train-{number // 10}-worker-{number % 10}"
    environment = [{"name": f"SETTING_{one}", "value": "x" * 40} for one in range(20)]
    document: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": f"team-{number % 20}",
            "uid": f"uid-{number}",
            "resourceVersion": str(revision),
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {"app": f"train-{number // 10}", "volcano.sh/queue-name": "default"},
        },
        "spec": {
            "nodeName": f"node-{number % 500}",
            "schedulerName": "volcano",
            "containers": [{"name": "main", "image": "train:1", "env": environment}],
        },
        "status": {"phase": "Running", "message": f"step {revision}"},
    }
    return version_event(
        document, verb="updated", source="made", line=revision, earliest=time_us, latest=time_us
    )
