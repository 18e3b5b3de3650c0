"""Quantities exactly as Go's ``resource.Quantity`` reads, rounds, overflows and prints them.

:mod:`.units` reads quantities for people, and caps them. This module reads them as components of
Kubernetes do: a number of cores that overflows an int64 in milli wraps around or becomes 0.

Source: k8s.io/apimachinery/pkg/api/resource: quantity.go ParseQuantity, CanonicalizeBytes;
amount.go AsScaledInt64; scale_int.go scaledValue.
"""

from __future__ import annotations

import re
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

_MASK = 2**64 - 1
_HALF = 2**63
_MOST_BINARY = _HALF - 1
_NANO = -9
_DIGITS = 18
"""A number with more digits is not stored in an int64 (``maxInt64Factors``)."""
_LARGEST_EXPONENT = 10_000
"""Go has no limit, and writes the number out in full to compare it; so does this module."""
_AT_ONCE = frozenset({1, 2, 3, 6, 9})
"""Powers of ten that multiply in one step, and wrap around; others give 0 on overflow."""

_LONGEST = 4000
"""The most characters; Go has no limit, but Python converts at most 4,300 digits."""

_PARTS = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?((?:(?:[eEinumkKMGTP]+[+-]?|[+-])\d*)?)", re.ASCII)
_ZERO = re.compile(r"[+-]?0*")
_EXPONENT = re.compile(r"[+-]?\d+", re.ASCII)
_DECIMAL = MappingProxyType(
    {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
)
_BINARY = MappingProxyType({"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60})
_SUFFIX_OF = MappingProxyType({power: suffix for suffix, power in _DECIMAL.items()})


class Quantity(NamedTuple):
    """A number times a power of ten.

    :param big: kept with any number of digits (Go's ``inf.Dec``), not in an int64.
    """

    number: int
    power: int
    big: bool

    def milli_value(self) -> int:
        """Return thousandths, rounded away from zero, with Go's overflow."""
        return self._scaled(-3)

    def value(self) -> int:
        """Return units, rounded away from zero, with Go's overflow."""
        return self._scaled(0)

    def same_as(self, other: Quantity) -> bool:
        """Return whether two quantities are the same amount, however they are kept (``Cmp``)."""
        least = min(self.power, other.power)
        left = self.number * 10 ** (self.power - least)
        return bool(left == other.number * 10 ** (other.power - least))

    def _scaled(self, power: int) -> int:
        shift = self.power - power
        if shift >= 0:
            return self._multiplied(shift)
        divisor = 10**-shift
        whole, rest = divmod(abs(self.number), divisor)
        if self.number >= 0:
            return _int64(whole + bool(rest))
        # Of negative numbers only the small form rounds away from zero; the big one adds one.
        return _int64(-whole - bool(rest)) if not self.big else _int64(-whole) + bool(rest)

    def _multiplied(self, shift: int) -> int:
        exact = self.number * 10**shift
        if self.big or shift in _AT_ONCE or -_HALF <= exact < _HALF:
            return _int64(exact)
        return 0


def _int64(number: int) -> int:
    low = number & _MASK
    return low - 2**64 if low >= _HALF else low


@lru_cache(maxsize=65536)
def parse(text: str | float) -> Quantity:
    """Parse a quantity from a JSON string or number.

    :raises ValueError: Go's decoder would reject it.
    """
    stripped = str(text).strip()
    if not stripped:
        raise ValueError("an empty text is not a quantity")
    if len(stripped) > _LONGEST:
        raise ValueError(f"a text of {len(stripped)} characters is taken for no quantity")
    if _ZERO.fullmatch(stripped):
        return Quantity(0, 0, False)
    match = _PARTS.fullmatch(stripped)
    if match is None:
        raise ValueError(f"{text!r} is not a quantity")
    sign, whole, fraction, suffix = match.groups()
    whole, fraction = whole.lstrip("0") or "0", fraction or ""
    if suffix in _BINARY:
        quantity = _binary(whole, fraction, _BINARY[suffix])
    else:
        quantity = _decimal(whole, fraction, _exponent(text, suffix))
    return quantity._replace(number=-quantity.number) if sign == "-" else quantity


def _exponent(text: str | float, suffix: str) -> int:
    if suffix in _DECIMAL:
        return _DECIMAL[suffix]
    if suffix[0] in "eE" and _EXPONENT.fullmatch(suffix[1:]):
        exponent = int(suffix[1:])
        if abs(exponent) <= _LARGEST_EXPONENT:
            return exponent
        raise ValueError(f"{text!r} is a quantity that no API server gets done with comparing to 0")
    raise ValueError(f"{text!r} is not a quantity: unknown suffix {suffix!r}")


def _decimal(whole: str, fraction: str, exponent: int) -> Quantity:
    power = exponent - len(fraction)
    number = int(whole + fraction)
    if len(whole) + len(fraction) <= _DIGITS and power >= _NANO:
        return Quantity(number, power, False)
    return _nano(number, power)


def _binary(whole: str, fraction: str, bits: int) -> Quantity:
    number = int(whole + fraction) << bits
    # Go counts decimal digits roughly here: ten binary digits are three of them.
    short = 15 - len(whole) - int(bits * 3 / 10) - 1 >= 0
    if not fraction and short and number < _HALF:
        return Quantity(number, 0, False)
    big = _nano(number, -len(fraction))
    if big.number > _MOST_BINARY * 10**-_NANO:
        return Quantity(_MOST_BINARY, 0, True)
    return big


def _nano(number: int, power: int) -> Quantity:
    """Return a big quantity in billionths, the finest stored unit, rounded up."""
    if power >= _NANO:
        return Quantity(number * 10 ** (power - _NANO), _NANO, True)
    whole, rest = divmod(number, 10 ** (_NANO - power))
    return Quantity(whole + bool(rest), _NANO, True)


def format_decimal(number: int, power: int = 0) -> str:
    """Return the canonical text of ``number`` times ten to ``power`` (a multiple of 3): ``1500m``.

    Source: quantity.go CanonicalizeBytes for DecimalSI.
    """
    if number == 0:
        return "0"
    while number % 1000 == 0 and power < 18:
        number //= 1000
        power += 3
    return f"{number}{_SUFFIX_OF[power]}"


def format_binary(number: int) -> str:
    """Return the canonical text of an integer in powers of 1024: ``1536Mi``.

    Below 1024 powers of 1000 are used, which print the same digits.

    Source: quantity.go CanonicalizeBytes for BinarySI.
    """
    if -1024 < number < 1024:
        return format_decimal(number)
    suffix = ""
    for larger in _BINARY:
        if number % 1024:
            break
        number //= 1024
        suffix = larger
    return f"{number}{suffix}"
