"""Conditions of PodGroups, as a session changes them.

Source: ``framework/session.go`` (``UpdatePodGroupCondition``).
"""

from __future__ import annotations

from .session import Session
from .session_outcome import GroupCondition


def update_condition(ssn: Session, job: int, condition: GroupCondition) -> None:
    """Replace the condition of the same type, or add one at the end."""
    conditions = ssn.conditions.get(job)
    if conditions is None:
        conditions = ssn.conditions[job] = given_conditions(ssn, job)
    for index, known in enumerate(conditions):
        if known.type == condition.type:
            conditions[index] = condition
            return
    conditions.append(condition)


def given_conditions(ssn: Session, job: int) -> list[GroupCondition]:
    """Return the conditions that a PodGroup had when the session was opened."""
    given = ssn.jobs.pod_group(job).status.conditions
    return [GroupCondition(each.type, each.status, each.reason, each.message) for each in given]
