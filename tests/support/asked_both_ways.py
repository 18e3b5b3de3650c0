"""Questions to the shipped recording, each in Python and as a command."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import plinian

Log = plinian.Log

OLD, NEW = "v1.11.0", "v1.12.1"
TIME = "2026-11-21T01:53:36Z"
MOMENT = datetime(2026, 11, 21, 1, 53, 36, tzinfo=UTC)

ASKED: list[tuple[Callable[[Log], Any], str]] = [
    (lambda log: log.session(at=MOMENT), f"session --at {TIME}"),
    (
        lambda log: log.session(at=TIME, release=OLD, trace=True, choose=7, sample_nodes=True),
        f"session --at {TIME} --release {OLD} --trace --choose 7 --sample-nodes",
    ),
    (
        lambda log: log.compare(at=MOMENT, releases=[OLD, NEW]),
        f"session --at {TIME} --release {OLD} --release {NEW}",
    ),
    (
        lambda log: log.compare_moments("rv:400", MOMENT, releases=NEW),
        f"diff rv:400 {TIME} --release {NEW}",
    ),
    (
        lambda log: log.bisect(bound="default/train-b-worker-3", from_="rv:380", to="rv:400"),
        "bisect --bound default/train-b-worker-3 --from rv:380 --to rv:400 --jobs 1",
    ),
    (
        lambda log: log.upgrade_check(from_=OLD, to=NEW, at=MOMENT, sample=4),
        f"upgrade-check --from {OLD} --to {NEW} --at {TIME} --sample 4 --jobs 1",
    ),
    (
        lambda log: log.belief(at=MOMENT, release=OLD),
        f"belief nodes,jobs,tasks,queues,hypernodes,work --at {TIME} --release {OLD}",
    ),
    (lambda log: log.drift(at=MOMENT), f"drift --at {TIME}"),
    (lambda log: log.why("job/gpu-2", at=MOMENT), f"why job/gpu-2 --at {TIME}"),
    (
        lambda log: log.why("pod/default/gpu-2-gpu-1", at=MOMENT, release=OLD),
        f"why pod/default/gpu-2-gpu-1 --at {TIME} --release {OLD}",
    ),
    (
        lambda log: log.what_if(at=MOMENT, add_nodes="node-3", delete="job/gpu-1", each=True),
        f"what-if --at {TIME} --add-node like=node-3 --delete job/gpu-1 --each",
    ),
    (
        lambda log: log.forecast("30s", at=MOMENT, delete="job/gpu-1", run_for="job/gpu-2=5s"),
        f"what-if --at {TIME} --for 30s --delete job/gpu-1 --run-for job/gpu-2=5s --jobs 1",
    ),
    (
        lambda log: log.what_if(
            at=MOMENT, fields="queue/gold.spec.weight=1", release=OLD, try_release=NEW
        ),
        f"what-if --at {TIME} --set queue/gold.spec.weight=1 --release {OLD} --release {NEW}",
    ),
    (
        lambda log: log.blame("queue/gold", "allocated.cpu", at=MOMENT),
        f"blame queue/gold allocated.cpu --at {TIME}",
    ),
    (
        lambda log: log.lint(at=MOMENT, releases=[NEW], ignore="pod-above-every-node"),
        f"lint --at {TIME} --release {NEW} --ignore pod-above-every-node",
    ),
    (
        lambda log: log.diff(MOMENT, MOMENT + timedelta(seconds=35), kinds=["nodes"]),
        f"diff {TIME} 2026-11-21T01:54:11Z --kind nodes",
    ),
    (
        lambda log: log.history("vcjob/train-b", at=MOMENT),
        f"history vcjob/train-b --at {TIME}",
    ),
    (lambda log: log.verify(), "verify"),
    (lambda log: log.heads(), "head"),
    (lambda log: log.info(), "db info"),
    (lambda log: log.branches(), "branch list"),
    (lambda log: log.checkpoints(), "checkpoint list"),
    (lambda _: plinian.releases(), "release list"),
    (
        lambda _: plinian.behaviours(NEW, parts=["cache"]),
        f"release show {NEW} --part cache",
    ),
    (lambda _: plinian.release_diff(OLD, NEW), f"release diff {OLD} {NEW}"),
    (
        lambda _: plinian.release_diff(OLD, NEW, subjects=["preempt", "nodes"]),
        f"release diff {OLD} {NEW} --subject preempt --subject nodes",
    ),
    (lambda _: plinian.unproven(), "release unproven"),
    (
        lambda log: log.check(at=MOMENT, invariants=["I-04", "I-07"]),
        f"check --at {TIME} --invariant I-04 --invariant I-07",
    ),
    (
        lambda log: log.check(invariants="I-12", release=OLD),
        f"check --invariant I-12 --release {OLD}",
    ),
    (lambda _: plinian.lint_rules(), "lint --rules"),
    (lambda _: plinian.invariants(), "check --list"),
]
