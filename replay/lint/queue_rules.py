"""Rules about queues, single and together, whatever plugin limits them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...engine.model.panic import Panic
from ...engine.model.queue import HIERARCHY, HIERARCHY_WEIGHTS, QueueInfo
from ...engine.model.resource import ZERO, Resource
from ...engine.volcano.session.queue_tree import TreeDeserved
from .context import LintContext
from .findings import FaultEffect, Issue
from .linted_queues import Mode, options_of
from .message_amounts import amount, amounts, lacking
from .objects import ROOT

if TYPE_CHECKING:
    from ...engine.volcano.session.behaviours import Behaviours

_CAPACITY = frozenset({Mode.TREE, Mode.FLAT})


def queue_guarantee_above_deserved(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A queue that is guaranteed more than it deserves.

    Most releases raise its deserved to its guarantee. Admission of the newest ones rejects it, also
    if ``deserved`` does not name the resource.
    """
    mode = given.queues.mode(how)
    if mode not in _CAPACITY:
        return
    as_written = mode is Mode.TREE and how.tree_deserved is TreeDeserved.AS_WRITTEN
    then = "it may reclaim less than is reserved for it" if as_written else "deserved rises to it"
    for name, queue in given.world.queues.items():
        more = _exceeding(queue.spec.guarantee.resource, queue.spec.deserved, absent=True)
        for resource, high, low in more:
            yield Issue(
                given.world.subject("Queue", name),
                f"spec.guarantee.resource.{resource}",
                FaultEffect.DIFFERS,
                f"guarantee {amount(resource, high)} exceeds deserved {amount(resource, low)}: "
                f"{then}",
                f"set spec.deserved to at least {amount(resource, high)}",
            )


