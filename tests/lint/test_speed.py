"""Many objects under many releases are checked before anybody grows impatient."""

from __future__ import annotations

from time import process_time

from linting import RELEASES, TREE, conf_of, group, queue
from plinian.replay.lint.findings import Place
from plinian.replay.lint.objects import Manifest
from plinian.replay.lint.run import lint
from plinian.replay.lint.world import World

GROUPS, QUEUES, SECONDS = 10_000, 200, 2.0


def test_ten_thousand_pod_groups_take_less_than_two_seconds() -> None:
    queues = [queue(f"q{number}", capability={"cpu": 20}) for number in range(QUEUES)]
    groups = [
        group(f"g{number}", f"q{number % QUEUES}", minMember=2, minResources={"cpu": number % 22})
        for number in range(GROUPS)
    ]
    manifests = [
        Manifest(document, Place("a.yaml", line, line))
        for line, document in enumerate([*queues, *groups], start=1)
    ]
    took = []
    for _ in range(2):
        begun = process_time()
        found = lint(World(manifests, [conf_of(TREE)]), RELEASES)
        took.append(process_time() - begun)
    assert sum(finding.rule == "min-resources-above-queue" for finding in found) > 400
    assert min(took) < SECONDS
