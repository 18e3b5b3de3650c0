"""Resources and ages in a few characters."""

from __future__ import annotations

from collections.abc import Mapping

from ...engine.kubernetes.units import format_age, format_amount, in_bytes
from .tables import NONE

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


def resource_list(amounts: Mapping[str, float]) -> str:
    """Return resources as ``cpu=2,memory=4Gi``: cpu and memory first, the others by name."""
    order = sorted(amounts, key=lambda name: (name not in ("cpu", "memory"), name))
    return ",".join(f"{name}={short_amount(name, amounts[name])}" for name in order) or NONE


def used_of(resource: str, used: float, total: float) -> str:
    """Return ``used/total``."""
    return f"{short_amount(resource, used)}/{short_amount(resource, total)}"


def age(now: int | None, then: int | None) -> str:
    """Return how long ago, as kubectl does; ``<unknown>`` if a time is missing."""
    if now is None or then is None:
        return "<unknown>"
    # Creation times are whole seconds of the server's clock; the moment may be just before.
    return format_age(max(0, now - then) if now - then > -2_000_000 else now - then)
