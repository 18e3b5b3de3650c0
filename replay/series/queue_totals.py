"""The tree of queues: what each has itself, and together with the queues below it."""

from __future__ import annotations

from collections.abc import Iterator

from ...engine.state.facts import QueueFact
from ...engine.state.truth_tables import in_tree, queues_from

ROOT = "root"


class Tree:
    """Queues by their parents, and amounts of one resource.

    :ivar specs: the queues that exist.
    """

    def __init__(self) -> None:
        self.specs: dict[str, QueueFact] = {}
        self._parents: dict[str, str] = {}
        self._own: dict[str, float] = {}
        self._totals: dict[str, float] = {}

    def put(self, name: str, spec: QueueFact | None) -> set[str]:
        """Create, change or delete (None) a queue; return the queues that it touches."""
        before = set(queues_from(name, self._parents))
        if spec is None:
            # Its parent and amounts stay: its pods still hold what they hold, and it may return.
            self.specs.pop(name, None)
        else:
            self.specs[name] = spec
            # A queue that is its own parent would have no end above it.
            self._move(name, "" if spec.parent == name else spec.parent)
        return {*before, *queues_from(name, self._parents), *self.children_of(name)}

    def add(self, name: str, amount: float) -> set[str]:
        """Add to what a queue has; return the queues whose totals that changes."""
        if not amount:
            return set()
        self._own[name] = self._own.get(name, 0.0) + amount
        above = queues_from(name, self._parents)
        for queue in above:
            self._totals[queue] = self._totals.get(queue, 0.0) + amount
        return set(above)

    def total(self, name: str) -> float:
        """Return what a queue and those below it have."""
        return self._totals.get(name, 0.0)

    def parent_of(self, name: str) -> str:
        """Return the parent that a queue names; empty if it names none."""
        return self._parents.get(name, "")

    def children_of(self, name: str) -> list[str]:
        """Return the queues that name a queue as their parent, sorted."""
        return sorted(queue for queue, parent in self._parents.items() if parent == name)

    def walk(self) -> Iterator[tuple[int, str]]:
        """Yield all queues with their depth, parents before their children."""
        yield from in_tree(self._parents)

    def _move(self, name: str, parent: str) -> None:
        if self._parents.get(name) == parent:
            return
        self._parents[name] = parent
        # Another parent changes the totals of all queues above the old one and the new one.
        own, self._own, self._totals = self._own, {}, {}
        for queue, amount in own.items():
            self.add(queue, amount)
