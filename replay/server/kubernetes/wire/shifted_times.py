"""Times moved by the same amount, so that a moment of the past is now for clients.

Clients count ages from the clock of their machine, and so do plugins of the scheduler. Served times
can be moved for them. It is done in the bytes of an object: keys are never escaped in them, and a
quote within a text always is, so nothing in a text is taken for a field.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import NamedTuple

from .....engine.kubernetes.units import SECOND_US

_TEXT = rb'"(?:[^"\\]|\\.)*"'
_FREE = rb'\{(?:(?<="annotations":\{)|(?<="binaryData":\{)|(?<="data":\{)|(?<="stringData":\{))'
"""The begin of what people write into objects: maps from texts to texts."""

_NAMED = rb'"(?:(?<=At":")|(?<=Time":")|(?<=Timestamp":")|(?<="timeAdded":"))'
"""The begin of the values of fields that hold times in Kubernetes, Volcano, and most others."""

_SECONDS = rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)"
_REST = rb'(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)"'

_TIME = re.compile(
    rb'":(?:%b(?:%b:%b,?)*\}|%b%b(?=%b))' % (_FREE, _TEXT, _TEXT, _NAMED, _SECONDS, _REST),
    re.DOTALL,
)
_FIRST_YEAR = 1970
"""Earlier times are those that programs write for none."""


NOW = "now"
"""The begin of paths below which moments are shown at the present time."""


class Shift(NamedTuple):
    """By how much times are moved. It is whole seconds, so each time keeps its form.

    :param seconds: 0 moves nothing.
    """

    seconds: int = 0

    def applied(self, body: bytes) -> bytes:
        """Return an object as JSON with its times moved."""
        if not self.seconds:
            return body
        delta = timedelta(seconds=self.seconds)
        return _TIME.sub(lambda match: _moved(match, delta), body)

    @property
    def said(self) -> str:
        """The sentence about it for clients."""
        amount = str(timedelta(seconds=abs(self.seconds)))
        way = "later" if self.seconds > 0 else "earlier"
        return f"times are shown {amount} {way} than they were recorded"


NONE = Shift()


def shift_to(target: int | None, time: int | None) -> Shift:
    """Return the shift that shows a time as another; none if either is not known."""
    return NONE if target is None or time is None else Shift((target - time) // SECOND_US)


def _moved(match: re.Match[bytes], delta: timedelta) -> bytes:
    time = match[1]
    # A map that people write: it is matched as a whole, so that no time in it is moved.
    if time is None:
        return match[0]
    try:
        moment = datetime.fromisoformat(time.decode())
        if moment.year < _FIRST_YEAR:
            return match[0]
        moved = moment + delta
    except (ValueError, OverflowError):  # A day that does not exist, or beyond the year 9999.
        return match[0]
    return b'":"%b' % moved.isoformat().encode()
