"""What holds after every session, whatever the cluster and the configuration were."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from ended_sessions import EndedSession, ended_sessions
from hypothesis import given, settings
from hypothesis import strategies as st
from scenarios import scenario

from plinian.engine.model.session_tables import NO_JOB, TaskStatus
from plinian.engine.volcano.session.history import resolve

SEEDS = st.integers(0, 2**32)
TOLERANCE = 0.1
"""Less is nothing: what fits may exceed by so much in each placement."""


def violations(ssn: EndedSession) -> list[str]:
    """Return what does not hold of a session that is over."""
    return [*_counts(ssn), *_accounts(ssn), *_room(ssn), *_binds(ssn), *_snapshot(ssn)]


def _counts(ssn: EndedSession) -> list[str]:
    status = ssn.tasks.status
    found = []
    for job, key in enumerate(ssn.jobs.keys):
        counted = np.bincount(status[ssn.jobs.tasks[job]], minlength=len(TaskStatus)).tolist()
        if counted != list(ssn.jobs.counts[job]):
            found.append(f"job {key} counts {ssn.jobs.counts[job]}, and has {counted}")
    return found


def _accounts(ssn: EndedSession) -> list[str]:
    """Find nodes whose sums are not the sums of what lies on them."""
    nodes, request, found = ssn.nodes, ssn.tasks.request, []
    for node, name in enumerate(nodes.names):
        sums = {part: np.zeros(len(ssn.dims)) for part in ("used", "releasing", "pipelined")}
        for task, status in nodes.tasks(node).values():
            if status == TaskStatus.PIPELINED:
                sums["pipelined"] += request[task]
                continue
            sums["used"] += request[task]
            if status == TaskStatus.RELEASING:
                sums["releasing"] += request[task]
        sums["idle"] = nodes.allocatable[node] - sums["used"]
        if ssn.behaviours.subtractions_checked:
            sums["idle"] = np.maximum(sums["idle"], 0.0)
        elif nodes.no_scalars[node]:
            sums["idle"][2:] = nodes.idle[node][2:]
        for part, amount in sums.items():
            kept = getattr(nodes, part)[node]
            if not np.allclose(kept, amount, rtol=1e-9, atol=TOLERANCE, equal_nan=True):
                found.append(f"node {name} has {part} {kept}, and should have {amount}")
    return found


def _room(ssn: EndedSession) -> list[str]:
    """Find nodes that were overfilled; of pods that ask for nothing any number may come."""
    before, now = ssn.before.idle, ssn.nodes.idle
    worse = now < np.minimum(before, 0.0) - TOLERANCE * (1 + len(ssn.binds))
    worse &= ~np.isclose(now, before, rtol=1e-9)
    worse[:, ssn.dims.index("pods")] = False
    return [f"node {ssn.nodes.names[node]} is overfilled" for node in np.flatnonzero(worse.any(1))]


def _binds(ssn: EndedSession) -> list[str]:
    found = [
        f"{task} bound {n} times" for task, n in Counter(t for t, _ in ssn.binds).items() if n > 1
    ]
    for task, node in ssn.binds:
        key = ssn.tasks.info[task].key
        if ssn.statuses[task] != TaskStatus.PENDING:
            found.append(f"{key} was bound, and did not wait")
        if ssn.tasks.status[task] != TaskStatus.BINDING or ssn.tasks.node[task] != node:
            found.append(f"{key} was bound, and is not on its node")
        if ssn.nodes.tasks(node).get(key, (-1, 0))[0] != task:
            found.append(f"{key} was bound, and its node does not know")
    gone = Counter(task for task, _ in ssn.evictions)
    found += [f"{ssn.task_name(task)} evicted {n} times" for task, n in gone.items() if n > 1]
    jobs = {int(ssn.tasks.job[task]) for task, _ in ssn.binds}
    jobs -= {int(ssn.tasks.job[task]) for task, _ in ssn.evictions}
    # Who asks for nothing counts while waiting, and no more when preempt promises a node.
    promised = np.flatnonzero(ssn.tasks.status == TaskStatus.PIPELINED).tolist()
    jobs -= {int(ssn.tasks.job[task]) for task in promised if ssn.tasks.info[task].best_effort}
    if any("gang" in (o.name for o in tier if "JobReady" in o.enabled) for tier in ssn.conf.tiers):
        found += [
            f"job {ssn.jobs.keys[job]} has less than its minimum"
            for job in sorted(jobs)
            if not (ssn.jobs.is_ready(job) and ssn.jobs.check_task_ready(job))
        ]
    waits = (ssn.tasks.status == TaskStatus.PENDING) & (ssn.tasks.job != NO_JOB)
    if not ssn.errors and (ssn.tasks.node[waits] >= 0).any():
        found.append("a pending task is on a node")
    return found


def _snapshot(ssn: EndedSession) -> list[str]:
    """Find what a session changed of the snapshot, which is not its own."""
    nodes = ssn.snapshot.nodes
    found = [
        f"the snapshot's {part} changed"
        for part in ("idle", "used", "releasing", "pipelined")
        if not np.array_equal(getattr(nodes, part), getattr(ssn.before, part), equal_nan=True)
    ]
    if not np.array_equal(ssn.snapshot.tasks.status, ssn.statuses):
        found.append("the snapshot's statuses changed")
    return found


@pytest.mark.parametrize("release", ["v1.12.1", "hardened"])
@settings(max_examples=60, derandomize=True)
@given(SEEDS)
def test_accounts_binds_and_gangs_are_sound_after_every_session(release: str, seed: int) -> None:
    for ssn in ended_sessions(scenario(seed), resolve(release)):
        assert violations(ssn) == []
