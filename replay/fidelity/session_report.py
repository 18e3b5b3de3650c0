"""How faithful one session came out: counts, and the cause of each difference."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from ..recorded.recorded_sessions import HowKnown, RecordedSession
from ..tabular.record_columns import Time
from .attempts import Aspect, Attempt, DifferingResult
from .deliveries import Arrival
from .known_inputs import UNRECORDED
from .report import (
    Cause,
    Counts,
    Delivery,
    Difference,
    InformerChange,
    SessionFidelity,
)
from .rerun import Lag, RerunSession

SHOWN_CHANGES = 5
"""Changes that are named of those that an informer had not delivered."""


def fidelity_of_session(
    rerun: RerunSession, number: int, *, lacks: str, sampled: bool
) -> SessionFidelity:
    """Return how a session came out.

    :param lacks: what the log does not know of what it needs, as a sentence; empty if nothing.
    :param sampled: the cluster is so large that the scheduler looks at some nodes only.
    """
    recorded, best = rerun.recorded, rerun.found.best
    return SessionFidelity(
        number=number,
        id=recorded.uid,
        how=recorded.how,
        opened=Time(recorded.opened),
        position=recorded.position,
        revision=rerun.revision,
        exact=rerun.same,
        bindings=_bindings(recorded, best),
        evictions=_counts(
            len(recorded.evictions) if recorded.how is HowKnown.LOGGED else 0,
            best.differing,
            Aspect.EVICTION,
        ),
        phases=_counts(len(recorded.groups), best.differing, Aspect.PHASE),
        conditions=_counts(len(recorded.groups), best.differing, Aspect.CONDITION),
        deliveries=tuple(_delivery(lag) for lag in rerun.lags),
        order=rerun.found.state.order,
        runs=rerun.found.runs,
        differences=tuple(_differences(rerun, number, lacks=lacks, sampled=sampled)),
        panics=_counts(int(bool(recorded.panic)), best.differing, Aspect.PANIC),
    )


def _bindings(recorded: RecordedSession, best: Attempt) -> Counts:
    counts = _counts(len(recorded.binds), best.differing, Aspect.BINDING)
    differing = {
        differing_result.name
        for differing_result in best.differing
        if differing_result.aspect is Aspect.BINDING
    }
    ties = sum(1 for pod in best.ties if pod not in differing)
    # A tie is no difference, so it counts as exact until here.
    return msgspec.structs.replace(counts, exact=counts.exact - ties, tie=ties)


def _counts(total: int, differing: Sequence[DifferingResult], aspect: Aspect) -> Counts:
    differing_results = [
        differing_result for differing_result in differing if differing_result.aspect is aspect
    ]
    missed = sum(not result.again for result in differing_results)
    invented = sum(not result.recorded for result in differing_results)
    different = len(differing_results) - missed - invented
    return Counts(total, total - missed - different, 0, different, missed, invented)


def _delivery(lag: Lag) -> Delivery:
    changes = (*lag.behind, *lag.ahead)
    shown = tuple(_change(change) for change in changes[:SHOWN_CHANGES])
    return Delivery(lag.kind, len(lag.behind), len(lag.ahead), lag.us, shown)


def _change(arrival: Arrival) -> InformerChange:
    reference = arrival.event.reference
    names = (reference.kind.lower(), reference.namespace, reference.name)
    return InformerChange(arrival.position, arrival.event.kind, "/".join(filter(None, names)))


def _differences(
    rerun: RerunSession, number: int, *, lacks: str, sampled: bool
) -> Iterable[Difference]:
    """Yield ties, what other deliveries or orders of maps explain, and what differs in the end."""
    recorded, nearest_run = rerun.recorded, rerun.found

    def difference(result: DifferingResult, cause: Cause, why: str) -> Difference:
        place = recorded.places.get(result.name, recorded.position)
        return Difference(
            number,
            place,
            result.aspect.value,
            result.name,
            result.recorded,
            result.again,
            cause,
            why,
        )

    for pod, node in sorted(nearest_run.best.ties.items()):
        if pod not in nearest_run.best.names:
            tied = DifferingResult(Aspect.BINDING, pod, recorded.binds[pod], node)
            yield difference(tied, Cause.TIE, f"{recorded.binds[pod]} had the same score as {node}")
    left = {(result.aspect, result.name) for result in nearest_run.best.differing}
    for result in nearest_run.first.differing:
        if (result.aspect, result.name) not in left:
            yield difference(result, *_explained(rerun, result.name))
    for differing_result in nearest_run.best.differing:
        cause, why = _left(rerun, differing_result, lacks=lacks, sampled=sampled)
        yield difference(differing_result, cause, why)


def _explained(rerun: RerunSession, name: str) -> tuple[Cause, str]:
    """Return why something comes out as recorded in the nearest run, and not by the clock."""
    order = rerun.found.state.order
    # Deliveries explain all that does not change with the order.
    if order and (name in rerun.found.by_order or not rerun.lags):
        return Cause.MAP_ORDER, f"as recorded if Go's maps are walked in order {order}"
    return Cause.NOT_YET_DELIVERED, "; ".join(lag_text(_delivery(lag)) for lag in rerun.lags)


def _left(
    rerun: RerunSession, differing_result: DifferingResult, *, lacks: str, sampled: bool
) -> tuple[Cause, str]:
    """Return why something differs in the nearest run."""
    by_order = rerun.found.by_order.get(differing_result.name)
    # An order that gives what was recorded explains it, whatever the log lacks.
    if by_order:
        return Cause.MAP_ORDER, "as recorded in another order of Go's maps"
    if differing_result.name in rerun.absent:
        return Cause.MISSING_INPUT, "the log does not have it when the session opens"
    # The scheduler's own log shows a panic.
    if lacks and not (differing_result.aspect is Aspect.PANIC and lacks == UNRECORDED):
        return Cause.MISSING_INPUT, lacks
    if by_order is not None:
        return (
            Cause.MAP_ORDER,
            "it changes with the order of Go's maps; no order tried is as recorded",
        )
    if sampled and differing_result.aspect is Aspect.BINDING:
        return Cause.SAMPLING, "with more than 100 nodes the scheduler looks at some only"
    return Cause.UNEXPLAINED, "no delivery and no order of maps that was tried is as recorded"


def lag_text(delivery: Delivery) -> str:
    """Return how far an informer was away, in words."""
    seconds = f"{delivery.us / 1_000_000:.2f}s"
    count = delivery.behind or delivery.ahead
    first = delivery.changes[0]
    more = f" and {count - 1} more" if count > 1 else ""
    seen = "had not yet seen" if delivery.behind else "had already seen"
    return f"the scheduler {seen} {first.event} {first.object} (@{first.position}){more}: {seconds}"
