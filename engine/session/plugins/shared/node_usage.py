"""How busy nodes are, as the scheduler's source of metrics told it.

That is no part of the cluster's objects: it is an input of its own. Who drives sessions keeps,
under
:data:`NODE_USAGE` in what the process keeps, the last answer about each node.

Source: pkg/scheduler/api/node_info.go NodeUsage.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from ...framework.session import Session

NODE_USAGE = "node-usage"
NODE_METRICS_PERIOD = "10m"
"""The period under which the scheduler files what it asks for."""


class NodeUsage(NamedTuple):
    """One node's average use in percent, by period.

    :param time: when it was measured, in microseconds since 1970.
    """

    time: int
    cpu: Mapping[str, float] = MappingProxyType({})
    memory: Mapping[str, float] = MappingProxyType({})


def node_usage(ssn: Session, plugin: str) -> Mapping[str, NodeUsage]:
    """Return what is known, by name of the node; if it is nothing, the errors say so."""
    known: Mapping[str, NodeUsage] = ssn.process.kept.get(NODE_USAGE, {})
    if not known:
        ssn.errors.append(f"{plugin}: no usage of nodes was recorded; none is taken into account")
    return known
