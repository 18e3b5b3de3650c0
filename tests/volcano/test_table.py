"""The table in all its parts: complete, in order, true to cherry-picks, and asked in one way."""

from __future__ import annotations

import dataclasses
from collections import Counter
from itertools import groupby
from typing import get_origin, get_type_hints

import pytest

from plinian.engine.errors import UsageError
from plinian.engine.volcano.cache.behaviours import CacheBehaviours
from plinian.engine.volcano.cache.status import QueueStatusWrite
from plinian.engine.volcano.controllers.behaviours import ControllerBehaviours
from plinian.engine.volcano.controllers.job import RestartUnit
from plinian.engine.volcano.controllers.job_writes import JobConditions
from plinian.engine.volcano.proofs import (
    claims,
    components,
    holds_in,
    is_claim,
    key_of,
    reverted,
    unproven,
)
from plinian.engine.volcano.releases import FIRST, HARDENED, RELEASES, Row, parse_release
from plinian.engine.volcano.session.behaviours import Behaviours
from plinian.engine.volcano.session.history import HISTORY, rows_of
from plinian.engine.volcano.table import (
    TABLE,
    Part,
    cache_behaviours,
    controller_behaviours,
    part_of,
    rows_in,
)
from tree import ROOT

OTHERS = [row for part in (Part.CACHE, Part.CONTROLLERS) for row in TABLE[part]]
RECORDS = {
    Part.SESSION: Behaviours,
    Part.CACHE: CacheBehaviours,
    Part.CONTROLLERS: ControllerBehaviours,
}


def _rows(behaviour: str) -> list[Row]:
    return [row for row in TABLE[part_of(behaviour)] if row.behaviour == behaviour]


@pytest.mark.parametrize("part", Part)
def test_a_part_has_a_value_for_every_field_of_its_record(part: Part) -> None:
    fields = {field.name for field in dataclasses.fields(RECORDS[part])} - {"release"}
    assert {row.behaviour for row in TABLE[part]} == fields
    for release in RELEASES:
        assert rows_in(part, release).keys() == fields


@pytest.mark.parametrize("part", Part)
def test_a_value_is_of_the_type_of_its_field(part: Part) -> None:
    types = get_type_hints(RECORDS[part])
    for row in TABLE[part]:
        of = types[row.behaviour]
        assert type(row.value) is (get_origin(of) or of), row


def test_no_behaviour_is_in_two_parts() -> None:
    names = Counter(name for rows in TABLE.values() for name in {row.behaviour for row in rows})
    assert set(names.values()) == {1}
    assert {part_of(name) for name in names} == set(Part)


def test_sessions_are_asked_of_their_own_history() -> None:
    assert TABLE[Part.SESSION] == HISTORY
    for release in RELEASES:
        assert rows_in(Part.SESSION, release) == rows_of(release)


def test_records_are_made_by_name_and_fields_may_be_changed() -> None:
    cache, controllers = cache_behaviours("v1.12.1"), controller_behaviours("v1.12.1")
    assert (cache.release, controllers.release) == ("v1.12.1", "v1.12.1")
    assert cache_behaviours("v1.12.1", cleanup_rate=1) == dataclasses.replace(cache, cleanup_rate=1)
    changed = controller_behaviours("v1.12.1", terminating_pods_kept=True)
    assert changed == dataclasses.replace(controllers, terminating_pods_kept=True)
    for ask in (cache_behaviours, controller_behaviours):
        with pytest.raises(UsageError):
            ask("v1.7.0")
        with pytest.raises(TypeError):
            ask("v1.12.1", no_such_field=True)


def test_cherry_picks_reach_older_lines_and_no_further() -> None:
    def having(behaviour: str, value: object) -> list[str]:
        rows = (rows_in(part_of(behaviour), release)[behaviour] for release in RELEASES)
        return [
            str(release)
            for release, row in zip(RELEASES, rows, strict=True)
            if row.value == value and not release.ours
        ]

    applied = ["v1.11.1", "v1.11.2", "v1.12.0"]
    assert having("queue_status_write", QueueStatusWrite.APPLY) == applied
    assert having("failed_requests_retried_forever", value=True) == ["v1.11.0"]
    assert having("terminating_pods_kept", value=True) == [
        *("v1.12.3", "v1.12.4", "v1.13.2", "v1.13.3"),
        *("v1.14.0", "v1.14.1", "v1.14.2", "v1.14.3", "v1.14.4", "v1.15.0", "v1.15.1"),
    ]
    latest = JobConditions.LATEST_OF_PHASE
    assert having("job_conditions", latest) == ["v1.14.3", "v1.14.4", "v1.15.1"]
    assert having("restart_unit", RestartUnit.POD)[0] == "v1.11.0"


@pytest.mark.parametrize("part", [Part.CACHE, Part.CONTROLLERS])
def test_rows_are_in_the_order_of_the_main_line_and_tell_why(part: Part) -> None:
    points = [row.change.landed[-1] for row in TABLE[part]]
    assert points == sorted(points)
    for row in TABLE[part]:
        landings = row.change.landed
        assert list(landings) == sorted(landings), row
        assert len({point.line for point in landings}) == len(landings), row
        assert row.why.endswith("."), row
        assert (row.pull is None) == (row.change == FIRST or not is_claim(row)), row
    seen = [(row.behaviour, point) for row in TABLE[part] for point in row.change.landed]
    assert len(seen) == len(set(seen))


def test_every_row_holds_somewhere_and_changes_something() -> None:
    for row in OTHERS:
        assert holds_in(row), row
        assert reverted(row) != row.value, row
    for _, rows in groupby(sorted(OTHERS, key=lambda row: row.behaviour), lambda r: r.behaviour):
        assert next(rows).change == FIRST


def test_sources_tell_where_to_read() -> None:
    for row in OTHERS:
        if not is_claim(row):
            assert all((ROOT / path).is_file() for path in row.source.split("; ")), row
        elif part_of(row.behaviour) is Part.CACHE:
            assert row.source.startswith(("cache/", "api/")), row
        else:
            assert row.source.startswith("pkg/controllers/"), row


def test_what_no_release_checks_ours_does() -> None:
    """What is told late hits nothing that was made again, and what was deleted is made again."""
    ours, newest = controller_behaviours("hardened"), controller_behaviours("v1.15.1")
    remedies = {
        "podgroup_deletions_checked": True,
        "named_podgroups_restored": True,
        "pods_annotated_by_uid": True,
        "job_cleanup_checked": True,
        "targeted_restarts_keep_podgroup": True,
        "job_podgroups_read_live": True,
    }
    assert dataclasses.replace(newest, release="hardened", **remedies) == ours
    for name in remedies:
        assert [row.value for row in _rows(name)] == [False, True]
        assert _rows(name)[-1].change.landed == (HARDENED,)
    newest_cache = cache_behaviours("v1.15.1")
    assert dataclasses.replace(newest_cache, release="hardened") == cache_behaviours("hardened")


def test_every_proof_is_one_of_a_row_that_holds_there() -> None:
    keys = {key_of(row): row for row in OTHERS if is_claim(row)}
    for key, (case, release) in components.PROOFS.items():
        assert case
        assert release in components.RECORDED
        assert parse_release(release) in holds_in(keys[key])


def test_nine_of_ten_rows_of_the_whole_table_are_proven() -> None:
    assert len(claims()) == sum(len(claims(part)) for part in Part)
    assert len(unproven()) <= len(claims()) / 10
