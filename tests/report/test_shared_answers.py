"""Several answers on one page share the scheduler's cache, and say the same as each alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

import plinian
from plinian.engine.cache.projector import Projector
from plinian.replay.answers.why import Whys, why_at, whys_at
from plinian.replay.facade.log import Log
from plinian.replay.moments.kinds import ObjectName
from plinian.replay.report import collect

AT = "2026-11-21T01:54:00Z"
NAMED = ("job/gpu-2", "job/gpu-3", "podgroup/big-gang", "queue/gold", "node/node-1")
RELEASE = "v1.12.1"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Log]:
    """Give the log of the demonstration."""
    with plinian.demo(tmp_path_factory.mktemp("demo") / "demo.db") as log:
        yield log


def alone(log: Log, named: Sequence[ObjectName], at: Any, **rest: Any) -> Whys:
    """Answer each question by itself, with a cache of its own."""
    release, conf, assumed = rest["basis"]
    how = {"namespace": rest["namespace"], "release": release, "conf": conf, "assumed": assumed}
    return Whys(tuple(why_at(log, one, at, **how) for one in named), None)  # type: ignore[arg-type]


def test_a_page_is_the_same_to_the_byte_as_with_each_answer_alone(
    demo: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = demo.report(at=AT, why=NAMED)
    monkeypatch.setattr(collect, "whys_at", alone)
    assert demo.report(at=AT, why=NAMED) == together
    assert all(f"why {one.partition('/')[0]}/" in together for one in NAMED)


def test_the_order_of_questions_changes_no_answer(demo: Log) -> None:
    named = [demo.object(one) for one in NAMED]
    basis = (RELEASE, None, ())
    found = whys_at(demo, named, AT, basis=basis).answers
    assert all(one.waits for one in found)
    assert sum(one.sessions for one in found) > len(found)
    assert whys_at(demo, named[::-1], AT, basis=basis).answers == found[::-1]
    assert tuple(why_at(demo, one, AT, release=RELEASE) for one in named) == found


def test_the_log_is_read_once_for_all_of_them(demo: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    applied: list[int] = []
    apply = Projector.apply

    def counted(self: Projector, *event: Any, **more: Any) -> None:
        applied.append(more["position"])
        apply(self, *event, **more)

    monkeypatch.setattr(Projector, "apply", counted)
    demo.report(at=AT, why=NAMED)
    assert applied
    assert len(set(applied)) == len(applied)
