"""The bounds of what an agent reads: it must also remember it."""

from __future__ import annotations

LIMIT = 50
"""How many members a list has by default."""

MOST_BYTES = 400 << 10
"""The largest answer."""

MOST_ASKED = 256 << 10
"""The largest message of an agent, in bytes: the SDK reads it in the event loop."""
