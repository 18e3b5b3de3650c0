"""Invariants of nodes: what the scheduler's cache counts on them, and what is there."""

from __future__ import annotations

from collections.abc import Iterator

from ..cache.drift.drift import CacheComparison, CacheMismatch
from ..kubernetes.objects import Node
from ..kubernetes.units import format_amount
from ..model.node import NodeInfo
from ..model.resource import MIN_RESOURCE, Resource
from ..model.subtraction import rest
from .invariant import NODE, POD, Invariant, Needs, Severity, Violation, newest
from .view import ClusterView

_OF_ACCOUNT = ("used.", "releasing.", "allocatable.", "pods[")
"""Fields of a node that are its account; the others are its identity and version."""


def account_is_true(view: ClusterView, name: str) -> Iterator[Violation]:
    """Yield differences between a node's account in the cache and its pods."""
    comparison = CacheComparison(view.cache, view.truth, view.pods)
    for mismatch in comparison.of(("Node", name)):
        if not mismatch.field or mismatch.field.startswith(_OF_ACCOUNT):
            yield Violation("Node", name, _text(mismatch), mismatch.field)
    info = view.cache.nodes.get(name)
    if info is not None and info.node is not None:
        yield from _idle(view, info)


def _text(mismatch: CacheMismatch) -> str:
    truth = "nothing" if mismatch.truth is None else mismatch.truth
    cached = "nothing" if mismatch.belief is None else mismatch.belief
    what = mismatch.field or "the node"
    return f"{what}: the API server has {truth}, the scheduler's cache has {cached}"


def _idle(view: ClusterView, info: NodeInfo) -> Iterator[Violation]:
    """Yield resources of which idle is not what is allocatable and not used."""
    if view.cache.behaviours.subtractions_checked:
        expected = rest(info.allocatable, info.used)
    else:
        expected = info.allocatable.clone().sub_unchecked(info.used)
    for resource in _names(info.allocatable):
        true, cached = expected.get(resource), info.idle.get(resource)
        if abs(true - cached) >= MIN_RESOURCE:
            message = (
                f"idle.{resource}: {format_amount(resource, true)} is allocatable and not used, "
                f"the scheduler's cache has {format_amount(resource, cached)}"
            )
            yield Violation("Node", info.name, message, f"idle.{resource}")


def nothing_overcommitted(view: ClusterView, name: str) -> Iterator[Violation]:
    """Yield resources of which the pods of a node request more than it has."""
    node: Node | None = view.truth.get("Node", name)
    info = view.cache.nodes.get(name)
    if node is None or info is None or info.node is None:
        return
    for resource in _names(info.allocatable):
        lacking = info.used.get(resource) - info.allocatable.get(resource)
        if lacking >= MIN_RESOURCE:
            used, room = info.used.get(resource), info.allocatable.get(resource)
            message = (
                f"its pods request {format_amount(resource, used)} of {resource}, "
                f"allocatable is {format_amount(resource, room)}"
            )
            yield Violation("Node", name, message, resource, newest(node))


def _names(amounts: Resource) -> list[str]:
    return ["cpu", "memory", *sorted(amounts.scalars or ())]


INVARIANTS = (
    Invariant(
        id="I-03",
        name="node-conservation",
        severity=Severity.CRITICAL,
        statement=(
            "The scheduler's cache counts on each node what its pods request, and the rest as idle."
        ),
        needs=Needs.CACHE,
        unit="Node",
        kinds=(NODE, POD),
        settles=False,
        check=account_is_true,
    ),
    Invariant(
        id="I-05c",
        name="no-negative-idle",
        severity=Severity.HIGH,
        statement="The pods of a node request at most what is allocatable on it.",
        needs=Needs.CACHE,
        unit="Node",
        kinds=(NODE, POD),
        settles=False,
        check=nothing_overcommitted,
    ),
)
"""The invariants of this module."""
