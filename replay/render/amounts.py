"""Resources and ages in a few characters."""

from __future__ import annotations

from collections.abc import Mapping

from ...engine.kubernetes.amount_texts import short_amount
from ...engine.kubernetes.units import format_age
from .tables import NONE


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
