"""Flags of the scheduler's process that shape its cache."""

from __future__ import annotations

from typing import NamedTuple


class CacheOptions(NamedTuple):
    """The flags, with their defaults.

    :param node_selectors: ``label:value`` texts; without any, all nodes are selected.
    :param ignored_provisioners: volumes of these are not counted.
    :param filters_pods: False also includes pods of other schedulers without a node.

    Source: cmd/scheduler/app/options/options.go.
    """

    scheduler_names: tuple[str, ...] = ("volcano",)
    default_queue: str = "default"
    node_selectors: frozenset[str] = frozenset()
    ignored_provisioners: frozenset[str] = frozenset()
    priority_classes: bool = True
    filters_pods: bool = True
