"""Many objects under many releases are checked before anybody grows impatient.

How long that may take is told in work of another kind that is measured beside it: a machine that
has much else to do is slow at both.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

from linting import RELEASES, TREE, conf_of, group, queue

from plinian.replay.lint.findings import FilePlace
from plinian.replay.lint.inputs import LintInputs
from plinian.replay.lint.objects import Manifest
from plinian.replay.lint.run import lint

GROUPS, QUEUES = 10_000, 200

ROUNDS = 40.0
"""Rounds of :func:`other_work` that it may take; on a quiet machine they are two seconds."""


def other_work() -> int:
    """Make and look up many small objects, as a check does."""
    found: dict[tuple[str, int], list[int]] = {}
    for number in range(150_000):
        found.setdefault((f"q{number % 977}", number % 13), []).append(number)
    return sum(len(some) for some in found.values())


def seconds(work: Callable[[], object]) -> float:
    """Return the processor's time that some work takes in this process."""
    begun = process_time()
    work()
    return process_time() - begun


def test_ten_thousand_pod_groups_take_as_long_as_a_few_rounds_of_other_work() -> None:
    queues = [queue(f"q{number}", capability={"cpu": 20}) for number in range(QUEUES)]
    groups = [
        group(f"g{number}", f"q{number % QUEUES}", minMember=2, minResources={"cpu": number % 22})
        for number in range(GROUPS)
    ]
    manifests = [
        Manifest(document, FilePlace("a.yaml", line, line))
        for line, document in enumerate([*queues, *groups], start=1)
    ]

    def check() -> int:
        found = lint(LintInputs(manifests, [conf_of(TREE)]), RELEASES)
        return sum(finding.rule == "min-resources-above-queue" for finding in found)

    assert check() > 400
    # Taken in turn, so that both have the same neighbours; the least has the fewest.
    pairs = [(seconds(check), seconds(other_work)) for _ in range(3)]
    took, other = (min(times) for times in zip(*pairs, strict=True))
    assert took < ROUNDS * other, f"{took:.2f} s, and a round {other:.3f} s"
