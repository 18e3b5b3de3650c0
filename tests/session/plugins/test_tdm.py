"""The tdm plugin: zones of revocable nodes by the clock."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from plinian.engine.model.panic import Panic
from plinian.engine.session.framework import framework_orders as orders
from plinian.engine.session.framework import voting
from plinian.engine.session.framework.process_parts import ProcessState
from plinian.engine.session.framework.session import Session
from plinian.engine.session.nodes.node_selection import NodeSelection
from sessions import Document, group, job, names, node, opened, pod, queue, tasks

CONF = """
actions: "allocate"
tiers:
- plugins:
  - name: tdm
    arguments:
      tdm.revocable-zone.day: 10:00-18:00
      tdm.revocable-zone.night: 20:00-23:00
      tdm.evict.period: 1m
"""
"""The session is at 14:00: ``day`` is open and ``night`` closed."""
ZONE = "volcano.sh/revocable-zone"
REVOCABLE = {"volcano.sh/preemptable": "true"}
FIRM = {"volcano.sh/preemptable": "false"}
NODES = (
    node("n-day", labels={ZONE: "day"}),
    node("n-night", labels={ZONE: "night"}),
    node("n-other", labels={ZONE: "other"}),
    node("n-plain"),
)


def session(*documents: Document, **given: Any) -> Session:
    return opened(CONF, *NODES, queue("default"), *documents, **given)[0]


def test_which_nodes_take_which_tasks() -> None:
    ssn = session(
        group("a"), pod("revocable", "a", annotations=REVOCABLE), pod("firm", "a", annotations=FIRM)
    )
    (_, entry), rows = ssn.registry.flat("Predicate")[0], np.arange(4)
    answers = [
        [
            tuple(one.message for one in ssn.reasons.objections(verdict))
            for verdict in entry.function(task, rows)
        ]
        for task in tasks(ssn, "revocable", "firm")
    ]
    beyond = ("current time beyond revocable zone night:20:00-23:00",)
    unknown = ("revocable zone other not support",)
    assert answers == [
        [(), beyond, unknown, ()],
        [("not allow to dispatch to revocable node",), beyond, unknown, ()],
    ]


def test_open_zones_draw_revocable_tasks_and_closed_ones_cannot_be_scored() -> None:
    ssn = session(
        group("a"), pod("revocable", "a", annotations=REVOCABLE), pod("firm", "a", annotations=FIRM)
    )
    (_, entry), rows = ssn.registry.flat("NodeOrder")[0], np.arange(4)
    scores = [entry.function(task, rows).tolist() for task in tasks(ssn, "revocable", "firm")]
    assert scores == [
        pytest.approx([100, np.nan, np.nan, 0], nan_ok=True),
        pytest.approx([0, np.nan, np.nan, 0], nan_ok=True),
    ]


def test_firm_tasks_preempt_preemptable_ones_on_ordinary_nodes_within_the_budget() -> None:
    ssn = session(
        group("a", annotations={"volcano.sh/jdb-max-unavailable": "50%"}),
        *(pod(f"a-{n}", "a", on="n-plain") for n in range(3)),
        group("b"),
        *(pod(f"b-{n}", "b", on="n-plain") for n in range(2)),
        pod("b-day", "b", on="n-day"),
        pod("b-firm", "b", on="n-plain", annotations=FIRM),
        group("c"),
        pod("firm", "c", annotations=FIRM),
        pod("soft", "c"),
    )
    candidates = tasks(ssn, "b-day", "b-firm", "b-1", "b-0", "a-0", "a-1", "a-2")
    firm, soft = tasks(ssn, "firm", "soft")
    assert names(ssn, voting.preemptable(ssn, firm, candidates)) == ["a-0", "a-1", "b-1"]
    assert voting.preemptable(ssn, soft, candidates) == []


@pytest.mark.parametrize(
    ("budget", "number"),
    [
        ({}, 1),
        ({"volcano.sh/jdb-max-unavailable": "3"}, 2),
        ({"volcano.sh/jdb-max-unavailable": "1"}, 0),
        ({"volcano.sh/jdb-max-unavailable": "many"}, 0),
        ({"volcano.sh/jdb-min-available": "2"}, 2),
        ({"volcano.sh/jdb-min-available": "26%"}, 2),
        ({"volcano.sh/jdb-min-available": "5"}, 1),
    ],
)
def test_budgets_of_a_job_with_four_of_five_tasks_running(
    budget: dict[str, str], number: int
) -> None:
    ssn = session(
        group("a", annotations=budget),
        *(pod(f"a-{n}", "a", on="n-plain") for n in range(4)),
        pod("a-4", "a"),
        group("b"),
        pod("firm", "b", annotations=FIRM),
    )
    (firm,) = tasks(ssn, "firm")
    candidates = tasks(ssn, *(f"a-{n}" for n in range(4)))
    assert len(voting.preemptable(ssn, firm, candidates)) == number


def test_closed_zones_are_cleared_once_in_a_period() -> None:
    documents = (
        group("a", annotations={"volcano.sh/jdb-min-available": "1"}),
        *(pod(f"a-{n}", "a", on="n-night") for n in range(3)),
        group("b"),
        pod("b-0", "b", on="n-day"),
        pod("b-1", "b", on="n-night", annotations=FIRM),
    )
    process, minute = ProcessState(), 60_000_000
    first = session(*documents, process=process)
    assert names(first, voting.victim_tasks(first, [])) == ["a-0", "a-1"]
    soon = session(*documents, process=process, now=first.now + minute - 1)
    assert voting.victim_tasks(soon, []) == []
    later = session(*documents, process=process, now=first.now + minute)
    assert len(voting.victim_tasks(later, [])) == 2


def test_jobs_that_are_not_preemptable_come_first_and_may_starve() -> None:
    ssn = session(group("a", annotations=REVOCABLE), pod("a-0", "a"), group("b"), pod("b-0", "b"))
    assert orders.job_order(ssn, job(ssn, "b"), job(ssn, "a"))
    assert voting.job_starving(ssn, job(ssn, "b"))
    assert not voting.job_starving(ssn, job(ssn, "a"))


def test_a_zone_that_is_no_text_crashes_the_session() -> None:
    conf = CONF.replace("10:00-18:00", "10")
    with pytest.raises(Panic, match=r"interface \{\} is int, not string"):
        opened(conf, *NODES)


def test_a_node_that_cannot_be_scored_has_no_score_of_any_plugin() -> None:
    conf = (
        CONF.replace("name: tdm", "name: tdm\n    enablePredicate: false") + "  - name: binpack\n"
    )
    ssn, _ = opened(conf, *NODES, queue("default"), group("a"), pod("firm", "a", annotations=FIRM))
    scores = NodeSelection(ssn).scores(tasks(ssn, "firm")[0], np.arange(4))
    assert scores is not None
    assert scores.tolist() == pytest.approx([12.5, 0.0, 0.0, 12.5])
