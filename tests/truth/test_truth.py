"""Truth out of a real log: no order, batch, checkpoint or sidecar makes a difference to it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plinian.engine.errors import PointUnknown, UsageError
from plinian.engine.events import Event, Reference, canonical_json
from plinian.engine.ingest.objects.version_events import version_event
from plinian.engine.log import open_log
from plinian.engine.log.store import LogStore
from plinian.replay.truth.points import resolve
from plinian.replay.truth.truth import build_index, documents, state_digest, truth_at

SERIAL = itertools.count()


def pod(
    name: str, revision: int, *, verb: str = "updated", at: int | None = None, **spec: Any
) -> Event:
    document = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": f"uid-{name}",
            "resourceVersion": str(revision),
            "creationTimestamp": "1970-01-01T00:00:00Z",
        },
        "spec": spec,
        "status": {"phase": "Pending"},
    }
    return version_event(document, verb=verb, source="test", line=revision, earliest=at, latest=at)


def loose(kind: str, name: str, at: int, payload: dict[str, Any]) -> Event:
    return Event(
        kind=kind,
        reference=Reference("", "Pod", "default", name, f"uid-{name}"),
        payload=canonical_json(payload),
        earliest=at,
        latest=at,
        source="audit",
    )


def history(length: int) -> list[Event]:
    """Tell of a few pods that come, are bound, change and go, by watch and by audit."""
    events: list[Event] = []
    for number in range(length):
        revision, at, name = 10 + number * 3, 1000 + number * 10, f"p{number % 7}-{number // 21}"
        match number // 7 % 3:
            case 0:
                events.append(pod(name, revision, verb="created", at=at))
                events.append(loose("pod.bound", name, at + 3, {"node": f"n{number % 3}"}))
            case 1:
                events.append(pod(name, revision, at=at, nodeName=f"n{number % 3}"))
            case _ if number % 2:
                events.append(pod(name, revision, verb="deleted"))
            case _:
                events.append(loose("pod.deleted", name, at, {}))
    return events


def fill(store: LogStore, events: Sequence[Event], size: int) -> None:
    for start in range(0, len(events), size):
        store.append(events[start : start + size])


def digests(store: LogStore, points: Sequence[str], **how: Any) -> list[str]:
    return [state_digest(store, truth_at(store, resolve(store, p), **how)) for p in points]


POINTS = ["rv:10", "rv:50", "rv:51", "rv:130", "1970-01-01T00:00:00.001205Z", "-100us", "end"]


@pytest.mark.slow
@settings(max_examples=25)
@given(
    order=st.permutations(range(60)),
    size=st.integers(1, 60),
    rows=st.integers(1, 20),
    every=st.integers(2, 30),
)
def test_no_order_batch_or_checkpoint_makes_a_difference(
    tmp_path_factory: pytest.TempPathFactory, order: list[int], size: int, rows: int, every: int
) -> None:
    events = history(45)[:60]
    folder: Path = tmp_path_factory.mktemp("logs")
    with open_log(str(folder / "straight.db"), create=True) as straight:
        fill(straight, events, 60)
        expected = digests(straight, POINTS, use_checkpoints=False)
    with open_log(str(folder / "shuffled.db"), create=True) as store:
        shuffled = [events[index] for index in order if index < len(events)]
        fill(store, shuffled[:30], size)
        build_index(store, cluster="default", block_rows=rows, checkpoint_events=every)
        fill(store, shuffled[30:], size)
        assert digests(store, POINTS) == expected, "with checkpoints of the first half only"
        build_index(store, cluster="default", block_rows=rows, checkpoint_events=every)
        assert digests(store, POINTS) == expected, "with an index over all"
        store.drop_derived()
        assert digests(store, POINTS) == expected, "with no index"


def test_a_fold_in_stages_equals_the_fold_in_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_log(str(tmp_path / "log.db"), create=True) as log:
        fill(log, history(60), 7)
        expected = digests(log, POINTS, use_checkpoints=False)
        monkeypatch.setattr("plinian.replay.truth.truth.STAGE_EVENTS", 9)
        assert digests(log, POINTS, use_checkpoints=False) == expected


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with open_log(str(tmp_path / "log.db"), create=True) as log:
        yield log


def names(store: LogStore, point: str, **how: Any) -> list[str]:
    moment = resolve(store, point, **how)
    return [entry.reference.name for entry in truth_at(store, moment).of("", "Pod")]


def test_a_position_is_what_was_known_then(store: LogStore) -> None:
    store.append([pod("b", 20)])
    store.append([pod("a", 10), pod("b", 30, verb="deleted")])
    assert names(store, "@1") == ["b"]
    assert names(store, "end") == ["a"]
    assert names(store, "rv:20") == ["a", "b"], "what came late is folded at its revision"
    assert names(store, "rv:20", as_known_at="@1") == ["b"]


def test_a_binding_shows_until_a_version_tells_the_node(store: LogStore) -> None:
    store.append([pod("a", 10, at=100), loose("pod.bound", "a", 150, {"node": "n1"})])
    truth = truth_at(store, resolve(store, "end"))
    entry = truth.of("", "Pod")[0]
    assert (entry.node_bound, entry.fact.node) == ("n1", "n1")  # type: ignore[union-attr]
    assert documents(store, [entry])[0]["spec"]["nodeName"] == "n1"


@pytest.mark.parametrize(
    ("point", "message"),
    [
        ("@9", "beyond the end"),
        ("rv:5", "before the log's first revision"),
        ("rv:x", "decimal"),
        ("noon", "invalid point"),
        ("1969-01-01T00:00:00Z", "before the log begins"),
        ("nowhere@1", "no branch"),
    ],
)
def test_a_point_outside_the_log_is_refused_with_what_there_is(
    store: LogStore, point: str, message: str
) -> None:
    store.append([pod("a", 10, at=100)])
    with pytest.raises(PointUnknown, match=message) as caught:
        resolve(store, point)
    assert caught.value.now


def test_a_log_of_two_clusters_wants_one_named(store: LogStore) -> None:
    store.append([pod("a", 10)])
    store.append([msgspec.structs.replace(pod("b", 11), cluster="east")])
    with pytest.raises(UsageError, match="2 clusters"):
        resolve(store, "end")
    assert names(store, "end", cluster="east") == ["b"]


def test_a_branch_continues_its_parent_and_leaves_it_alone(store: LogStore) -> None:
    store.append([pod("a", 10), pod("b", 20)])
    store.create_branch("what-if", fork=1)
    store.append([pod("c", 30)], branch="what-if")
    assert names(store, "what-if") == ["a", "c"]
    assert names(store, "what-if@1") == ["a"]
    assert names(store, "end") == ["a", "b"]
