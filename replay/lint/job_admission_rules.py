"""Rules about Jobs that Volcano's admission webhook refuses when files are applied.

Jobs of a log are there already. What the webhook refuses of a gang and of a queue is found by the
rules about jobs as well.

Source: pkg/webhooks/admission/jobs/validate/admit_job.go, util.go;
pkg/controllers/job/plugins/factory.go; since v1.14.0 also the definition of Job.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from ...engine.kubernetes.objects import PodSpec
from ...engine.kubernetes.units import parse_quantity
from ...engine.volcano.admission import Partitions, partitions_of, task_name
from ...engine.volcano.releases import FIRST, DatedChange, final_release, landed
from .circles import circles
from .context import LintContext
from .findings import FaultEffect, FindingSubject, Issue
from .linted_queues import Mode
from .object_names import is_object_name
from .objects import ROOT, Job, LifecyclePolicy, TaskSpec, VolumeSpec

if TYPE_CHECKING:
    from ...engine.volcano.session.behaviours import Behaviours

REFUSED = "Volcano's admission webhook refuses it"
_LEAF, _PARTITIONS, _MASTER_ALONE = landed("v1.11.0"), landed("v1.14.0"), landed("v1.15.0")
_EVENTS: Final = (
    (landed("v1.8.0"), ("*", "PodFailed", "PodEvicted", "Unknown", "TaskCompleted", "TaskFailed")),
    (landed("v1.8.0"), ("JobUpdated",)),
    (landed("v1.11.0"), ("PodPending",)),
)
_ACTIONS: Final = (
    (landed("v1.8.0"), ("AbortJob", "RestartJob", "RestartTask", "TerminateJob", "CompleteJob")),
    (landed("v1.8.0"), ("ResumeJob",)),
    (landed("v1.11.0"), ("RestartPod",)),
    (landed("v1.14.0"), ("RestartPartition",)),
)
_PLUGINS: Final = (
    (landed("v1.8.0"), ("ssh", "env", "svc", "tensorflow", "mpi", "pytorch")),
    (landed("v1.13.0"), ("hcclrank", "ray")),
)
"""What a release knows, by the release that added it."""

_LABEL = re.compile(r"[a-z0-9](?:[-a-z0-9]*)", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9][-A-Za-z0-9_.]*", re.ASCII)
_LONGEST_NAME = 63
_MPI = "mpi"
_NO_TOPOLOGY = frozenset({"", "none"})


def job_refused_for_policy(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A Job with a lifecycle policy that the webhook refuses.

    A policy has an action and either events or an exit code other than 0. No event and no exit code
    may be in two policies, and ``*`` allows no other. ``PodPending`` and ``RestartPod`` are known
    since v1.11.0, ``RestartPartition`` since v1.14.0.
    """
    for subject, job in _written(given):
        parts = [("spec", job.spec.policies)]
        parts += [(f"spec.tasks[{at}]", task.policies) for at, task in enumerate(job.spec.tasks)]
        for path, policies in parts:
            for at, message, now in _policy_faults(policies, how):
                field = f"{path}.policies{at}"
                yield _refused(subject, field, f"{field} {message}", now)


