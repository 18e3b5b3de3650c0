"""Sessions on trial decide what real ones do, and leave the cache as it is."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import fields
from pathlib import Path

import pytest
from click.testing import CliRunner

from decisions import decided
from plinian.engine.cache.projector import Projector
from plinian.engine.session.framework.behaviour_recorder import RecordedBehaviours
from plinian.engine.session.framework.trace import Trace
from plinian.engine.volcano.session.behaviours import Behaviours
from plinian.engine.volcano.session.history import resolve
from plinian.replay.belief.belief import Beliefs, play
from plinian.replay.belief.stored_belief import believed
from plinian.replay.cli.main import app
from plinian.replay.compare.subjects import LogSubject
from plinian.replay.logs.log import opened
from plinian.replay.render.documents import json_text
from plinian.replay.sessions.session_answer import SessionAnswer, session_at

RELEASE = "v1.12.1"


def log_of(name: str, folder: Path) -> Path:
    """Ingest a recorded scenario up to its first session, and return the log."""
    case = dict(decided()[name]["case"])
    case["steps"] = case["steps"][:1]
    path, place = folder / "a.case.json", folder / "a.db"
    path.write_text(json.dumps(case), "utf-8")
    ran = CliRunner().invoke(app, ["ingest", "--log", str(place), str(path)])
    assert ran.exit_code == 0, ran.output
    return place


def told(answer: SessionAnswer) -> str:
    """Return an answer as text that can be compared."""
    return json_text(answer.document)


@pytest.mark.parametrize(
    ("name", "evicts"),
    [
        *(("gang-0", False), ("pipeline-0", False), ("negidle-0", False), ("mixed-0", False)),
        *(("preempt-0", True), ("preemptintra-0", True), ("reclaim-0", True)),
    ],
)
def test_a_trial_is_the_session_and_may_be_had_again(
    tmp_path: Path, name: str, *, evicts: bool
) -> None:
    with opened(str(log_of(name, tmp_path)), read_only=True) as log:
        moment = log.moment()
        subject = LogSubject(log, moment)
        first, again = (subject.traced(resolve(RELEASE), Trace()) for _ in range(2))
        real = session_at(log, moment, release=RELEASE, trace=True)
        assert told(first) == told(again) == told(real)
        assert bool(real.result.evictions) is evicts
        assert evicts or real.result.binds or real.result.enqueued


def test_a_trial_changes_nothing_that_a_cache_holds(tmp_path: Path) -> None:
    with opened(str(log_of("preempt-0", tmp_path)), read_only=True) as log:
        moment = log.moment()
        cache = Beliefs(log.store).of(moment, resolve(RELEASE))
        untouched = cache.copy()
        subject = LogSubject(log, moment)
        assert subject.session(resolve(RELEASE)).result.evictions
        tried = subject.session(resolve(RELEASE)).cache
        for held in (cache, tried):
            for key, job in untouched.jobs.items():
                now = held.jobs[key]
                assert list(now.tasks) == list(job.tasks)
                assert [one.status for one in now.tasks.values()] == [
                    one.status for one in job.tasks.values()
                ]
                assert list(map(list, now.index.values())) == list(map(list, job.index.values()))
            for name, node in untouched.nodes.items():
                assert str(held.nodes[name].idle) == str(node.idle)
                assert str(held.nodes[name].releasing) == str(node.releasing)
                assert held.nodes[name].tasks.keys() == node.tasks.keys()


def test_a_record_of_what_is_asked_for_has_the_values_of_its_release() -> None:
    plain = resolve(RELEASE)
    consulted = RecordedBehaviours.of(plain)
    assert not consulted.names
    assert consulted.release == RELEASE
    assert consulted.running_when is plain.running_when
    assert consulted.names == {"running_when"}


def test_what_a_session_did_not_ask_for_makes_no_difference(tmp_path: Path) -> None:
    other = resolve("v1.9.0")
    with opened(str(log_of("gang-0", tmp_path)), read_only=True) as log:
        subject = LogSubject(log, log.moment())
        consulted = RecordedBehaviours.of(resolve(RELEASE))
        as_it_is = told(subject.traced(consulted, Trace()))
        trace = subject.traced(consulted, Trace()).result.trace
        asked = consulted.names.union(name for name, _ in believed(consulted.plain))
        for place in range(len(trace)):
            assert set(consulted.at(trace, place)) <= consulted.names
        unasked = {
            field.name: getattr(other, field.name)
            for field in dataclasses.fields(other)
            if field.name not in asked | {"release"}
        }
        assert unasked
        changed = dataclasses.replace(consulted.plain, **unasked)
        assert told(subject.traced(changed, Trace())) == as_it_is


def test_a_cache_asks_for_behaviours_only_when_it_is_made(tmp_path: Path) -> None:
    """Otherwise releases might share a belief in which they differ."""
    place = tmp_path / "demo.db"
    assert CliRunner().invoke(app, ["demo", "--log", str(place)]).exit_code == 0
    for release in ("v1.8.2", "v1.15.1", "hardened"):
        consulted = RecordedBehaviours.of(resolve(release))
        with opened(str(place), read_only=True) as log:
            play(log.store, log.moment(), Projector(consulted)).cache.snapshot()
        basis = {name for name, _ in believed(resolve(release))}
        assert consulted.names == basis & {field.name for field in fields(Behaviours)}
