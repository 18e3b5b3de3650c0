"""Amounts as people read them: exact where they were compared, short in tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .units import format_amount, in_bytes

_EXACT_CHARACTERS = 7

_UNBOUNDED = 2.0**63
"""An amount of at least this means "no limit": quantities are smaller."""


def short_amount(resource: str, amount: float) -> str:
    """Return an amount in Kubernetes notation; bytes are rounded to a tenth if exact ones are long.

    For tables; machine output has exact amounts.
    """
    exact = format_amount(resource, amount)
    if len(exact) <= _EXACT_CHARACTERS or not in_bytes(resource):
        return exact
    # Volcano counts memory in bytes, and all other resources in thousandths.
    scaled = amount if resource == "memory" else amount / 1000
    for suffix in ("", "Ki", "Mi", "Gi", "Ti", "Pi"):
        if abs(scaled) < 1024 or suffix == "Pi":
            return f"{scaled:.1f}".removesuffix(".0") + suffix
        scaled /= 1024
    return exact


def in_one_unit(resource: str, amounts: Iterable[float]) -> Callable[[float], str]:
    """Return a function that says amounts of a resource in one unit, so that they can be compared.

    Bytes are in the unit of the greatest of some amounts, all else in whole ones, as in ``6.5``.
    """
    size, suffix = (1.0 if resource == "memory" else 1000.0), ""
    if in_bytes(resource):
        highest = max(map(abs, amounts), default=0.0)
        for larger in ("Ki", "Mi", "Gi", "Ti", "Pi"):
            if highest >= size * 1024:
                size, suffix = size * 1024, larger

    def text(amount: float) -> str:
        shown = f"{amount / size:.3f}".rstrip("0").rstrip(".")
        return shown if shown in {"0", "-0"} else f"{shown}{suffix}"

    return text


def exact_amount(resource: str, amount: float) -> str:
    """Return an amount in Kubernetes notation, exact enough to distinguish close amounts.

    For values that were compared: rounded only beyond a thousandth of Volcano's unit.
    """
    if abs(amount) >= _UNBOUNDED:
        return "unlimited" if amount > 0 else "-unlimited"
    sign = "-" if amount < 0 else ""
    return sign + format_amount(resource, round(abs(amount), 3))
