"""What sessions cost Volcano itself, in CPU: recorded once, to be divided by.

Volcano v1.12.1, built from the release's tag with Go 1.26 on 2 cores, was given clusters shaped
like those of :mod:`.clusters`, with its own cache, plugins and actions, and without an API server:
binds were only recorded. CPU is user and system time of the process while the phases ran; the
garbage collector's is in it. *As released*: filters and scores in 16 workers, nodes sampled, the
best node chosen at random. *Every node*: one worker, no sampling, the least name among the best;
that is what gives the decisions that Plinian gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Recorded(NamedTuple):
    """CPU seconds of one session from its opening to its close; None where not measured."""

    released: float | None
    every_node: float | None


VOLCANO_CPU: Mapping[str, Recorded] = MappingProxyType(
    {
        "flat, 100 nodes, 1,000 pods": Recorded(4.778, 4.739),
        "tree, 100 nodes, 1,000 pods": Recorded(3.612, 3.743),
        "flat, 1,000 nodes, 10,000 pods": Recorded(179.5, 353.4),
    }
)
"""By case; of two measurements of the same, the one on the idle machine."""

VOLCANO_IDLE_WALL: Mapping[str, float] = MappingProxyType(
    {
        "flat, 100 nodes, 1,000 pods": 0.035,
        "tree, 100 nodes, 1,000 pods": 0.024,
        "flat, 1,000 nodes, 10,000 pods": 0.263,
    }
)
"""Wall seconds of the next session, which has nothing to do."""
