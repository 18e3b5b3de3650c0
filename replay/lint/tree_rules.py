"""Rules about queues as a tree, which the plugin ``capacity`` builds with ``enableHierarchy``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...engine.kubernetes.counts import counted
from ...engine.model.resource import ZERO, Resource
from ...engine.session.plugins.capacity.attrs import QueueAttr
from ...engine.session.plugins.capacity.soundness import Complaint
from ...engine.volcano.session.queue_tree import RootQueueBounds
from .context import LintContext
from .findings import FaultEffect, FindingSubject, Issue
from .lint_admission import webhook_of
from .linted_queues import Mode
from .message_amounts import amounts, few, lacking, names_of
from .objects import ROOT

if TYPE_CHECKING:
    from ...engine.volcano.session.behaviours import Behaviours

STOPPED = "nothing is enqueued or allocated in the whole cluster"
LOGGED = "the scheduler logs it and continues"
NOT_GRANTED = "the excess is not granted"


def queue_parent_missing(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A queue whose parent does not exist: nothing in the cluster is scheduled.

    That of a file is ``queue-refused-without-parent`` as well: the scheduler only has it where the
    webhook does not run. Without ``--at`` only the files are checked.
    """
    if given.queues.mode(how) is not Mode.TREE:
        return
    named = given.queues.named(how)
    for name, parent in given.queues.parents.items():
        if parent not in named:
            subject = given.world.subject("Queue", name)
            refused = subject.place is not None and webhook_of(how.release).parent_exists
            unless = "if no webhook refuses it, " if refused else ""
            yield Issue(
                subject,
                "spec.parent",
                FaultEffect.STOPS,
                f"its parent {parent!r} does not exist: {unless}{STOPPED}",
                given.world.or_where(f"apply {parent!r} first, or correct the name"),
            )


