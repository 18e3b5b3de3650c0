"""reclaim: where evicting helps."""

from __future__ import annotations

from plinian.engine.model.session_tables import TaskStatus
from plinian.engine.session.actions import ACTIONS
from plinian.engine.session.nodes.node_views import NodeViews
from sessions import group, names, node, opened, pod, queue, tasks


def test_pods_are_reclaimed_on_a_node_with_less_gpus_than_are_used() -> None:
    # The node lost GPUs: it has less than none idle. Who asks for no GPU does not mind.
    gpus = {"nvidia.com/gpu": "2"}
    ssn, _ = opened(
        "gang conformance proportion",
        node("n", cpu=4, more={"nvidia.com/gpu": "1"}),
        queue("rich", reclaimable=True),
        queue("poor"),
        group("large", queue="rich"),
        pod("first", "large", cpu=2, on="n", requests=gpus),
        pod("second", "large", cpu=2, on="n", requests=gpus),
        group("waiting", queue="poor"),
        pod("waits", "waiting", cpu=2),
    )
    gpu = ssn.dims.index("nvidia.com/gpu")
    assert ssn.nodes.idle[0, gpu] == -3000
    ACTIONS["reclaim"](ssn, NodeViews(ssn))
    assert names(ssn, [task for task, _ in ssn.evictions]) == ["first"]
    assert ssn.tasks.status[tasks(ssn, "waits")[0]] == TaskStatus.PIPELINED
