"""Belief from what is stored is belief from the first event, whatever was learned in between."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from happenings import Happening, events_of, happenings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plinian.engine.cache.projector import Projector
from plinian.engine.cache.stored import encode_belief
from plinian.engine.log import LogStore, open_log
from plinian.engine.log.store import FoldWindow
from plinian.engine.volcano.session.history import resolve
from plinian.replay.belief import advancing_belief as advancing
from plinian.replay.belief import stored_belief
from plinian.replay.belief.belief import belief_at, beliefs_along, beliefs_until, play
from plinian.replay.belief.logged_drift import drift_at
from plinian.replay.belief.stored_belief import (
    _version_of_objects,
    build_beliefs,
    is_far,
    start_of,
    version_of,
    what_of,
)
from plinian.replay.ingest.ingest_run import ingest
from plinian.replay.logs.log import Log, opened
from plinian.replay.moments import ordered_events
from plinian.replay.moments.moment import Moment
from plinian.replay.render.believed import PARTS, records_of
from plinian.replay.render.documents import plain
from plinian.replay.sessions.session_answer import session_at
from sessions import RELEASE, node

pytestmark = pytest.mark.slow

RECORDING = Path(__file__).parents[2] / "replay" / "recordings" / "quickstart"


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let stretches be short, so that small logs have many, and the end be always stored."""
    monkeypatch.setattr(ordered_events, "STRETCH", 3)
    monkeypatch.setattr(stored_belief, "LAST_AFTER", 1)


def moment_at(store: LogStore, revision: int | None, known: int | None = None) -> Moment:
    """Return a moment at a revision, as known by a position."""
    return Moment(
        branch="main",
        cluster="default",
        known=store.last() if known is None else known,
        revision=revision,
        time=None,
        label="it",
    )


def build(store: LogStore, release: str = RELEASE, until: int | None = None) -> None:
    """Store beliefs up to the end of the log."""
    build_beliefs(store, resolve(release), branch="main", cluster="default", until=until)


def same(store: LogStore, moment: Moment, release: str = RELEASE) -> bool:
    """Compare what is known from stored beliefs with what is from the first event.

    Returns whether anything was stored.
    """
    behaviours = resolve(release)
    start = start_of(store, moment, behaviours)
    whole = belief_at(store, moment, behaviours, use_stored=False)
    went_on = belief_at(store, moment, behaviours)
    for part in PARTS:
        assert records_of(went_on, part) == records_of(whole, part)
    drifts = [drift_at(store, moment, behaviours, use_stored=stored) for stored in (True, False)]
    assert drifts[0] == drifts[1]
    return start is not None


