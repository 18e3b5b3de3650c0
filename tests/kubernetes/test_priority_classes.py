"""The priority of new pods, as an API server admits them."""

from __future__ import annotations

from typing import Any

import pytest

from plinian.engine.kubernetes.api_errors import Forbidden
from plinian.engine.kubernetes.priority_classes import with_priority

LOW = {"metadata": {"name": "low"}, "value": 7}
USUAL = {"metadata": {"name": "usual"}, "value": 3, "globalDefault": True}


def admitted(spec: dict[str, Any], *, all_known: bool = True) -> dict[str, Any]:
    """Return the spec of a pod as it is let in."""
    found: dict[str, Any] = with_priority({"spec": spec}, [LOW, USUAL], all_known=all_known)["spec"]
    return found


def test_a_pod_gets_the_value_of_its_class_or_of_the_default_one() -> None:
    assert admitted({"priorityClassName": "low"})["priority"] == 7
    assert admitted({}) == {"priorityClassName": "usual", "priority": 3}
    critical = admitted({"priorityClassName": "system-node-critical"})
    assert critical["priority"] == 2_000_001_000


def test_a_pod_of_a_class_that_does_not_exist_is_refused_if_all_are_known() -> None:
    with pytest.raises(Forbidden, match="no PriorityClass with name urgent was found"):
        admitted({"priorityClassName": "urgent"})
    assert "priority" not in admitted({"priorityClassName": "urgent"}, all_known=False)


def test_a_pod_that_was_let_in_keeps_its_priority() -> None:
    assert admitted({"priorityClassName": "gone", "priority": 5})["priority"] == 5
