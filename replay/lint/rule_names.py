"""The names of all rules, for whoever completes one: to import the rules takes half a second."""

from __future__ import annotations

RULE_NAMES = (
    "action-allocate-missing", "action-enqueue-missing", "action-unknown", "argument-type",
    "argument-unknown", "argument-unlisted", "argument-value", "capacity-beside-proportion",
    "conf-key-repeated", "conf-key-unknown", "conf-rejected", "configuration-unknown",
    "device-modes-conflict", "gang-missing", "gang-unheeded", "guarantees-break-division",
    "guarantees-exceed-cluster", "hierarchy-unknown", "job-in-parent-queue",
    "job-min-available-unreachable", "job-queue-closed", "job-queue-missing",
    "job-without-tasks", "min-resources-above-cluster", "min-resources-above-queue",
    "object-malformed", "object-repeated", "object-unnamed", "plugin-repeated", "plugin-unknown",
    "pod-above-every-node", "pod-group-min-member-unreachable", "pod-group-missing",
    "predicates-missing", "preempt-without-priority", "preempt-without-starving",
    "priority-class-missing", "quantity-malformed", "quantity-negative",
    "queue-below-busy-queue", "queue-beside-hierarchy", "queue-children-exceed-deserved",
    "queue-children-exceed-guarantee", "queue-deserved-above-capability",
    "queue-deserved-ignored", "queue-exceeds-parent", "queue-guarantee-above-capability",
    "queue-guarantee-above-deserved", "queue-guarantees-exceed-room",
    "queue-hierarchy-annotations", "queue-hierarchy-ignored", "queue-parent-cycle",
    "queue-parent-ignored", "queue-parent-missing", "queue-plugin-missing",
    "queue-weight-ignored", "queue-weight-negative", "reclaim-without-queue-plugin",
    "reclaim-without-victims", "resource-not-counted", "resource-nowhere",
    "root-capability-ignored", "task-min-available-unreachable", "task-minima-ignored",
)
"""Sorted; a test holds that they are those of :data:`.rules.RULES`."""
