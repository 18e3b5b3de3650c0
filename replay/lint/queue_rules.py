"""Rules about queues, each by itself and all together, whatever plugin bounds them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...engine.kubernetes.objects import Queue
from ...engine.model.queue import HIERARCHY, HIERARCHY_WEIGHTS
from ...engine.model.resource import ZERO, Resource
from ...engine.volcano.session.queue_tree import TreeDeserved
from .amounts import amount, amounts, lacking
from .context import Checked
from .findings import Effect, Issue
from .objects import ROOT
from .queues import Mode, options_of

if TYPE_CHECKING:
    from ...engine.volcano.session.behaviours import Behaviours

_CAPACITY = frozenset({Mode.TREE, Mode.FLAT})


def queue_guarantee_above_deserved(given: Checked, how: Behaviours) -> Iterator[Issue]:
    """A queue that is guaranteed more than it deserves.

    Most releases let it deserve what it is guaranteed. The newest ones' admission refuses it, also
    where ``deserved`` does not name the resource.
    """
    mode = given.queues.mode(how)
    if mode not in _CAPACITY:
        return
    as_written = mode is Mode.TREE and how.tree_deserved is TreeDeserved.AS_WRITTEN
    then = "it may reclaim less than is kept for it" if as_written else "it deserves that as well"
    for name, queue in given.world.queues.items():
        more = _exceeding(queue.spec.guarantee.resource, queue.spec.deserved, absent=True)
        for resource, high, low in more:
            yield Issue(
                given.world.subject("Queue", name),
                f"spec.guarantee.resource.{resource}",
                Effect.DIFFERS,
                f"guarantee {amount(resource, high)} exceeds deserved {amount(resource, low)}: "
                f"{then}",
                f"let spec.deserved name at least {amount(resource, high)}",
            )


def queue_deserved_above_capability(given: Checked, how: Behaviours) -> Iterator[Issue]:
    """A queue that deserves more than it may use: it can never have it."""
    if given.queues.mode(how) not in _CAPACITY:
        return
    for name, queue in given.world.queues.items():
        for resource, high, low in _exceeding(queue.spec.deserved, queue.spec.capability):
            yield Issue(
                given.world.subject("Queue", name),
                f"spec.deserved.{resource}",
                Effect.DIFFERS,
                f"deserved {amount(resource, high)} exceeds capability {amount(resource, low)}",
                "lower deserved, or raise capability",
            )


def queue_guarantee_above_capability(given: Checked, _: Behaviours) -> Iterator[Issue]:
    """A queue that is guaranteed more than it may use: the rest is kept from others for nothing.

    So it is for ``proportion`` as well as for ``capacity``.
    """
    for name, queue in given.world.queues.items():
        found = _exceeding(queue.spec.guarantee.resource, queue.spec.capability)
        for resource, high, low in found:
            yield Issue(
                given.world.subject("Queue", name),
                f"spec.guarantee.resource.{resource}",
                Effect.DIFFERS,
                f"guarantee {amount(resource, high)} exceeds capability {amount(resource, low)}: "
                "the rest is kept from other queues and nobody can use it",
                "lower guarantee, or raise capability",
            )


def guarantees_exceed_cluster(given: Checked, how: Behaviours) -> Iterator[Issue]:
    """Queues that are guaranteed more than all nodes have together.

    Only if nodes are known. In a tree this is ``queue-guarantees-exceed-room`` of the root.
    """
    mode = given.queues.mode(how)
    if given.world.total is None or mode in (Mode.TREE, Mode.NOTHING):
        return
    if given.queues.guarantees.less_equal(given.world.total, ZERO):
        return
    names = lacking(given.world.total, given.queues.guarantees)
    crashes = how.excess_guarantees_crash
    what = "the scheduler panics" if crashes else "the other queues are left with nothing"
    for name, queue in given.world.queues.items():
        if any(resource in queue.spec.guarantee.resource for resource in names):
            yield Issue(
                given.world.subject("Queue", name),
                "spec.guarantee",
                Effect.CRASHES if crashes else Effect.DIFFERS,
                f"all queues are guaranteed {amounts(names, given.queues.guarantees)} together, "
                f"and the nodes have {amounts(names, given.world.total)}: {what}",
                "guarantee less",
            )


def guarantees_break_division(given: Checked, how: Behaviours) -> Iterator[Issue]:
    """Guarantees that make ``proportion`` give away more than is left, and crash. Nodes are known.

    So it is in some releases when queues ask for all they may, if a queue is guaranteed more than
    the part of the cluster that its weight gives it.
    """
    world = given.world
    if not how.guarantees_above_remaining_crash or given.queues.mode(how) is not Mode.PROPORTION:
        return
    crash = "" if world.total is None else given.queues.division(how)
    for name, queue in world.queues.items() if crash else ():
        if queue.spec.guarantee.resource:
            yield Issue(
                world.subject("Queue", name),
                "spec.guarantee",
                Effect.CRASHES,
                f"when queues ask for all they may, the scheduler panics: {crash}",
                "guarantee less than the part of the nodes that the queue's weight gives it",
            )


def queue_deserved_ignored(given: Checked, how: Behaviours) -> Iterator[Issue]:
    """A queue with ``deserved`` where no plugin reads it: ``proportion`` divides by weight.

    That of the root is written by the scheduler itself.
    """
    mode = given.queues.mode(how)
    if mode in _CAPACITY:
        return
    for name, queue in given.world.queues.items():
        if queue.spec.deserved and name != ROOT:
            yield Issue(
                given.world.subject("Queue", name),
                "spec.deserved",
                Effect.IGNORED,
                f"queues are bounded by {mode.value}, which does not read it",
                "use the plugin capacity, where a release has it",
            )


def queue_weight_ignored(given: Checked, how: Behaviours) -> Iterator[Issue]:
    """A queue with a weight other than 1 where no plugin divides by weight."""
    mode = given.queues.mode(how)
    if mode is Mode.PROPORTION:
        return
    for name, queue in given.world.queues.items():
        if queue.spec.weight not in (0, 1):
            message = f"queues are bounded by {mode.value}, which does not read weights"
            subject = given.world.subject("Queue", name)
            yield Issue(subject, "spec.weight", Effect.ODD, message)


def queue_weight_negative(given: Checked, _: Behaviours) -> Iterator[Issue]:
    """A queue with a weight below 0; without one, admission makes it 1."""
    for name, queue in given.world.queues.items():
        if queue.spec.weight < 0:
            message = f"weight {queue.spec.weight} is less than nothing"
            yield Issue(given.world.subject("Queue", name), "spec.weight", Effect.INVALID, message)


def queue_hierarchy_annotations(given: Checked, how: Behaviours) -> Iterator[Issue]:
    """A queue whose annotations of ``drf`` with ``enableHierarchy`` do not fit together.

    ``volcano.sh/hierarchy`` is a path from ``root``, and ``volcano.sh/hierarchy-weights`` has a
    number above 0 for each of its steps. Where a weight is missing the scheduler crashes.
    """
    by_annotations = _by_annotations(given, how)
    for name, queue in given.world.queues.items():
        path = queue.annotations.get(HIERARCHY, "")
        weights = queue.annotations.get(HIERARCHY_WEIGHTS, "")
        fault, lacks = _annotation_fault(path, weights)
        if fault:
            effect = Effect.CRASHES if lacks and by_annotations else Effect.INVALID
            yield Issue(given.world.subject("Queue", name), "metadata.annotations", effect, fault)


def queue_hierarchy_ignored(given: Checked, how: Behaviours) -> Iterator[Issue]:
    """A queue with annotations of a hierarchy that no plugin reads.

    They belong to ``drf`` with ``enableHierarchy``. The tree of ``capacity`` goes by
    ``spec.parent``, and the two know nothing of each other.
    """
    if _by_annotations(given, how):
        return
    for name, queue in given.world.queues.items():
        if queue.annotations.get(HIERARCHY):
            tree = given.queues.mode(how) is Mode.TREE
            yield Issue(
                given.world.subject("Queue", name),
                f"metadata.annotations[{HIERARCHY}]",
                Effect.IGNORED,
                "the tree of queues goes by spec.parent"
                if tree
                else "only drf with enableHierarchy reads it",
                "set spec.parent instead" if tree else "",
            )


def queue_beside_hierarchy(given: Checked, how: Behaviours) -> Iterator[Issue]:
    """A queue without annotations of a hierarchy where ``drf`` goes by them: it has no place."""
    if not _by_annotations(given, how):
        return
    annotated = [q for q in given.world.queues.values() if q.annotations.get(HIERARCHY)]
    for name, queue in given.world.queues.items() if annotated else ():
        if not queue.annotations.get(HIERARCHY) and given.world.has("Queue", name):
            message = "it has no place in the hierarchy that other queues have by annotation"
            yield Issue(
                given.world.subject("Queue", name), "metadata.annotations", Effect.ODD, message
            )


def reclaim_without_victims(given: Checked, how: Behaviours) -> Iterator[Issue]:
    """The action ``reclaim`` where no queue is reclaimable: it never evicts anybody."""
    conf = given.world.in_force
    if conf is None or "reclaim" not in given.world.conf(how).actions:
        return
    others = [q for name, q in given.world.queues.items() if name != ROOT]
    if "Queue" in given.world.complete and not any(map(_reclaimable, others)):
        message = "the action reclaim takes from no queue: none is reclaimable"
        yield Issue(conf.subject, "actions", Effect.IGNORED, message)


def _reclaimable(queue: Queue) -> bool:
    return queue.spec.reclaimable is None or queue.spec.reclaimable


def _by_annotations(given: Checked, how: Behaviours) -> bool:
    """Say whether drf goes by the annotations."""
    options = options_of(given.world.conf(how))
    return any(option.name == "drf" and option.enabled_hierarchy for option in options)


def _annotation_fault(path: str, weights: str) -> tuple[str, bool]:
    """Return what is wrong with a path and its weights, and whether a weight is missing."""
    if not path and not weights:
        return "", False
    steps, numbers = path.split("/"), weights.split("/")
    if len(steps) != len(numbers):
        message = f"the path {path!r} has {len(steps)} steps, and there are {len(numbers)} weights"
        return message, len(numbers) < len(steps)
    if not all(map(_above_zero, numbers)):
        return f"{weights!r} are not all numbers above 0", False
    return "", False


def _above_zero(text: str) -> bool:
    try:
        return float(text) > 0
    except ValueError:
        return False


def _exceeding(
    high: dict[str, str | int | float], low: dict[str, str | int | float], *, absent: bool = False
) -> Iterator[tuple[str, float, float]]:
    """Yield (resource, much, less) where ``high`` names more than ``low``.

    :param absent: what ``low`` does not name is 0 there; else it does not count.
    """
    much, less = Resource.of(high), Resource.of(low)
    for name in high:
        if (name in low or absent) and much.get(name) > less.get(name):
            yield name, much.get(name), less.get(name)
