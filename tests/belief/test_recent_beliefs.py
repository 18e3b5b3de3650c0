"""Beliefs in memory save reading, and change no answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from happenings import Happening, events_of, happenings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plinian.engine.log import LogStore, open_log
from plinian.engine.volcano.session.history import resolve
from plinian.replay.belief import advancing_belief as advancing
from plinian.replay.belief.belief import belief_at, beliefs_until
from plinian.replay.belief.recent_beliefs import END, BeliefBasis, RecentBeliefs
from plinian.replay.ingest.ingest_run import ingest
from plinian.replay.logs.log import Log, opened
from plinian.replay.moments.moment import Moment
from plinian.replay.render.believed import PARTS, records_of
from sessions import RELEASE

RECORDING = Path(__file__).parents[2] / "replay" / "recordings" / "quickstart"


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep and open beliefs however few events they save."""
    monkeypatch.setattr(advancing, "_worth", lambda _: 1)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    """Return the log of a small recording."""
    with opened(tmp_path / "log.db", create=True) as found:
        ingest(found.store, [RECORDING])
        yield found


def moment_at(store: LogStore, revision: int | None) -> Moment:
    """Return a moment at a revision, or the end."""
    known = store.last()
    return Moment(
        branch="main", cluster="default", known=known, revision=revision, time=None, label="it"
    )


def same(store: LogStore, moment: Moment, release: str, recent: RecentBeliefs) -> None:
    """Compare a belief that begins in memory with that from the first event."""
    behaviours = resolve(release)
    whole = belief_at(store, moment, behaviours, use_stored=False)
    went_on = belief_at(store, moment, behaviours, recent=recent)
    for part in PARTS:
        assert records_of(went_on, part) == records_of(whole, part), (moment.revision, part)


@pytest.mark.slow
@pytest.mark.usefixtures("eager")
@settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    history=happenings,
    cut=st.integers(0, 40),
    releases=st.lists(st.sampled_from(("v1.8.2", RELEASE, "v1.15.1")), min_size=1, max_size=2),
    at=st.lists(st.integers(0, 50) | st.none(), min_size=2, max_size=6),
)
def test_in_memory_or_not_the_answer_is_the_same(
    tmp_path_factory: pytest.TempPathFactory,
    history: list[Happening],
    cut: int,
    releases: list[str],
    at: list[int | None],
) -> None:
    events, recent = events_of(history), RecentBeliefs()
    with open_log(tmp_path_factory.mktemp("log") / "log.db", create=True) as store:
        for batch in (events[cut:], events[:cut]):  # What is late changes what was believed.
            store.append(batch)
            for revision in at:
                for release in releases:
                    same(store, moment_at(store, revision), release, recent)


@pytest.mark.parametrize("again", [[], [700], [703, 900]])
def test_the_second_question_applies_only_what_is_new(
    log: Log, again: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(advancing, "REPORT_EVERY", 1)
    last, recent, reached = log.moment("rv:1500"), RecentBeliefs(), list[int]()
    first = belief_at(log.store, last, resolve(RELEASE), recent=recent)
    earlier = [log.moment(f"rv:{revision}") for revision in again]
    *_, (_, cache) = beliefs_until(log.store, earlier, last, resolve(RELEASE), recent=recent)
    for part in PARTS:
        assert records_of(cache, part) == records_of(first, part)
    belief_at(
        log.store,
        last,
        resolve(RELEASE),
        recent=recent,
        progress=lambda position, _: reached.append(position),
    )
    assert reached == []


def test_a_session_leaves_what_is_in_memory_as_it_was(log: Log) -> None:
    moment, recent = log.moment("rv:900"), RecentBeliefs()
    for _ in range(2):
        cache = belief_at(log.store, moment, resolve(RELEASE), recent=recent)
        whole = belief_at(log.store, moment, resolve(RELEASE), use_stored=False)
        for part in PARTS:
            assert records_of(cache, part) == records_of(whole, part)
        for job in list(cache.jobs):
            cache.jobs.pop(job)


def test_few_bytes_are_held_and_the_least_used_goes_first() -> None:
    recent, course = RecentBeliefs(10), BeliefBasis("head", "default", 7, ())
    recent.keep(course, 1, b"four")
    recent.keep(course, 2, b"four")
    assert recent.get(course, 1) == b"four"
    recent.keep(course, 3, b"four")
    assert [recent.get(course, at) for at in (1, 2, 3)] == [b"four", None, b"four"]
    recent.keep(course, 4, b"more than ten")
    assert recent.get(course, 4) is None
    assert recent.get(course, 3) == b"four"


def test_only_the_same_log_release_and_knowledge_find_a_belief() -> None:
    recent, course = RecentBeliefs(), BeliefBasis("head", "default", 7, ())
    recent.keep(course, 5, b"it")
    assert recent.last(course, END, -1) == 5
    assert recent.last(course, 4, -1) == -1
    for other in (
        course._replace(head="other"),
        course._replace(cluster="other"),
        course._replace(known=8),
        course._replace(basis=(("one", True),)),
    ):
        assert recent.last(other, END, -1) == -1
