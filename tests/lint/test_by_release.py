"""A finding names the releases of which it is true, and no others."""

from __future__ import annotations

import pytest
from linting import RELEASES, TREE, conf_of, found, inputs_of, job, node, queue, task

from plinian.engine.errors import UsageError
from plinian.engine.session.framework.session import Session
from plinian.engine.session.plugins import BUILDERS
from plinian.engine.volcano.admission import Partitions, partitions_of, task_minimum
from plinian.engine.volcano.conf import ConfInvalid, parse_scheduler_conf
from plinian.engine.volcano.session.history import SUPPORTED
from plinian.replay.lint.findings import FaultEffect
from plinian.replay.lint.lint_run import lint
from plinian.replay.lint.lint_task import LintTask, check, in_order
from plinian.replay.lint.manifest_reading import WrittenFiles
from plinian.replay.lint.victim_tiers import VOTERS
from plinian.replay.render.lint import lint_summary, ranges_text
from sessions import opened

MISSPELT = TREE.replace("allocate", "allocat")


def test_a_misspelt_action_is_rejected_where_the_release_rejects_it() -> None:
    told = {
        release: finding.issue.effect
        for finding in found(conf=MISSPELT, rule="action-unknown")
        for release in finding.releases
    }
    for how in RELEASES:
        try:
            parse_scheduler_conf(MISSPELT, how)
            rejected = False
        except ConfInvalid:
            rejected = True
        expected = FaultEffect.REFUSED if rejected else FaultEffect.UNKNOWN
        assert told[how.release] is expected, how.release
    assert told["v1.11.2"] is FaultEffect.REFUSED
    assert told["v1.12.0"] is FaultEffect.UNKNOWN


PARTED = {"totalPartitions": 4, "partitionSize": 2, "minPartitions": 1}


@pytest.mark.parametrize(
    ("release", "how", "pods"),
    [
        ("v1.13.3", Partitions.IGNORED, (8, 8)),
        ("v1.14.0", Partitions.ALWAYS, (2, 0)),
        ("v1.14.2", Partitions.ALWAYS, (2, 0)),
        ("v1.14.3", Partitions.IF_SET, (2, 8)),
        ("v1.15.0", Partitions.ALWAYS, (2, 0)),
        ("v1.15.1", Partitions.IF_SET, (2, 8)),
    ],
)
def test_partitions_set_the_minimum_of_a_task_that_has_none(
    release: str, how: Partitions, pods: tuple[int, int]
) -> None:
    assert partitions_of(release) is how
    assert tuple(task_minimum(None, 8, (least, 2), how) for least in (1, 0)) == pods
    assert task_minimum(3, 8, (1, 2), how) == 3


def test_a_job_of_partitions_needs_no_more_than_its_partitions() -> None:
    """Two pods of one cpu fit on a node of four; all eight do not."""
    parted = job("j", task("w", 8, partitionPolicy=PARTED))
    (finding,) = found(node("n", "4"), parted, conf=TREE, rule="min-resources-above-cluster")
    assert finding.releases[-1] == "v1.13.3"
    whole = job("j", task("w", 8))
    (finding,) = found(node("n", "4"), whole, conf=TREE, rule="min-resources-above-cluster")
    assert finding.releases[-1] == "v1.15.1"


def test_the_minimum_of_partitions_is_not_above_the_jobs_own() -> None:
    policy = {"totalPartitions": 4, "partitionSize": 2, "minPartitions": 2}
    parted = job("j", task("a", 1, minAvailable=1), task("w", 8, partitionPolicy=policy))
    parted["spec"]["minAvailable"] = 5
    (finding,) = found(parted, rule="task-minima-ignored")
    assert finding.releases[-1] == "v1.13.3"


def test_victims_are_chosen_by_the_plugins_that_the_rule_names() -> None:
    points = {"reclaim": "Reclaimable", "gangreclaim": "UnifiedEvictable"}
    for action, point in points.items():
        choosing = {name for name in BUILDERS if _chooses(name, point)}
        assert choosing == VOTERS[action], action


def _chooses(plugin: str, point: str) -> bool:
    if plugin in {"extender", "usage"}:
        return False  # They ask services; extender chooses if it has a verb.
    ssn: Session
    ssn, _ = opened(plugin, release=str(SUPPORTED[-2]))
    return any(name == plugin for tier in ssn.registry.functions(point) for name, _ in tier)


@pytest.mark.parametrize("knowing", ["capacity", "proportion"])
def test_a_tier_that_chooses_victims_above_the_one_that_knows_what_queues_deserve(
    knowing: str,
) -> None:
    conf = (
        'actions: "allocate, reclaim"\ntiers:\n- plugins:\n  - name: priority\n'
        f"  - name: conformance\n- plugins:\n  - name: {knowing}\n  - name: predicates\n"
    )
    (finding,) = found(conf=conf, rule="reclaim-below-deserved")
    assert finding.issue.subject.place is not None
    assert finding.issue.subject.place.line == 7
    sound = (
        conf.replace("  - name: conformance\n", "").replace(
            f"  - name: {knowing}\n", f"  - name: conformance\n  - name: {knowing}\n"
        ),
        conf.replace("conformance\n", "conformance\n    enableReclaimable: false\n"),
        conf.replace(", reclaim", ""),
    )
    for other in sound:
        assert found(conf=other, rule="reclaim-below-deserved") == []


def test_releases_are_told_in_their_order_and_once() -> None:
    given = ["v1.15.1", "v1.8.0", "v1.12.1", "v1.8.0", "v1.12.0"]
    assert in_order(given) == ["v1.8.0", "v1.12.0", "v1.12.1", "v1.15.1"]
    assert in_order(["hardened", "1.9.0", "v1.9.0"]) == ["v1.9.0", "hardened"]
    assert ranges_text(in_order(given)) == "v1.8.0,v1.12.0..v1.12.1,v1.15.1"
    task_of = LintTask(WrittenFiles((), (conf_of(MISSPELT),)))
    report = check(task_of, given)
    assert report.releases == ("v1.8.0", "v1.12.0", "v1.12.1", "v1.15.1")
    assert lint_summary(report).endswith("under v1.8.0,v1.12.0..v1.12.1,v1.15.1")
    told = {one.releases for one in report.findings if one.rule == "action-unknown"}
    assert told == {("v1.8.0", "v1.15.1"), ("v1.12.0", "v1.12.1")}
    with pytest.raises(UsageError):
        in_order(["v1.7.0"])


def test_the_order_of_given_releases_changes_no_finding() -> None:
    world = inputs_of(queue("a", parent="lost"), conf=MISSPELT)
    told = [
        {(one.rule, one.message, frozenset(one.releases)) for one in lint(world, releases)}
        for releases in (RELEASES, RELEASES[::-1])
    ]
    assert told[0] == told[1]


@pytest.mark.parametrize("action", ["shuffel", "gangpreemt", "allocat"])
def test_what_is_to_be_done_differently_is_still_one_finding(action: str) -> None:
    some = found(conf=TREE.replace("allocate", f"allocate, {action}"), rule="action-unknown")
    said = [(one.message, one.issue.effect) for one in some]
    assert len(said) == len({*said})
    assert {release for one in some for release in one.releases} == {
        how.release for how in RELEASES
    }


def test_advice_that_differs_between_releases_says_since_when() -> None:
    conf = TREE.replace("allocate", "allocate, gangpreempd")
    advice = {one.issue.now for one in found(conf=conf, rule="action-unknown")}
    assert any("; since v1." in one for one in advice), advice
