"""Rules about Jobs, PodGroups and pods: whether their requests can ever be met."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ...engine.kubernetes.counts import counted
from ...engine.kubernetes.priority_classes import BUILT_IN_CLASSES
from ...engine.model.resource import ZERO, Resource
from ...engine.model.resource_names import PODS
from ...engine.model.task import GROUP_NAME
from ...engine.session.plugins.overcommit import DEFAULT_FACTOR, FACTOR
from ...engine.volcano.admission import task_name
from .context import LintContext
from .findings import FaultEffect, FindingSubject, Issue
from .gang_rules import GangRequest, by_amounts, waits
from .linted_queues import Mode, options_of
from .message_amounts import amounts, lacking
from .objects import Job, TaskSpec

if TYPE_CHECKING:
    from ...engine.volcano.session.behaviours import Behaviours

CLOSED = frozenset({"Closed", "Closing"})
_NO_TASKS = "it has no tasks"


def job_without_tasks(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """A Job without tasks, or with two tasks of one name: admission rejects it."""
    for key, job in given.world.jobs.items():
        subject = given.world.subject("Job", key)
        names = [task_name(task.name, number) for number, task in enumerate(job.spec.tasks)]
        if not names:
            yield Issue(subject, "spec.tasks", FaultEffect.REFUSED, _NO_TASKS)
        for name in sorted({name for name in names if names.count(name) > 1}):
            message = f"{names.count(name)} tasks have the name {name!r}"
            yield Issue(
                subject, "spec.tasks", FaultEffect.REFUSED, message, "give each its own name"
            )


def job_min_available_unreachable(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """A Job whose ``minAvailable`` is more than all its pods: its gang is never complete."""
    for key, job in given.world.jobs.items():
        replicas = sum(task.replicas for task in job.spec.tasks)
        subject = given.world.subject("Job", key)
        if job.spec.min_available > replicas and job.spec.tasks:
            yield Issue(
                subject,
                "spec.minAvailable",
                FaultEffect.NEVER,
                f"minAvailable {job.spec.min_available} is more than the "
                f"{counted(replicas, 'pod')} of its tasks",
                f"set it to {replicas} at most",
            )
        if job.spec.min_available < 0:
            message = f"minAvailable {job.spec.min_available} is negative"
            yield Issue(subject, "spec.minAvailable", FaultEffect.INVALID, message)


def task_behind_its_gang(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A Job whose gang needs pods of a task that waits for another task of the same gang.

    A task with ``dependsOn`` gets its pods when those of the other task run, and these run when the
    gang has all the pods that it needs: neither ever starts. Only with the plugin `gang`.
    """
    if not any(option.name == "gang" for option in options_of(given.world.conf(how))):
        return
    for key, job in given.world.jobs.items():
        later = [task for task in job.spec.tasks if task.depends_on and task.depends_on.name]
        first = [task for task in job.spec.tasks if task not in later]
        exist, least = sum(task.replicas for task in first), job.min_available(how)
        total = sum(task.least(how) for task in job.spec.tasks)
        needed = [task for task in later if task.least(how) > 0]
        # A gang that can never be complete is reported by the rules about minAvailable.
        if not later or not first or not _fits(job, how) or least > exist + _replicas(later):
            continue
        if least > exist:
            message = (
                f"its gang needs {counted(least, 'pod')} at once, and only {exist} "
                f"{'exists' if exist == 1 else 'exist'} before {_awaited(later)} runs"
            )
        # Minima of tasks count only where the gang's minimum is at least their sum.
        elif needed and least >= total:
            message = (
                f"its gang needs {counted(needed[0].least(how), 'pod')} of task "
                f"{needed[0].name!r}, which gets none before {_awaited(needed[:1])} runs"
            )
        else:
            continue
        field, most = "spec.minAvailable", min(exist, total - 1)
        hint = f"set it to {most} at most" if most > 0 else "let no task of it wait for another"
        yield Issue(given.world.subject("Job", key), field, FaultEffect.NEVER, message, hint)


