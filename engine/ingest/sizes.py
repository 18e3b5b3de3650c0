"""How much one record may take, so that no input takes more memory than a machine has.

A record is held as it was sent, as values, and as it is stored; all of that together stays below
some 500 MB.
"""

from __future__ import annotations

from ..errors import EventMalformed

MAX_OBJECT = 8 * 2**20
"""Bytes of one object; an API server takes no more than 3 MiB in a request."""

MAX_VALUES = 2_500_000
"""Values in one record. A pod has about 200."""

TOO_LARGE = f"an object of more than {MAX_OBJECT // 2**20} MiB, which no API server takes"

_SMALL = 2**20
"""What is smaller is not counted."""


def hold_values(text: bytes | bytearray | memoryview) -> None:
    """Hold the text of a JSON value to :data:`MAX_VALUES`.

    :raises EventMalformed: it has more; the text begins with the path ``$``.
    """
    if len(text) > _SMALL:
        whole = bytes(text) if isinstance(text, memoryview) else text
        if whole.count(b",") + whole.count(b"{") + whole.count(b"[") > MAX_VALUES:
            raise EventMalformed(
                f"$: it has more than {MAX_VALUES:,} values, which would take too much memory"
            )


def hold_object(text: bytes | bytearray | memoryview) -> None:
    """Hold the text of an object to :data:`MAX_OBJECT`, and to :data:`MAX_VALUES`.

    :raises EventMalformed: it is larger; the text begins with the path ``$``.
    """
    if len(text) > MAX_OBJECT:
        raise EventMalformed(f"$: {TOO_LARGE}")
    hold_values(text)
