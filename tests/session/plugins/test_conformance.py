"""The conformance plugin: pods that the cluster itself needs."""

from __future__ import annotations

import pytest

from plinian.engine.session.framework import voting
from sessions import group, names, node, opened, pod, queue, tasks


@pytest.mark.parametrize("point", ["preemptable", "reclaimable"])
def test_critical_pods_are_no_victims(point: str) -> None:
    ssn, _ = opened(
        "conformance",
        node("n1"),
        queue("default"),
        group("a"),
        pod("plain", "a", on="n1", priorityClassName="high"),
        pod("cluster", "a", on="n1", priorityClassName="system-cluster-critical"),
        pod("node", "a", on="n1", priorityClassName="system-node-critical"),
        pod("dns", "a", on="n1", namespace="kube-system"),
        pod("new", "a"),
    )
    *candidates, evictor = tasks(ssn, "cluster", "plain", "node", "dns", "new")
    assert names(ssn, getattr(voting, point)(ssn, evictor, candidates)) == ["plain"]
