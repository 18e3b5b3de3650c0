"""A state's digest: equal states have equal digests, in any database and after any fold.

Specified in ``docs/storage.md``.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

import msgspec

from ..events import Reference, canonical_json

_HEADER = msgspec.msgpack.Encoder()


def prune(value: Any) -> Any:
    """Return JSON without nulls and empty containers, which API servers may write or leave out."""
    if isinstance(value, dict):
        pruned = {key: prune(item) for key, item in value.items()}
        return {key: item for key, item in pruned.items() if item not in (None, {}, [])}
    if isinstance(value, list):
        return [item for item in map(prune, value) if item not in (None, {}, [])]
    return value


def digest_of(objects: Iterable[tuple[Reference, dict[str, Any], bool]]) -> str:
    """Return the hex BLAKE2b-256 of objects given in order of reference.

    :param objects: reference, document, and whether it is stale.
    """
    total = blake2b(digest_size=32)
    for reference, document, stale in objects:
        content = blake2b(canonical_json(prune(document)), digest_size=32).digest()
        total.update(
            _HEADER.encode(
                (
                    reference.group,
                    reference.kind,
                    reference.namespace,
                    reference.name,
                    reference.uid,
                    stale,
                    content,
                )
            )
        )
    return total.hexdigest()