@settings(
    max_examples=35,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    history=happenings,
    order=st.randoms(use_true_random=False),
    late=st.integers(0, 12),
    parts=st.integers(1, 3),
    release=st.sampled_from(("v1.8.2", RELEASE, "v1.15.1")),
    at=st.lists(st.integers(0, 50), min_size=2, max_size=4),
)
def test_stored_or_not_the_answer_is_the_same(  # noqa: PLR0917 -- drawn by name
    tmp_path_factory: pytest.TempPathFactory,
    history: list[Happening],
    order: Any,
    late: int,
    parts: int,
    release: str,
    at: list[int],
) -> None:
    events = events_of(history)
    tardy = sorted(order.sample(range(len(events)), min(late, len(events))))
    batches = [[event for number, event in enumerate(events) if number not in tardy]]
    batches += [[events[number] for number in tardy[part::parts]] for part in range(parts)]
    place = tmp_path_factory.mktemp("log") / "log.db"
    with open_log(place, create=True) as store:
        for batch in batches:
            store.append(batch)
            build(store, release)
            for revision in at:
                same(store, moment_at(store, revision), release)
            same(store, moment_at(store, None), release)
        for revision in at:
            same(store, moment_at(store, revision, known=len(batches[0])), release)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the log of the demonstration, with beliefs stored after every hundred events."""
    place = tmp_path_factory.mktemp("belief") / "log.db"
    with pytest.MonkeyPatch.context() as patch, opened(place, create=True) as made:
        patch.setattr(ordered_events, "STRETCH", 100)
        ingest(made.store, [str(RECORDING)])
        for release in (RELEASE, "v1.15.1"):
            build(made.store, release)
    return place


@pytest.fixture
def log(recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Log]:
    """Give that log, to change it."""
    monkeypatch.setattr(ordered_events, "STRETCH", 100)
    shutil.copy(recorded, tmp_path / "log.db")
    with opened(tmp_path / "log.db") as made:
        yield made


@pytest.mark.parametrize("release", [RELEASE, "v1.15.1"])
def test_the_recording_is_believed_alike_from_wherever_it_goes_on(log: Log, release: str) -> None:
    points = [f"rv:{revision}" for revision in range(330, 1720, 231)]
    went_on = 0
    for at in [*points, "2026-11-21T01:53:36Z", "end"]:
        went_on += same(log.store, log.moment(at), release)
        stored = session_at(log, at, release=release)
        document = plain(stored.document)
        whole = _whole_session(log, at, release)
        assert msgspec.json.encode(document) == msgspec.json.encode(whole), at
    assert went_on > len(points) / 2


def _whole_session(log: Log, at: str, release: str) -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("plinian.replay.belief.advancing_belief.start_of", lambda *_: None)
        return plain(session_at(log, at, release=release).document)


def test_several_moments_and_releases_go_on_from_what_is_stored(log: Log) -> None:
    moments = [log.moment(f"rv:{revision}") for revision in (700, 703, 900, 1500)]
    several = [resolve(RELEASE), resolve("v1.15.1"), resolve("v1.8.2")]  # of the last is nothing
    for moment, caches in beliefs_along(log.store, moments, *several):
        for cache, behaviours in zip(caches, several, strict=True):
            whole = belief_at(log.store, moment, behaviours, use_stored=False)
            for part in PARTS:
                assert records_of(cache, part) == records_of(whole, part)


def rows(store: LogStore) -> list[int]:
    """Return the revisions after which the belief of the release is stored."""
    version = version_of(resolve(RELEASE))
    return [row[2] for row in store.checkpoints() if row[5] == version]


def test_late_evidence_drops_what_it_makes_untrue_and_no_more(tmp_path: Path) -> None:
    events = events_of([("updated", about) for about in _nodes(*["x1", "x2"] * 15)])
    late = events.pop(17)
    with open_log(tmp_path / "log.db", create=True) as store:
        store.append(events)
        build(store)
        before = rows(store)
        store.append([late])
        kept = [revision for revision in before if revision < 18]
        assert rows(store) == kept
        assert 3 < len(kept) < len(before)
        assert same(store, moment_at(store, 29))
        build(store)
        assert len(rows(store)) >= len(before)
        assert same(store, moment_at(store, 29))


def test_a_belief_that_is_not_what_was_stored_is_not_believed(log: Log) -> None:
    behaviours = resolve(RELEASE)
    moment = log.moment("rv:1000")
    start = start_of(log.store, moment, behaviours)
    assert start is not None
    window = FoldWindow(branch="main", cluster="default", known=moment.known, until=1000)
    found = log.store.nearest_checkpoint(window, version_of(behaviours))
    assert found is not None
    torn = bytearray(found.data)
    torn[len(torn) // 2] ^= 1
    log.store.put_checkpoint(msgspec.structs.replace(found, data=bytes(torn)))
    before = start_of(log.store, moment, behaviours)
    assert before is not None
    assert before.revision < start.revision
    assert same(log.store, moment)
    elsewhere = msgspec.structs.replace(found, revision=found.revision + 1)
    log.store.put_checkpoint(elsewhere)
    assert start_of(log.store, moment, behaviours) is not None
    assert same(log.store, moment)


def objects_rows(log: Log) -> list[int]:
    """Return the revisions of the objects that are stored beside beliefs."""
    return [row[2] for row in log.store.checkpoints() if what_of(row[5]) == "objects"]


def reads(log: Log, moment: Moment, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return how many payloads are read to open the last belief up to a moment."""
    read: list[int] = []
    real = type(log.store).payloads

    def noted(store: Any, positions: Sequence[int], branch: str = "main") -> Any:
        read.extend(positions)
        return real(store, positions, branch)

    with monkeypatch.context() as patch:
        patch.setattr(type(log.store), "payloads", noted)
        assert start_of(log.store, moment, resolve(RELEASE)) is not None
    return len(read)


