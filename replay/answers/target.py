"""The object of a question: found by its name, at a moment, without the scheduler's cache."""

from __future__ import annotations

import msgspec

from ...engine.errors import UsageError
from ...engine.events import Reference
from ...engine.state.facts import PodFact, PodGroupFact
from ...engine.state.log_coverage import Pair
from ...engine.state.truth_fold import Entry
from ..logs.given_names import name_at, not_found
from ..logs.job_groups import group_of_job, job_of_group, names_by_pods, own_name
from ..logs.log import Log
from ..moments.moment import Moment
from ..objects.kind_names import ObjectName, plain_name
from .answering_session import JOB, NODE, POD, PODGROUP, QUEUE
from .evidence import versions_of
from .finding import ObjectKey

KINDS: tuple[Pair, ...] = (POD, JOB, PODGROUP, QUEUE, NODE)
"""What ``why`` answers about."""

RUNNING = "Running"
_SETTLED = frozenset({RUNNING, "Completed", "Succeeded", "Failed"})
_CLUSTER = frozenset({QUEUE, NODE})


class Target(msgspec.Struct, frozen=True):
    """The object of a question, found at a moment.

    :param key: ``ns/name``, or the name.
    :param podgroup: of a pod or a job, ``ns/name``; also of one that does not exist (any more).
    :param phase: of a job, or of that of a PodGroup, as the API server held it.
    :param job: of a PodGroup, ``ns/name``; empty if it has none.
    :param waits: False if it certainly does not wait: it has ended, or all of it runs.
    :param ungrouped: True of a job whose PodGroup does not exist.
    """

    pair: Pair
    key: str
    uid: str
    podgroup: str = ""
    phase: str = ""
    waits: bool = True
    job: str = ""
    ungrouped: bool = False

    @property
    def title(self) -> str:
        """How sentences name it."""
        return f"{plain_name(*self.pair)} {self.key}"

    @property
    def scheduled(self) -> ObjectKey:
        """The object that sessions see: of a job, its PodGroup."""
        return (PODGROUP, self.podgroup) if self.pair == JOB else (self.pair, self.key)


def target_of(log: Log, named: ObjectName, place: str, moment: Moment) -> Target:
    """Return the object that a name means at a moment.

    :param place: the namespace; ignored for queues and nodes.
    :raises UsageError: the kind is not one of :data:`KINDS`.
    :raises ObjectNotFound: there is none at that moment.
    """
    pair = (named.group, named.kind)
    if pair not in KINDS:
        raise UsageError(
            f"why does not answer about a {named.kind}",
            now="ask about a pod, a job, a podgroup, a queue or a node",
        )
    entry = _entry(log, pair, named.name, "" if pair in _CLUSTER else place, moment)
    key = _key(entry)
    target = Target(pair, key, entry.reference.uid)
    if pair == JOB:
        return _of_job(log, target, entry, moment)
    fact = entry.fact
    if isinstance(fact, PodFact):
        group = f"{place}/{fact.podgroup}" if fact.podgroup else ""
        # Bound for good: Kubernetes never takes a node from a pod.
        return msgspec.structs.replace(target, podgroup=group, waits=not fact.node)
    if isinstance(fact, PodGroupFact):
        job = job_of_group(log.truth(moment), entry.reference)
        target = msgspec.structs.replace(
            target, podgroup=key, waits=_may_wait(log, key, fact.phase, moment)
        )
        if job is None:
            return target
        return msgspec.structs.replace(
            target, job=_key(job), phase=str(getattr(job.fact, "phase", ""))
        )
    return target


def _of_job(log: Log, target: Target, job: Entry, moment: Moment) -> Target:
    phase = str(getattr(job.fact, "phase", ""))
    entry = group_of_job(log, job.reference, moment)
    if entry is None:
        gone = _gone_group(log, job.reference, moment)
        waits = phase != RUNNING or (bool(gone) and _may_wait(log, gone, phase, moment))
        return msgspec.structs.replace(
            target, podgroup=gone, phase=phase, waits=waits, ungrouped=True
        )
    group = _key(entry)
    waits = _may_wait(log, group, str(getattr(entry.fact, "phase", "")), moment)
    return msgspec.structs.replace(target, podgroup=group, phase=phase, waits=waits)


def _gone_group(log: Log, job: Reference, moment: Moment) -> str:
    """Return the PodGroup that a job should have, by its pods or as it had it; empty if none."""
    own, named = own_name(job), names_by_pods(log.truth(moment), job)
    if named:
        return f"{job.namespace}/{own if own in named else named[0]}"
    key = f"{job.namespace}/{own}"
    return key if versions_of(log, moment, (PODGROUP, key)) else ""


def _entry(log: Log, pair: Pair, name: str, place: str, moment: Moment) -> Entry:
    truth = log.truth(moment)
    entry = truth.find(*pair, place, name)
    if entry is None:
        full = name_at(log, pair, name, place or None, moment)
        entry = truth.find(*pair, place, full)
    if entry is None:
        raise not_found(log, pair, name, place or None, moment)
    return entry


def _may_wait(log: Log, group: str, phase: str, moment: Moment) -> bool:
    """Return whether a PodGroup may have anything that waits."""
    if phase not in _SETTLED:
        return True
    # A gang that runs may have more pods than it needs, and some of these may wait.
    place, _, name = group.partition("/")
    pods = log.truth(moment).of(*POD, place)
    facts = (pod.fact for pod in pods)
    return any(
        isinstance(fact, PodFact) and fact.podgroup == name and not fact.node for fact in facts
    )


def _key(entry: Entry) -> str:
    reference = entry.reference
    return f"{reference.namespace}/{reference.name}" if reference.namespace else reference.name
