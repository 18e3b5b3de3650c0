"""One queue does not stop the jobs of all others."""

from __future__ import annotations

import pytest
from invariant_views import Story

from plinian.engine.invariants.view import QueueLimits, SessionView
from plinian.engine.session.framework.session_outcome import SessionResult
from plinian.replay.invariants.blast_radius import blast_radius
from plinian.replay.invariants.queue_tree_invariant import queue_tree
from plinian.replay.lint.findings import FindingSubject
from plinian.replay.lint.lint_inputs import Configuration
from sessions import group, node, queue

CONF = 'actions: "enqueue"\ntiers:\n- plugins:\n  - name: capacity\n    enableHierarchy: true\n'
GIVEN = Configuration(CONF, FindingSubject("", "SchedulerConfiguration", "conf"))


class Without:
    """A session that enqueues this without the limits of a queue."""

    def __init__(self, *enqueued: str) -> None:
        self._enqueued = list(enqueued)

    def with_last_names(self) -> SessionResult | None:
        return None

    def without_limits(self, queue: str) -> SessionResult:
        assert queue == "big"
        return SessionResult(enqueued=self._enqueued)


@pytest.mark.parametrize(
    ("capability", "decided", "without", "names"),
    [
        ("100", [], ["ns/theirs"], ["big"]),
        ("1", [], ["ns/theirs"], []),  # its limits contradict nothing
        ("100", ["ns/theirs"], ["ns/theirs"], []),  # the others go on
        ("100", [], ["ns/own"], []),  # only its own jobs gain
    ],
)
def test_a_queue_whose_limits_stop_the_jobs_of_another_one(
    capability: str, decided: list[str], without: list[str], names: list[str]
) -> None:
    story = Story(node("n1", cpu=4), queue("root"), queue("default", parent="root"))
    story.then("created", queue("big", capability={"cpu": capability}, parent="root"))
    story.then("created", group("theirs", 1, "Pending"))
    story.then("created", group("own", 1, "Pending", queue="big"))
    result = SessionResult(enqueued=decided)
    again = Without(*without)
    story.view.session = SessionView(result, QueueLimits.TREE, frozenset({"capacity"}), again)
    invariant = blast_radius(queue_tree(lambda: GIVEN))
    assert [one.name for one in invariant.check(story.view, "")] == names
