"""Pairs of changes, where no single change helps."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from answer_worlds import CAPACITY, NODES, PROPORTION
from helping import helped, texts_of

from plinian.engine.model.panic import Panic
from plinian.engine.session.framework.session_outcome import SessionResult
from plinian.replay.render.would_help import help_lines
from plinian.replay.what_if.cluster_changes import AddNodes
from plinian.replay.what_if.help import next_pairs
from plinian.replay.what_if.pairs import MOST_PAIRS, Single, pairs_of
from plinian.replay.what_if.suggestion import GANG, GONE, MORE, MOVE, RELEASE, SWITCH, single
from plinian.replay.what_if.trial import TriedChange, _said_of
from sessions import group, node, pod, queue

ROOT = queue("root")


def filled(*more: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a node that four jobs fill, and a pod that needs all of it."""
    jobs = [
        one
        for n in range(4)
        for one in (group(f"o{n}", 1, "Running"), pod(f"o{n}-0", f"o{n}", 1, "n1"))
    ]
    return [ROOT, *more, node("n1", 4), *jobs, group("new", 1), pod("new-0", "new", 4)]


def test_a_queue_with_more_room_and_a_node_more(tmp_path: Path) -> None:
    world = filled(queue("default", parent="root", capability={"cpu": "4"}))
    found = helped(tmp_path, CAPACITY, *world)
    assert [(one.kind, one.text) for one in found.found] == [
        ("pair", "capability of queue default: 8 cpu, and one more node like n1")
    ]
    assert 0 < found.pairs <= MOST_PAIRS
    assert "one more node like n1" in found.in_vain
    printed = "".join(help_lines(found))
    singles = found.tried - found.pairs
    assert f"each of {singles} changes and {found.pairs} pairs of them; -v lists" in printed


@pytest.mark.parametrize("state", ["Closed", "Closing", "Unknown", ""])
def test_a_queue_that_is_open_and_a_node_more(tmp_path: Path, state: str) -> None:
    found = helped(tmp_path, CAPACITY, *filled(queue("default", parent="root", state=state)))
    assert texts_of(found, "pair") == ["queue default is open, and one more node like n1"]


def test_two_nodes_more_and_two_nodes_uncordoned(tmp_path: Path) -> None:
    gang = (group("new", 2), *(pod(f"new-{number}", "new", 4) for number in range(2)))
    busy = (group("old", 1, "Running"), pod("old-0", "old", 1, "n1"))
    found = helped(tmp_path, NODES, queue("default"), node("n1", 4), *busy, *gang)
    assert texts_of(found, "pair") == [
        "two more nodes like n1",
        "one more node like n1, and podgroup ns/old is gone",
    ]
    closed = [node(f"n{number}", 4, spec={"unschedulable": True}) for number in (1, 2)]
    found = helped(tmp_path, NODES, queue("default"), *closed, *gang)
    assert texts_of(found, "pair") == ["uncordon node n1, and uncordon node n2"]


def test_no_pair_is_tried_if_a_single_change_helps(tmp_path: Path) -> None:
    world = (queue("default"), node("n1", 4), group("old", 1, "Running"), pod("o", "old", 4, "n1"))
    found = helped(tmp_path, NODES, *world, group("new"), pod("new-0", "new", 4))
    assert (found.pairs, texts_of(found, "pair")) == (0, [])


def test_pairs_are_cut_short_with_the_time(tmp_path: Path) -> None:
    world = filled(queue("default", parent="root", capability={"cpu": "4"}))
    whole = helped(tmp_path, CAPACITY, *world)
    times = iter([True] * (whole.tried - whole.pairs + 4) + [False] * 100)
    cut = helped(tmp_path, CAPACITY, *world, go_on=times.__next__)
    assert 0 < cut.pairs < whole.pairs
    assert cut.left > 0


def test_a_plugin_in_another_tier_with_a_switch_where_neither_helps_alone(tmp_path: Path) -> None:
    world = (
        *(node("n1", 8), node("n2", 8), queue("a"), queue("b")),
        *(
            group("old", 1, "Running", queue="a"),
            *(pod(f"old-{n}", "old", 4, "n1") for n in (0, 1)),
        ),
        *(group("other", 1, "Running", queue="b"), pod("other-0", "other", 8, "n2")),
        group("new", 1, "Pending", queue="a", minResources={"cpu": "6"}),
        pod("new-0", "new", 2),
    )
    found = helped(tmp_path, PROPORTION, *world)
    moved = "plugin priority in tier 2 instead of 1"
    assert texts_of(found, "switch") == [
        f"{moved} and enableJobEnqueued: false on plugin overcommit",
        f"{moved} and overcommit-factor: 1.4 on plugin overcommit",
    ]


def test_what_shows_an_effect_is_joined_first_and_each_kind_gives_a_few() -> None:
    def tried(kind: str, name: str, *, nearer: bool = False) -> Single:
        return Single(single(kind, 0, name, AddNodes(name)), nearer)

    some = [tried(GONE, f"job {number}") for number in range(40)]
    some += [tried(GONE, "near", nearer=True), tried(GANG, "gang"), tried(RELEASE, "release v1")]
    pairs = [one.text for one in pairs_of(some)]
    assert pairs[0].startswith("gang, and near") or "near" in pairs[0]
    assert len(pairs) == 6, "three jobs with each other, and with the gang"
    assert all("release" not in text for text in pairs)


def test_a_switch_without_an_effect_is_not_joined_with_nodes() -> None:
    switch, more = (
        Single(single(kind, 0, kind, AddNodes(kind)), nearer=False) for kind in (SWITCH, MORE)
    )
    assert [one.text for one in pairs_of([switch, more])] == ["two more nodes like node"]
    near = switch._replace(nearer=True)
    assert len(pairs_of([near, more])) == 2


def test_a_change_on_which_the_scheduler_panics_leads_to_no_pair() -> None:
    def panics(*_: object) -> None:
        raise Panic("a handler of the cache cannot take the change")

    trial: Any = SimpleNamespace(sessions=SimpleNamespace(followed=panics), target=None)
    asked: Any = None
    tried = [TriedChange(single(MOVE, 0, "queue q", AddNodes("n1")), None, nearer=True)]
    assert next_pairs(trial, asked, tried, lambda: True) == []


def test_what_nodes_say_of_a_pod_may_be_nearer() -> None:
    job = SimpleNamespace(tasks={"u": SimpleNamespace(key="ns/a")})
    cache, target = SimpleNamespace(jobs={"ns/pg": job}), SimpleNamespace(podgroup="ns/pg")

    def said(text: str) -> object:
        answer: Any = SimpleNamespace(result=SessionResult(fit_errors={"ns/a": text}), cache=cache)
        about: Any = target
        return _said_of(answer, about)

    assert said("0/1 nodes: 1 Insufficient cpu") == said("0/1 nodes: 1 Insufficient cpu")
    assert said("0/1 nodes: 1 Insufficient cpu") != said("0/1 nodes: 1 Insufficient memory")
