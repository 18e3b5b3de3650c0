"""Real object histories, multiplied: what the benchmarks eat.

The shipped recording's watch streams are cut into *lives*: all versions of one object, in order.
A synthetic history runs thousands of copies of such lives at once, each with other names, uids
and resourceVersions, so that sizes, entropy and the mix of kinds stay those of a cluster.
"""

from __future__ import annotations

import itertools
import lzma
from collections import deque
from collections.abc import Iterator, Sequence
from importlib.resources import files

import msgspec

from plinian.engine.events import Event
from plinian.engine.ingest.objects.version_events import version_event


class Version(msgspec.Struct, frozen=True):
    """One line of a watch stream: its type and the object's bytes as sent."""

    type: str
    body: bytes


class Life(msgspec.Struct, frozen=True):
    """All versions of one object; the identity that copies replace."""

    kind: str
    uid: bytes
    name: bytes
    versions: tuple[Version, ...]
    revisions: tuple[bytes, ...]


class _Metadata(msgspec.Struct, rename="camel"):
    name: str
    uid: str = ""
    resource_version: str = ""


class _Object(msgspec.Struct):
    kind: str
    metadata: _Metadata


class _Line(msgspec.Struct):
    type: str
    object: msgspec.Raw


def recorded_lines() -> Iterator[bytes]:
    """Yield the watch lines of the shipped recording, managedFields and all."""
    folder = files("plinian.replay") / "recordings" / "quickstart"
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.startswith("watch-"))
    for name in names:
        text = lzma.decompress((folder / name).read_bytes())
        yield from (line for line in text.splitlines() if line.strip())


def recorded_lives(*, managed_fields: bool) -> list[Life]:
    """Return the lives of the recorded pods, PodGroups, jobs, nodes and queues.

    :param managed_fields: keep them, as a raw watch does; else objects are as kubectl prints them.
    """
    line_of = msgspec.json.Decoder(_Line)
    object_of = msgspec.json.Decoder(_Object)
    lives: dict[str, list[tuple[_Object, Version]]] = {}
    for line in recorded_lines():
        watched = line_of.decode(line)
        if watched.type not in ("ADDED", "MODIFIED", "DELETED"):
            continue
        body = bytes(watched.object)
        if not managed_fields:
            document = msgspec.json.decode(body)
            document["metadata"].pop("managedFields", None)
            body = msgspec.json.encode(document)
        head = object_of.decode(body)
        lives.setdefault(head.metadata.uid, []).append((head, Version(watched.type, body)))
    return [
        Life(
            kind=versions[0][0].kind,
            uid=uid.encode(),
            name=versions[0][0].metadata.name.encode(),
            versions=tuple(version for _, version in versions),
            revisions=tuple(head.metadata.resource_version.encode() for head, _ in versions),
        )
        for uid, versions in lives.items()
    ]


def watch_lines(events: int, *, alive: int, managed_fields: bool = True) -> Iterator[bytes]:
    """Yield watch lines of a cluster in which about ``alive`` objects exist at any moment.

    Pods, PodGroups and jobs come and go; nodes and queues are updated for ever.
    """
    lives = recorded_lives(managed_fields=managed_fields)
    lasting = [life for life in lives if life.kind in ("Node", "Queue")]
    passing = [life for life in lives if life.kind in ("Pod", "PodGroup", "Job")]
    fresh = itertools.cycle(passing)
    serial = itertools.count(1)
    running: deque[Iterator[bytes]] = deque()
    revision = 1000
    for index in range(alive):
        life = lasting[index % len(lasting)] if index % 20 == 0 else next(fresh)
        running.append(_copy(life, next(serial)))
    for _ in range(events):
        body = next(running[0], None)
        while body is None:
            running[0] = _copy(next(fresh), next(serial))
            body = next(running[0], None)
        running.rotate(-1)
        revision += 1
        yield body.replace(b'"resourceVersion":"#"', b'"resourceVersion":"%d"' % revision, 1)


def _copy(life: Life, serial: int) -> Iterator[bytes]:
    uid = b"%08x-0000-4000-8000-%012x" % (serial, serial * 2654435761 % 2**48)
    name = b"%s-%d" % (life.name, serial)
    old_name, new_name = b'"name":"%s"' % life.name, b'"name":"%s"' % name
    rounds = itertools.count() if life.kind in ("Node", "Queue") else range(1)
    body = b""
    for _ in rounds:
        for version, revision in zip(life.versions, life.revisions, strict=True):
            if version.type == "DELETED" and life.kind in ("Node", "Queue"):
                continue
            body = (
                version.body.replace(life.uid, uid)
                .replace(old_name, new_name)
                .replace(b'"resourceVersion":"%s"' % revision, b'"resourceVersion":"#"', 1)
            )
            yield b'{"type":"%s","object":%s}' % (version.type.encode(), body)
    if life.versions[-1].type != "DELETED":
        yield b'{"type":"DELETED","object":%s}' % body


VERBS = {"ADDED": "created", "MODIFIED": "updated", "DELETED": "deleted"}


def event_of(line: bytes, number: int) -> Event:
    """Return the event of a watch line, observed one a millisecond."""
    watched = _LINE.decode(line)
    return version_event(
        msgspec.json.decode(watched.object),
        verb=VERBS[watched.type],
        source="corpus",
        line=number,
        earliest=1_800_000_000_000_000 + number * 1000,
        latest=1_800_000_000_000_000 + number * 1000 + 500,
    )


_LINE = msgspec.json.Decoder(_Line)


def batches(lines: Iterator[bytes], size: int = 1000) -> Iterator[Sequence[Event]]:
    """Yield events in batches as ingest appends them."""
    numbered = (event_of(line, number) for number, line in enumerate(lines, 1))
    while batch := list(itertools.islice(numbered, size)):
        yield batch
