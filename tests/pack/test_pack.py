"""A pack answers within its slice as the log that it was made from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from happenings import Happening, events_of, happenings
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import plinian
from packs import TIME, Logged
from plinian import Log
from plinian.engine.events import Event
from plinian.engine.volcano.session.history import resolve
from plinian.replay.coverage.coverage import SCHEDULING, unknown_at
from plinian.replay.pack.pack_answer import Answered
from plinian.replay.pack.remnants import units_at
from sessions import RELEASE, group, node, pod, queue


def state(log: Log, at: str) -> dict[Any, Any]:
    """Return the version, the node and the doubt of each object at a moment."""
    return {
        entry.reference: (entry.revision, entry.node_bound, entry.stale)
        for entry in log.truth(at).entries()
    }


def assert_same(log: Log, pack: Log, at: str, release: str = RELEASE) -> None:
    """Check that truth, belief, sessions, times and gaps of a pack are those of its log."""
    assert state(pack, at) == state(log, at)
    both = [
        (
            units_at(one, one.moment(at), resolve(release)),
            Answered(one, at, release).decisions,
            [(gap.name, gap.reason) for gap in unknown_at(one, one.moment(at), SCHEDULING)],
        )
        for one in (log, pack)
    ]
    assert both[0] == both[1]


def test_a_pack_of_the_recording_answers_as_the_recording_at_all_its_moments(
    recording: Path, tmp_path: Path
) -> None:
    place = tmp_path / "incident.plinian"
    with plinian.open(recording, read_only=True) as log:
        packed = log.pack(place, at=TIME, around="15s", ask="why does gpu-2 wait?")
        assert 0 < packed.objects < packed.events
        with plinian.open(place, read_only=True) as pack:
            last = packed.end - packed.begin
            for step in range(5):
                assert_same(log, pack, f"rv:{packed.begin + last * step // 4}")
            assert_same(log, pack, TIME)
            revisions = range(packed.begin + 1, packed.end + 1)
            assert pack.clock().spans(revisions) == log.clock().spans(revisions)


def test_a_pack_is_a_fraction_of_its_log_and_one_file(recording: Path, tmp_path: Path) -> None:
    place = tmp_path / "incident.plinian"
    with plinian.open(recording, read_only=True) as log:
        packed = log.pack(place, at=TIME, around="2s")
    assert [path.name for path in tmp_path.iterdir()] == [place.name]
    assert packed.bytes < recording.stat().st_size / 2
    assert place.stat().st_mode & 0o777 == 0o600


def test_what_is_packed_is_said_as_the_file_says_it(recording: Path, tmp_path: Path) -> None:
    place = tmp_path / "incident.plinian"
    with plinian.open(recording, read_only=True) as log:
        packed = log.pack(place, at=TIME, around="2s")
    found = plinian.open_pack(place)
    for name in ("begin", "end", "since", "until", "objects", "events"):
        assert getattr(packed, name) == getattr(found, name), name


@pytest.mark.slow
@settings(
    max_examples=30,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    history=happenings,
    middle=st.integers(1, 40),
    around=st.integers(1, 12),
    release=st.sampled_from(("v1.8.2", RELEASE, "v1.15.1")),
)
def test_a_pack_of_any_log_answers_as_the_log(  # noqa: PLR0917 -- drawn by name
    logged: Logged,
    tmp_path: Path,
    history: list[Happening],
    middle: int,
    around: int,
    release: str,
) -> None:
    events = [event for event in events_of(history) if event.kind != "list.observed"]
    middle = min(middle, len(history))
    place = tmp_path / "any.plinian"
    with logged(events) as log:
        packed = log.pack(place, at=f"rv:{middle}", around=f"{around}s", release=release)
        with plinian.open(place, read_only=True) as pack:
            for revision in range(packed.begin, packed.end + 1):
                if revision:
                    assert_same(log, pack, f"rv:{revision}", release)


def test_a_position_is_packed_as_it_was_known_then(recording: Path, tmp_path: Path) -> None:
    place = tmp_path / "known.plinian"
    with plinian.open(recording, read_only=True) as log:
        packed = log.pack(place, at="@2000", around="5s")
        assert packed.begin < packed.end
        assert packed.expected.at == "end"
        with plinian.open(place, read_only=True) as pack:
            assert state(pack, "end") == state(log, "@2000")


def test_a_session_is_packed_though_it_has_another_number_in_the_slice(
    recording: Path, tmp_path: Path
) -> None:
    place = tmp_path / "session.plinian"
    with plinian.open(recording, read_only=True) as log:
        packed = log.pack(place, at="session:60", around="5s")
        whole = Answered(log, "session:60", RELEASE).decisions
        with plinian.open(place, read_only=True) as pack:
            assert len(pack.sessions()) < 60 < len(log.sessions())
            assert packed.expected.at == f"rv:{log.moment('session:60').revision}"
            assert_same(log, pack, packed.expected.at)
            assert Answered(pack, packed.expected.at, RELEASE).decisions == whole


def test_a_moment_before_the_slice_is_refused_and_not_answered_from_half_of_the_state(
    recording: Path, tmp_path: Path
) -> None:
    place = tmp_path / "incident.plinian"
    with plinian.open(recording, read_only=True) as log:
        packed = log.pack(place, at=TIME, around="5s")
    with plinian.open(place, read_only=True) as pack:
        for at in (f"rv:{packed.begin - 1}", "2026-11-21T01:53:10Z", "@7"):
            with pytest.raises(plinian.PointTooEarly):
                pack.get("nodes", at=at)
        assert pack.get("nodes", at=f"rv:{packed.begin}")


def test_values_that_can_be_secret_are_not_in_a_pack(logged: Logged, tmp_path: Path) -> None:
    secret = "correct-horse-battery-staple"
    made = events_of([("updated", with_secret(secret))])
    with logged(made) as log:
        log.pack(tmp_path / "it.plinian", around="1s")
        assert secret.encode() in b"".join(event.event.payload for event in log.events())
    with plinian.open(tmp_path / "it.plinian") as pack:
        stored = b"".join(event.event.payload for event in pack.events())
    assert b"TOKEN" in stored
    assert secret.encode() not in stored


def with_secret(secret: str) -> dict[str, Any]:
    """Return a pod with a secret where people put secrets."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "p1",
            "namespace": "ns",
            "uid": "u1",
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": secret},
        },
        "spec": {
            "containers": [
                {"name": "c", "env": [{"name": "TOKEN", "value": secret}], "args": [secret]}
            ]
        },
    }


