"""The lanes of a timeline without pins: jobs and nodes, those with problems first."""

from __future__ import annotations

from collections.abc import Iterator

from ....engine.state.facts import NodeFact, PodGroupFact
from ....engine.state.object_status import status_of
from ....engine.state.truth_fold import Truth
from ...facade.log import Log
from ...logs.given_names import stem_of
from ...render.events import object_text
from ...render.state_looks import RUNNING, look_of
from .look import Look
from .notes import JOB, NODE, PODGROUP, WAITING

MOST_SUGGESTED = 7

LONGEST = 200_000
"""In a longer log the state at a moment is not read only for the lanes."""


def suggested_lanes(log: Log, look: Look) -> list[str]:
    """Return the objects to show: what is wrong at the moment, then jobs that run."""
    if not 0 < look.last <= LONGEST:
        return []
    truth = log.truth(look.at)
    jobs = sorted(_jobs(truth), key=lambda job: (not job[0], job[1]))
    waiting = [name for waits, name in jobs if waits]
    others = [name for waits, name in jobs if not waits]
    return [*_nodes(truth), *waiting, *others][:MOST_SUGGESTED]


def _nodes(truth: Truth) -> Iterator[str]:
    """Yield the nodes that do not take pods."""
    for entry in truth.of(*NODE):
        if isinstance(entry.fact, NodeFact) and look_of(status_of(entry.fact)) != RUNNING:
            yield object_text(entry.reference)


def _jobs(truth: Truth) -> Iterator[tuple[bool, str]]:
    """Yield jobs, or PodGroups without one, with whether they wait."""
    for entry in truth.of(*PODGROUP):
        if isinstance(entry.fact, PodGroupFact):
            place, name = entry.reference.namespace, entry.reference.name
            job = truth.find(*JOB, place, stem_of(name))
            named = object_text(entry.reference if job is None else job.reference)
            yield entry.fact.phase in WAITING, named