def test_objects_are_stored_once_and_their_events_are_not_read(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    (stored,) = objects_rows(log)
    assert stored >= rows(log.store)[-1]
    whole, some = (log.moment(at) for at in ("end", "rv:1500"))
    assert reads(log, whole, monkeypatch) <= 3  # what changed between the last belief and the end
    before = next(row[3] for row in log.store.checkpoints() if what_of(row[5]) == "objects") - 1
    unknown = msgspec.structs.replace(whole, known=before)
    counts = [reads(log, moment, monkeypatch) for moment in (some, unknown)]
    log.store.create_branch("what-if", fork=before)
    counts.append(reads(log, msgspec.structs.replace(whole, branch="what-if"), monkeypatch))
    build(log.store, "v1.8.2", until=800)
    assert objects_rows(log) == [stored]
    log.store.drop_checkpoints(branch="main", cluster="default", version=_version_of_objects())
    assert counts[0] < reads(log, some, monkeypatch)
    # Nothing of what is stored later than what the moment knows is looked at.
    assert counts[1:] == [reads(log, unknown, monkeypatch)] * 2


def test_stored_objects_that_are_torn_are_not_read(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = log.moment("end")
    window = FoldWindow(branch="main", cluster="default", known=moment.known)
    found = log.store.nearest_checkpoint(window, _version_of_objects())
    assert found is not None
    torn = bytearray(found.data)
    torn[len(torn) // 2] ^= 1
    log.store.put_checkpoint(msgspec.structs.replace(found, data=bytes(torn)))
    assert reads(log, moment, monkeypatch) > 10
    assert same(log.store, moment)


def test_the_end_is_stored_too_if_it_is_far_enough_from_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = events_of([("updated", about) for about in _nodes(*["x1", "x2"] * 15)])
    monkeypatch.setattr(ordered_events, "STRETCH", 100)
    monkeypatch.setattr(stored_belief, "OBJECTS_PER_EVENT", 0)
    with open_log(tmp_path / "log.db", create=True) as store:
        for count, stored in ((10, 0), (10, 1), (9, 1), (1, 1)):
            store.append([events.pop(0) for _ in range(count)])
            monkeypatch.setattr(stored_belief, "LAST_AFTER", 20)
            build(store)
            last = store.extent(known=store.last(), cluster="default").last_revision
            assert len(rows(store)) == stored
            assert same(store, moment_at(store, None)) is bool(stored)
        monkeypatch.setattr(stored_belief, "LAST_AFTER", 10)
        build(store)
        assert rows(store)[-1] == last


def test_what_is_stored_goes_on_where_it_ended(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_belief, "LAST_AFTER", 1000)
    all_rows = rows(log.store)
    version = version_of(resolve(RELEASE))
    log.store.drop_checkpoints(branch="main", cluster="default", version=version)
    assert rows(log.store) == []
    assert start_of(log.store, log.moment(), resolve(RELEASE)) is None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ordered_events, "STRETCH", 100)
        build(log.store, until=1000)
        assert rows(log.store) == [revision for revision in all_rows if revision < 1000]
        build(log.store)
        assert rows(log.store) == all_rows


def test_how_far_a_moment_is_from_what_is_stored(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plinian.replay.belief.stored_belief.FAR", 500)
    assert not is_far(log.store, log.moment(), resolve(RELEASE))
    assert is_far(log.store, log.moment(), resolve("v1.8.2"))
    assert not is_far(log.store, log.moment("rv:300"), resolve("v1.8.2"))


def test_a_branch_goes_on_from_what_its_past_has_stored(log: Log) -> None:
    fork = log.moment("rv:1200")
    log.store.create_branch("what-if", fork=fork.known)
    moment = log.moment("what-if@" + str(fork.known))
    assert same(log.store, moment)


def test_what_a_list_took_away_and_came_back_is_not_believed_gone(tmp_path: Path) -> None:
    """A list lacks a node of which something is told later, and learned later still."""
    history = [
        *[("updated", about) for about in _nodes("x1", "x2")],
        ("list", ("Node", ["uid-x1"], True)),
        *[("updated", about) for about in _nodes(*["x1"] * 12)],
        ("updated", _nodes("x2")[0]),
    ]
    events = events_of(history)
    with open_log(tmp_path / "log.db", create=True) as store:
        store.append(events[:-1])
        build(store)
        assert same(store, moment_at(store, 9))
        store.append(events[-1:])
        moment = moment_at(store, 9)
        assert start_of(store, moment, resolve(RELEASE)) is None
        assert not same(store, moment)
        build(store)
        assert same(store, moment)
        cache = belief_at(store, moment, resolve(RELEASE))
        assert sorted(cache.nodes) == ["x1", "x2"]


def test_an_object_that_came_after_what_is_stored_makes_nothing_invalid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It came too late to be in the stored belief, and before the last look for such objects."""
    names = [*[f"x{number}" for number in range(30)], "late", "late"]
    events = events_of([("updated", about) for about in _nodes(*names)])
    with open_log(tmp_path / "log.db", create=True) as store:
        store.append(events[:30])
        build(store)
        stored = rows(store)
        monkeypatch.setattr(stored_belief, "LAST_AFTER", 1000)
        store.append(events[30:31])
        build(store)
        assert rows(store) == stored, "one event is not worth another belief"
        store.append(events[31:])
        assert same(store, moment_at(store, None))


def _nodes(*names: str) -> list[dict[str, Any]]:
    return [node(name) for name in names]


def test_what_goes_on_to_a_far_moment_skips_to_what_is_stored(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(advancing, "_worth", lambda _: 150)
    applied: list[int] = []
    real = Projector.apply

    def noted(self: Projector, event: Any, *, position: int = 0, **rest: Any) -> None:
        applied.append(position)
        real(self, event, position=position, **rest)

    moments = [log.moment(f"rv:{revision}") for revision in (500, 560, 1600)]
    monkeypatch.setattr(Projector, "apply", noted)
    before = 0
    counts = []
    for moment, cache in beliefs_until(log.store, moments[:-1], moments[-1], resolve(RELEASE)):
        counts.append(len(applied) - before)
        whole = belief_at(log.store, moment, resolve(RELEASE), use_stored=False)
        before = len(applied)
        for part in PARTS:
            assert records_of(cache, part) == records_of(whole, part)
    assert counts[-1] < 260, "there are 441 events after the one before"


def test_a_large_cluster_is_stored_less_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What storing costs grows with the objects, so it needs as many more events."""
    monkeypatch.setattr(stored_belief, "LAST_AFTER", 1000)
    events = events_of([("updated", about) for about in _nodes(*[f"x{n}" for n in range(60)])])
    with open_log(tmp_path / "log.db", create=True) as store:
        store.append(events)
        build(store)
        stored = rows(store)
    gaps = [later - earlier for earlier, later in pairwise(stored)]
    assert gaps == sorted(gaps)
    assert gaps[0] < 10 < gaps[-1]
    assert all(3 * gap >= earlier for gap, earlier in zip(gaps, stored, strict=False))


def test_equal_beliefs_are_stored_as_equal_bytes(log: Log) -> None:
    moment, behaviours = log.moment("rv:1500"), resolve(RELEASE)
    start = start_of(log.store, moment, behaviours)
    assert start is not None
    went_on = play(log.store, moment, start.projector, after=start.revision)
    whole = play(log.store, moment, Projector(behaviours))
    assert encode_belief(went_on) == encode_belief(whole)
