"""The order in which inputs are ingested changes no answer, together or one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from importlib.resources import files
from pathlib import Path

import pytest

import plinian
from plinian import Log
from plinian.replay.moments.recorded_sessions import recorded_sessions

RECORDING = Path(str(files("plinian.replay"))) / "recordings" / "quickstart"
NAMES = sorted(one.name for one in RECORDING.iterdir() if one.suffix == ".xz")
TOLD = ("version.timed", "version.attributed")
"""Kinds of events that say more of a version; they differ, and what they lead to does not."""

Orders = dict[str, Sequence[Sequence[str]]]

ORDERS: Orders = {
    "together": [NAMES],
    "one after the other": [[name] for name in NAMES],
    "the last first": [[name] for name in NAMES[::-1]],
}


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Log]]:
    with ExitStack() as stack:
        found = []
        for name, calls in ORDERS.items():
            place = tmp_path_factory.mktemp("orders") / f"{name.replace(' ', '-')}.db"
            log = stack.enter_context(plinian.open(place, create=True))
            for some in calls:
                log.ingest([str(RECORDING / one) for one in some], no_checkpoint=True, year=2026)
            found.append(log)
        yield found


def told(log: Log) -> set[tuple[object, ...]]:
    """Return what a log says of each version and request: between which times, and by whom."""
    return {
        (event.event.reference, event.event.resource_version, event.span, event.actor)
        for event in log.events()
        if event.event.kind not in TOLD
    }


def test_times_and_actors_are_the_same(logs: list[Log]) -> None:
    first, *others = [told(log) for log in logs]
    for other in others:
        assert not first ^ other


def test_sessions_and_what_they_did_are_the_same(logs: list[Log]) -> None:
    first, *others = [
        [
            (one.opened, one.closed, list(one.binds.items()), one.groups, one.wrote)
            for one in recorded_sessions(log.store, log.moment())
        ]
        for log in logs
    ]
    assert first
    for other in others:
        assert first == other


@pytest.mark.parametrize("at", ["end", "-30s", "-90s", "session:6", "session:79"])
def test_the_state_is_the_same_at_every_moment(logs: list[Log], at: str) -> None:
    assert len({(log.digest(at), log.moment(at).revision) for log in logs}) == 1


def test_histories_and_gaps_are_the_same(logs: list[Log]) -> None:
    pods = [one.reference for one in logs[0].entries("pods", at="-60s")][:5]
    for log in logs[1:]:
        for pod in pods:
            name = f"pod/{pod.namespace}/{pod.name}"
            one, other = (
                [(line.revision, line.span, line.actor, line.note) for line in some.happenings]
                for some in (logs[0].history(name), log.history(name))
            )
            assert one == other
        known = [some.not_known(at="-60s") for some in (logs[0], log)]
        assert known[0] == known[1]