def task_min_available_unreachable(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """A task whose ``minAvailable`` is more than its replicas."""
    for key, job in given.world.jobs.items():
        for number, task in enumerate(job.spec.tasks):
            if task.min_available is not None and task.min_available > task.replicas:
                yield Issue(
                    given.world.subject("Job", key),
                    f"spec.tasks[{number}].minAvailable",
                    FaultEffect.NEVER,
                    f"task {task.name!r} needs {counted(task.min_available, 'pod')} and has "
                    f"{task.replicas}",
                    f"set it to {task.replicas} at most",
                )


def task_minima_ignored(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """Minima of tasks whose sum is more than the job's minimum: all of them are ignored.

    In a Job, a task without ``minAvailable`` needs all its replicas, or since v1.14.0 the
    ``minPartitions`` of its ``partitionPolicy``.
    """
    for key, job in given.world.jobs.items():
        total = sum(task.least(how) for task in job.spec.tasks)
        subject = given.world.subject("Job", key)
        # Admission fills in missing fields, so a stored job does not show what was written.
        filled_in = subject.place is None or job.is_stored
        written = any(
            task.min_available is not None
            and not (filled_in and task.min_available in task.defaults)
            for task in job.spec.tasks
        )
        if written and job.min_available(how) < total and _fits(job, how):
            yield _minima(subject, "spec.minAvailable", job.min_available(how), total)
    for key, group in given.world.pod_groups.items():
        total = sum(group.spec.min_task_member.values())
        # A group of a Job that is checked has the Job's own finding.
        if group.spec.min_member < total and given.world.job_of(group) is None:
            subject = given.world.subject("PodGroup", key)
            yield _minima(subject, "spec.minTaskMember", group.spec.min_member, total)


def pod_group_min_member_unreachable(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """A PodGroup that needs more pods than exist, and that no controller creates pods for.

    Only if some of its pods are known.
    """
    if "Pod" not in given.world.complete:
        return
    members = _pods_by_group(given)
    for key, group in given.world.pod_groups.items():
        count = len(members.get(key, ()))
        subject = given.world.subject("PodGroup", key)
        if group.spec.min_member < 0:
            message = f"minMember {group.spec.min_member} is negative"
            yield Issue(subject, "spec.minMember", FaultEffect.INVALID, message)
        if 0 < count < group.spec.min_member and group.metadata.controller is None:
            yield Issue(
                subject,
                "spec.minMember",
                FaultEffect.NEVER,
                f"minMember {group.spec.min_member} is more than its {counted(count, 'pod')}",
                f"set it to {count} at most, or add pods",
            )


def pod_group_missing(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """A pod that waits for a PodGroup that does not exist. Only if PodGroups are known."""
    if "PodGroup" not in given.world.complete:
        return
    for key, pods in _pods_by_group(given, waiting=True).items():
        if given.world.has("PodGroup", key):
            continue
        for pod in pods:
            yield Issue(
                pod,
                f"metadata.annotations[{GROUP_NAME}]",
                FaultEffect.NEVER,
                f"its PodGroup {key!r} does not exist",
                given.world.or_where("apply the PodGroup first, or correct the name"),
            )


def job_queue_missing(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A job in a queue that does not exist. Only if queues are known."""
    if "Queue" not in given.world.complete:
        return
    named = given.queues.named(how)
    for members in given.world.members:
        if members.queue not in named:
            yield Issue(
                members.subject,
                "spec.queue",
                FaultEffect.NEVER,
                f"its queue {members.queue!r} does not exist",
                given.world.or_where("apply the queue first, or correct the name"),
            )


def job_queue_closed(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A job in a queue that is not open."""
    # Without a plugin for queues the scheduler does not look at their state.
    if given.queues.mode(how) is Mode.NOTHING:
        return
    for members in given.world.members:
        queue = given.world.queues.get(members.queue)
        # A job that ended needs no open queue.
        if queue is None or queue.status.state not in CLOSED or members.ended:
            continue
        still = how.closed_queues_schedule
        message = f"its queue {members.queue!r} is {queue.status.state}" + (
            ", which admission checks and the scheduler does not" if still else ""
        )
        effect = FaultEffect.DIFFERS if still else FaultEffect.NEVER
        yield Issue(members.subject, "spec.queue", effect, message, "open the queue")


def min_resources_above_queue(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A job that needs more at once than its queue, or a parent of it, may use.

    For a Job that is what its ``minAvailable`` pods request at least.
    """
    limits = given.queues.limits(how)
    enqueues = "enqueue" in given.world.conf(how).actions
    for wanted in given.gangs.wanted(how):
        bounds = limits.get(wanted.queue)
        limit = None if bounds is None else bounds.refusing(wanted.amounts)
        if limit is None:
            continue
        names = [
            name
            for name in lacking(limit.amounts, wanted.amounts)
            if wanted.amounts.get(name) > 0 and name != PODS
        ]
        may = ", ".join(_amount_or_none(name, limit.amounts) for name in names)
        yield Issue(
            wanted.subject,
            wanted.field,
            FaultEffect.NEVER
            # Without enqueue nothing compares minResources, and only a Job's gang waits for all of
            # it.
            if enqueues or _waits_for_all(given, wanted, how)
            else FaultEffect.DIFFERS,
            f"needs {amounts(names, wanted.amounts)} at once, but queue {limit.queue!r} may use "
            f"{may}",
            "request less, or raise the queue's capability",
        )


def min_resources_above_cluster(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A job that needs more at once than all nodes have. Only if nodes are known."""
    total = given.world.total
    if total is None:
        return
    most = _overcommitted(given, total, how)
    for wanted in given.gangs.wanted(how):
        names = [name for name in lacking(total, wanted.amounts) if wanted.amounts.get(name) > 0]
        if names:
            have = ", ".join(_amount_or_none(name, total) for name in names)
            refused = most is not None and not wanted.amounts.less_equal_with_dimension(
                most, wanted.amounts
            )
            never = refused or _waits_for_all(given, wanted, how)
            yield Issue(
                wanted.subject,
                wanted.field,
                FaultEffect.NEVER if never else FaultEffect.DIFFERS,
                f"needs {amounts(names, wanted.amounts)} at once, but all nodes have {have}",
                "request less, or add nodes",
            )


def pod_above_every_node(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A pod that would not fit on any node even if empty. Only if nodes are known."""
    # Most nodes are alike: each size is compared once.
    nodes = {
        tuple(sorted(node.status.allocatable.items(), key=str)): Resource.of(
            node.status.allocatable
        )
        for node in given.world.nodes.values()
    }
    if not nodes:
        return
    for singles in by_amounts(given.gangs.singles(how)).values():
        asked = singles[0].amounts
        if any(asked.less_equal(room, ZERO) for room in nodes.values()):
            continue
        named = [name for name in ("cpu", "memory", *(asked.scalars or ())) if asked.get(name)]
        count = len(given.world.nodes)
        none = "no node" if count == 1 else f"none of the {count} nodes"
        for single in singles:
            yield Issue(
                single.subject,
                single.field,
                FaultEffect.NEVER,
                f"one pod requests {amounts(named, asked)}, but {none} has all of that",
                "request less, or add a larger node",
            )


def priority_class_missing(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """A job, or a pod, of a priority class that does not exist. Only if such classes are known.

    The API server rejects pods of such a class; a PodGroup alone gets the default priority.
    """
    if "PriorityClass" not in given.world.complete:
        return
    named: list[tuple[FindingSubject, str, str]] = [
        (members.subject, "spec.priorityClassName", members.priority_class)
        for members in given.world.members
    ]
    named += [
        (
            given.world.subject("Job", key),
            f"spec.tasks[{number}].template.spec.priorityClassName",
            task.template.spec.priority_class_name,
        )
        for key, job in given.world.jobs.items()
        for number, task in enumerate(job.spec.tasks)
    ]
    named += [
        (given.world.subject("Pod", key), "spec.priorityClassName", pod.spec.priority_class_name)
        for key, pod in given.world.pods.items()
        if waits(pod)
    ]
    for subject, field, name in named:
        if name and name not in BUILT_IN_CLASSES and not given.world.has("PriorityClass", name):
            # Admission of pods rejects an unknown class; a PodGroup has no such check.
            alone = subject.kind == "PodGroup"
            message = f"the priority class {name!r} does not exist"
            message += ": it gets the default priority" if alone else ": its pods are rejected"
            effect = FaultEffect.DIFFERS if alone else FaultEffect.REFUSED
            yield Issue(
                subject,
                field,
                effect,
                message,
                given.world.or_where("apply the class first, or correct the name"),
            )


def gang_unheeded(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A job whose pods must run together, under a configuration without the plugin ``gang``."""
    conf = given.world.in_force
    # Without a configuration the default one is assumed, which has gang.
    if conf is None or any(o.name == "gang" for o in options_of(given.world.conf(how))):
        return
    for key, group in given.world.pod_groups.items():
        if group.spec.min_member > 1 and given.world.job_of(group) is None:
            message = f"minMember {group.spec.min_member} is ignored without the plugin gang"
            subject = given.world.subject("PodGroup", key)
            yield Issue(subject, "spec.minMember", FaultEffect.IGNORED, message)
    for key, job in given.world.jobs.items():
        least = job.min_available(how)
        if least > 1:
            message = f"minAvailable {least} is ignored without the plugin gang"
            subject = given.world.subject("Job", key)
            yield Issue(subject, "spec.minAvailable", FaultEffect.IGNORED, message)


def _waits_for_all(given: LintContext, wanted: GangRequest, how: Behaviours) -> bool:
    """Return whether pods with all these requests must run together: a PodGroup's may need less."""
    gang = any(option.name == "gang" for option in options_of(given.world.conf(how)))
    return gang and wanted.subject.kind == "Job"


def _overcommitted(given: LintContext, total: Resource, how: Behaviours) -> Resource | None:
    """Return the limit of what jobs may enqueue, or None if overcommit is off."""
    conf = given.world.conf(how)
    options = [option for option in options_of(conf) if option.name == "overcommit"]
    if "enqueue" not in conf.actions or not options:
        return None
    factor = options[-1].arguments.get_float(FACTOR, DEFAULT_FACTOR)
    return total.clone().multi(factor if factor >= 1 else DEFAULT_FACTOR)


def _minima(subject: FindingSubject, field: str, minimum: int, total: int) -> Issue:
    message = (
        f"the minima of its tasks are {total} together, but its own is {minimum}: those of the "
        f"tasks are ignored"
    )
    return Issue(subject, field, FaultEffect.DIFFERS, message, f"raise the minimum to {total}")


def _replicas(tasks: Iterable[TaskSpec]) -> int:
    return sum(task.replicas for task in tasks)


def _awaited(tasks: Iterable[TaskSpec]) -> str:
    """Return the tasks for which others wait."""
    names = dict.fromkeys(
        name for task in tasks if task.depends_on for name in task.depends_on.name
    )
    return f"task {' and '.join(map(repr, names))}"


def _fits(job: Job, how: Behaviours) -> bool:
    return all(task.least(how) <= task.replicas for task in job.spec.tasks)


def _pods_by_group(given: LintContext, *, waiting: bool = False) -> dict[str, list[FindingSubject]]:
    pods_by_group: dict[str, list[FindingSubject]] = {}
    for key, pod in given.world.pods.items():
        group = pod.annotations.get(GROUP_NAME)
        if group and (not waiting or waits(pod)):
            namespace = key.rpartition("/")[0]
            pods_by_group.setdefault(f"{namespace}/{group}", []).append(
                given.world.subject("Pod", key)
            )
    return pods_by_group


def _amount_or_none(name: str, values: Resource) -> str:
    return amounts([name], values) if values.get(name) else f"no {name}"
