"""Classes of service of pods."""

from __future__ import annotations

from typing import Any

import pytest

from plinian.engine.kubernetes.objects import Pod, decode
from plinian.engine.session.plugins.shared.pod_qos import (
    BEST_EFFORT,
    BURSTABLE,
    GUARANTEED,
    pod_qos,
)


def container(requests: dict[str, str], limits: dict[str, str]) -> dict[str, Any]:
    """Return a container."""
    return {"name": "c", "resources": {"requests": requests, "limits": limits}}


BOTH = {"cpu": "1", "memory": "1Gi"}
WHOLE = container(BOTH, BOTH)


@pytest.mark.parametrize(
    ("containers", "init_containers", "qos"),
    [
        ([container({}, {})], [], BEST_EFFORT),
        ([container({"cpu": "0"}, {"memory": "0"})], [], BEST_EFFORT),
        ([container({"nvidia.com/gpu": "1"}, {})], [], BEST_EFFORT),
        ([WHOLE], [], GUARANTEED),
        ([container({"cpu": "1000m", "memory": "1Gi"}, BOTH)], [], GUARANTEED),
        ([WHOLE, WHOLE], [WHOLE], GUARANTEED),
        ([WHOLE, container({}, {})], [], BURSTABLE),
        ([WHOLE], [container({}, {})], BURSTABLE),
        ([container({"cpu": "1"}, BOTH)], [], BURSTABLE),
        ([container({"cpu": "1"}, {"cpu": "1"})], [], BURSTABLE),
        ([container({"cpu": "500m", "memory": "1Gi"}, BOTH)], [], BURSTABLE),
        ([container({}, BOTH)], [], BURSTABLE),
    ],
)
def test_the_class_is_that_of_all_containers_together(
    containers: list[dict[str, Any]], init_containers: list[dict[str, Any]], qos: str
) -> None:
    spec = {"containers": containers, "initContainers": init_containers}
    assert pod_qos(decode(Pod, {"metadata": {"name": "p"}, "spec": spec})) == qos
