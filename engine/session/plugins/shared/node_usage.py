"""The usage of nodes, as the scheduler's source of metrics reported it.

That is a separate input, not part of the cluster's objects (:class:`.ExternalValues`).
"""

from __future__ import annotations

from collections.abc import Mapping

from ...framework.process_parts import NodeUsage
from ...framework.session import Session

NODE_METRICS_PERIOD = "10m"
"""The period under which the scheduler stores the metrics that it requests."""


def node_usage(ssn: Session, plugin: str) -> Mapping[str, NodeUsage]:
    """Return the known usage, by name of the node; if there is none, add an error."""
    known: Mapping[str, NodeUsage] = ssn.process.external.node_usage
    if not known:
        ssn.errors.append(f"{plugin}: no usage of nodes was recorded; none is taken into account")
    return known
