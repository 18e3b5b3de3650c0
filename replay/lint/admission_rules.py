"""Rules about queues that Volcano's admission webhook refuses when files are applied.

Queues of a log are there already. A pull request is checked as if all its queues were applied.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from ...engine.kubernetes.objects import Queue
from ...engine.kubernetes.units import parse_quantity
from ...engine.model.resource import Resource
from .context import LintContext
from .findings import FaultEffect, FindingSubject, Issue
from .lint_admission import OwnAmounts, ParentAmounts, webhook_of
from .message_amounts import amounts, lacking
from .objects import MADE, ROOT

if TYPE_CHECKING:
    from ...engine.volcano.session.behaviours import Behaviours

REFUSED = "Volcano's admission webhook refuses it"
Quantities = Mapping[str, str | int | float]

_FIELDS = MappingProxyType({"deserved": "deserved", "guarantee": "guarantee.resource"})
"""The field of each amount below ``spec``."""


def queue_refused_for_amounts(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A queue that the webhook refuses, as guarantee, deserved and capability do not go together.

    They must grow in this order. From v1.13.0 to v1.14.1 a resource that only the smaller one names
    is refused too. Since v1.14.2 each resource is compared by itself, every guaranteed one must be
    deserved, and a capability that is not written is no limit.
    """
    own = webhook_of(how.release).own
    for subject, queue in _written(given):
        spec = queue.spec
        guarantee = spec.guarantee.resource
        pairs = [("deserved", spec.deserved, "capability", spec.capability)]
        # Since v1.14.2 the webhook compares only neighbours: guarantee, deserved, capability.
        if own is not OwnAmounts.BY_NAME:
            pairs.append(("guarantee", guarantee, "capability", spec.capability))
        pairs.append(("guarantee", guarantee, "deserved", spec.deserved))
        for less, small, more, large in pairs:
            names = _beyond(own, small, large, needed=more == "deserved")
            if names:
                yield Issue(
                    subject,
                    f"spec.{_FIELDS[less]}.{names[0]}",
                    FaultEffect.REFUSED,
                    f"{REFUSED}: {less} {_written_amounts(names, small)} exceeds {more} "
                    f"{_written_amounts(names, large)}",
                    f"lower {less}, or raise {more}",
                )


