"""Where a branch forks that begins at a moment."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

import plinian
from plinian.engine.errors import UsageError
from plinian.engine.events import Event, Reference
from plinian.engine.log import MAIN, open_log
from plinian.replay.logs.forks import fork_at


def version(revision: int) -> Event:
    """Return an event of a version."""
    name = f"c-{revision}"
    payload = (
        f'{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{name}","namespace":"a",'
        f'"resourceVersion":"{revision}","uid":"u-{name}"}}}}'
    )
    return Event(
        kind="object.created",
        reference=Reference("", "ConfigMap", "a", name, f"u-{name}"),
        payload=payload.encode(),
        resource_version=str(revision),
        revision=revision,
    )


def test_a_branch_forks_before_the_first_later_change(tmp_path: Path) -> None:
    with open_log(tmp_path / "log.db", create=True) as store:
        store.append([version(one) for one in (3, 5, 5_000, 9_000)])
        assert fork_at(store, "rv:5", branch=MAIN) == (MAIN, 2)
        assert fork_at(store, "rv:6", branch=MAIN) == (MAIN, 2)
        assert fork_at(store, "rv:9000", branch=MAIN) == (MAIN, 4)
        assert fork_at(store, "@1", branch=MAIN) == (MAIN, 1)
        assert fork_at(store, "end", branch=MAIN) == (MAIN, 4)


def test_a_log_that_learned_late_of_earlier_changes_is_refused(tmp_path: Path) -> None:
    with open_log(tmp_path / "log.db", create=True) as store:
        store.append([version(one) for one in (3, 9, 5)])
        with pytest.raises(UsageError, match="@3 is an earlier change, and @2 a later one"):
            fork_at(store, "rv:6", branch=MAIN)
        assert fork_at(store, "rv:4", branch=MAIN) == (MAIN, 1)


def test_a_deletion_without_a_revision_that_came_later_is_noticed(tmp_path: Path) -> None:
    gone = Event(
        kind="object.deleted",
        reference=version(5).reference,
        payload=b"{}",
        earliest=2_000_000_000_000_000,
        latest=2_000_000_000_000_000,
    )
    timed = [
        msgspec.structs.replace(version(one), earliest=at * 1_000_000, latest=at * 1_000_000)
        for one, at in ((3, 1_000_000_000), (5, 1_000_000_001), (9, 2_000_000_001))
    ]
    with open_log(tmp_path / "log.db", create=True) as store:
        store.append([*timed[:2], gone, timed[2]])
        with pytest.raises(UsageError, match="at @3 other objects exist"):
            fork_at(store, "rv:5", branch=MAIN)


def test_the_state_of_the_branch_is_that_of_the_moment(tmp_path: Path) -> None:
    place = tmp_path / "demo.db"
    plinian.demo(place).close()
    with open_log(place) as store:
        _, position = fork_at(store, "rv:391", branch=MAIN)
        store.create_branch("b", fork=position)
    with plinian.open(place) as main, plinian.open(place, branch="b") as branch:
        assert branch.digest() == main.digest(at="rv:391")
