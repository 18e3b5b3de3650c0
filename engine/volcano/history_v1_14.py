"""The history of what v1.14 changed first, and of fixes that older lines got at the time.

Each behaviour's first row says what was so before.
"""

from __future__ import annotations

from .releases import Row

ROWS_V1_14: tuple[Row, ...] = ()