def queue_parent_cycle(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A queue that is below itself.

    It has child queues, so a job in it stops all scheduling, and none of them ever gets a limit:
    jobs in them, or below, are never scheduled. Some releases also crash: from v1.12.2 to v1.13.0
    in every session, later as soon as they prepare for a pod of any queue.
    """
    if given.queues.mode(how) is not Mode.TREE:
        return
    crash = ""
    if how.tree_metrics_show_capability and not how.unchecked_queues_have_zero_limit:
        crash = ": it has no limit, and the scheduler crashes in every session"
    elif how.topology_aware_preemption:
        crash = ": the scheduler copies it endlessly when it prepares for a pod, and crashes"
    busy = {members.queue for members in given.world.members}
    for name in given.queues.parents:
        cycle = given.queues.cycle(name)
        if not cycle:
            continue
        path = " → ".join((*cycle, name))
        subject = given.world.subject("Queue", name)
        now = "give one of them a parent that is not below it"
        if name in busy:
            message = f"it is below itself ({path}) and has jobs: {STOPPED}"
            yield Issue(subject, "spec.parent", FaultEffect.STOPS, message, now)
        else:
            message = f"it is below itself ({path}){crash}"
            effect = FaultEffect.CRASHES if crash else FaultEffect.NEVER
            yield Issue(subject, "spec.parent", effect, message, now)


def queue_exceeds_parent(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A queue with more capability than its parent, in any resource.

    Also a queue with a resource other than cpu and memory that its parent lacks. The root has the
    sum of the nodes, unless the release reads its own fields.
    """
    for complaint in _complaints(given, how, "capability"):
        names = lacking(complaint.own, complaint.theirs)
        has = _has(complaint, names)
        message = f"capability {amounts(names, complaint.theirs)} exceeds its parent {has}"
        stops = how.invalid_tree_stops_scheduling
        yield Issue(
            given.world.subject("Queue", complaint.child),
            f"spec.capability.{names[0]}" if len(names) == 1 else "spec.capability",
            FaultEffect.STOPS if stops else FaultEffect.DIFFERS,
            f"{message}: {_then(how)}",
            f"give it less, or {complaint.queue!r} more",
        )


def queue_children_exceed_deserved(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A queue whose children together deserve more than it, in any resource."""
    yield from _sums(given, how, "deserved", "deserve")


def queue_children_exceed_guarantee(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A queue whose children together are guaranteed more than it, in any resource."""
    yield from _sums(given, how, "guarantee", "are guaranteed")


def queue_guarantees_exceed_room(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A queue whose children are guaranteed more than it may use."""
    if given.queues.mode(how) is not Mode.TREE:
        return
    for attr in given.queues.tree(how).attrs.values():
        limit = attr.real_capability
        if limit is None or not attr.children:
            continue
        total = _sum(child.guarantee for child in attr.children.values())
        if total.less_equal(limit, ZERO):
            continue
        names = lacking(limit, total)
        message = (
            f"its children are guaranteed {amounts(names, total)} together, but it may use "
            f"{amounts(names, limit)}"
        )
        crashes = how.excess_child_guarantees_crash
        if crashes:
            message += ": the scheduler panics when it opens a session"
        subject = _of_children(given, attr)
        effect = FaultEffect.CRASHES if crashes else FaultEffect.DIFFERS
        yield Issue(subject, "spec.guarantee", effect, message, "guarantee less")


def queue_below_busy_queue(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A queue below one that has jobs: only a queue without children may have jobs."""
    if given.queues.mode(how) is not Mode.TREE:
        return
    busy: dict[str, list[FindingSubject]] = {}
    for members in given.world.members:
        # Jobs of the log are there before the files; those of files are job-in-parent-queue.
        if members.subject.place is None and given.queues.children.get(members.queue):
            busy.setdefault(members.queue, []).append(members.subject)
    for queue, jobs in busy.items():
        below = few(given.queues.children[queue])
        shown = few([str(job) for job in jobs])
        yield Issue(
            _written_below(given, queue),
            "spec.parent",
            FaultEffect.STOPS,
            f"{below} would be below {queue!r}, which has {counted(len(jobs), 'job')} ({shown}): "
            f"{STOPPED}",
            f"move the jobs of {queue!r} into a queue below it first",
        )


def job_in_parent_queue(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A job in a queue with child queues, such as the root."""
    if given.queues.mode(how) is not Mode.TREE:
        return
    for members in given.world.members:
        below = given.queues.children.get(members.queue, ())
        if members.subject.place is not None and below:
            message = f"its queue {members.queue!r} has child queues ({few(below)}): {STOPPED}"
            now = "choose a queue without child queues"
            yield Issue(members.subject, "spec.queue", FaultEffect.STOPS, message, now)


def root_capability_ignored(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A root queue with a capability, which the release replaces by the sum of the nodes."""
    root = given.world.queues.get(ROOT)
    if root is None or not root.spec.capability or given.queues.mode(how) is not Mode.TREE:
        return
    if how.root_queue_bounds is RootQueueBounds.CLUSTER:
        message = "the root queue may use all resources of the nodes, whatever is written here"
        subject = given.world.subject("Queue", ROOT)
        yield Issue(subject, "spec.capability", FaultEffect.IGNORED, message)


def queue_parent_ignored(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A queue with a parent although queues are not a tree: the parent is ignored."""
    if given.queues.mode(how) is Mode.TREE:
        return
    why = (
        "the scheduler's configuration does not use a tree of queues"
        if how.root_queue
        else "queues have no parents in this release"
    )
    for name, parent in given.queues.parents.items():
        if parent != ROOT:
            yield Issue(
                given.world.subject("Queue", name),
                "spec.parent",
                FaultEffect.IGNORED,
                f"{why}: {parent!r} does not limit it",
                "set enableHierarchy: true for the plugin capacity" if how.root_queue else "",
            )


def _complaints(given: LintContext, how: Behaviours, what: str) -> Iterator[Complaint]:
    if given.queues.mode(how) is Mode.TREE:
        yield from (each for each in given.queues.tree(how).complaints if each.what == what)


def _sums(given: LintContext, how: Behaviours, what: str, verb: str) -> Iterator[Issue]:
    for complaint in _complaints(given, how, what):
        names = lacking(complaint.own, complaint.theirs)
        attr = given.queues.tree(how).attrs[complaint.queue]
        stops = how.invalid_tree_stops_scheduling
        # In these releases deserved is first cut to what jobs request, so an idle tree passes the
        # check.
        if stops and what == "deserved" and how.deserved_capped_by_request:
            when = f"as soon as jobs request it, {STOPPED}"
        else:
            when = _then(how)
        yield Issue(
            _of_children(given, attr),
            f"spec.{what}.{names[0]}" if len(names) == 1 else f"spec.{what}",
            FaultEffect.STOPS if stops else FaultEffect.DIFFERS,
            f"its children ({few(sorted(attr.children))}) {verb} "
            f"{amounts(names, complaint.theirs)} together, but it has "
            f"{_has(complaint, names, own='')}: {when}",
            f"raise it in {complaint.queue!r}, or lower it in the children",
        )


def _then(how: Behaviours) -> str:
    """Return the consequence for a queue that has less than its children."""
    if how.invalid_tree_stops_scheduling:
        return STOPPED
    return LOGGED if how.children_may_exceed_parent else NOT_GRANTED


def _has(complaint: Complaint, names: list[str], own: str | None = None) -> str:
    """Return what a queue has of the exceeded resources, and why."""
    owner = f"{complaint.queue!r}, which has " if own is None else own
    there = names_of(complaint.own)
    has = [name for name in names if name in there]
    text = amounts(has, complaint.own) if has else ""
    absent = [name for name in names if name not in there]
    if absent:
        text = f"{text} and " if text else ""
        text += f"no {' and no '.join(absent)}"
    return owner + text


def _of_children(given: LintContext, attr: QueueAttr) -> FindingSubject:
    """Return the queue; at the place of one of its children if it is in no file."""
    subject = given.world.subject("Queue", attr.name)
    if subject.place is not None:
        return subject
    return subject._replace(place=_written_below(given, attr.name).place)


def _written_below(given: LintContext, queue: str) -> FindingSubject:
    """Return a child of a queue, preferably one in a file."""
    subjects = [
        given.world.subject("Queue", child) for child in given.queues.children.get(queue, ())
    ]
    written = [subject for subject in subjects if subject.place is not None]
    return (written or subjects or [given.world.subject("Queue", queue)])[-1]


def _sum(parts: Iterator[Resource]) -> Resource:
    total = Resource()
    for part in parts:
        total.add(part)
    return total
