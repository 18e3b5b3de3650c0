"""Jobs that wait, grouped by what keeps them: one session answers for all of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from ...engine.cache.cache import SchedulerCache
from ...engine.kubernetes.units import SECOND_US, format_time
from ...engine.state.truth_fold import Truth
from ...engine.volcano.session.behaviours import Behaviours
from ...engine.volcano.session.history import resolve
from ..answers.answering_session import JOB, PODGROUP, Run, closely_of_job, named_as, run_of
from ..answers.finding import SessionFinding
from ..answers.queue_reasons import may_wait
from ..answers.target import Target
from ..answers.tasks import job_spec
from ..answers.why import finding_of
from ..belief.belief import belief_at
from ..coverage.coverage import NotListed
from ..logs.log import Log
from ..logs.logged_confs import ConfText
from ..logs.moment_commands import MomentCommands
from ..moments.moment import Moment
from ..sessions.session_answer import SessionInputs, scene_at
from .problems import MOST_NAMED, Problem, ProblemKind

CLOSELY = 64
"""How many jobs a session follows closely, those that wait longest; of others fewer numbers are
known, so their reasons are shorter."""

FULLY = 8
"""Of how many jobs also that is asked what stops evictions for them."""

_PODS = 3
"""How many pending pods of a job are followed."""

_STARTS = "next-session"
"""The cause of jobs that this session starts."""


class WaitingJob(msgspec.Struct, frozen=True):
    """A job that waits. :param since: seconds since 1970; 0 if it is not known."""

    key: str
    since: int
    finding: SessionFinding


class Waiting(NamedTuple):
    """The session of a moment, and the jobs that wait, the oldest wait first."""

    run: Run
    jobs: list[WaitingJob]


def waiting_at(log: Log, moment: Moment, release: str, conf: ConfText | None = None) -> Waiting:
    """Run the session of a moment once, and ask it about every job that waits.

    :param conf: a configuration instead of the log's.
    """
    scene, behaviours = scene_at(log, moment, conf), resolve(release)
    cache = belief_at(log.store, moment, behaviours, recent=log.recent_beliefs)
    keys = _waiting_keys(cache)
    run = _session_for(log, scene, behaviours, cache, keys)
    return Waiting(run, _asked(run, keys, _phases_of_jobs(log.truth(moment), cache, keys)))


def _waiting_keys(cache: SchedulerCache) -> list[str]:
    """Return the PodGroups that wait, as the scheduler's cache has them, the oldest wait first."""
    keys = (key for key, job in cache.jobs.items() if job.pod_group and may_wait(cache, key))
    return sorted(keys, key=lambda key: (_since(cache, key) or _NEVER, key))


_NEVER = 2**63


def _since(cache: SchedulerCache, key: str) -> int:
    """Return since when a job waits: the creation of its oldest pod without a node, or its own.

    A pod that has no node never had one.
    """
    job = cache.jobs[key]
    pending = [task.created for task in job.tasks.values() if not task.node_name and task.created]
    return min(pending, default=job.created)


def _session_for(
    log: Log,
    scene: SessionInputs,
    behaviours: Behaviours,
    cache: SchedulerCache,
    keys: Sequence[str],
) -> Run:
    """Run the session of a moment once, and follow the jobs that wait longest, and all queues."""
    names: set[str] = set(cache.queues)
    for key in keys[:CLOSELY]:
        names |= closely_of_job(cache, key, most=_PODS)
    return run_of(
        scene,
        behaviours,
        cache,
        names,
        NotListed(log, scene.moment),
        fully=keys[:FULLY],
        job_specs=partial(job_spec, log, scene.moment),
    )


def _asked(run: Run, keys: Sequence[str], jobs: Mapping[str, str]) -> list[WaitingJob]:
    """Return what the session says of each job that waits.

    :param jobs: by PodGroup the phase of its job of Volcano, where it has one.
    """
    found = []
    for key in keys:
        group = run.group(key)
        uid = "" if group is None else group.metadata.uid
        target = Target(PODGROUP, key, uid, podgroup=key, phase=jobs.get(key, ""))
        finding = finding_of(run, target)
        # None counts, too: then it is not known whether the job waits.
        if finding is not None and finding.waits is not False:
            found.append(WaitingJob(key, _since(run.cache, key), finding))
    return found


def _phases_of_jobs(truth: Truth, cache: SchedulerCache, keys: Collection[str]) -> dict[str, str]:
    """Return by PodGroup the phase of the job of Volcano that owns it."""
    phases = {
        f"{entry.reference.namespace}/{entry.reference.name}": str(getattr(entry.fact, "phase", ""))
        for entry in truth.of(*JOB)
    }
    owners = {key: named_as(key, cache.jobs[key].pod_group) for key in keys}
    return {
        key: phases[name]
        for key, (kind, name) in owners.items()
        if kind == "job" and name in phases
    }


def starting(jobs: Sequence[WaitingJob]) -> list[WaitingJob]:
    """Return the jobs that wait only for this session."""
    return [job for job in jobs if job.finding.cause == _STARTS]


def problems_of(run: Run, jobs: Sequence[WaitingJob], commands: MomentCommands) -> list[Problem]:
    """Return a problem for each cause, those that concern most jobs first.

    Jobs that this session starts are none. The sentence is about the job that waits longest.
    """
    by_cause: dict[tuple[str, ...], list[WaitingJob]] = {}
    for job in jobs:
        if job.finding.cause != _STARTS:
            by_cause.setdefault((job.finding.cause, *job.finding.of), []).append(job)
    groups = sorted(by_cause.values(), key=lambda group: (-len(group), group[0].since or _NEVER))
    return [_problem(run, group, commands) for group in groups]


def _problem(run: Run, group: Sequence[WaitingJob], commands: MomentCommands) -> Problem:
    names = ["/".join(named_as(job.key, run.group(job.key))) for job in group[:MOST_NAMED]]
    since = group[0].since
    return Problem(
        kind=ProblemKind.WAITING,
        text=group[0].finding.sentence,
        objects=tuple(names),
        count=len(group),
        since=format_time(since * SECOND_US) if since else "",
        command=commands.of_session("why", names[0]),
    )
