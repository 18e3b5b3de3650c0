"""The hashes are those of ``docs/storage.md``, computed here a second time from the page alone."""

from __future__ import annotations

from struct import pack as packed

import msgspec
from blake3 import blake3
from pods import bound, listing, message, pod, pods
from xxhash import xxh3_64_intdigest

from plinian.engine.events import Recorded
from plinian.engine.log import LogStore, Query, open_log

pack = msgspec.msgpack.encode


def _hash(data: bytes) -> bytes:
    return blake3(data).digest()


def _root(leaves: list[bytes]) -> bytes:
    while len(leaves) > 1:
        groups = [leaves[start : start + 16] for start in range(0, len(leaves), 16)]
        leaves = [_hash(b"\1" + b"".join(group)) for group in groups]
    return leaves[0]


def test_the_head_follows_from_the_specification(log_place: str) -> None:
    with open_log(log_place, create=True) as log:
        log.append([*pods(*range(1, 40)), message("x"), listing(40, "web-0", exact=False)])
        log.append([bound("web-0", "n", at=3), pod(41, actor="alice")])
        log.create_branch("b", fork=20)
        log.append(pods(50), branch="b")
        stored = list(log.read(Query())), list(log.read(Query(branch="b", after=20)))
        heads = log.verify(branch="main").head, log.verify(branch="b").head

    main, branch = stored
    genesis = _hash(pack(["plinian-branch", "main", b"", 0]))
    first, second = _batch(main[:41], blocks=(16, 16, 9)), _batch(main[41:], blocks=(2,))
    one = _hash(pack([genesis, "main", 1, 1, 41, main[0].recorded_at, *first]))
    two = _hash(pack([one, "main", 2, 42, 43, main[41].recorded_at, *second]))
    fork = _hash(pack(["plinian-branch", "b", one, 20]))
    third = _batch(branch, blocks=(1,))
    other = _hash(pack([fork, "b", 1, 21, 21, branch[0].recorded_at, *third]))
    assert heads == (two.hex(), other.hex())


def _header(recorded: Recorded) -> bytes:
    e = recorded.event
    o = e.reference
    about = [e.cluster, o.group, o.kind, o.namespace, o.name, o.uid]
    told = (e.resource_version, e.revision, e.earliest, e.latest, e.actor, e.source, e.line)
    where = (recorded.branch, recorded.position)
    return pack([*where, e.kind, e.schema, about, *told, len(e.payload)])


def _mark(recorded: Recorded) -> bytes:
    seed = xxh3_64_intdigest(_header(recorded))
    return packed(">Q", xxh3_64_intdigest(recorded.event.payload, seed=seed))[4:]


def _batch(events: list[Recorded], *, blocks: tuple[int, ...]) -> tuple[bytes, bytes]:
    """Return the Merkle root and the marks of a batch, with so many events in its blocks."""
    leaves, marks, begin = [], b"", 0
    for size in blocks:
        part = events[begin : begin + size]
        headers = b"".join(_header(r) for r in part)
        payloads = b"".join(r.event.payload for r in part)
        leaves.append(_hash(len(headers).to_bytes(4, "big") + headers + payloads))
        marks += b"".join(map(_mark, part))
        begin += size
    assert begin == len(events)
    return _root(leaves), marks


def test_a_block_ends_after_sixteen_events_or_a_quarter_of_a_mebibyte(log: LogStore) -> None:
    big = message("x" * 300_000)
    log.append([*(message(str(i)) for i in range(3)), big, *(message(f"{i}!") for i in range(20))])
    database = log._database  # type: ignore[attr-defined]
    blocks = database.rows("SELECT first, last FROM payload_block ORDER BY first")
    assert blocks == [(1, 4), (5, 20), (21, 24)]
    log.verify()
