"""Several answers on one page share the scheduler's cache, and say the same as each alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import pytest

import plinian
from plinian.engine.cache.projector import Projector
from plinian.replay.answers.why import Why, Whys, why_at, whys_at
from plinian.replay.facade.log import Log
from plinian.replay.objects.kind_names import ObjectName
from plinian.replay.report import collect

AT = "2026-11-21T01:54:00Z"
NAMED = ("job/gpu-2", "job/gpu-3", "podgroup/big-gang", "queue/gold", "node/node-1")
RELEASE = "v1.12.1"

Alone = Callable[..., Why]


class Together(NamedTuple):
    """A page with all answers, and the positions of the events that a cache was told of for it."""

    page: str
    applied: list[int]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Log]:
    """Give the log of the demonstration."""
    with plinian.demo(tmp_path_factory.mktemp("demo") / "demo.db") as log:
        yield log


@pytest.fixture(scope="module")
def together(demo: Log) -> Together:
    """Answer all questions on one page."""
    applied: list[int] = []
    apply = Projector.apply

    def counted(self: Projector, *event: Any, **more: Any) -> None:
        applied.append(more["position"])
        apply(self, *event, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Projector, "apply", counted)
        return Together(demo.report(at=AT, why=NAMED), applied)


@pytest.fixture(scope="module")
def alone(demo: Log) -> Alone:
    """Answer each question by itself, with a cache of its own; the same question once."""

    @cache
    def answer(one: ObjectName, at: Any, release: str, conf: Any, assumed: tuple[str, ...]) -> Why:
        return why_at(demo, one, at, release=release, conf=conf, assumed=assumed)

    return answer


@pytest.mark.slow
def test_a_page_is_the_same_to_the_byte_as_with_each_answer_alone(
    demo: Log, together: Together, alone: Alone, monkeypatch: pytest.MonkeyPatch
) -> None:
    def each(log: Log, named: Sequence[ObjectName], at: Any, **rest: Any) -> Whys:
        assert log is demo
        assert rest["namespace"] is None
        release, conf, assumed = rest["basis"]
        answers = (alone(one, at, release, conf, tuple(assumed)) for one in named)
        return Whys(tuple(answers), None)  # type: ignore[arg-type]

    monkeypatch.setattr(collect, "whys_at", each)
    assert demo.report(at=AT, why=NAMED) == together.page
    assert all(f"why {one.partition('/')[0]}/" in together.page for one in NAMED)


@pytest.mark.slow
def test_the_order_of_questions_changes_no_answer(demo: Log, alone: Alone) -> None:
    named, at = [demo.object(one) for one in NAMED], demo.moment(AT)
    basis = (RELEASE, None, ())
    found = whys_at(demo, named, at, basis=basis).answers
    assert all(one.waits for one in found)
    assert sum(one.sessions for one in found) > len(found)
    assert whys_at(demo, named[::-1], at, basis=basis).answers == found[::-1]
    assert tuple(alone(one, at, *basis) for one in named) == found


@pytest.mark.slow
def test_the_log_is_read_once_for_all_of_them(together: Together) -> None:
    assert together.applied
    assert len(set(together.applied)) == len(together.applied)
