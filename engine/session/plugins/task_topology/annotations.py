"""The topology of a PodGroup's roles, from its annotations.

Source: pkg/scheduler/plugins/task-topology/topology.go readTopologyFromPgAnnotations,
affinityCheck.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import msgspec

AFFINITY = "volcano.sh/task-topology-affinity"
ANTI_AFFINITY = "volcano.sh/task-topology-anti-affinity"
TASK_ORDER = "volcano.sh/task-topology-task-order"

Groups = tuple[tuple[str, ...], ...]


class TaskTopology(msgspec.Struct, frozen=True):
    """Groups of roles that belong together or apart, and the order of roles.

    A group of one role is about the tasks of that role.
    """

    affinity: Groups
    anti_affinity: Groups
    task_order: tuple[str, ...]


def read_topology(annotations: Mapping[str, str], roles: Collection[str]) -> TaskTopology | None:
    """Parse the annotations: ``a,b;c`` are the groups (a, b) and (c).

    None if they are missing or invalid: a role that no task of the job has, or
    one twice in a group.
    """
    if not any(key in annotations for key in (AFFINITY, ANTI_AFFINITY, TASK_ORDER)):
        return None
    affinity, anti_affinity = (_groups(annotations.get(key)) for key in (AFFINITY, ANTI_AFFINITY))
    order = annotations.get(TASK_ORDER)
    task_order = () if order is None else tuple(order.split(","))
    if all(_holds(group, roles) for group in (*affinity, *anti_affinity, task_order)):
        return TaskTopology(affinity, anti_affinity, task_order)
    return None


def _groups(text: str | None) -> Groups:
    return () if text is None else tuple(tuple(part.split(",")) for part in text.split(";"))


def _holds(group: tuple[str, ...], roles: Collection[str]) -> bool:
    named = [role for role in group if role]
    return len(set(named)) == len(named) and all(role in roles for role in named)