def test_a_log_without_objects_or_times_cannot_be_packed(logged: Logged, tmp_path: Path) -> None:
    none: list[Event] = []
    with logged(none) as log, pytest.raises(plinian.UsageError, match="no version of any object"):
        log.pack(tmp_path / "it.plinian")
    with logged([]) as log:
        log.store.append(events_of([("updated", with_secret("x"))]))
        with pytest.raises(plinian.UsageError, match="does not say when"):
            log.pack(tmp_path / "it.plinian")
    assert not (tmp_path / "it.plinian").exists()


def test_what_the_cache_remembers_of_a_deleted_node_needs_few_earlier_events(
    logged: Logged, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_of_it(*_: object) -> None:
        pytest.fail("the whole past was taken")

    monkeypatch.setattr("plinian.replay.pack.pack_writing.all_before", none_of_it)
    gone, left = node("alder"), pod("p1", "x1", on="alder")
    history = [
        *[("updated", one) for one in (queue("default"), group("x1"), gone, left)],
        *[("updated", node("birch", 4 + number)) for number in range(12)],
        ("deleted", node("alder")),
        ("updated", pod("p1", "x1", on="alder", status={"phase": "Running"})),
        ("deleted", pod("p1", "x1", on="alder")),
        *[("updated", node("birch", 4 + number)) for number in range(6)],
    ]
    with logged(events_of(history)) as log:
        packed = log.pack(tmp_path / "it.plinian", at="rv:24", around="2s")
        held = units_at(log, log.moment(f"rv:{packed.begin}"), resolve(RELEASE))
        assert ("nodes", "alder") in held, "the cache holds the node without a Node"
        assert packed.objects < 12
        with plinian.open(tmp_path / "it.plinian", read_only=True) as pack:
            assert_same(log, pack, f"rv:{packed.begin}")