def queue_refused_below_parent(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """Queues that the webhook refuses, as a parent has less than its children.

    A capability must not exceed that of the queue above it, and children together must not deserve,
    or be guaranteed, more than their parent. Since v1.14.2 a parent that deserves nothing may have
    no child that does. Children of the root are not compared with it.
    """
    kind = webhook_of(how.release).parent
    if kind is ParentAmounts.UNCHECKED:
        return
    for parent, names in given.queues.children.items():
        queue = given.world.queues.get(parent)
        if parent == ROOT or queue is None:
            continue
        children = [given.world.queues[name] for name in names]
        yield from _capabilities(given, kind, queue, children)
        yield from _sums(given, kind, queue, children)


def queue_refused_for_depth(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A queue that the webhook refuses, as it is too deep in the tree, or its own parent.

    Five levels are allowed below the root, unless the webhook is started with another number.
    """
    webhook = webhook_of(how.release)
    for subject, queue in _written(given):
        parent = queue.spec.parent
        if parent and parent == queue.name and webhook.not_own_parent:
            message = f"{REFUSED}: it is its own parent"
            yield Issue(
                subject, "spec.parent", FaultEffect.REFUSED, message, "choose another parent"
            )
            continue
        levels = len([name for name in given.queues.lineage(queue.name) if name != ROOT])
        if webhook.levels and levels > webhook.levels and queue.name != ROOT:
            message = f"{REFUSED}: it is {levels} levels below the root, more than {webhook.levels}"
            now = "move it up, or start the webhook with another --max-queue-depth"
            yield Issue(subject, "spec.parent", FaultEffect.REFUSED, message, now)


def queue_refused_without_parent(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A queue that the webhook refuses, as its parent does not exist, whatever plugin reads it.

    What the scheduler does with such a queue, if it is there, is ``queue-parent-missing``.
    """
    if not webhook_of(how.release).parent_exists:
        return
    named = given.queues.named(how) | {ROOT}
    for subject, queue in _written(given):
        parent = queue.spec.parent
        if parent and parent not in named:
            message = f"{REFUSED}: its parent {parent!r} does not exist"
            now = given.world.or_where(f"apply {parent!r} first, or correct the name")
            yield Issue(subject, "spec.parent", FaultEffect.REFUSED, message, now)


def queue_before_parent(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A queue that is before its parent in the files.

    The webhook refuses a queue whose parent does not exist yet, so the files must be applied twice.
    The root and ``default`` exist already: the scheduler makes them.
    """
    if not webhook_of(how.release).parent_exists:
        return
    # An object that is written again moves to its last place, so this is the order of `kubectl
    # apply`.
    order = {key.name: at for at, key in enumerate(given.world.manifests) if key.kind == "Queue"}
    for subject, queue in _written(given):
        parent = queue.spec.parent
        above = given.world.subject("Queue", parent)
        if (
            parent not in MADE
            and parent in order
            and above.place is not None
            and order[parent] > order[subject.name]
        ):
            message = f"its parent {parent!r} is applied after it, so it is refused at first"
            now = f"move {parent!r} before it, or apply the files again"
            yield Issue(subject, "spec.parent", FaultEffect.ODD, message, now)


def _written(given: LintContext) -> Iterator[tuple[FindingSubject, Queue]]:
    """Yield the queues of files."""
    for name, queue in given.world.queues.items():
        subject = given.world.subject("Queue", name)
        if subject.place is not None:
            yield subject, queue


def _beyond(own: OwnAmounts, small: Quantities, large: Quantities, *, needed: bool) -> list[str]:
    """Return the resources of which one amount is more than the other may be.

    :param needed: resources that only the smaller one names count: of deserved.
    """
    if own is OwnAmounts.UNCHECKED or not small:
        return []
    if own is OwnAmounts.BY_NAME:
        return [
            name
            for name in small
            if (needed and name not in large)
            or (name in large and parse_quantity(small[name]) > parse_quantity(large[name]))
        ]
    # An empty list is no limit, except where a guarantee has to be deserved.
    if not large and not (needed and own is OwnAmounts.WHOLE_FOR_GUARANTEE):
        return []
    return lacking(Resource.of(large), Resource.of(small))


def _written_amounts(names: list[str], of: Quantities) -> str:
    return ", ".join(f"{name} {of.get(name, 'not written')}" for name in names)


def _capabilities(
    given: LintContext, kind: ParentAmounts, parent: Queue, children: list[Queue]
) -> Iterator[Issue]:
    for child in children:
        own = Resource.of(child.spec.capability)
        above, limit = parent.name, Resource.of(parent.spec.capability)
        names = lacking(limit, own) if kind is ParentAmounts.PARENT else []
        if kind is ParentAmounts.ANCESTORS:
            above, limit, names = _nearest(given, child, own)
        subject = _one_of(given, child.name, above)
        if names and subject is not None:
            yield Issue(
                subject,
                f"spec.capability.{names[0]}",
                FaultEffect.REFUSED,
                f"{REFUSED}: capability {amounts(names, own)} of {child.name!r} exceeds "
                f"{amounts(names, limit)} of {above!r} above it",
                f"give {child.name!r} less, or {above!r} more",
            )


def _nearest(given: LintContext, child: Queue, own: Resource) -> tuple[str, Resource, list[str]]:
    """Return the nearest queue above with less of a resource, its capability, and the resources."""
    unbounded = list(child.spec.capability)
    for name in list(given.queues.lineage(child.name))[1:]:
        above = given.world.queues[name].spec.capability if name != ROOT else {}
        limit = Resource.of(above)
        # An ancestor limits a resource only with an amount above 0 (findNearestAncestorCapability),
        # and hides those above it.
        here = [resource for resource in unbounded if resource in above and limit.get(resource) > 0]
        beyond = [resource for resource in here if own.get(resource) > limit.get(resource)]
        if beyond:
            return name, limit, beyond
        unbounded = [resource for resource in unbounded if resource not in here]
    return "", Resource(), []


def _sums(
    given: LintContext, kind: ParentAmounts, parent: Queue, children: list[Queue]
) -> Iterator[Issue]:
    for field in ("guarantee", "deserved"):
        limit, limited_by = _amounts_of(parent, field), field
        if kind is ParentAmounts.PARENT and not limit:
            limit, limited_by = parent.spec.capability, "capability"
            if not limit:
                continue
        total = Resource()
        for child in children:
            total.add(Resource.of(_amounts_of(child, field)))
        names = lacking(Resource.of(limit), total)
        subject = _one_of(given, parent.name, *(child.name for child in children))
        if names and subject is not None:
            yield Issue(
                subject,
                f"spec.{_FIELDS[field]}.{names[0]}",
                FaultEffect.REFUSED,
                f"{REFUSED}: the children of {parent.name!r} have {field} "
                f"{amounts(names, total)} together, more than its {limited_by} "
                f"{_written_amounts(names, limit)}",
                f"lower it in the children, or raise it in {parent.name!r}",
            )


def _amounts_of(queue: Queue, field: str) -> Quantities:
    return queue.spec.deserved if field == "deserved" else queue.spec.guarantee.resource


def _one_of(given: LintContext, *names: str) -> FindingSubject | None:
    """Return the first of some queues that is in a file; None if none is."""
    subjects = (given.world.subject("Queue", name) for name in names if name)
    return next((subject for subject in subjects if subject.place is not None), None)
