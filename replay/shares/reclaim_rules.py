"""What may be reclaimed in a release and a configuration, and what each queue could reclaim."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from ...engine.session.actions.reclaim_outlook import OUTLOOK, RECLAIM
from ...engine.session.framework.vote_details import ReclaimOutlook
from ...engine.volcano.session.behaviours import Behaviours
from ...engine.volcano.session.history import resolve
from ...engine.volcano.session.reclaim import CapacityVictims, ReclaimingJobs, ReclaimsFor
from ..answers.amounts import amounts_of, joined
from ..answers.answering_session import Run
from ..answers.victim_words import gate_words
from .entitlements import ReclaimableFrom, Reclaiming

_POINT = "Reclaimable"
_GANGS = "gangreclaim"


def rules_of(run: Run, plugins: Sequence[str]) -> Iterator[str]:
    """Yield what may be reclaimed, as sentences. :param plugins: those that decide on shares."""
    actions, how = run.conf.actions, resolve(run.answer.release)
    if RECLAIM not in actions:
        if _GANGS in actions:
            yield (
                f"the action {_GANGS} reclaims for whole gangs; what it could take is not reckoned "
                "here: why of a job says it"
            )
        else:
            yield (
                "nothing is reclaimed: the configuration has no action reclaim, so a queue that "
                "lacks what it deserves waits until others give it back"
            )
        return
    voting = [option.name for tier in run.conf.tiers for option in tier if _POINT in option.enabled]
    for plugin in plugins:
        if plugin not in voting:
            yield (
                f"plugin {plugin} has no say in what is reclaimed (enableReclaimable: false): what "
                "queues deserve does not count"
            )
            continue
        yield from _of_proportion(how) if plugin == "proportion" else _of_capacity(how)
    yield "other plugins may let fewer pods go: gang, priority, conformance and others vote, too"
    if how.reclaiming_jobs is ReclaimingJobs.STARVING:
        yield "only jobs below their minimum reclaim, and only from other queues"
    else:
        yield "jobs with pods that wait reclaim, and only from other queues"
    kept = [name for name, info in sorted(run.cache.queues.items()) if not info.reclaimable]
    if kept:
        yield f"nothing is reclaimed from {joined(kept)} (reclaimable: false)"


def _of_proportion(how: Behaviours) -> Iterator[str]:
    small = ", unless it holds less of any resource than the pod requests that reclaims"
    yield (
        "plugin proportion lets pods of a queue go while it holds more of any resource than it "
        f"deserves{small if how.reclaim_skips_small_queues else ''}"
    )


def _of_capacity(how: Behaviours) -> Iterator[str]:
    small = ", unless it holds less of any resource than the pod requests that reclaims"
    skips = how.capacity_victims is CapacityVictims.OVER_DESERVED and how.reclaim_skips_small_queues
    yield f"plugin capacity lets pods of a queue go {_VICTIMS[how.capacity_victims]}" + (
        small if skips else ""
    )
    if how.preemptive_ignores_task:
        yield "with capacity, a queue reclaims while it does not hold all that it deserves"
    else:
        yield f"with capacity, a queue reclaims for a pod {_FOR[how.capacity_reclaims_for]}"


_BY_RESOURCE = (
    "while it holds more than it deserves of a resource that the pod holds, or deserves nothing of "
    "what that holds; its guarantee stays"
)

_VICTIMS: Mapping[CapacityVictims, str] = MappingProxyType(
    {
        CapacityVictims.OVER_DESERVED: "while it holds more of any resource than it deserves; its "
        "guarantee stays",
        CapacityVictims.BY_DIMENSION: _BY_RESOURCE,
        CapacityVictims.IN_ORDER_BY_DIMENSION: f"{_BY_RESOURCE}; the least important go first",
    }
)

_FOR: Mapping[ReclaimsFor, str] = MappingProxyType(
    {
        ReclaimsFor.ALL: "if it then holds no more than it deserves of all that the pod requests",
        ReclaimsFor.SOME: "if it then holds no more than it deserves of any that the pod requests",
        ReclaimsFor.SOME_WITHIN_CAPABILITY: "if it then holds no more than it deserves of any that "
        "the pod requests, within its limit",
    }
)


def reclaiming_of(run: Run) -> Iterator[Reclaiming]:
    """Yield what each queue with pods that wait could reclaim."""
    for queue in sorted(run.cache.queues):
        outlook = run.detail(ReclaimOutlook, OUTLOOK, queue)
        # Only queues that are followed fully, and have a pod that waits, have one.
        if outlook is None:
            continue
        gated = outlook.gated
        because = "" if gated is None else gate_words(run, gated, outlook.job, outlook.pod)
        yield Reclaiming(
            queue=queue,
            pod=outlook.pod,
            job=run.title(outlook.job),
            podgroup=outlook.job,
            requests=amounts_of(outlook.request, zeros=False),
            gate="" if gated is None else str(gated.gate),
            because=because,
            queues=tuple(
                ReclaimableFrom(
                    queue=taken.queue,
                    candidates=taken.candidates,
                    by_plugin=dict(taken.by_plugin),
                    pods=taken.chosen,
                    amounts=amounts_of(taken.amounts, zeros=False),
                )
                for taken in outlook.queues
            ),
        )
