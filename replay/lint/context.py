"""What every rule is given: the objects, the queues as releases see them, and what jobs ask for."""

from __future__ import annotations

from typing import NamedTuple

from .gangs import Gangs
from .inputs import World
from .queues import Queues


class Checked(NamedTuple):
    """One world, with what is worked out of it once for all rules."""

    world: World
    queues: Queues
    gangs: Gangs

    @classmethod
    def of(cls, world: World) -> Checked:
        """Return a world, ready to be checked."""
        return cls(world, Queues(world), Gangs(world))
