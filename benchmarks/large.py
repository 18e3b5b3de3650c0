"""A log of 5,000 nodes and 20,000 pods; run as a module, so that its memory is its own.

python -m benchmarks.large LOG EVENTS NODES FAMILIES

A *family* is a job of the shipped recording with its PodGroup and its pods. Copies of families run
beside each other, each with own names and uids; their pods run on the nodes of the large cluster.
"""

from __future__ import annotations

import itertools
import re
import sys
from collections import deque
from collections.abc import Iterator

import msgspec

from plinian.engine.log import open_log
from plinian.replay.truth.truth import build_index

from .corpus import Life, batches, recorded_lives

NODES, FAMILIES = 5_000, 6_500
"""So many families have about 20,000 pods."""

_NODE_NAME = re.compile(rb'"nodeName":"node-(\d+)"')
_UID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_FIRST_REVISION = 1000


class _Family(msgspec.Struct, frozen=True):
    """A job and what belongs to it, as lines in the order of their revisions."""

    name: bytes
    lines: tuple[tuple[str, bytes], ...]


def lines(events: int, *, nodes: int, families: int) -> Iterator[bytes]:
    """Yield watch lines: first all nodes and queues, then families that come and go."""
    lives = recorded_lives(managed_fields=False)
    began = itertools.chain(_once(lives, "PriorityClass"), _once(lives, "Queue"))
    recorded = [life for life in lives if life.kind == "Node"]
    machines = [_node(recorded[number % len(recorded)], number) for number in range(nodes)]
    began = itertools.chain(began, (next(one) for one in machines))
    sent = itertools.chain(began, _mixed(_running(_families(lives), families, nodes), machines))
    for revision, (kind, body) in enumerate(itertools.islice(sent, events), _FIRST_REVISION):
        numbered = body.replace(b'"resourceVersion":"#"', b'"resourceVersion":"%d"' % revision, 1)
        yield b'{"type":"%s","object":%s}' % (kind.encode(), numbered)


def _mixed(
    running: Iterator[tuple[str, bytes]], machines: list[Iterator[tuple[str, bytes]]]
) -> Iterator[tuple[str, bytes]]:
    """Yield what happens to families, and every twentieth time a status of a node."""
    for machine in itertools.cycle(machines):
        yield from itertools.islice(running, 19)
        yield next(machine)


def _once(lives: list[Life], kind: str) -> Iterator[tuple[str, bytes]]:
    for life in lives:
        if life.kind == kind:
            yield "ADDED", _numbered(life.versions[0].body, life.revisions[0])


def _node(life: Life, number: int) -> Iterator[tuple[str, bytes]]:
    """Yield the statuses of a node for ever."""
    uid = b"%08x-0000-4000-9000-%012x" % (number, number)
    old, new = b'"%s"' % life.name, b'"node-%05d"' % number
    for version, revision in itertools.cycle(zip(life.versions, life.revisions, strict=True)):
        body = version.body.replace(life.uid, uid).replace(old, new)
        yield "MODIFIED", _numbered(body, revision)


def _numbered(body: bytes, revision: bytes) -> bytes:
    return body.replace(b'"resourceVersion":"%s"' % revision, b'"resourceVersion":"#"', 1)


def _families(lives: list[Life]) -> list[_Family]:
    found = []
    for job in (life for life in lives if life.kind == "Job"):
        members = [life for life in lives if life is job or _belongs(life, job)]
        dated = sorted(
            (int(revision), version.type, _numbered(version.body, revision))
            for life in members
            for version, revision in zip(life.versions, life.revisions, strict=True)
        )
        ends = [
            ("DELETED", _numbered(life.versions[-1].body, life.revisions[-1]))
            for life in members
            if life.versions[-1].type != "DELETED"
        ]
        found.append(_Family(job.name, (*((kind, body) for _, kind, body in dated), *ends)))
    return found


def _belongs(life: Life, job: Life) -> bool:
    return life.kind in {"Pod", "PodGroup"} and life.name.startswith(job.name + b"-")


def _running(families: list[_Family], alive: int, nodes: int) -> Iterator[tuple[str, bytes]]:
    """Yield what happens to so many families, in turn; another one follows each that ends."""
    fresh = (_copy(families[one % len(families)], one, nodes) for one in itertools.count())
    running = deque(itertools.islice(fresh, alive))
    for number, family in enumerate(running):  # They do not begin at one moment.
        yield from itertools.islice(family, number % 20)
    while True:
        found = next(running[0], None)
        while found is None:
            running[0] = next(fresh)
            found = next(running[0], None)
        yield found
        if found[0] == "DELETED":  # What belongs to it is deleted at once.
            yield from running[0]
        running.rotate(-1)


def _copy(family: _Family, serial: int, nodes: int) -> Iterator[tuple[str, bytes]]:
    name = b"%s-%d" % (family.name, serial)
    ours = re.compile(rb'(["/])' + re.escape(family.name) + rb'(["/-])')

    def uid(old: re.Match[bytes]) -> bytes:
        return old[0][:-8] + b"%08x" % serial

    def node(old: re.Match[bytes]) -> bytes:
        return b'"nodeName":"node-%05d"' % ((serial * 7 + int(old[1])) % nodes)

    for kind, body in family.lines:
        named = ours.sub(rb"\g<1>" + name + rb"\g<2>", body)
        yield kind, _NODE_NAME.sub(node, _UID.sub(uid, named))


def main(log: str, events: int, nodes: int, families: int) -> None:
    """Append so many events of such a cluster, and index the log."""
    with open_log(log, create=True) as store:
        for batch in batches(lines(events, nodes=nodes, families=families)):
            store.append(batch)
        build_index(store, cluster="default")


if __name__ == "__main__":
    main(sys.argv[1], *(int(one) for one in sys.argv[2:5]))
