"""Differences between the API server and the scheduler's cache that an answer rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...engine.cache.drift.drift import CacheComparison, CacheMismatch, PodIndex, Unit
from .answering_session import Run
from .records import Drifted, Link


def drift_links(run: Run, podgroup: str, nodes: Sequence[str]) -> Iterator[Link]:
    """Yield what differs about a PodGroup with its pods, its queue, and some nodes."""
    job = run.job(podgroup)
    units: list[Unit] = [("PodGroup", podgroup)] if podgroup else []
    if job is not None and job.queue:
        units.append(("Queue", job.queue))
    units += [("Node", name) for name in nodes]
    yield from differences(run, units)


def differences(run: Run, units: Sequence[Unit]) -> Iterator[Link]:
    """Yield what differs about some units, as links."""
    # Of these pods only: an index of all would be made again for every answer.
    pods = run.pods_of({name for _, name in units})
    index = PodIndex(pods, run.cache.node_cache.uncounted)
    comparison = CacheComparison(run.cache, run.cache.stores, index)
    for unit in units:
        for mismatch in comparison.of(unit):
            yield _drifted(mismatch)


def _drifted(mismatch: CacheMismatch) -> Drifted:
    place = f"{mismatch.kind} {mismatch.name}" + (f" {mismatch.field}" if mismatch.field else "")
    truth, belief = mismatch.truth or "nothing", mismatch.belief or "nothing"
    text = f"the scheduler's cache differs in {place}: {belief}; the API server has {truth}"
    return Drifted(
        text=text,
        kind=mismatch.kind,
        name=mismatch.name,
        field=mismatch.field,
        truth=mismatch.truth,
        belief=mismatch.belief,
    )
