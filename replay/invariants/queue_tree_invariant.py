"""The invariant of the queues together, by the rules of ``lint`` for the release."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import MappingProxyType

import msgspec

from ...engine.invariants.invariant import (
    NODE,
    QUEUE,
    QUEUES,
    Invariant,
    Needs,
    Severity,
    Violation,
)
from ...engine.invariants.view import ClusterView
from ..lint.findings import Finding
from ..lint.findings import FindingSeverity as LintSeverity
from ..lint.lint_inputs import Configuration, LintInputs
from ..lint.lint_rules import RULES
from ..lint.lint_run import lint
from ..lint.objects import VOLCANO, Manifest

_NAMES = frozenset(
    {
        *("queue-parent-missing", "queue-parent-cycle", "queue-exceeds-parent"),
        *("queue-children-exceed-deserved", "queue-children-exceed-guarantee"),
        *("queue-guarantees-exceed-room", "guarantees-exceed-cluster"),
        "guarantees-break-division",
    }
)
_RULES = tuple(rule for rule in RULES if rule.name in _NAMES)
_SEVERITY = MappingProxyType(
    {LintSeverity.ERROR: Severity.HIGH, LintSeverity.WARNING: Severity.MEDIUM}
)

ID = "I-10"


def queue_tree(conf: Callable[[], Configuration | None]) -> Invariant:
    """Return the invariant of the queues.

    :param conf: returns the configuration in force; None if it is not known.
    """
    # Most changes are of pods: queues and nodes are those of the last check.
    memory: dict[object, tuple[Violation, ...]] = {}

    def check(view: ClusterView, _: str) -> Iterable[Violation]:
        key = _signature(view)
        if key not in memory:
            memory.clear()
            memory[key] = tuple(map(_violation, _findings(view, conf())))
        return memory[key]

    return Invariant(
        id=ID,
        name="queue-tree-sane",
        severity=Severity.CRITICAL,
        statement="Queues form a tree, and no queue has or promises more than the one above it.",
        needs=Needs.TRUTH,
        unit=QUEUES,
        kinds=(QUEUE, NODE),
        settles=False,
        check=check,
    )


def _findings(view: ClusterView, conf: Configuration | None) -> list[Finding]:
    world = LintInputs(_manifests(view), () if conf is None else (conf,))
    findings = lint(world, [view.cache.behaviours], _RULES)
    # Without a configuration, only what holds whatever plugin limits queues is a violation.
    return [finding for finding in findings if finding.severity in _SEVERITY and not finding.plugin]


def _manifests(view: ClusterView) -> Iterable[Manifest]:
    for queue in view.truth.of("Queue").values():
        kind = {"apiVersion": f"{VOLCANO}/v1beta1", "kind": "Queue"}
        yield Manifest({**msgspec.to_builtins(queue), **kind}, None)
    for node in view.truth.of("Node").values():
        kind = {"apiVersion": "v1", "kind": "Node"}
        status = {"allocatable": node.status.allocatable}
        yield Manifest({**kind, "metadata": {"name": node.name}, "status": status}, None)


def _signature(view: ClusterView) -> object:
    queues = view.truth.of("Queue")
    nodes = view.truth.of("Node")
    return (
        msgspec.json.encode([(name, queues[name].spec) for name in sorted(queues)]),
        msgspec.json.encode([(name, nodes[name].status.allocatable) for name in sorted(nodes)]),
    )


def _violation(finding: Finding) -> Violation:
    issue = finding.issue
    message = f"{issue.message}; it {issue.effect.value}"
    severity = Severity.CRITICAL if issue.effect.fatal else _SEVERITY[finding.severity]
    field = f"{finding.rule} {issue.field}"
    return Violation(issue.subject.kind, issue.subject.name, message, field, severity=severity)
