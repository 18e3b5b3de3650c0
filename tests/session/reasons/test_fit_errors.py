"""The sentence that says why no node takes a task."""

from __future__ import annotations

from plinian.engine.session.plugins.predicates.filter_answers import POD_NUMBER
from plinian.engine.session.plugins.predicates.taint_toleration import CORDONED
from plinian.engine.session.reasons.fit_errors import FitErrors
from plinian.engine.session.reasons.objections import too_little
from plinian.engine.session.reasons.statuses import NodeRefusal, Reasons, StatusCode


def test_counts_are_sorted_as_texts() -> None:
    reasons = Reasons()
    errors = FitErrors.none(reasons, 12)
    errors.set_all(reasons.intern(StatusCode.UNSCHEDULABLE, too_little("cpu")))
    for node in (0, 1):
        errors.set_node_error(node, reasons.intern(StatusCode.UNSCHEDULABLE, too_little("memory")))
    assert errors.error() == (
        "0/12 nodes are unavailable: 10 Insufficient cpu, 2 Insufficient memory."
    )


def test_the_number_of_nodes_stays_that_of_the_first_call() -> None:
    reasons = Reasons()
    errors = FitErrors.none(reasons, 3)
    short = reasons.intern(StatusCode.UNSCHEDULABLE, too_little("cpu"))
    errors.set_node_error(0, short)
    assert errors.error() == "0/1 nodes are unavailable: 1 Insufficient cpu."
    errors.set_node_error(1, short)
    assert errors.error() == "0/1 nodes are unavailable: 2 Insufficient cpu."


def test_a_node_with_several_reasons_counts_for_each() -> None:
    reasons = Reasons()
    errors = FitErrors.none(reasons, 2)
    both = reasons.intern_all(
        (
            NodeRefusal(StatusCode.UNSCHEDULABLE, POD_NUMBER),
            NodeRefusal(StatusCode.UNSCHEDULABLE_AND_UNRESOLVABLE, CORDONED),
        )
    )
    errors.set_node_error(1, both)
    assert errors.error() == (
        "0/1 nodes are unavailable: 1 node(s) pod number exceeded, 1 node(s) were unschedulable."
    )
    assert errors.unresolvable_nodes().tolist() == [False, True]


def test_no_failing_node() -> None:
    assert FitErrors.none(Reasons(), 2).error() == "0/0 nodes are unavailable"
