"""Resources and ages in a few characters."""

from __future__ import annotations

from collections.abc import Mapping

from ...engine.kubernetes.amount_texts import short_amount
from ...engine.kubernetes.units import SECOND_US, format_age
from ...engine.state.clock import TimeSpan
from ..moments.times import is_one_time
from .tables import NONE

_SLACK_US = 2 * SECOND_US


def resource_list(amounts: Mapping[str, float]) -> str:
    """Return resources as ``cpu=2,memory=4Gi``: cpu and memory first, the others by name."""
    order = sorted(amounts, key=lambda name: (name not in ("cpu", "memory"), name))
    return listed({name: short_amount(name, amounts[name]) for name in order})


def quantity_list(amounts: Mapping[str, str]) -> str:
    """Return what Kubernetes writes of resources as one text, by name and without zeros."""
    return listed({name: amount for name, amount in sorted(amounts.items()) if amount != "0"})


def listed(values: Mapping[str, object]) -> str:
    """Return values by name as one text: ``Running=3,Pending=1``."""
    return ",".join(f"{name}={value}" for name, value in values.items()) or NONE


def used_of(resource: str, used: float, total: float, *, unknown: bool = False) -> str:
    """Return ``used/total``.

    :param unknown: there may be more than is used as far as is known: none is not a fact.
    """
    first = sure(short_amount(resource, used), used, unknown=unknown)
    return f"{first}/{short_amount(resource, total)}"


def sure(text: str, amount: object, *, unknown: bool) -> str:
    """Return the text of an amount, unless it is none only because the log does not know it."""
    return UNKNOWN if unknown and not amount else text


UNKNOWN = "<unknown>"
"""In a cell, as kubectl has it: not nothing, but not known."""


def age(when: TimeSpan, then: int | None) -> str:
    """Return how long before a moment something was, as kubectl does: ``5m``.

    If only bounds of the moment are known, the age has bounds, too: ``2m-5m``, ``>2m`` or ``<5m``.
    Without any time it is ``<unknown>``.
    """
    if then is None:
        return UNKNOWN
    if is_one_time(when) and when.estimate is not None:
        return duration(then, when.estimate)
    low = None if when.earliest is None else max(0, when.earliest - then)
    high = None if when.latest is None else duration(then, when.latest)
    if not low:  # It was there at the moment: that it is not younger than 0s says nothing.
        return UNKNOWN if high is None else f"<{high}"
    least = format_age(low)
    if high is None:
        return f">{least}"
    return least if least == high else f"{least}-{high}"


def duration(begin: int, end: int) -> str:
    """Return the time from a begin to an end, as kubectl does.

    Times of objects are whole seconds of the server's clock, so the end may be just before.
    """
    return format_age(max(0, end - begin) if end - begin > -_SLACK_US else end - begin)
