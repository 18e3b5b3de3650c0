"""The pdb plugin: budgets of pods that may go."""

from __future__ import annotations

from typing import Any

from plinian.engine.session.framework import voting
from sessions import Document, document, group, names, node, opened, pod, queue, tasks

WEB = {"matchLabels": {"app": "web"}}


def budget(name: str, allowed: int, selector: Any, **rest: Any) -> Document:
    """Return a budget of the pods' namespace."""
    status = {"disruptionsAllowed": allowed, **rest.pop("status", {})}
    return document(
        "PodDisruptionBudget",
        name,
        rest.pop("namespace", "ns"),
        spec={"selector": selector},
        status=status,
    )


def victims(
    *budgets: Document, labels: tuple[str | None, ...] = ("web", "web", "web")
) -> list[str]:
    """Return who of pods ``a-0``, ``a-1`` … with these values of ``app`` may go."""
    running = [
        pod(f"a-{number}", "a", on="n1", labels={"app": app} if app else {})
        for number, app in enumerate(labels)
    ]
    ssn, _ = opened(
        "pdb", node("n1"), queue("default"), group("a"), *running, pod("x", "a"), *budgets
    )
    *candidates, evictor = tasks(ssn, *(f"a-{number}" for number in range(len(labels))), "x")
    chosen = voting.preemptable(ssn, evictor, candidates)
    assert voting.reclaimable(ssn, evictor, candidates) == chosen
    assert voting.victim_tasks(ssn, candidates) == sorted(chosen)
    return names(ssn, chosen)


def test_as_many_as_the_budget_allows_in_the_order_given() -> None:
    assert victims(budget("web", 2, WEB)) == ["a-0", "a-1"]
    assert victims(budget("web", 0, WEB)) == []


def test_every_matching_budget_counts_and_is_used() -> None:
    everyone = {"matchExpressions": [{"key": "app", "operator": "Exists"}]}
    found = victims(budget("web", 0, WEB), budget("all", 1, everyone), labels=("web", "db", "db"))
    assert found == [], "a-0 stays for web, and uses the budget of all nevertheless"


def test_other_namespaces_empty_and_missing_selectors_count_nobody() -> None:
    assert len(victims(budget("far", 0, WEB, namespace="other"))) == 3
    assert len(victims(budget("empty", 0, {}))) == 3
    assert len(victims(budget("none", 0, None))) == 3
    wrong = {"matchExpressions": [{"key": "app", "operator": "Like"}]}
    assert len(victims(budget("wrong", 0, wrong))) == 3


def test_pods_on_their_way_out_do_not_use_the_budget() -> None:
    going = {"disruptedPods": {"a-0": "2025-11-21T13:59:00Z"}}
    assert victims(budget("web", 1, WEB, status=going)) == ["a-0", "a-1"]


def test_pods_without_labels_are_never_victims() -> None:
    assert victims(labels=("web", None)) == ["a-0"]
