"""How much of its claims each queue in a tree is granted, so that no queue harms its siblings.

No release of Volcano does this: if children claim more than their parent has, that stops
everything, or is only logged. Here the excess is not granted, resource by
resource:

- Guarantees are granted in the order in which the queues were created, each as a whole or not at
  all: one without room in the parent would leave nothing for its siblings.
- What a queue deserves beyond its parent is limited to what its siblings leave. If the
  others together deserve more than their parent, each is granted its part.

A queue's capability needs no such rule: its ancestors are always checked as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import floor, inf

from ....model.resource import MIN_RESOURCE, Resource
from .attrs import QueueAttr

Claims = Mapping[str, float]
"""The claims of queues for one resource, in the order of creation."""


def grant(parent: QueueAttr, children: Sequence[QueueAttr], *, top: bool) -> list[str]:
    """Lower the guarantees and deserved of children to what their parent has.

    That is what the parent itself is guaranteed, or deserves; what it may use where it is not said,
    and for the root (``top``).

    :param children: in the order of their creation.
    :returns: what the scheduler would log.
    """
    guarantees = {child.name: child.guarantee for child in children}
    deserved = {child.name: child.deserved for child in children}
    bounds = (Resource(), Resource()) if top else (parent.guarantee, parent.deserved)
    return [
        *_lower(parent, "guarantee", guarantees, bounds[0], _in_turn),
        *_lower(parent, "deserved", deserved, bounds[1], _in_parts),
    ]


def _lower(
    parent: QueueAttr,
    what: str,
    claims: Mapping[str, Resource],
    said: Resource,
    divide: Callable[[Claims, float], dict[str, float]],
) -> list[str]:
    """Replace claims by what is granted; return the log lines."""
    reduced: list[str] = []
    names = {name for claim in claims.values() for name in claim.resource_names()}
    for name in sorted(names):
        bound = said.get(name) or _may_use(parent.real_capability, name)
        for queue, part in divide(
            {q: claim.get(name) for q, claim in claims.items()}, bound
        ).items():
            claimed = claims[queue].get(name)
            if part != claimed:
                claims[queue].set(name, part)
                reduced.append(
                    f"queue <{queue}> {what} of {name} <{claimed:.2f}> exceeds"
                    f" its parent queue <{parent.name}>: granted <{part:.2f}>"
                )
    return reduced


def _may_use(limit: Resource | None, name: str) -> float:
    """Return what a queue may use of a resource: without limit, if no node has it."""
    assert limit is not None
    return limit.get(name) if name in {"cpu", "memory", *(limit.scalars or ())} else inf


def _in_turn(claims: Claims, bound: float) -> dict[str, float]:
    """Grant each claim as a whole if there is room after the earlier ones."""
    granted: dict[str, float] = {}
    left = bound
    for name, claim in claims.items():
        granted[name] = claim if claim - left < MIN_RESOURCE else 0.0
        left -= granted[name]
    return granted


def _in_parts(claims: Claims, bound: float) -> dict[str, float]:
    """Grant parts in proportion; those that alone exceed the bound share what the others leave."""
    sound = {name: claim for name, claim in claims.items() if claim - bound < MIN_RESOURCE}
    parts = _scaled(sound, bound)
    beyond = {name: claim for name, claim in claims.items() if name not in sound}
    return {**parts, **_scaled(beyond, max(bound - sum(parts.values()), 0.0))}


def _scaled(claims: Claims, bound: float) -> dict[str, float]:
    """Return the claims, or parts of them in the same proportion if they are more than there is."""
    total = sum(claims.values())
    if total - bound < MIN_RESOURCE:
        return dict(claims)
    return {name: float(floor(claim * bound / total)) for name, claim in claims.items()}