def queue_deserved_above_capability(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A queue that deserves more than it may use: it can never get it."""
    if given.queues.mode(how) not in _CAPACITY:
        return
    for name, queue in given.world.queues.items():
        for resource, high, low in _exceeding(queue.spec.deserved, queue.spec.capability):
            yield Issue(
                given.world.subject("Queue", name),
                f"spec.deserved.{resource}",
                FaultEffect.DIFFERS,
                f"deserved {amount(resource, high)} exceeds capability {amount(resource, low)}",
                "lower deserved, or raise capability",
            )


def queue_guarantee_above_capability(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """A queue that is guaranteed more than it may use: the rest is reserved and unused.

    This holds for ``proportion`` and for ``capacity``.
    """
    for name, queue in given.world.queues.items():
        excess = _exceeding(queue.spec.guarantee.resource, queue.spec.capability)
        for resource, high, low in excess:
            yield Issue(
                given.world.subject("Queue", name),
                f"spec.guarantee.resource.{resource}",
                FaultEffect.DIFFERS,
                f"guarantee {amount(resource, high)} exceeds capability {amount(resource, low)}: "
                f"the rest is reserved, and no queue can use it",
                "lower guarantee, or raise capability",
            )


def guarantees_exceed_cluster(given: LintContext, how: Behaviours) -> Iterator[Issue]:
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
    then = "the scheduler panics" if crashes else "nothing is left for the other queues"
    for name, queue in given.world.queues.items():
        if any(resource in queue.spec.guarantee.resource for resource in names):
            yield Issue(
                given.world.subject("Queue", name),
                "spec.guarantee",
                FaultEffect.CRASHES if crashes else FaultEffect.DIFFERS,
                f"all queues are guaranteed {amounts(names, given.queues.guarantees)} together, "
                f"but the nodes have {amounts(names, given.world.total)}: {then}",
                "guarantee less",
            )


def guarantees_break_division(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """Guarantees that make ``proportion`` panic, as more is divided than is left. Nodes are known.

    This happens in some releases when queues request all they may use, if a queue is guaranteed
    more than its share of the cluster by weight. The queues of files are named, if there are any;
    the root is not divided among.
    """
    world = given.world
    if not how.guarantees_above_remaining_crash or given.queues.mode(how) is not Mode.PROPORTION:
        return
    crash = None if world.total is None else given.queues.division(how)
    if crash is None:
        return
    subjects = [
        world.subject("Queue", name)
        for name, queue in world.queues.items()
        if queue.spec.guarantee.resource and name != ROOT
    ]
    written = [subject for subject in subjects if subject.place is not None]
    for subject in written or subjects:
        yield Issue(
            subject,
            "spec.guarantee",
            FaultEffect.CRASHES,
            f"when queues request all they may use, the scheduler panics: {_too_much(crash)}",
            "guarantee less than the queue's share of the nodes by weight",
        )


def _too_much(crash: Panic) -> str:
    """Return what of a division is more than there is; the panic's own text if it is another."""
    if not crash.short:
        return crash.message
    taken = ", ".join(amount(shortage.resource, round(shortage.taken)) for shortage in crash.short)
    has = ", ".join(amount(shortage.resource, round(shortage.has)) for shortage in crash.short)
    return f"it divides {taken}, but {has} is left"


def queue_deserved_ignored(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A queue with ``deserved`` that no plugin reads: ``proportion`` divides by weight.

    The scheduler itself writes that of the root.
    """
    mode = given.queues.mode(how)
    if mode in _CAPACITY:
        return
    of = "no plugin limits queues"
    if mode is not Mode.NOTHING:
        of = f"queues are limited by {mode.value}, which does not read it"
    for name, queue in given.world.queues.items():
        if queue.spec.deserved and name != ROOT:
            yield Issue(
                given.world.subject("Queue", name),
                "spec.deserved",
                FaultEffect.IGNORED,
                of,
                "use the plugin capacity, if the release has it",
            )


def queue_weight_ignored(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A queue with a weight other than 1 that no plugin reads."""
    mode = given.queues.mode(how)
    if mode is Mode.PROPORTION:
        return
    for name, queue in given.world.queues.items():
        if queue.spec.weight not in (0, 1):
            message = f"queues are limited by {mode.value}, which does not read weights"
            subject = given.world.subject("Queue", name)
            yield Issue(subject, "spec.weight", FaultEffect.ODD, message)


def queue_weight_negative(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """A queue with a negative weight; admission sets a missing one to 1."""
    for name, queue in given.world.queues.items():
        if queue.spec.weight < 0:
            message = f"weight {queue.spec.weight} is negative"
            yield Issue(
                given.world.subject("Queue", name), "spec.weight", FaultEffect.INVALID, message
            )


def queue_hierarchy_annotations(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A queue whose annotations for ``drf`` with ``enableHierarchy`` do not fit together.

    ``volcano.sh/hierarchy`` is a path from ``root``, and ``volcano.sh/hierarchy-weights`` has a
    number above 0 for each of its steps. If a weight is missing, the scheduler panics.
    """
    by_annotations = _by_annotations(given, how)
    for name, queue in given.world.queues.items():
        path = queue.annotations.get(HIERARCHY, "")
        weights = queue.annotations.get(HIERARCHY_WEIGHTS, "")
        for fault, lacks in _annotation_faults(path, weights):
            effect = FaultEffect.CRASHES if lacks and by_annotations else FaultEffect.INVALID
            yield Issue(given.world.subject("Queue", name), "metadata.annotations", effect, fault)


def queue_hierarchy_ignored(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A queue with annotations of a hierarchy that no plugin reads.

    They belong to ``drf`` with ``enableHierarchy``. The tree of ``capacity`` uses ``spec.parent``;
    the two are independent.
    """
    if _by_annotations(given, how):
        return
    for name, queue in given.world.queues.items():
        if queue.annotations.get(HIERARCHY):
            tree = given.queues.mode(how) is Mode.TREE
            yield Issue(
                given.world.subject("Queue", name),
                f"metadata.annotations[{HIERARCHY}]",
                FaultEffect.IGNORED,
                "the tree of queues uses spec.parent"
                if tree
                else "only drf with enableHierarchy reads it",
                "set spec.parent instead" if tree else "",
            )


def queue_beside_hierarchy(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A queue without annotations of a hierarchy, although ``drf`` uses them: it has no place."""
    if not _by_annotations(given, how):
        return
    annotated = [q for q in given.world.queues.values() if q.annotations.get(HIERARCHY)]
    # A queue that only the scheduler creates is in no file and no log, and cannot be corrected.
    for name, queue in given.world.queues.items() if annotated else ():
        if not queue.annotations.get(HIERARCHY) and given.world.has("Queue", name):
            message = "it has no place in the hierarchy that other queues' annotations define"
            yield Issue(
                given.world.subject("Queue", name), "metadata.annotations", FaultEffect.ODD, message
            )


def reclaim_without_victims(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """The action ``reclaim`` without reclaimable queues: it never evicts a pod."""
    conf = given.world.in_force
    if conf is None or "reclaim" not in given.world.conf(how).actions:
        return
    others = [QueueInfo(q) for name, q in given.world.queues.items() if name != ROOT]
    if "Queue" in given.world.complete and not any(queue.reclaimable for queue in others):
        message = "the action reclaim has no effect: no queue is reclaimable"
        yield Issue(conf.subject, "actions", FaultEffect.IGNORED, message)


def _by_annotations(given: LintContext, how: Behaviours) -> bool:
    """Return whether drf uses the annotations."""
    options = options_of(given.world.conf(how))
    return any(option.name == "drf" and option.enabled_hierarchy for option in options)


def _annotation_faults(path: str, weights: str) -> Iterator[tuple[str, bool]]:
    """Yield what is wrong with a path and its weights, and whether a weight is missing."""
    if not path and not weights:
        return
    steps, numbers = path.split("/"), weights.split("/")
    if len(steps) != len(numbers):
        message = f"the path {path!r} has {len(steps)} steps, but there are {len(numbers)} weights"
        yield message, len(numbers) < len(steps)
    if weights and not all(map(_above_zero, numbers)):
        yield f"{weights!r} are not all numbers above 0", False


def _above_zero(text: str) -> bool:
    # Python's float also takes spaces, underscores and other digits, which Go's ParseFloat refuses.
    if not text.isascii() or "_" in text or text != text.strip():
        return False
    try:
        return float(text) > 0
    except ValueError:
        return False


def _exceeding(
    high: dict[str, str | int | float], low: dict[str, str | int | float], *, absent: bool = False
) -> Iterator[tuple[str, float, float]]:
    """Yield (resource, more, less) where ``high`` has more than ``low``.

    :param absent: a resource that ``low`` does not name is 0; else it is skipped.
    """
    much, less = Resource.of(high), Resource.of(low)
    for name in high:
        if (name in low or absent) and much.get(name) > less.get(name):
            yield name, much.get(name), less.get(name)
