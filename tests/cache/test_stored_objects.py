"""Objects that were stored beside a cache are those that its events told."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from followed_cache import Way, graph
from happenings import Happening, events_of, happenings
from hypothesis import given, settings

import plinian
from plinian.engine.cache.projector import Projector
from plinian.engine.cache.restored import decode_belief
from plinian.engine.cache.stored import encode_belief
from plinian.engine.cache.stored_objects import KeptObjects, encode_objects
from plinian.engine.events import Event
from plinian.engine.kubernetes.objects import KINDS, Pod
from plinian.engine.volcano.session.history import resolve
from sessions import RELEASE, group, node, pod


def kept_of(projector: Projector) -> KeptObjects:
    """Return the objects of a projector as they are read after they were stored."""
    return KeptObjects(encode_objects(projector))


@pytest.mark.slow
@settings(max_examples=40)
@given(happenings)
def test_a_cache_that_was_restored_from_them_is_the_same(history: list[Happening]) -> None:
    way = Way(RELEASE, events_of(history))
    way.until(len(way.events) // 2)
    earlier = kept_of(way.projector)
    way.until(len(way.events))
    data = encode_belief(way.projector)
    for kept in (earlier, kept_of(way.projector)):
        restored = decode_belief(data, way.behaviours, way.payloads, kept)
        assert graph(restored) == graph(way.projector)
        assert encode_belief(restored) == data


def test_no_event_is_read_whose_object_is_kept() -> None:
    read: list[int] = []

    def payloads(positions: Sequence[int]) -> dict[int, bytes]:
        read.extend(positions)
        return way.payloads(positions)

    pods = [pod(f"p{number}", "x1") for number in range(3)]
    history: list[Happening] = [("updated", node("x1")), ("updated", group("x1"))]
    history += [("updated", each) for each in pods]
    history.append(("updated", pod("p1", "x1", on="x1")))
    way = Way(RELEASE, events_of(history))
    way.until(5)
    kept = kept_of(way.projector)
    way.until(6)
    decode_belief(encode_belief(way.projector), way.behaviours, way.payloads, kept)
    decode_belief(encode_belief(way.projector), way.behaviours, payloads, kept)
    assert read == [6]


def test_all_objects_of_a_recording_are_the_same(tmp_path: Path) -> None:
    with plinian.demo(tmp_path / "demo.db") as log:
        projector = Projector(resolve(RELEASE))
        for recorded in log.events():
            projector.apply(recorded.event, position=recorded.position)
    kept = kept_of(projector)
    for kind, origins in projector.origins.items():
        told = {origin.position: origin.item for origin in origins.values()}
        assert kept.found(KINDS[kind], told) == told
    assert len(projector.origins["Pod"]) > 20


def test_pods_share_equal_parts_and_have_their_own_nodes() -> None:
    way = Way(RELEASE, events_of([("updated", pod(f"p{n}", "x1", on=f"n{n}")) for n in (1, 2)]))
    way.until(2)
    one, other = kept_of(way.projector).found(Pod, [1, 2]).values()
    assert isinstance(one, Pod)
    assert isinstance(other, Pod)
    assert (one.spec.node_name, other.spec.node_name) == ("n1", "n2")
    assert one.spec.containers is other.spec.containers
    assert one.status is other.status


def test_what_is_not_kept_is_not_found() -> None:
    way = Way(RELEASE, events_of([("updated", node("x1"))]))
    way.until(1)
    assert kept_of(way.projector).found(Pod, [1]) == {}
    assert kept_of(way.projector).found(KINDS["Node"], [2]) == {}


@pytest.mark.parametrize("data", [b"", b"none", encode_objects(Projector(resolve(RELEASE)))[:-2]])
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises((ValueError, msgspec.DecodeError)):
        KeptObjects(data)


def test_an_object_that_no_event_told_is_not_kept() -> None:
    events = [
        Event(kind="pod.observed", reference=each.reference, payload=each.payload)
        for each in events_of([("updated", pod("p1", "x1"))])
    ]
    projector = Projector(resolve(RELEASE))
    projector.apply(events[0])
    assert kept_of(projector).found(Pod, [0, 1]) == {}
