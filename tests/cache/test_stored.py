"""A belief that was stored and read again is the same, and goes on as it would have."""

from __future__ import annotations

from typing import Any

import pytest
from followed_cache import Way, graph
from happenings import Happening, events_of, happenings
from hypothesis import given, settings
from hypothesis import strategies as st

from plinian.engine.cache.drift.drift_since import DriftHistory
from plinian.engine.cache.drift.settled import Settled
from plinian.engine.cache.projector import Projector
from plinian.engine.cache.restored import decode_belief
from plinian.engine.cache.stored import encode_belief
from plinian.engine.errors import LogCorrupt
from plinian.engine.volcano.session.history import resolve
from sessions import RELEASE, group, node, pod

RELEASES = ("v1.8.0", "v1.10.2", RELEASE, "v1.13.0", "v1.14.2", "v1.15.1", "hardened")


@pytest.mark.slow
@settings(max_examples=150)
@given(happenings, st.sampled_from(RELEASES), st.lists(st.integers(0, 48), max_size=3))
def test_a_stored_belief_goes_on_as_it_would_have(
    history: list[Happening], release: str, cuts: list[int]
) -> None:
    events = events_of(history)
    whole, stored = Way(release, events), Way(release, events)
    for cut in sorted(min(cut, len(events)) for cut in cuts):
        stored.until(cut)
        data = stored.store_and_restore()
        assert encode_belief(stored.projector) == data
    whole.until(len(events))
    stored.until(len(events))
    assert graph(stored.projector) == graph(whole.projector)
    assert encode_belief(stored.projector) == encode_belief(whole.projector)
    assert stored.answers() == whole.answers()


class _Unsettled(Settled):
    def stays(self, *_: Any) -> bool:
        """Let everything that is reached be compared as a whole."""
        return False


class _Thorough(DriftHistory):
    def _reset(self) -> None:
        super()._reset()
        self._settled = _Unsettled(self._cache)
        for one, request in self._pods.all():
            self._settled.put(one, request)


@settings(max_examples=100)
@given(happenings, st.sampled_from(RELEASES))
def test_what_is_settled_need_not_be_compared(history: list[Happening], release: str) -> None:
    events = events_of(history)
    way = Way(release, events)
    thorough = _Thorough(way.projector)
    thorough.go_on({})
    for position, event in enumerate(events, start=1):
        way.until(position)
        thorough.after(event, position)
        assert way.history.differences() == thorough.differences()


def test_what_no_event_tells_is_stored_as_it_is() -> None:
    running = pod("p1", "x1", on="x1")
    way = Way(
        RELEASE,
        events_of(
            [
                ("updated", node("x1")),
                ("updated", group("x1")),
                ("updated", pod("p1", "x1")),
                ("bound", ("p1", "x1")),
            ]
        ),
    )
    way.until(4)
    way.store_and_restore()
    (task,) = way.projector.cache.jobs["ns/x1"].tasks.values()
    assert (task.node_name, task.pod.spec.node_name) == ("x1", running["spec"]["nodeName"])
    assert way.projector.cache.nodes["x1"].tasks["ns/p1"].task is task
    assert way.projector.cache.stores.get("Pod", "ns/p1") is task.pod


@pytest.mark.parametrize(
    "data", [b"", b"no belief", encode_belief(Projector(resolve(RELEASE)))[:-9]]
)
def test_bytes_that_are_no_belief_are_refused(data: bytes) -> None:
    with pytest.raises(LogCorrupt, match="a stored belief cannot be read"):
        decode_belief(data, resolve(RELEASE), lambda _: {})
