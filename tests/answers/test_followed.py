"""A trace that follows objects closely changes nothing that a session decides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from scenarios import scenario_document

from plinian.engine.session.framework.trace import Trace
from plinian.engine.volcano.session.history import resolve
from plinian.replay.answers.why import why_at
from plinian.replay.belief.belief import belief_at
from plinian.replay.ingest.one_off import log_of
from plinian.replay.logs.log import Log
from plinian.replay.render.documents import plain
from plinian.replay.sessions.session_answer import SessionAnswer, scene_at, session_in

RELEASES = ("v1.8.2", "v1.12.1", "v1.15.1")
AT_ONCE = ("next-session", "releasing")
"""Causes of objects that nothing keeps waiting any longer."""


def first_step(seed: int) -> bytes:
    """Return a random cluster as a scenario of one step."""
    document = scenario_document(seed)
    return msgspec.json.encode({**document, "steps": document["steps"][:1]})


def decided(log: Log, release: str, trace: Trace) -> dict[str, Any]:
    """Return what a session at the end decides, without its trace."""
    behaviours, scene = resolve(release), scene_at(log, "end")
    cache = belief_at(log.store, scene.moment, behaviours)
    answer: SessionAnswer = session_in(scene, behaviours, cache, into=trace)
    document = plain(answer.document)
    return {name: part for name, part in document.items() if name not in {"trace", "node_scores"}}


@pytest.mark.parametrize("seed", range(6))
def test_a_session_that_is_followed_decides_the_same(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "random.case.json"
    path.write_bytes(first_step(seed))
    with log_of([str(path)]) as log:
        names = {f"{one.reference.namespace}/{one.reference.name}" for one in log.entries("pods")}
        groups = log.entries("podgroups")
        names |= {f"{one.reference.namespace}/{one.reference.name}" for one in groups}
        names |= {one.reference.name for one in log.entries("queues")}
        for release in RELEASES:
            plain = decided(log, release, Trace(on=False))
            assert decided(log, release, Trace(scores=False, closely=names)) == plain
            assert decided(log, release, Trace(closely=sorted(names)[:1])) == plain


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_every_object_of_any_cluster_has_an_answer(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "random.case.json"
    path.write_bytes(first_step(seed))
    with log_of([str(path)]) as log:
        for kind in ("pods", "podgroups", "queues", "nodes"):
            for entry in log.entries(kind):
                reference = entry.reference
                place = f"{reference.namespace}/" if reference.namespace else ""
                named = log.object(f"{kind}/{place}{reference.name}")
                for release in RELEASES:
                    found = why_at(log, named, release=release)
                    assert found.sentence
                    assert found.cause
                    assert "None" not in found.sentence
                    assert (
                        found.waits is None
                        or found.waits == any(link.blocks for link in found.chain)
                        or found.cause in {"next-session", "releasing", "no-podgroup"}
                    )
