"""Recorded sessions that are run again decide what the real scheduler decided."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from plinian.engine.volcano.session.history import resolve
from plinian.replay.fidelity.attempts import Aspect
from plinian.replay.fidelity.rerun import job_services, rerun_sessions
from plinian.replay.ingest.ingest_run import ingest
from plinian.replay.logs.log import Log, opened
from plinian.replay.logs.logged_confs import ConfText
from plinian.replay.recorded.recorded_sessions import recorded_sessions

BEHAVIOURS = resolve("v1.12.1")
RECORDING = Path(__file__).parents[2] / "replay" / "recordings" / "quickstart"
RACING = "c79df64b-df54-4353-95aa-0e890c091a1f"
"""The session that bound a pod to node-2 while it was being deleted; the API server refused."""


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Log]:
    """Give the log of the demonstration: watches, audit log, logs of components."""
    with opened(tmp_path_factory.mktemp("fidelity") / "log.db", create=True) as made:
        ingest(made.store, [str(RECORDING)])
        yield made


@pytest.mark.slow
def test_every_recorded_session_decides_and_writes_the_same_again(log: Log) -> None:
    done = rerun_sessions(log.store, log.moment(), BEHAVIOURS)
    assert len(done) == 139
    assert sum(len(each.recorded.binds) for each in done) == 59
    assert sum(len(each.recorded.groups) for each in done) == 136
    assert [each for each in done if not each.same or each.moved] == []


@pytest.mark.slow
def test_another_configuration_makes_a_difference(log: Log) -> None:
    conf = ConfText('actions: "enqueue"\ntiers:\n- plugins:\n  - name: gang\n', "by hand")
    done = rerun_sessions(log.store, log.moment(), BEHAVIOURS, conf=conf)
    assert [each.recorded.uid for each in done if each.differing(Aspect.BINDING)] == [
        each.recorded.uid for each in done if each.recorded.binds
    ]


def test_a_bind_that_was_refused_is_a_decision_too(log: Log) -> None:
    racing = [
        session for session in recorded_sessions(log.store, log.moment()) if session.uid == RACING
    ]
    assert [session.binds["default/train-a-worker-0"] for session in racing] == ["node-2"]


def test_a_session_knew_nothing_of_what_came_of_it_or_of_later_ones(log: Log) -> None:
    wrote = [session.wrote for session in recorded_sessions(log.store, log.moment())]
    known = [revision for revision in wrote if revision is not None]
    assert known == sorted(known)
    assert wrote[: len(known)] == known


def test_services_are_known_by_the_requests_of_jobs_that_have_them(log: Log) -> None:
    made, gone = job_services(log.store, log.moment())
    assert made.reference.name == gone.reference.name == "mpi"
    assert made.document is not None
    assert made.document["spec"]["selector"]["volcano.sh/job-name"] == "mpi"
    assert gone.document is None
