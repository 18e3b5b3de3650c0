"""The hashes are those of ``docs/storage.md``, computed here a second time from the page alone."""

from __future__ import annotations

from hashlib import blake2b

import msgspec

from plinian.engine.log import Query, open_log
from pods import bound, listing, message, pod, pods

pack = msgspec.msgpack.encode


def _hash(data: bytes) -> bytes:
    return blake2b(data, digest_size=32).digest()


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

    def leaf(recorded: object) -> bytes:
        r = msgspec.structs.asdict(recorded)  # type: ignore[arg-type]
        e = r["event"]
        o = e.reference
        named = (o.group, o.kind, o.namespace, o.name, o.uid)
        told = (e.resource_version, e.revision, e.observed_at, e.actor, e.source, e.line)
        header = pack([r["branch"], r["position"], e.kind, e.schema, e.cluster, *named, *told])
        return _hash(len(header).to_bytes(4, "big") + header + e.payload)

    main, branch = stored
    genesis = _hash(pack(["plinian-branch", "main", b"", 0]))
    first = [leaf(r) for r in main[:41]]
    one = _hash(pack([genesis, "main", 1, 1, 41, main[0].recorded_at, _root(first)]))
    second = [leaf(r) for r in main[41:]]
    two = _hash(pack([one, "main", 2, 42, 43, main[41].recorded_at, _root(second)]))
    fork = _hash(pack(["plinian-branch", "b", one, 20]))
    other = _hash(pack([fork, "b", 1, 21, 21, branch[0].recorded_at, leaf(branch[0])]))
    assert heads == (two.hex(), other.hex())
