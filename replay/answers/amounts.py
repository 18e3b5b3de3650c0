"""Amounts in answers: as texts for records, and as words for sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...engine.kubernetes.amount_texts import exact_amount, short_amount
from ...engine.model.resource_names import ATTACHABLE
from ..tabular.record_columns import Amounts

_MILLI = 1000
"""So many parts of one are counted of resources that are neither cpu nor bytes."""


def amounts_of(plain: Mapping[str, float] | None, *, zeros: bool = True) -> Amounts:
    """Return amounts as Kubernetes writes them: cpu and memory first, the others by name.

    :param zeros: keep amounts of 0.
    """
    by_name = plain or {}
    return {
        name: exact_amount(name, by_name[name])
        for name in in_order(by_name)
        if zeros or by_name[name]
    }


def words(plain: Mapping[str, float], names: Iterable[str]) -> str:
    """Return amounts as words: ``2 cpu and 4Gi memory``; bytes are rounded to a tenth."""
    return joined([f"{word(plain.get(name, 0.0), name)} {name}" for name in in_order(names)])


def word(amount: float, name: str) -> str:
    """Return one amount, short enough for a sentence.

    The scheduler counts a volume as one part of the thousand that others of a resource have, on a
    node as of a pod: here it is one.
    """
    text = exact_amount(name, amount)
    if text.endswith("unlimited"):
        return text
    if name.startswith(ATTACHABLE):
        return f"{amount:.9g}"
    sign = "-" if amount < 0 else ""
    if name not in {"cpu", "memory"} and text.endswith("m"):
        return f"{amount / _MILLI:.9g}"
    return sign + short_amount(name, round(abs(amount), 3))


def apart(one: float, other: float, name: str) -> tuple[str, str]:
    """Return two amounts, exact where rounding would make them look the same.

    Where only one of them would be in thousandths, both are in whole ones: ``9.5`` and ``9``.
    """
    texts = word(one, name), word(other, name)
    if name == "cpu" and len({text.endswith("m") for text in texts}) > 1:
        texts = _in_whole_ones(one, texts[0]), _in_whole_ones(other, texts[1])
    if one != other and texts[0] == texts[1] and not name.startswith(ATTACHABLE):
        # Volumes are excluded: `exact_amount` would call one volume a thousandth.
        return exact_amount(name, one), exact_amount(name, other)
    return texts


def _in_whole_ones(amount: float, text: str) -> str:
    return f"{amount / _MILLI:.9g}" if text.endswith("m") else text


def in_order(names: Iterable[str]) -> list[str]:
    """Return resources in the order of sentences: cpu, memory, the others by name."""
    rank = {"cpu": 0, "memory": 1}
    return sorted(names, key=lambda name: (rank.get(name, 2), name))


def joined(parts: Iterable[str], last: str = "and") -> str:
    """Return ``a, b and c``."""
    listed = list(parts)
    return f"{', '.join(listed[:-1])} {last} {listed[-1]}" if len(listed) > 1 else "".join(listed)
