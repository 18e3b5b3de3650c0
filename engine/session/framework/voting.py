"""Voting: how the answers of all plugins are combined.

Each extension point has its own rule of voting; they are those of
``framework/session_plugins.go``. A function counts if the plugin's enable flag for the point is on
(:meth:`.Registry.functions`); plugins vote tier by tier, in the order of the configuration.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...model.resource import Resource
from ...model.session_tables import Rows
from ..jobs.division import SubJob
from .plugin_registry import GangEviction, SearchPurpose
from .session import Session
from .trace import NOTHING, PERMIT, StepOutcome, Vote
from .vote_details import REFUSED

VictimAnswer = tuple[list[int] | None, int]
"""The victims that a plugin chose, and its vote: 0 if it abstains."""


def job_valid(ssn: Session, job: int) -> Vote | None:
    """Return the first plugin's error for a job, or ``None``."""
    # `Session.JobValid` looks at no enable flag: every plugin that registered has a say.
    for plugin, fn in ssn.registry.flat("JobValid"):
        verdict: Vote | None = fn(job)
        if verdict is not None and verdict.vote != PERMIT:
            if ssn.trace.follows(ssn.jobs.keys[job]):
                facts = {"plugin": plugin, "message": verdict.message, **verdict.numbers}
                ssn.trace.detail("JobValid", ssn.jobs.keys[job], facts)
            return verdict
    return None


def job_ready(ssn: Session, job: int) -> bool:
    """Return whether all plugins accept a job as ready."""
    return all(fn(job) for _, fn in ssn.registry.flat("JobReady"))


def job_pipelined(ssn: Session, job: int) -> bool:
    """Return the vote of the first tier in which a plugin permits; a rejection ends it."""
    for tier in ssn.registry.functions("JobPipelined"):
        votes = 0
        for _, fn in tier:
            vote = fn(job)
            if vote < 0:
                return False
            votes += vote
        if votes:
            return True
    # No vote is consent: with neither gang nor tdm every job counts as pipelined.
    return True


def job_starving(ssn: Session, job: int) -> bool:
    """Return the answer of the first tier that votes: all of its plugins must agree."""
    for tier in ssn.registry.functions("JobStarving"):
        if tier:
            return all(fn(job) for _, fn in tier)
    return False


def not_starving_by(ssn: Session, job: int) -> str:
    """Return the plugin that does not count a job as starving; empty if none does."""
    for tier in ssn.registry.functions("JobStarving"):
        if tier:
            return next((plugin for plugin, fn in tier if not fn(job)), "")
    return ""


def job_enqueueable(ssn: Session, job: int, about: str) -> bool:
    """Return the vote of the first tier in which a plugin permits; a rejection ends it.

    :param about: the name of the job in the trace.
    """
    for tier in ssn.registry.functions("JobEnqueueable"):
        permitted = False
        for plugin, fn in tier:
            verdict: Vote = fn(job)
            if ssn.trace.on:
                _trace_verdict(ssn, "JobEnqueueable", (about,), plugin, verdict)
            if verdict.vote < 0:
                return False
            permitted = permitted or verdict.vote > 0
        if permitted:
            return True
    return True


def job_enqueued(ssn: Session, job: int) -> None:
    """Notify all plugins that a job was enqueued."""
    for _, fn in ssn.registry.flat("JobEnqueued"):
        fn(job)


def sub_job_ready(ssn: Session, sub: SubJob) -> bool:
    """Return whether all plugins accept a group as ready; an undivided job votes as a job."""
    if not sub.divided:
        return job_ready(ssn, sub.job)
    return all(fn(sub) for _, fn in ssn.registry.flat("SubJobReady"))


def sub_job_pipelined(ssn: Session, sub: SubJob) -> bool:
    """Return the vote of the first tier in which a plugin permits; a rejection ends it."""
    # Without a policy there is one group: `ContainsSubJobPolicy` sends the question to the job.
    if not sub.divided:
        return job_pipelined(ssn, sub.job)
    for tier in ssn.registry.functions("SubJobPipelined"):
        votes = [fn(sub) for _, fn in tier]
        if any(vote < 0 for vote in votes):
            return False
        if any(vote > 0 for vote in votes):
            return True
    return True


def overused(ssn: Session, queue: str) -> bool:
    """Return whether a plugin reports a queue as overused."""
    for plugin, fn in ssn.registry.flat("Overused"):
        verdict: Vote = fn(queue)
        if ssn.trace.on:
            outcome = StepOutcome.OVERUSED if verdict.vote > 0 else StepOutcome.NOT_OVERUSED
            _trace_verdict(ssn, "Overused", (queue,), plugin, verdict, outcome=outcome)
        if verdict.vote > 0:
            return True
    return False


def allocatable(ssn: Session, queue: str, task: int) -> bool:
    """Return whether all plugins allow a task in a queue."""
    return _all_permit(ssn, "Allocatable", queue, task, (task,))


def preemptive(ssn: Session, queue: str, tasks: Sequence[int]) -> bool:
    """Return whether all plugins allow a queue to reclaim for some tasks."""
    return _all_permit(ssn, "Preemptive", queue, tasks, tasks)


def preemptable(ssn: Session, preemptor: int, candidates: list[int]) -> list[int]:
    """Return which candidates a task may preempt."""
    return _victims(ssn, "Preemptable", preemptor, candidates)


