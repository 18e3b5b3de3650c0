"""What queues hold at the close, up to the root, and trees that end the scheduler."""

from __future__ import annotations

import pytest

from plinian.engine.model.panic import Panic
from plinian.engine.session.close import close
from plinian.engine.session.framework.session_outcome import SessionResult
from sessions import Document, group, node, opened, pod, queue


def closed(*queues: Document, of: str = "a") -> SessionResult:
    """Return what a session writes in which a pod of one core runs in a queue."""
    running = pod("p", "g", on="n1")
    ssn, _ = opened("gang", node("n1"), *queues, group("g", queue=of), running)
    result = SessionResult()
    close(ssn, result)
    return result


def cores(result: SessionResult) -> dict[str, str]:
    """Return the cores that each queue holds."""
    return {name: status.allocated["cpu"] for name, status in result.queues.items()}


def test_what_a_queue_holds_counts_in_all_above() -> None:
    tree = (queue("root"), queue("a", parent="b"), queue("b"), queue("c"))
    assert cores(closed(*tree)) == {"a": "1", "b": "1", "c": "0", "root": "1"}


def test_without_a_root_no_queue_is_above_another() -> None:
    assert cores(closed(queue("a", parent="b"), queue("b"))) == {"a": "1", "b": "0"}


def test_what_runs_in_the_root_itself_counts_twice() -> None:
    assert cores(closed(queue("root"), of="root")) == {"root": "2"}


def test_a_parent_that_is_missing_crashes() -> None:
    with pytest.raises(Panic, match="nil pointer") as caught:
        closed(queue("root"), queue("a", parent="gone"))
    assert caught.value.place[:2] == ("api.(*Resource).Add", "framework.updateQueueStatus")


def test_a_parent_that_is_missing_does_no_harm_where_nothing_runs() -> None:
    tree = (queue("root"), queue("a"), queue("b", parent="gone"))
    assert cores(closed(*tree)) == {"a": "1", "b": "0", "root": "1"}


@pytest.mark.parametrize("parents", [{"a": "a"}, {"a": "b", "b": "a"}, {"a": "b", "b": "b"}])
def test_queues_above_each_other_are_never_done_with(parents: dict[str, str]) -> None:
    tree = [queue(name, parent=parent) for name, parent in parents.items()]
    with pytest.raises(Panic, match="this never ends"):
        closed(queue("root"), *tree)
