"""Pre-releases: known where they are named, and nowhere else."""

from __future__ import annotations

import dataclasses

import pytest

from plinian.engine.errors import UsageError
from plinian.engine.volcano.releases import (
    PRE_RELEASES,
    RELEASES,
    PreRelease,
    known_release,
    parse_release,
)
from plinian.engine.volcano.session.history import record, resolve
from plinian.engine.volcano.table import TABLE, cache_behaviours, controller_behaviours
from plinian.replay.compare.releases import release_diff
from plinian.replay.render.simulation import spans

ALPHA = "v1.9.0-alpha.0"


def test_it_has_the_cleanup_of_the_release_and_not_its_comparison() -> None:
    own, release, before = map(cache_behaviours, (ALPHA, "v1.9.0", "v1.8.2"))
    assert own.release == ALPHA
    assert own.cleanup_delayed == release.cleanup_delayed != before.cleanup_delayed
    assert own.cleanup_delay_resets == release.cleanup_delay_resets != before.cleanup_delay_resets
    assert own.failed_tasks_rate == before.failed_tasks_rate != release.failed_tasks_rate
    assert record(known_release(ALPHA)).job_cleanup_removes_recreated_job
    assert not resolve("v1.9.0").job_cleanup_removes_recreated_job


def test_its_controllers_are_those_of_the_release() -> None:
    own = controller_behaviours(ALPHA)
    assert dataclasses.replace(own, release="v1.9.0") == controller_behaviours("v1.9.0")


@pytest.mark.parametrize("one", PRE_RELEASES, ids=str)
def test_all_that_it_lacks_is_in_the_release_that_it_became(one: PreRelease) -> None:
    rows = [row for rows in TABLE.values() for row in rows if row.change.reached(one.becomes)]
    assert one.lacks <= {row.pull for row in rows}
    differing = release_diff(one.name, str(one.becomes))
    assert len(differing) >= len(one.lacks)


def test_it_is_named_with_or_without_its_v() -> None:
    assert known_release("1.9.0-alpha.0") is known_release(ALPHA)
    assert known_release("v1.9.0") == parse_release("v1.9.0")


def test_it_is_no_release() -> None:
    assert ALPHA not in map(str, RELEASES)
    with pytest.raises(UsageError, match="pre-release"):
        parse_release(ALPHA)
    with pytest.raises(UsageError, match="pre-release"):
        resolve(ALPHA)
    with pytest.raises(UsageError, match=r"alpha\.1 is a pre-release"):
        known_release("v1.9.0-alpha.1")


def test_no_range_of_releases_has_it() -> None:
    assert spans(["v1.8.2", "v1.9.0", ALPHA, "v1.8.1"]) == f"v1.8.1..v1.9.0,{ALPHA}"
