"""A fold's state as bytes, stored as a start for later folds; may be dropped and rebuilt.

The format is private to one :data:`~.facts.VERSION`; nothing may depend on a checkpoint's bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec
import zstandard

from ..errors import LogCorrupt
from ..events import Reference
from ..events.complete_lists import LastList
from .event_columns import NO_ORIGIN
from .fold import Fold, FoldRecord, ListShape


class _Stored(msgspec.Struct, array_like=True):
    mark: int
    listed: list[tuple[str, str, list[str], list[str]]]
    records: list[FoldRecord]
    answered: list[int | None] = []


_ENCODE = msgspec.msgpack.Encoder()
_DECODE = msgspec.msgpack.Decoder(_Stored)


def encode_checkpoint(fold: Fold, mark: int) -> bytes:
    """Return a fold's state as bytes; every record must carry its fact.

    :param mark: of the clock, for all folded events without revision.
    """
    # Blocks of the sidecar are numbered as one fold read them, so an origin says nothing to
    # another.
    assert all(record.fact and record.origin == NO_ORIGIN for record in fold.records.values()), (
        "a checkpoint has the facts themselves"
    )
    listed = [
        (group, kind, list(namespaces), sorted(last.uids))
        for (group, kind, namespaces), last in sorted(fold.listed.items())
    ]
    answered = [last.answered for _, last in sorted(fold.listed.items())]
    data = _ENCODE.encode(_Stored(mark, listed, list(fold.records.values()), answered))
    return zstandard.ZstdCompressor(level=3).compress(data)


def decode_checkpoint(
    data: bytes,
    *,
    references: Callable[[Sequence[int]], Mapping[int, Reference]],
    payload: Callable[[int], bytes],
) -> tuple[Fold, int]:
    """Return the fold in a checkpoint, ready to continue, and the clock's mark.

    :raises LogCorrupt: the bytes are not a checkpoint; it must be dropped and rebuilt.
    """
    try:
        stored = _DECODE.decode(zstandard.ZstdDecompressor().decompress(data))
    except (msgspec.DecodeError, zstandard.ZstdError) as fault:
        raise LogCorrupt(
            f"a checkpoint cannot be read ({fault})",
            position=0,
            where="table checkpoint",
            now="the log itself is not damaged: plinian checkpoint drop, then build",
        ) from fault
    # A checkpoint of an earlier version has no times; neither have the lists that it knew.
    answered = stored.answered or [None] * len(stored.listed)
    listed: dict[ListShape, LastList] = {
        (group, kind, tuple(namespaces)): LastList(frozenset(uids), at)
        for (group, kind, namespaces, uids), at in zip(stored.listed, answered, strict=True)
    }
    fold = Fold(references=references, payload=payload, records=stored.records, listed=listed)
    return fold, stored.mark