def reclaimable(ssn: Session, reclaimer: int, candidates: list[int]) -> list[int]:
    """Return which candidates a task may reclaim."""
    return _victims(ssn, "Reclaimable", reclaimer, candidates)


def unified_evictable(ssn: Session, eviction: GangEviction, candidates: list[int]) -> list[int]:
    """Return which candidates a gang may evict."""
    return _victims(ssn, "UnifiedEvictable", eviction, candidates)


def victim_tasks(ssn: Session, tasks: list[int]) -> list[int]:
    """Return the victim tasks of the first tier with an answer, in order."""
    for tier in ssn.registry.functions("VictimTasks"):
        # All plugins of a tier add to one map there; its order is random, ours is that of rows.
        victims = {task for _, fns in tier for fn in fns for task in fn(tasks)}
        if victims:
            return sorted(victims)
    return []


def pre_predicate(ssn: Session, task: int) -> str | None:
    """Prepare the filters for a task; return the first plugin's error, or ``None``."""
    for _, fn in ssn.registry.flat("PrePredicate"):
        error: str | None = fn(task)
        if error is not None:
            return error
    return None


def hyper_node_order(
    ssn: Session, job: int, tasks: Sequence[int], hypernodes: dict[str, Rows]
) -> dict[str, float]:
    """Return the plugins' scores of hypernodes for some tasks of a job, summed."""
    total: dict[str, float] = {}
    for _, fn in ssn.registry.flat("HyperNodeOrder"):
        for name, score in fn(job, tasks, hypernodes).items():
            total[name] = total.get(name, 0.0) + score
    return total


def hyper_node_gradient(
    ssn: Session, root: str, highest: int, given: str, least: Resource, *, purpose: SearchPurpose
) -> list[list[str]]:
    """Return the hypernodes to search, by gradient, from the first plugin that answers.

    :param root: the hypernode to search in; only itself, if no plugin answers.
    :param highest: the highest tier that a job may span.
    :param given: the hypernode that the job is in; empty if in none.
    :param least: the resources that must fit.
    :param purpose: for a job that evicts, the widest come first, and not all.
    """
    # `HyperNodeGradientForJobFn` returns from inside its loop: the first plugin answers for all.
    for _, fn in ssn.registry.flat("HyperNodeGradient"):
        gradients: list[list[str]] = fn(root, highest, given, least, purpose)
        return gradients
    return [[root]]


def _all_permit(
    ssn: Session, point: str, queue: str, subject: object, tasks: Sequence[int]
) -> bool:
    # Tiers play no role here: a refusal anywhere decides (`Allocatable`, `Preemptive`).
    for plugin, fn in ssn.registry.flat(point):
        verdict: Vote = fn(queue, subject)
        if ssn.trace.on:
            about = (queue, *map(ssn.task_name, tasks))
            _trace_verdict(ssn, point, about, plugin, verdict)
        if verdict.vote <= 0:
            return False
    return True


def _victims(
    ssn: Session, point: str, evictor: int | GangEviction, candidates: list[int]
) -> list[int]:
    """Intersect the plugins' choices tier by tier.

    A tier with an empty result is skipped. A plugin after an empty intersection may start
    again with its own choice, because Volcano cannot distinguish a nil slice from an empty one.
    """
    victims: list[int] | None = None
    started = False
    for tier in ssn.registry.functions(point):
        for plugin, entry in tier:
            answer: VictimAnswer = entry.function(evictor, candidates)
            if ssn.trace.on:
                _trace_victims(ssn, point, evictor, plugin, answer)
            chosen, vote = answer
            if vote == 0:
                continue
            # A plugin without victims ends its tier, even if others of the tier found some; the
            # next decides.
            if not chosen:
                victims = None
                break
            if victims is None:
                # Up to v1.10 a flag `init` keeps a nil list from being filled again: nothing is
                # left for good.
                if started and not ssn.victim_selection_restarts:
                    return []
                victims, started = chosen, True
            else:
                among = set(chosen)
                victims = [task for task in victims if task in among] or None
        if victims is not None:
            return victims
    return []


def _trace_verdict(
    ssn: Session,
    point: str,
    about: tuple[str, ...],
    plugin: str,
    verdict: Vote,
    *,
    outcome: StepOutcome | None = None,
) -> None:
    """Note a vote. :param outcome: what it means, where that is no permission and no refusal."""
    numbers = verdict.numbers
    if verdict.message:
        numbers = {"message": verdict.message, **numbers}
    if verdict.refused is not None:
        numbers = {REFUSED: verdict.refused, **numbers}
    ssn.trace.add(point, *about, by=plugin, outcome=outcome or verdict.outcome, numbers=numbers)


def _trace_victims(
    ssn: Session, point: str, evictor: int | GangEviction, plugin: str, answer: VictimAnswer
) -> None:
    chosen, vote = answer
    names = [ssn.task_name(task) for task in chosen or ()]
    about = evictor.name if isinstance(evictor, GangEviction) else ssn.task_name(evictor)
    outcome = StepOutcome.VICTIMS if vote else StepOutcome.ABSTAIN
    numbers = {"victims": names} if names else NOTHING
    ssn.trace.add(
        point, about, by=plugin, outcome=outcome, many=len(names) if vote else 0, numbers=numbers
    )
