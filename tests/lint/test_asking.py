"""Releases that are alike in what a check asks are asked once, and the answer is that of each."""

from __future__ import annotations

from functools import partial

from linting import RELEASES, TREE, group, inputs_of, job, node, queue, task

from plinian.engine.volcano.session.behaviours import Behaviours
from plinian.engine.volcano.session.history import behaviours
from plinian.replay.lint.answer_cache import AnswerCache, changed
from plinian.replay.lint.context import LintContext
from plinian.replay.lint.findings import Issue
from plinian.replay.lint.lint_rules import RULES, Check


def test_a_function_runs_again_only_for_what_it_asked() -> None:
    ran: list[str] = []

    def ask(how: Behaviours) -> bool:
        ran.append("once")
        return how.root_queue and how.invalid_tree_stops_scheduling

    memory = AnswerCache(ask)
    one, same = behaviours("v1.12.1"), behaviours("v1.12.1", queue_priority=False)
    other = behaviours("v1.12.1", invalid_tree_stops_scheduling=False)
    assert [memory(one), memory(same), memory(other), memory(one)] == [True, True, False, True]
    assert len(ran) == 2


def test_what_a_memory_asks_is_asked_of_who_asks_it() -> None:
    inner = AnswerCache(lambda how: how.invalid_tree_stops_scheduling)
    outer = AnswerCache(lambda how: f"stops: {inner(how)}")
    for stops in (True, False, True):
        how = behaviours("v1.12.1", invalid_tree_stops_scheduling=stops)
        assert outer(how) == f"stops: {stops}"


def test_fields_can_be_answered_otherwise() -> None:
    how = changed(behaviours("v1.12.1"), root_queue=False)
    assert not how.root_queue
    assert how.invalid_tree_stops_scheduling
    assert behaviours("v1.12.1").root_queue


def _listed(check: Check, given: LintContext, how: Behaviours) -> list[Issue]:
    return list(check(given, how))


def test_every_rule_says_of_a_release_what_it_says_when_it_is_asked_alone() -> None:
    """Were something asked that is not remembered, some release would get another's answer."""
    documents = (
        node("n", "8"),
        queue("a", capability={"cpu": 4}, deserved={"cpu": 1}, status={"state": "Closed"}),
        queue("b", parent="a", capability={"cpu": 9}, deserved={"cpu": 3}, weight=2),
        queue("root", capability={"cpu": 6}),
        group("g", "a", minResources={"cpu": 5}),
        job("j", task("w", 5, "2"), queue="b", minAvailable=6),
    )
    conf = TREE.replace("backfill", "preempt, gangpreempt") + (
        "  - name: resource-strategy-fit\n"
        "  - name: nodegroup\n"
        "    enableHierarchy: true\n"
        "    arguments: {strict: 'true', enablePreferredOrder: 1}\n"
    )
    together = LintContext.of(inputs_of(*documents, conf=conf))
    for rule in RULES:
        remembered = AnswerCache(partial(_listed, rule.check, together))
        for how in RELEASES:
            alone = list(rule.check(LintContext.of(inputs_of(*documents, conf=conf)), how))
            assert remembered(how) == alone, (rule.name, how.release)
