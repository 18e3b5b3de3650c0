"""What schedulers really wrote to their logs about trees of queues that are not sound."""

from __future__ import annotations

import pytest

from decisions import case_of
from plinian.engine.volcano.session.history import resolve
from plinian.replay.simulate.simulation import simulate

STOPS = "Failed to check queue's hierarchical structure, error: "
CAPABILITY = (
    "Child queue c1 capability (cpu 8000.00, memory 2147483648.00, pods maxInt) exceeds parent"
    " queue p capability (cpu 5000.00, memory 5368709120.00, pods maxInt) on resources [cpu]."
    " Child's effective capability will be limited by parent."
)
DESERVED = (
    "Sum of child queue deserved (cpu 16000.00, memory 4294967296.00) exceeds parent queue p"
    " deserved (cpu 10000.00, memory 4294967296.00). This may affect resource distribution during"
    " scheduling."
)
GUARANTEES = (
    "Sum of child queue guarantees (cpu 16000.00, memory 4294967296.00) exceeds parent queue p"
    " guarantee (cpu 10000.00, memory 4294967296.00). Not all child guarantees can be satisfied"
    " simultaneously."
)
RECORDED = {
    ("001-child-capability-over-root", "v1.12.1"): [
        STOPS + "queue <root> capability is less than its child queue <test-queue>"
    ],
    ("001-child-capability-over-root", "v1.13.0"): [
        STOPS + "queue <root> capability <cpu 30000.00, memory 24652726272.00, pods 330.00> is less"
        " than its child queue <test-queue> capability"
        " <cpu 20000000.00, memory 21474836480000.00, pods 330.00>"
    ],
    ("001-child-over-parent-not-root", "v1.14.4"): [CAPABILITY],
    ("001-child-over-parent-not-root", "v1.15.1"): [CAPABILITY],
    ("001-children-deserved-sum", "v1.14.4"): [DESERVED],
    ("001-children-guarantee-sum", "v1.15.1"): [DESERVED, GUARANTEES],
    ("001-child-capability-over-root", "v1.15.1"): [],
    ("001-gpu-split", "v1.14.4"): [],
}


@pytest.mark.parametrize(("name", "release"), RECORDED)
def test_the_log_says_of_a_tree_what_it_really_said(name: str, release: str) -> None:
    first = simulate(case_of(name), resolve(release))[0]
    assert first["errors"] == RECORDED[name, release]
