"""A comparison of a large cluster holds one scheduler's cache at a time."""

from __future__ import annotations

import gc
import json
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import plinian
from plinian.engine.cache.cache import SchedulerCache
from plinian.replay.belief import belief
from plinian.replay.compare import checked_behaviours
from plinian.replay.facade.log import Log

OLD, SAME_CACHE, NEW = "v1.8.0", "v1.12.0", "v1.12.1"


class Built(NamedTuple):
    """The caches that were built. :param before: how many others lived when each was begun."""

    caches: list[weakref.ref[SchedulerCache]]
    before: list[int]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Log:
    """Return the log of the demonstration."""
    return plinian.demo(tmp_path_factory.mktemp("caches") / "demo.db")


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> Built:
    """Return the caches that are built from here on."""
    found, real = Built([], []), belief.belief_at

    def building(*args: Any, **more: Any) -> SchedulerCache:
        found.before.append(sum(one() is not None for one in found.caches))
        cache = real(*args, **more)
        found.caches.append(weakref.ref(cache))
        return cache

    monkeypatch.setattr(belief, "belief_at", building)
    return found


def _releases(log: Log, *, trace: bool) -> object:
    return log.compare(at="rv:900", releases=[NEW, OLD, SAME_CACHE], trace=trace)


def _moments(log: Log, **_: object) -> object:
    return log.compare_moments("rv:400", "rv:900", releases=NEW)


@pytest.mark.parametrize("trace", [False, True])
@pytest.mark.parametrize("asked", [_releases, _moments])
def test_large_caches_are_held_one_at_a_time(
    log: Log,
    built: Built,
    monkeypatch: pytest.MonkeyPatch,
    asked: Callable[..., object],
    *,
    trace: bool,
) -> None:
    monkeypatch.setattr(belief, "HELD_PODS", 0)
    gc.disable()  # Nothing but references counts: a cache in a circle would stay for a while.
    try:
        found = asked(log, trace=trace)
    finally:
        gc.enable()
    assert len(built.caches) >= 2
    assert set(built.before) == {0}
    assert found is not None
    assert not any(one() for one in built.caches)


def test_releases_with_the_same_cache_behaviour_share_a_large_cache(
    log: Log, built: Built, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(belief, "HELD_PODS", 0)
    monkeypatch.setattr(checked_behaviours, "PODS_RETRIED", 0)  # Retries build caches of their own.
    log.compare(at="rv:900", releases=[NEW, OLD, SAME_CACHE], trace=True)
    assert len(built.caches) == 2


def test_one_at_a_time_gives_the_same_answer(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    def asked() -> str:
        found = log.compare(at="rv:900", releases=[OLD, NEW, OLD, SAME_CACHE])
        return json.dumps(plinian.document(found), default=str)

    small = asked()
    monkeypatch.setattr(belief, "HELD_PODS", 0)
    assert asked() == small
