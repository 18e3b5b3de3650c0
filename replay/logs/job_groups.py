"""The PodGroup of a job of Volcano at a moment: by its uid, by what its pods name, and by owner."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...engine.events import Reference
from ...engine.kubernetes.resources import plural_of
from ...engine.state.facts import PodFact
from ...engine.state.truth_fold import Entry, Truth
from ..moments.moment import Moment
from .given_names import PODGROUP, name_at, one_of
from .log import Log

JOB = ("batch.volcano.sh", "Job")
_JOB_NAME = "volcano.sh/job-name"


def group_of_job(log: Log, job: Reference, moment: Moment) -> Entry | None:
    """Return the PodGroup of a job; None if the log has none.

    :raises UsageError: several PodGroups may be the job's.
    """
    truth = log.truth(moment)
    named = [entry.reference.name for entry in groups_named(truth, job)]
    # A name that starts with the job's, or an owner, is less sure than a uid or what pods say.
    name = one_of(job.name, named, plural_of(*PODGROUP))
    name = name or name_at(log, PODGROUP, job.name, job.namespace, moment)
    return truth.find(*PODGROUP, job.namespace, name)


def names_by_pods(truth: Truth, job: Reference) -> list[str]:
    """Return the names of PodGroups that the pods of a job have, sorted: they need not exist."""
    pods = _pods(truth, job.namespace)
    return sorted({pod.podgroup for pod in pods if job.name in _jobs_named(pod)} - {""})


def own_name(job: Reference) -> str:
    """Return the name that Volcano's controller gives to the PodGroup of a job.

    Source: ``generateRelatedPodGroupName``, pkg/controllers/job/job_controller_actions.go.
    """
    return f"{job.name}-{job.uid}"


def groups_named(truth: Truth, job: Reference) -> list[Entry]:
    """Return the PodGroup that has a job's uid in its name, else those that the job's pods name."""
    entry = truth.find(*PODGROUP, job.namespace, own_name(job))
    return groups_named_by_pods(truth, job) if entry is None else [entry]


def groups_named_by_pods(truth: Truth, job: Reference) -> list[Entry]:
    """Return the PodGroups that the pods of a job name, by their names.

    Source: ``createJobPod``, pkg/controllers/job/job_controller_util.go: an annotation and a label
    of the pod name the job.
    """
    return _existing(truth, PODGROUP, job.namespace, names_by_pods(truth, job))


def job_of_group(truth: Truth, group: Reference) -> Entry | None:
    """Return the job of a PodGroup: that whose uid it has in its name; None if there is none."""
    for job in truth.of(*JOB, group.namespace):
        if group.name == own_name(job.reference):
            return job
    return None


def jobs_named_by_pods(truth: Truth, group: Reference) -> list[Entry]:
    """Return the jobs that the pods of a PodGroup name, by their names."""
    pods = (pod for pod in _pods(truth, group.namespace) if pod.podgroup == group.name)
    return _existing(truth, JOB, group.namespace, set[str]().union(*map(_jobs_named, pods)))


def _pods(truth: Truth, place: str) -> Iterator[PodFact]:
    facts = (entry.fact for entry in truth.of("", "Pod", place))
    return (fact for fact in facts if isinstance(fact, PodFact))


def _jobs_named(pod: PodFact) -> set[str]:
    return {pod.job, pod.labels.get(_JOB_NAME, "")} - {""}


def _existing(truth: Truth, pair: tuple[str, str], place: str, names: Iterable[str]) -> list[Entry]:
    entries = (truth.find(*pair, place, name) for name in sorted(names))
    return [entry for entry in entries if entry is not None]
