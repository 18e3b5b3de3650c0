"""Checkpoints: the nearest is found, and what becomes untrue is dropped in the same append."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from pods import bound, listing, message, pod, pods

from plinian.engine.events import Event
from plinian.engine.log import Checkpoint, FoldWindow, LogStore, open_log


@pytest.fixture
def log(log_place: str) -> Iterator[LogStore]:
    """Make a log of revisions 10, 20 … 100 with a checkpoint at every one of them."""
    with open_log(log_place, create=True) as store:
        store.append(pods(*range(10, 101, 10)))
        for revision in range(10, 101, 10):
            put(store, revision)
        yield store


def put(log: LogStore, revision: int, *, cluster: str = "default", branch: str = "main") -> None:
    """Store a checkpoint that knows everything there is."""
    log.put_checkpoint(
        Checkpoint(
            branch=branch,
            cluster=cluster,
            revision=revision,
            known=log.last(branch),
            version=1,
            data=b"state at %d" % revision,
        )
    )


def left(log: LogStore, cluster: str = "default") -> list[int]:
    """Return the revisions of a cluster's checkpoints."""
    return [row[2] for row in log.checkpoints() if row[1] == cluster]


def nearest(log: LogStore, until: int | None, **more: object) -> int | None:
    """Return the revision of the checkpoint that a fold would start from."""
    asked: dict[str, Any] = {"cluster": "default", "known": log.last(), "until": until, **more}
    window = FoldWindow(**asked)
    found = log.nearest_checkpoint(window, 1)
    return None if found is None else found.revision


def test_the_nearest_before_the_moment_is_found(log: LogStore) -> None:
    assert [nearest(log, until) for until in (9, 10, 55, 100, None)] == [None, 10, 50, 100, 100]
    assert nearest(log, 55, cluster="other") is None
    assert log.nearest_checkpoint(FoldWindow(cluster="default", known=10), 2) is None
    found = log.nearest_checkpoint(FoldWindow(cluster="default", known=10, until=35), 1)
    assert found is not None
    assert (found.data, found.known, found.branch) == (b"state at 30", 10, "main")


def test_one_that_knows_too_much_is_not_used(log: LogStore) -> None:
    log.append(pods(200))
    put(log, 200)
    assert nearest(log, None, known=10) == 100
    assert nearest(log, None, known=9) is None


def test_a_checkpoint_replaces_one_at_its_place(log: LogStore) -> None:
    put(log, 50)
    assert left(log) == list(range(10, 101, 10))
    assert log.info().checkpoints == 10


def test_all_are_dropped_on_request(log: LogStore) -> None:
    log.drop_derived(checkpoints=False)
    assert len(left(log)) == 10
    log.drop_derived()
    assert left(log) == []


@pytest.mark.parametrize(
    ("news", "expected"),
    [
        ([pod(101)], 100),
        ([message("nothing true changes")], 100),
        ([pod(55, "late")], 50),
        ([pod(100, "late"), pod(31, "late")], 30),
        ([pod(50, "web-1", actor="alice")], 100),
        ([bound("web-0", "n1", at=35)], 100),  # Whoever reads one sees whether it is in it.
        ([pod(55, cluster="other")], 100),
        ([listing(45, "web-0")], 40),
        ([listing(45, "web-0", exact=False)], 40),
        ([pod(50, "web-1")], 100),
    ],
)
def test_an_append_drops_what_it_makes_untrue(
    log: LogStore, news: list[Event], expected: int
) -> None:
    log.append(news)
    assert max(left(log), default=0) == expected


def test_a_late_event_after_a_list_drops_all_from_the_list_on(log: LogStore) -> None:
    log.drop_derived()
    log.append([listing(15, "web-0")])
    for revision in range(10, 101, 10):
        put(log, revision)
    log.append(pods(101))
    assert max(left(log)) == 100
    log.append([pod(55, "late")])
    assert left(log) == [10]


def test_an_append_that_fails_drops_nothing(log: LogStore) -> None:
    odd = msgspec.structs.replace(pod(56, "late"), line=2**70)
    with pytest.raises(Exception):  # noqa: B017, PT011 -- each driver has its own
        log.append([pod(55, "late"), odd])
    assert len(left(log)) == 10


def test_a_branch_starts_from_its_parents_checkpoints(log: LogStore) -> None:
    log.append(pods(110, 120))
    log.create_branch("what-if", fork=12)
    assert nearest(log, None, branch="what-if", known=12) == 100
    log.append(pods(130), branch="what-if")
    assert nearest(log, None, branch="what-if", known=13) == 100
    log.append([pod(64, "late")], branch="what-if")
    assert nearest(log, None, branch="what-if", known=14) == 60
    assert max(left(log)) == 100


def test_a_branch_from_before_a_checkpoint_cannot_use_it(log: LogStore) -> None:
    log.create_branch("early", fork=5)
    assert nearest(log, None, branch="early", known=5) is None
