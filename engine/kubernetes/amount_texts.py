"""Amounts as people read them: exact where they were compared, short in tables."""

from __future__ import annotations

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


def exact_amount(resource: str, amount: float) -> str:
    """Return an amount in Kubernetes notation, exact enough to distinguish close amounts.

    For values that were compared: rounded only beyond a thousandth of Volcano's unit.
    """
    if abs(amount) >= _UNBOUNDED:
        return "unlimited" if amount > 0 else "-unlimited"
    sign = "-" if amount < 0 else ""
    return sign + format_amount(resource, round(abs(amount), 3))
