"""Rules that had nothing to check: what the files and the log do not hold, and rules need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from types import MappingProxyType

import msgspec

from .findings import FindingSubject
from .lint_inputs import LintInputs
from .lint_rules import Rule
from .message_amounts import few

_OF_NODES = frozenset(
    {
        "resource-nowhere",
        "guarantees-exceed-cluster",
        "guarantees-break-division",
        "min-resources-above-cluster",
        "pod-above-every-node",
    }
)
_OF_CONF = frozenset({"conf", "argument"})
"""Groups of rules about a configuration."""

_APART = frozenset({"JobFlow", "HyperNode"})
"""Kinds that neither nodes nor the configuration are needed for."""

_OF_KIND = (("Queue", "job-queue-missing"), ("PriorityClass", "priority-class-missing"))
"""Rules about a job that names an object of a kind."""

_STEMS = MappingProxyType(
    {
        "Queue": ("queue-",),
        "Job": ("job-", "task-"),
        "PodGroup": ("pod-group-",),
        "HyperNode": ("hypernode-",),
        "JobFlow": ("flow-",),
    }
)
"""How the rules about objects of a kind alone begin."""


class RuleNotChecked(msgspec.Struct, frozen=True):
    """A rule that was not checked, and why."""

    rule: str
    reason: str


def not_checked(world: LintInputs, rules: Sequence[Rule]) -> Iterator[RuleNotChecked]:
    """Yield the rules that something known could break, if more were known."""
    has = {kind for kind, _ in world.subjects}
    for rule in rules:
        reason = _reason(world, rule, has)
        if reason:
            yield RuleNotChecked(rule.name, reason)


def malformed(
    world: LintInputs, rules: Sequence[Rule], undecided: Iterable[tuple[str, FindingSubject]]
) -> Iterator[RuleNotChecked]:
    """Yield the rules that were not checked, as fields of objects cannot be read.

    :param undecided: rules that rest on such a field, and the objects that they are about.
    """
    every = tuple(world.malformed)
    unchecked: dict[RuleNotChecked, None] = {}
    for rule, subject in undecided:
        # The object itself can be read: the finding rests on one that cannot, and which is not
        # known.
        for unread in [subject] if subject in world.malformed else every:
            unchecked[RuleNotChecked(rule, _unread(world, unread))] = None
    for unread in every:
        if world.is_read(unread):
            continue
        for each in rules:
            if each.name.startswith(_STEMS.get(unread.kind, ())):
                unchecked[RuleNotChecked(each.name, _unread(world, unread))] = None
    yield from unchecked


def _unread(world: LintInputs, subject: FindingSubject) -> str:
    """Return that fields of an object cannot be read, in words."""
    fields = [field for field in world.malformed[subject] if field]
    return f"{few(fields) + ' of ' if fields else ''}{subject} cannot be read"


def _reason(world: LintInputs, rule: Rule, has: set[str]) -> str:
    if rule.name in _OF_NODES and world.total is None and has - _APART:
        return "no node is known"
    if rule.group in _OF_CONF and not world.confs and has - _APART:
        return "no configuration of the scheduler is given"
    if rule.name == "topology-tier-missing" and not world.hypernodes and world.asks_for_topology:
        return "no HyperNode is known"
    if rule.name == "flow-template-missing" and not world.templates and "JobFlow" in has:
        return "no JobTemplate is known"
    for kind, name in _OF_KIND:
        if rule.name == name and kind not in world.complete and has & {"Job", "PodGroup"}:
            return f"no {kind} is known"
    return ""
