"""Limits on the size of one record, so that no input needs more memory than a machine has.

A record is in memory as it was sent, as values, and as it is stored; together these take less than
some 500 MB.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

from ...errors import EventMalformed

MAX_OBJECT = 8 * 2**20
"""Bytes of one object; an API server accepts at most 3 MiB in a request."""

MAX_VALUES = 2_500_000
"""Values in one record. A pod has about 200."""

TOO_LARGE = f"an object of more than {MAX_OBJECT // 2**20} MiB, which no API server accepts"

_SMALL = 2 * MAX_VALUES
"""Bytes that cannot have more values: each takes one, and a comma or a bracket."""


class Loaded(Protocol):
    """What has a payload."""

    @property
    def payload(self) -> bytes:
        """Its bytes."""


_T = TypeVar("_T", bound=Loaded)


def in_batches(loaded: Iterable[_T], *, most: int, most_bytes: int) -> Iterator[list[_T]]:
    """Yield things with payloads in lists of ``most``, or of fewer if they are large.

    :param most_bytes: of payloads; a list ends with the one that exceeds it.
    """
    batch, size = list[_T](), 0
    for each in loaded:
        batch.append(each)
        size += len(each.payload)
        if len(batch) == most or size > most_bytes:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def hold_values(text: bytes | bytearray | memoryview) -> None:
    """Check that the text of a JSON value has at most :data:`MAX_VALUES`.

    :raises EventMalformed: it has more.
    """
    if len(text) > _SMALL:
        whole = bytes(text) if isinstance(text, memoryview) else text
        if whole.count(b",") + whole.count(b"{") + whole.count(b"[") > MAX_VALUES:
            raise EventMalformed(
                f"it has more than {MAX_VALUES:,} values, which would take too much memory",
                path="$",
            )


def hold_object(text: bytes | bytearray | memoryview) -> None:
    """Check that the text of an object is within :data:`MAX_OBJECT` and :data:`MAX_VALUES`.

    :raises EventMalformed: it is larger.
    """
    if len(text) > MAX_OBJECT:
        raise EventMalformed(TOO_LARGE, path="$")
    hold_values(text)
