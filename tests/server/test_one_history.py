"""All doors to a log show the same object at the same position: one history behind them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from doors import Doors, differences, doors_of, objects_of, positions_of

import plinian
from plinian.engine.events import Reference
from plinian.replay.moments.times import span_words
from plinian.replay.objects.kind_names import ObjectName

DATA = Path(__file__).parents[1] / "data"
POD = Reference("", "Pod", "default", "train-b-worker-3")
SCHEDULER = "system:serviceaccount:volcano-system:volcano-scheduler"


@pytest.fixture(scope="module")
def demo(demo_log: Path) -> Iterator[Doors]:
    with doors_of(demo_log) as doors:
        yield doors


def _ingested(place: Path, *calls: str) -> Path:
    """Return a log of files, appended in as many calls as there are patterns."""
    with plinian.open(place, create=True) as log:
        for pattern in calls:
            log.ingest(sorted(DATA.glob(pattern)))
    return place


def _sample(doors: Doors, objects: int, positions: int) -> Iterator[tuple[Reference, int]]:
    for some in objects_of(doors.log).values():
        for one in islice(some, 0, None, max(len(some) // objects, 1)):
            for at in islice(reversed(positions_of(doors.log, one, 5)), positions):
                yield one, at


def test_a_binding_and_an_eviction_are_shown_alike_behind_all_doors(demo: Doors) -> None:
    bound = demo.all(POD, 600)
    assert {one.node for one in bound.values() if one.node is not None} == {"node-1"}
    assert bound["panel"].changed == (596, "pod.bound")
    assert bound["panel"].actor == SCHEDULER
    evicted = demo.all(POD, 1950)
    changed = evicted["panel"].changed
    assert changed is not None
    assert changed[1] == "pod.evicted"
    assert evicted["panel"].actor == "kubernetes-admin"
    assert evicted["panel"].status == "Terminating"
    for at in (502, 596, 2034):
        assert not differences(demo.all(POD, at)), at


def test_doors_agree_about_objects_of_every_kind(demo: Doors) -> None:
    seen = set()
    for one, at in _sample(demo, 1, 1):
        seen.add(one.kind)
        assert not differences(demo.all(one, at, commands=at % 6 == 0)), (one, at)
    assert {"Pod", "Node", "Job", "PodGroup", "Queue", "Event", "Namespace"} <= seen


@pytest.mark.parametrize(
    "calls",
    [
        ("audit-metadata.jsonl.gz", "list-all.json.gz"),
        ("list-nodes.raw.json.gz", "watch-queues.jsonl.gz", "watch-nodes.jsonl.gz"),
        ("audit-requestresponse.jsonl.gz",),
    ],
)
def test_doors_agree_about_poor_logs(tmp_path: Path, calls: tuple[str, ...]) -> None:
    with doors_of(_ingested(tmp_path / "poor.db", *calls)) as doors:
        sample = list(_sample(doors, 1, 2))
        assert sample
        for one, at in sample:
            assert not differences(doors.all(one, at, commands=at % 6 == 0)), (one, at)


def test_the_panel_says_between_which_times_an_object_changed(tmp_path: Path) -> None:
    with doors_of(_ingested(tmp_path / "between.db", "list-*", "watch-*")) as doors:
        (one,) = [each for each in _several(doors.log) if each.kind == "Pod"]
        (last,) = doors.log.history(ObjectName("", "Pod", one.name, one.namespace)).happenings[-1:]
        query = {"sel": f"pod/{one.namespace}/{one.name}", "pane": "diff"}
        path = f"/@{doors.log.store.last()}.json"
        says = doors.client.get(path, params=query).json()["data"]["pane"]["says"]
        assert f" at {span_words(last.span)}" in says
        assert "at a time between 2026" in says


def _several(log: plinian.Log) -> Iterator[Reference]:
    """Yield the names that several objects had, one after another."""
    for some in objects_of(log).values():
        for one in some:
            named = ObjectName(one.group, one.kind, one.name, one.namespace)
            if len(log.history(named).uids) > 1:
                yield one


@pytest.mark.parametrize("calls", [("list-*", "watch-*"), ("watch-*", "list-*")])
def test_doors_agree_about_names_that_several_objects_had(
    tmp_path: Path, calls: tuple[str, ...]
) -> None:
    with doors_of(_ingested(tmp_path / "names.db", *calls)) as doors:
        several = list(_several(doors.log))
        assert {one.kind for one in several} == {"Pod", "Queue"}
        for one in several:
            for at in positions_of(doors.log, one, 99):
                assert not differences(doors.all(one, at)), (one, at)
