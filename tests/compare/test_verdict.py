"""The verdict on an upgrade: what anybody would notice, and what is folded."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner

from plinian.replay.cli.main import app
from plinian.replay.compare.causes import most_specific_first
from plinian.replay.compare.verdict import (
    CauseGroup,
    ChangedDecision,
    Upgrade,
    VerdictEffect,
    level_of,
    verdict_of,
)
from plinian.replay.questions.upgrade_check import UpgradeCheckQuestion
from plinian.replay.render.comparison import cause_text
from plinian.replay.render.upgrade import upgrade_lines

RELEASES = ("v1.12.1", "v1.13.0")


def differs(kind: str, one: str | None, other: str | None, about: str = "d/p", at: int = 1) -> Any:
    """Return a difference at a revision."""
    return ChangedDecision(f"rv:{at}", at, kind, about, (one, other), (("some_behaviour",),))


def upgrade(*every: ChangedDecision, sessions: int = 9) -> Upgrade:
    """Return the answer that has these differences, for one reason."""
    at = len({one.at for one in every})
    groups = (CauseGroup((("some_behaviour",),), every, at),) if every else ()
    return Upgrade(RELEASES, True, sessions, sessions, at, groups, ())


def text(found: Upgrade, *, unfold: bool = False) -> str:
    """Return what is printed."""
    return "".join(upgrade_lines(found, unfold=unfold))


@pytest.mark.parametrize(
    ("found", "level"),
    [
        (differs("crash", None, "nil map", ""), "crashes"),
        (differs("crash", "nil map", None, ""), "crashes"),
        (differs("crash", "nil map", "index out of range", ""), "unfelt"),
        (differs("stop", None, "capacity refuses", ""), "stops"),
        (differs("stop", "capacity refuses", "capacity", ""), "unfelt"),
        (differs("bind", "n1", "n2"), "placements"),
        (differs("bind", None, "n2"), "placements"),
        (differs("evict", None, "preempt"), "evictions"),
        (differs("evict", "reclaim", "preempt"), "unfelt"),
        (differs("pipeline", "n1", None), "unfelt"),
        (differs("enqueue", "yes", None), "phases"),
        (differs("phase", "Running", "Inqueue"), "phases"),
    ],
)
def test_a_difference_is_as_grave_as_it_is_felt(found: ChangedDecision, level: str) -> None:
    assert level_of(found) == level
    assert verdict_of(upgrade(found)).level == level


def test_a_stop_of_all_scheduling_is_said_before_what_comes_of_it() -> None:
    found = upgrade(
        differs("bind", "n1", None, "d/p", 1),
        differs("bind", "n1", None, "d/q", 1),
        differs("stop", None, "plugin capacity refuses the tree of queues", "", 1),
    )
    assert text(found).startswith(
        "Verdict: all scheduling stops as v1.13.0 where it goes on as v1.12.1 (1 session), "
        "placements change (2 pods in 1 session)"
    )


def test_a_cause_of_several_behaviours_is_no_single_one() -> None:
    assert cause_text([("a",), ("b",)]) == "a or b"
    assert cause_text([("a", "b")]) == "no single behaviour, but together a and b"
    assert cause_text([]) == "not found: no behaviour explains it, alone or with others"


def test_of_several_causes_the_one_that_changes_least_comes_first() -> None:
    found = [("shared_devices",), ("devices_scored",), ("root_queue",)]
    effects = {"shared_devices": 2, "devices_scored": 2, "root_queue": 1}
    ordered = most_specific_first(found, lambda cause: effects[cause[0]])
    assert ordered == [("root_queue",), ("devices_scored",), ("shared_devices",)]


def test_the_gravest_comes_first_and_objects_are_counted_once() -> None:
    found = upgrade(
        differs("phase", "Running", "Inqueue", "d/g", 1),
        differs("phase", "Running", "Inqueue", "d/g", 2),
        differs("evict", None, "reclaim", "d/p", 2),
        differs("bind", "n1", "n2", "d/q", 3),
        differs("bind", "n1", None, "d/r", 3),
        differs("pipeline", "n1", "n2", "d/s", 4),
        differs("crash", None, "nil map", "", 5),
    )
    judged = verdict_of(found)
    assert judged.level == "crashes"
    assert judged.effects == (
        VerdictEffect("crashes", 1, 0, 1),
        VerdictEffect("placements", 2, 2, 1),
        VerdictEffect("evictions", 1, 1, 1),
        VerdictEffect("phases", 2, 1, 2),
        VerdictEffect("unfelt", 1, 1, 1),
    )
    assert text(found).splitlines()[0] == (
        "Verdict: v1.13.0 panics where v1.12.1 does not (1 session), placements change "
        "(2 pods in 1 session), evictions change (1 pod in 1 session), "
        "phases change (1 PodGroup in 2 sessions)"
    )
    assert found.document.effects[1] == judged.effects[1]


def test_what_nobody_feels_is_one_line_unless_it_is_asked_for() -> None:
    found = upgrade(differs("pipeline", "n1", "n2", "d/s", 4), differs("evict", "a", "b", "d/t", 4))
    folded, unfolded = text(found), text(found, unfold=True)
    assert folded.startswith("Verdict: nothing changes but texts and plans for waiting pods\n")
    assert (
        "Not shown: 2 differences of texts and of plans for waiting pods (see them with --all)"
        in folded
    )
    assert "d/s" not in folded
    assert "d/s" in unfolded
    assert "d/t" in unfolded
    assert "Folded" not in unfolded


def _code(found: Upgrade, *, unfold: bool) -> int:
    """Return the exit code, if one is asked for."""
    return UpgradeCheckQuestion(from_=RELEASES[0], to=RELEASES[1], unfold=unfold).code(
        found, asked=True
    )


def test_the_exit_code_is_that_of_the_verdict() -> None:
    unfelt, noticed = upgrade(differs("pipeline", "n1", "n2")), upgrade(differs("bind", "n1", "n2"))
    assert [_code(noticed, unfold=unfold) for unfold in (False, True)] == [1, 1]
    assert [_code(unfelt, unfold=unfold) for unfold in (False, True)] == [0, 1]
    assert _code(upgrade(), unfold=True) == 0
    assert _code(upgrade(sessions=0), unfold=False) == 2
    assert text(upgrade(sessions=0)).startswith(
        "Verdict: not known whether anything changes: the log has no session to compare\n"
    )


def test_the_codes_are_documented() -> None:
    told = CliRunner().invoke(app, ["upgrade-check", "--help"]).stdout
    assert "Exits with 2 if the verdict is not known" in " ".join(told.split())
