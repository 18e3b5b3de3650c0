"""The resources that a cluster has at a moment, and what is said of a name that is none of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches

from ...engine.errors import UsageError
from ...engine.state.facts import NodeFact, PodFact, PodGroupFact, QueueFact
from ...engine.state.truth_fold import Truth
from .answering_session import NODE, POD, PODGROUP, QUEUE

_ALWAYS = frozenset({"cpu", "memory", "pods"})


def resources_in(truth: Truth) -> frozenset[str]:
    """Return the names of all resources of nodes, queues, pods and PodGroups."""
    return frozenset(name for amounts in _amounts(truth) for name in amounts) | _ALWAYS


def _amounts(truth: Truth) -> Iterator[Mapping[str, float]]:
    for pair in (NODE, QUEUE, POD, PODGROUP):
        for entry in truth.of(*pair):
            fact = entry.fact
            if isinstance(fact, NodeFact):
                yield from (fact.allocatable, fact.capacity)
            elif isinstance(fact, QueueFact):
                yield from (fact.capability, fact.deserved, fact.guarantee)
            elif isinstance(fact, PodFact):
                yield fact.requests
            elif isinstance(fact, PodGroupFact):
                yield fact.min_resources


def check_resource(name: str, truth: Truth, *, before: str = "") -> None:
    """Refuse the name of a resource that nothing in a cluster has.

    :param before: what stands before the name in a path, for the advice.
    :raises UsageError: no node, queue, pod or PodGroup has such a resource.
    """
    if name in _ALWAYS or any(name in amounts for amounts in _amounts(truth)):
        return
    known = resources_in(truth)
    raise UsageError(no_such_resource(name), now=there_are(name, known, before=before))


def no_such_resource(name: str) -> str:
    """Return a sentence about a resource that nothing in a cluster has."""
    return f"no node, queue, pod or PodGroup has a resource {name!r}"


def there_are(name: str, known: Iterable[str], *, before: str = "") -> str:
    """Return which names there are, with the one that may be meant."""
    names = sorted(known)
    same_end = [full_name for full_name in names if full_name.rpartition("/")[2] == name]
    near = same_end or get_close_matches(name, names, n=1)
    meant = f"did you mean {before}{near[0]}? " if near else ""
    return f"{meant}there are: {', '.join(names)}"
