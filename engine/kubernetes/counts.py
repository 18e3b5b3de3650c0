"""Numbers with their nouns, in the singular or the plural."""

from __future__ import annotations


def counted(count: int, one: str, many: str = "") -> str:
    """Return a number with its noun, as in ``1 crash`` and ``2 crashes``.

    :param many: the plural; by default with an ``s``. Both may have a verb: ``1 pod is``.
    """
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"
