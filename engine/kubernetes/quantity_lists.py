"""Lists of resources that are added up, and written again as Go would write them.

Source: k8s.io/apimachinery/pkg/api/resource/quantity.go Add, CanonicalizeBytes;
k8s.io/apiserver/pkg/quota/v1/resources.go Add.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, NamedTuple

from .quantity import format_binary, format_decimal, parse

_NANO = -9
_ONE = 10**9
"""Billionths in one."""


class QuantityFormat(Enum):
    """How a quantity is written: ``1k``, ``1Ki`` or ``1e3``; a sum keeps that of its first part."""

    DECIMAL = "DecimalSI"
    BINARY = "BinarySI"
    EXPONENT = "DecimalExponent"


class Amount(NamedTuple):
    """A quantity in billionths, which is the finest that is kept, and how it is written."""

    billionths: int
    style: QuantityFormat = QuantityFormat.DECIMAL

    def plus(self, other: Amount) -> Amount:
        """Return the sum, written as the first part that is not 0."""
        style = self.style if self.billionths else other.style
        return Amount(self.billionths + other.billionths, style)

    def times(self, number: int) -> Amount:
        """Return the sum of so many."""
        return self._replace(billionths=self.billionths * number)

    def __str__(self) -> str:
        whole, rest = divmod(self.billionths, _ONE)
        # Fractions have no binary form.
        if self.style is QuantityFormat.BINARY and not rest:
            return format_binary(whole)
        if self.style is QuantityFormat.EXPONENT:
            return _with_exponent(self.billionths)
        return format_decimal(self.billionths, _NANO)


Amounts = dict[str, Amount]
"""Amounts by the name of the resource."""

ONE = Amount(_ONE)


def amount(text: str | float) -> Amount:
    """Return the amount that a JSON string or number stands for.

    :raises ValueError: Go's decoder would reject it.
    """
    quantity, stripped = parse(text), str(text).strip()
    style = QuantityFormat.DECIMAL
    if stripped.endswith("i"):
        style = QuantityFormat.BINARY
    elif stripped[-1].isdigit() and "e" in stripped.lower():
        style = QuantityFormat.EXPONENT
    return Amount(quantity.number * int(10 ** (quantity.power - _NANO)), style)


def amounts(resources: Mapping[str, Any] | None) -> Amounts:
    """Return the amounts of a resource list.

    :raises ValueError: one of them is no quantity.
    """
    return {name: amount(text) for name, text in (resources or {}).items()}


def add(sums: Amounts, more: Amounts) -> None:
    """Add amounts to sums."""
    for name, part in more.items():
        sums[name] = sums[name].plus(part) if name in sums else part


def raise_to(sums: Amounts, least: Amounts) -> None:
    """Raise what is less than others, or missing, to these."""
    for name, part in least.items():
        if name not in sums or part.billionths > sums[name].billionths:
            sums[name] = part


def times(each: Amounts, number: int) -> Amounts:
    """Return the sum of so many lists; of none it has no names."""
    return {name: part.times(number) for name, part in each.items()} if number > 0 else {}


def written(sums: Amounts) -> dict[str, str]:
    """Return a resource list as it stands in JSON, by name."""
    return {name: str(sums[name]) for name in sorted(sums)}


def _with_exponent(billionths: int) -> str:
    number, power = billionths, _NANO
    while number and number % 1000 == 0:
        number //= 1000
        power += 3
    return f"{number}e{power}" if number and power else str(number)
