"""A check of twice as many objects is twice the work.

Work is counted in lines of Python that run, not in seconds: a busy machine runs as many.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from linting import RELEASES, TREE, conf_of, group, queue

from plinian.replay.lint.conf_outline import outline
from plinian.replay.lint.findings import FilePlace
from plinian.replay.lint.lint_inputs import LintInputs
from plinian.replay.lint.lint_run import lint
from plinian.replay.lint.objects import Manifest

GROUPS_OF_A_QUEUE = 10
QUEUES = 5


def lines_run(work: Callable[[], object]) -> int:
    """Return how many lines some work runs."""
    count = 0

    def trace(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def inputs(queues: int) -> LintInputs:
    """Return that many queues, with groups of which some demand more than the queue has."""
    groups = [
        group(f"g{number}", f"q{number % queues}", minMember=2, minResources={"cpu": number % 22})
        for number in range(queues * GROUPS_OF_A_QUEUE)
    ]
    documents = [
        *(queue(f"q{number}", capability={"cpu": 20}) for number in range(queues)),
        *groups,
    ]
    return LintInputs(
        [
            Manifest(document, FilePlace("a.yaml", line, line))
            for line, document in enumerate(documents, start=1)
        ],
        [conf_of(TREE)],
    )


def checked(given: LintInputs) -> int:
    """Return the number of groups that demand more than their queue has."""
    found = lint(given, RELEASES)
    return sum(finding.rule == "min-resources-above-queue" for finding in found)


def growth(work: Callable[[int], object], size: int) -> float:
    """Return how many times more lines the second step up runs, which is twice the first.

    It is two for work that grows with the size, and four for work that grows with its square; what
    is done once, whatever the size, does not count.
    """
    few, more, most = (lines_run(lambda times=times: work(size * times)) for times in (1, 2, 4))
    return (most - more) / (more - few)


def test_the_work_of_a_check_grows_with_the_number_of_objects() -> None:
    assert checked(inputs(QUEUES)) > 1
    given = {size: inputs(size) for size in (QUEUES, 2 * QUEUES, 4 * QUEUES)}
    assert growth(lambda size: checked(given[size]), QUEUES) < 2.2


def test_work_that_grows_with_the_square_is_seen_in_the_count_of_lines() -> None:
    def pairs(size: int) -> int:
        return sum(1 for one in range(size) for other in range(size) if one < other)

    assert growth(pairs, 20) > 3.5


def test_the_outline_of_a_text_is_made_once_for_all_rules_and_releases() -> None:
    before = outline.cache_info().misses
    lint(LintInputs([], [conf_of(f"{TREE}# not seen before\n")]), RELEASES)
    assert outline.cache_info().misses == before + 1