def job_refused_for_plugin(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A Job with a plugin that its release does not have, or for ``mpi`` without the task it names.

    ``hcclrank`` and ``ray`` are known since v1.13.0. The task of ``--worker`` may be missing since
    v1.15.0.
    """
    known = _known(_PLUGINS, how)
    for subject, job in _written(given):
        for name in job.spec.plugins:
            if name not in known:
                message = f"there is no plugin {name!r} of jobs"
                now = _known_one(name, _PLUGINS)
                yield _refused(subject, f"spec.plugins.{name}", message, now)
        if _MPI in job.spec.plugins:
            names = [task_name(task.name, at) for at, task in enumerate(job.spec.tasks)]
            arguments = job.spec.plugins[_MPI] or ()
            roles = ("master",) if _reached(_MASTER_ALONE, how) else ("master", "worker")
            for role in roles:
                task = _argument(arguments, role)
                if task not in names:
                    message = f"the plugin mpi needs a task {task!r} as its {role}"
                    now = f"name it in --{role}, or add the task"
                    yield _refused(subject, f"spec.plugins.{_MPI}", message, now)


def job_refused_for_volume(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """A Job with a volume that the webhook refuses.

    Each has its own ``mountPath``, and either ``volumeClaimName`` or ``volumeClaim``.
    """
    for subject, job in _written(given):
        paths: list[str] = []
        for number, volume in enumerate(job.spec.volumes):
            field = f"spec.volumes[{number}]"
            for fault in _volume_faults(volume, paths):
                yield _refused(subject, field, f"{field} {fault}")
            paths.append(volume.mount_path)


def job_refused_for_dependency(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """A Job whose tasks wait for each other, for one that it does not have, or twice for one."""
    for subject, job in _written(given):
        names = [task_name(task.name, at) for at, task in enumerate(job.spec.tasks)]
        waits = [task.depends_on.name if task.depends_on else () for task in job.spec.tasks]
        for number, (name, targets) in enumerate(zip(names, waits, strict=True)):
            field = f"spec.tasks[{number}].dependsOn"
            for target in dict.fromkeys(targets):
                if target not in names:
                    message = f"task {name!r} waits for {target!r}, which is none of its tasks"
                    yield _refused(subject, field, message, _one_of(target, names))
                elif targets.count(target) > 1:
                    message = f"task {name!r} waits for {target!r} more than once"
                    yield _refused(subject, field, message, "name it once")
        for circle in circles(dict(zip(names, waits, strict=True))):
            field = f"spec.tasks[{names.index(circle[0])}].dependsOn"
            message = f"task {circle[0]!r} waits for itself ({' → '.join(circle)})"
            yield _refused(subject, field, message, "take one of these dependencies out")


def job_refused_for_name(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """A Job, or a task of it, with a name that the webhook refuses.

    A task's name has lower-case letters, digits and ``-``; that of a pod, made of both names and a
    number, has 63 characters at most.
    """
    for subject, job in _written(given):
        name = job.metadata.name
        if is_object_name(name) and not _is_name(name):
            message = f"the name {name[:80]!r} is no name of an object of 63 characters at most"
            # What no API server accepts is the finding of object-name-refused.
            yield _refused(subject, "metadata.name", message)
        for number, task in enumerate(job.spec.tasks):
            own = task_name(task.name, number)
            field = f"spec.tasks[{number}].name"
            if len(own) > _LONGEST_NAME or _LABEL.fullmatch(own) is None or own.endswith("-"):
                message = f"the name {own[:80]!r} of a task is no label of DNS"
                now = "write lower-case letters, digits and -, 63 at most"
                yield _refused(subject, field, message, now)
            # The webhook puts the number of the task where each pod has its own.
            elif name and _is_name(name) and not _is_name(f"{name}-{own}-{number}"):
                length = len(f"{name}-{own}-{number}")
                message = f"the name of its pods, {name}-{own}-{number}, has {length} characters"
                yield _refused(subject, field, message, "63 are allowed: shorten one of the names")


def job_refused_for_number(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """A Job with a negative number of pods, retries or seconds."""
    for subject, job in _written(given):
        numbers: list[tuple[str, int | None]] = [
            ("spec.minAvailable", job.spec.min_available),
            ("spec.maxRetry", job.spec.max_retry),
            ("spec.ttlSecondsAfterFinished", job.spec.ttl_seconds_after_finished),
        ]
        for at, task in enumerate(job.spec.tasks):
            numbers.append((f"spec.tasks[{at}].replicas", task.replicas))
            numbers.append((f"spec.tasks[{at}].minAvailable", task.min_available))
        for field, number in numbers:
            if number is not None and number < 0:
                message = f"{field.rpartition('.')[2]} {number} is negative"
                yield _refused(subject, field, message)


def job_refused_for_partitions(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A Job whose ``partitionPolicy`` does not fit its task; since v1.14.0.

    ``replicas`` is ``totalPartitions`` times ``partitionSize``, and ``minAvailable``, if it is
    written, ``minPartitions`` times ``partitionSize``. Since v1.14.3 and v1.15.1 a missing
    ``minPartitions`` is not compared.
    """
    if not _reached(_PARTITIONS, how):
        return
    optional = partitions_of(how.release) is Partitions.IF_SET
    for subject, job in _written(given):
        for number, task in enumerate(job.spec.tasks):
            for fault in _partition_faults(task, optional=optional):
                yield _refused(subject, f"spec.tasks[{number}].partitionPolicy", fault)


def job_refused_for_queue(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A Job in the root queue, or in a queue with children, though no plugin reads the tree.

    The webhook refuses it since v1.11.0. Where the scheduler reads the tree, a Job in a queue with
    children is ``job-in-parent-queue``.
    """
    if not _reached(_LEAF, how):
        return
    for subject, job in _written(given):
        queue = job.queue
        children = given.queues.children.get(queue, ())
        if queue == ROOT:
            yield _refused(subject, "spec.queue", "it is in the root queue", "choose another queue")
        elif children and given.queues.mode(how) is not Mode.TREE:
            message = f"its queue {queue!r} has child queues ({', '.join(children)})"
            yield _refused(subject, "spec.queue", message, "choose one of the child queues")


def job_refused_for_template(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """A Job with a template of pods that the API server would refuse as well.

    Of all that is compared there, this is: at least one container, each with its own name, no
    request above its limit, and with a ``topologyPolicy`` whole CPUs in every container.
    """
    for subject, job in _written(given):
        for number, task in enumerate(job.spec.tasks):
            field = f"spec.tasks[{number}].template.spec"
            spec = task.template.spec
            for path, message in _template_faults(spec):
                yield _refused(subject, f"{field}{path}", message)
            if task.topology_policy not in _NO_TOPOLOGY:
                for path, message in _broken_cpus(spec, task.topology_policy):
                    yield _refused(subject, f"{field}{path}", message)


def _written(given: LintContext) -> Iterator[tuple[FindingSubject, Job]]:
    """Yield the Jobs of files."""
    for key, job in given.world.jobs.items():
        subject = given.world.subject("Job", key)
        if subject.place is not None:
            yield subject, job


def _refused(subject: FindingSubject, field: str, fault: str, now: str = "") -> Issue:
    return Issue(subject, field, FaultEffect.REFUSED, f"{REFUSED}: {fault}", now)


def _reached(since: DatedChange, how: Behaviours) -> bool:
    return since.reached(final_release(how.release))


def _known(rows: Sequence[tuple[DatedChange, tuple[str, ...]]], how: Behaviours) -> list[str]:
    return [name for since, names in rows if _reached(since, how) for name in names]


def _one_of(name: str, known: Sequence[str]) -> str:
    like = get_close_matches(name, known, n=1)
    return f"write {like[0]}" if like else f"there are {', '.join(known)}"


def _known_one(name: str, rows: Sequence[tuple[DatedChange, tuple[str, ...]]]) -> str:
    """Return what to write instead of a name, with the release that added it if not all have it."""
    since = {known: change.landed[-1] for change, names in rows for known in names}
    if name in since:
        return f"use {since[name]} or a later release, or another name"
    marked = {
        known: known if first == FIRST.landed[-1] else f"{known} (since {first})"
        for known, first in since.items()
    }
    like = get_close_matches(name, since, n=1)
    return f"write {marked[like[0]]}" if like else f"there are {', '.join(marked.values())}"


def _policy_faults(
    policies: Sequence[LifecyclePolicy], how: Behaviours
) -> Iterator[tuple[str, str, str]]:
    """Yield the path, the fault, and what to do, of each policy with one.

    Source: validatePolicies, which ends at the first one.
    """
    events: list[str] = []
    codes: list[int] = []
    for number, policy in enumerate(policies):
        at = f"[{number}]"
        named = list(dict.fromkeys([*policy.events, *([policy.event] if policy.event else [])]))
        if named and policy.exit_code is not None:
            yield at, "has events and an exit code", "divide it into two policies"
        if not named and policy.exit_code is None:
            yield at, "has neither an event nor an exit code", "write one of them"
        for fault, now in _event_faults(named, policy.action, events, how):
            yield at, fault, now
        # Only now: within one policy an event may stand twice.
        events += named
        if policy.exit_code == 0:
            yield at, "has the exit code 0, which is no error", "write another code"
        elif policy.exit_code in codes:
            yield at, f"has the exit code {policy.exit_code} of another policy", "keep one of them"
        codes += [] if policy.exit_code is None else [policy.exit_code]
    others = ", ".join(dict.fromkeys(event for event in events if event != "*"))
    if "*" in events and others:
        yield "", f"have the event * beside {others}", "keep * alone, or the rest"


def _event_faults(
    events: Sequence[str], action: str, before: Sequence[str], how: Behaviours
) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the events of a policy, and with its action if it has events."""
    known, actions = _known(_EVENTS, how), _known(_ACTIONS, how)
    for event in events:
        if event not in known:
            yield f"has the event {event!r}, which is not allowed", _known_one(event, _EVENTS)
        elif event in before:
            yield f"has the event {event} of another policy", "keep one of them"
    if events and action not in actions:
        has = f"has the action {action!r}, which is not allowed" if action else "has no action"
        yield has, _known_one(action, _ACTIONS)


def _argument(arguments: Sequence[str], name: str) -> str:
    """Return the value of a flag as Go's package ``flag`` reads it; the name itself by default."""
    value_of = name
    for number, argument in enumerate(arguments):
        flag, equals, value = argument.lstrip("-").partition("=")
        if argument.startswith("-") and flag == name:
            # Go reads -worker=w and --worker w alike, and the last one counts.
            value_of = value if equals else "".join(arguments[number + 1 : number + 2])
    return value_of


def _volume_faults(volume: VolumeSpec, before: Sequence[str]) -> Iterator[str]:
    """Yield why a volume is refused. Source: validateIO, which ends at the first reason."""
    if not volume.mount_path:
        yield "has no mountPath"
    elif volume.mount_path in before:
        yield f"has the mountPath {volume.mount_path} of another volume"
    if volume.volume_claim is None and not volume.volume_claim_name:
        yield "has neither volumeClaim nor volumeClaimName"
    if volume.volume_claim is not None and volume.volume_claim_name:
        yield "has volumeClaim and volumeClaimName"


def _is_name(name: str) -> bool:
    """Return whether a text is a qualified name without a domain, as Kubernetes checks it."""
    return len(name) <= _LONGEST_NAME and _NAME.fullmatch(name) is not None and name[-1].isalnum()


def _partition_faults(task: TaskSpec, *, optional: bool) -> Iterator[str]:
    policy = task.partition_policy
    if policy is None:
        return
    total, size = policy.total_partitions, policy.partition_size
    if total <= 0 or size <= 0:
        for name, number in (("totalPartitions", total), ("partitionSize", size)):
            if number <= 0:
                yield f"{name} {number} is not above 0"
        return
    if task.replicas != total * size:
        yield f"replicas {task.replicas} is not {total} totalPartitions of size {size}"
    unset = optional and not policy.min_partitions
    if task.min_available not in {None, policy.min_partitions * size} and not unset:
        shown = f"{policy.min_partitions} minPartitions of size {size}"
        yield f"minAvailable {task.min_available} is not {shown}"


def _template_faults(spec: PodSpec) -> Iterator[tuple[str, str]]:
    if not spec.containers:
        yield ".containers", "a template has no containers"
    names: list[str] = []
    for field, containers in (
        ("containers", spec.containers),
        ("initContainers", spec.init_containers),
    ):
        for number, container in enumerate(containers):
            path = f".{field}[{number}]"
            # One list for both kinds: the API server wants unique names among all containers of a
            # pod.
            if not container.name or container.name in names:
                has = f"the name {container.name!r} of another one" if container.name else "no name"
                yield f"{path}.name", f"a container has {has}"
            names.append(container.name)
            limits = container.resources.limits
            for name, asked in container.resources.requests.items():
                if name in limits and _above(asked, limits[name]):
                    message = f"it requests {name} {asked}, more than its limit {limits[name]}"
                    yield f"{path}.resources.requests.{name}", message


def _above(asked: str | float, limit: str | float) -> bool:
    try:
        return parse_quantity(asked) > parse_quantity(limit)
    except ValueError:
        return False  # That is quantity-malformed.


def _broken_cpus(spec: PodSpec, policy: str) -> Iterator[tuple[str, str]]:
    for field, containers in (
        ("containers", spec.containers),
        ("initContainers", spec.init_containers),
    ):
        for number, container in enumerate(containers):
            # As the webhook: limits stand for requests only where there are no requests at all.
            asked = container.resources.requests or container.resources.limits
            cpus = asked.get("cpu", 0)
            try:
                amount = parse_quantity(cpus)
            except ValueError:
                continue
            if not amount or amount != int(amount):
                message = f"with topologyPolicy {policy} it must request whole CPUs, and not {cpus}"
                yield f".{field}[{number}].resources.requests.cpu", message
