"""What queues in a tree are granted of what they claim, so that none takes from those beside it.

No release of Volcano does this: a tree in which children claim more than their parent has stops
everything there, or is only complained about. Here what exceeds is not granted:

- a guarantee that alone exceeds the parent is none, since the parent could not keep it: it would
  leave nothing to the queues beside;
- what a queue deserves beyond its parent is bounded by what the queues beside it leave;
- where claims exceed the parent only together, each is granted its part.

A queue's capability needs no such rule: the queues above are asked wherever it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor, inf

from ....belief.resource import MIN_RESOURCE, Resource
from .attrs import QueueAttr


def grant(parent: QueueAttr, children: Sequence[QueueAttr], *, top: bool) -> list[str]:
    """Lower what children are guaranteed and deserve to what their parent has for them.

    That is what the parent is guaranteed, or deserves, or may use where neither is said; of the
    root (``top``) always what it may use.

    :returns: what the scheduler would log.
    """
    found: list[str] = []
    none = Resource()
    for what, claims, limit in (
        ("guarantee", [child.guarantee for child in children], none if top else parent.guarantee),
        ("deserved", [child.deserved for child in children], none if top else parent.deserved),
    ):
        for name in sorted({name for claim in claims for name in claim.resource_names()}):
            bound = limit.get(name) or _may_use(parent.real_capability, name)
            before = {c.name: claim.get(name) for c, claim in zip(children, claims, strict=True)}
            parts = _parts(before, bound, leftover=what == "deserved")
            for child, claim in zip(children, claims, strict=True):
                part = parts[child.name]
                if part != before[child.name]:
                    claim.set(name, part)
                    found.append(
                        f"queue <{child.name}> {what} of {name} <{before[child.name]:.2f}> exceeds"
                        f" its parent queue <{parent.name}>: granted <{part:.2f}>"
                    )
    return found


def _may_use(limit: Resource | None, name: str) -> float:
    """Return what a queue may use of a resource: without limit, if no node has it."""
    assert limit is not None
    return limit.get(name) if name in {"cpu", "memory", *(limit.scalars or ())} else inf


def _parts(claims: Mapping[str, float], bound: float, *, leftover: bool) -> dict[str, float]:
    """Return what each of some claims to one resource is granted; those that fit stay as they are.

    :param leftover: those who alone exceed the bound share what the others leave; else nothing.
    """
    sound = {name: claim for name, claim in claims.items() if claim - bound < MIN_RESOURCE}
    parts = _scaled(sound, bound)
    rest = max(bound - sum(parts.values()), 0.0) if leftover else 0.0
    beyond = {name: claim for name, claim in claims.items() if name not in sound}
    return {**parts, **_scaled(beyond, rest)}


def _scaled(claims: Mapping[str, float], bound: float) -> dict[str, float]:
    """Return the claims, or parts of them in the same proportion if they are more than there is."""
    total = sum(claims.values())
    if total - bound < MIN_RESOURCE:
        return dict(claims)
    return {name: float(floor(claim * bound / total)) for name, claim in claims.items()}
