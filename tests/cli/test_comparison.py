"""``session`` and ``diff`` with releases, ``bisect`` and ``upgrade-check`` at the terminal.

Two jobs in two queues whose parent has room for one: v1.11 enqueues both, v1.12 the first; v1.13
has a group that was bound just now be Inqueue for one session more.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from shared_parent import CONF, scenario

from decisions import decided
from plinian.engine.volcano.session.history import resolve
from plinian.replay.cli.main import app
from plinian.replay.compare import compared_sessions as sessions
from plinian.replay.compare.causes import changed, partly
from plinian.replay.compare.decisions import Decision, decisions_of
from plinian.replay.logs.log import opened
from plinian.replay.sessions.session_answer import session_at

OLD, NEW, LATER = "v1.11.0", "v1.12.1", "v1.13.0"
BOTH = ("--release", OLD, "--release", NEW)
SECOND = "default/second"


def run(*arguments: str | Path) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(app, list(map(str, arguments)))


def told(*arguments: str | Path) -> Any:
    """Return the JSON that a command prints, whatever its exit code."""
    ran = run(*arguments, "-o", "json")
    assert ran.exit_code in {0, 1}, ran.output
    return json.loads(ran.stdout)


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the scenario."""
    path = tmp_path_factory.mktemp("shared") / "shared.case.json"
    path.write_text(json.dumps(scenario()), "utf-8")
    return path


@pytest.fixture(scope="module")
def log(case: Path) -> Path:
    """Ingest the scenario; in the log nothing answers what its sessions decide."""
    place = case.with_name("shared.db")
    assert run("ingest", "--log", place, case).exit_code == 0
    return place


# -- session ------------------------------------------------------------------------------------


def test_two_releases_show_what_only_one_decides(log: Path) -> None:
    found = told("session", "--log", log, *BOTH)
    assert found["differ"]
    assert [side["label"] for side in found["sides"]] == [OLD, NEW]
    assert found["decisions"] == [
        {"kind": "enqueue", "about": SECOND, "values": ["yes", None]},
        {"kind": "phase", "about": SECOND, "values": ["Inqueue", "Pending"]},
    ]
    for side, name in zip(found["sides"], (OLD, NEW), strict=True):
        alone = told("session", "--log", log, "--release", name)
        kept = {key: alone[key] for key in side if key != "label"}
        assert {"label": name, **kept} == side
        assert {"binds", "podgroups", "queues", "metrics"} <= kept.keys()


def test_the_first_step_that_differs_has_the_numbers_of_both(log: Path) -> None:
    *_, parting = told("session", "--log", log, *BOTH)["partings"]
    votes = [
        next(step for step in side if step["what"] == "JobEnqueueable") for side in parting["steps"]
    ]
    assert [vote["outcome"] for vote in votes] == ["permit", "reject"]
    assert [vote["numbers"]["queue"] for vote in votes] == ["right", "shared"]
    traces = [
        told("session", "--log", log, "--release", name, "--trace")["trace"] for name in (OLD, NEW)
    ]
    number = parting["number"]
    assert traces[0][:number] == traces[1][:number]
    assert [trace[number] for trace in traces] == [side[0] for side in parting["steps"]]


def test_releases_are_told_apart_by_their_behaviours(log: Path) -> None:
    found = told("session", "--log", log, *BOTH)["behaviours"]
    listed = told("release", "diff", OLD, NEW, "--part", "session")
    assert found == listed
    assert "enqueue_checks_ancestors" in {one["behaviour"] for one in found}


def test_the_behaviour_that_decides_the_step_is_named(log: Path) -> None:
    found = told("session", "--log", log, *BOTH)
    first, *others = found["consulted"]
    assert first["behaviour"] == "enqueue_checks_ancestors"
    assert (first["values"], first["releases"]) == (["no", "yes"], [OLD, NEW])
    assert first["decides"] is True
    assert {one["decides"] for one in others} == {False}
    names = {one["behaviour"] for one in found["behaviours"]}
    assert {one["behaviour"] for one in found["consulted"]} <= set(found["asked"]) < names
    ran = run("session", "--log", log, *BOTH)
    rows = [line.split() for line in ran.stdout.splitlines()]
    assert ["enqueue_checks_ancestors", "no", "yes", "yes", "Together,"] in [
        row[:5] for row in rows
    ]
    left = len(names) - len(found["asked"])
    assert f"{left} other changes had no effect: plinian release diff" in ran.stdout


def test_large_sessions_are_compared_by_their_first_steps(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = told("session", "--log", log, *BOTH)
    assert whole["steps_compared"] is None
    monkeypatch.setattr(sessions, "FIRST_STEPS", 6)
    assert told("session", "--log", log, *BOTH) == {**whole, "steps_compared": 6}
    monkeypatch.setattr(sessions, "FIRST_STEPS", 2)  # they part later, so that all are needed
    assert told("session", "--log", log, *BOTH) == whole
    same = told("session", "--log", log, "--release", NEW, "--release", "v1.12.2")
    assert (same["differ"], same["partings"], same["steps_compared"]) == (False, [], 2)


def test_the_terminal_shows_them_side_by_side(log: Path) -> None:
    ran = run("session", "--log", log, *BOTH, "--release", LATER)
    lines = [line.split() for line in ran.stdout.splitlines()]
    assert ["DECISION", "OBJECT", OLD, NEW, LATER] in lines
    assert ["phase", SECOND, "Inqueue", "Pending", "Pending"] in lines
    assert ["phase", "default/first", "Running", "Running", "Inqueue"] in lines
    assert ["queue", "*", "right", "shared", "shared"] in lines
    assert any(line[:1] == ["running_when"] for line in lines)


def test_the_exit_code_tells_on_request_whether_they_differ(log: Path) -> None:
    assert run("session", "--log", log, *BOTH).exit_code == 0
    assert run("session", "--log", log, *BOTH, "--exit-code").exit_code == 1
    same = run("session", "--log", log, "--at", "@5", *BOTH, "--exit-code")
    assert same.exit_code == 0
    assert same.stdout.startswith("All decide the same.\n")
    assert run("session", "--log", log, "--release", OLD, "--exit-code").exit_code == 0


def test_configurations_are_compared_with_every_release(log: Path, tmp_path: Path) -> None:
    flat, none = tmp_path / "flat.conf", tmp_path / "none.conf"
    flat.write_text(CONF.replace("    enableHierarchy: true\n", ""))
    none.write_text('actions: "enqueue"\ntiers:\n- plugins:\n  - name: gang\n')
    found = told("session", "--log", log, "--conf", flat, "--conf", none)
    assert [side["label"] for side in found["sides"]] == [flat.name, none.name]
    assert found["behaviours"] == []
    bind = {"kind": "bind", "about": f"{SECOND}-0", "values": ["n1", None]}
    assert bind in found["decisions"]
    assert "enqueue" not in {one["kind"] for one in found["decisions"]}
    four = told("session", "--log", log, *BOTH, "--conf", flat, "--conf", none)
    assert [side["label"] for side in four["sides"]] == [
        *(f"{OLD} {flat.name}", f"{OLD} {none.name}"),
        *(f"{NEW} {flat.name}", f"{NEW} {none.name}"),
    ]


# -- diff ---------------------------------------------------------------------------------------


def test_sessions_at_two_points(log: Path) -> None:
    found = told("diff", "@9", "@10", "--log", log, "--release", NEW)
    assert {"kind": "bind", "about": "default/first-0", "values": [None, "n1"]} in (
        found["decisions"]
    )
    assert [side["label"] for side in found["sides"]] == [f"{NEW} @9", f"{NEW} @10"]
    crossed = told("diff", "end", "end", "--log", log, *BOTH)
    assert crossed["decisions"] == told("session", "--log", log, *BOTH)["decisions"]
    assert run("diff", "@9", "@10", "--log", log, "--release", NEW, "--exit-code").exit_code == 1
    assert run("diff", "@10", "@10", "--log", log, "--release", NEW, "--exit-code").exit_code == 0


def test_objects_cannot_be_narrowed_where_sessions_are_compared(log: Path) -> None:
    ran = run("diff", "@8", "@9", "--log", log, "--release", NEW, "--kind", "pods")
    assert (ran.exit_code, "leave them out" in ran.output) == (2, True)
    ran = run("diff", "@8", "@9", "--log", log, *BOTH, "--release", LATER)
    assert (ran.exit_code, "plinian session" in ran.output) == (2, True)


# -- bisect -------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["case", "log"])
def test_the_release_and_the_behaviour_that_hold_a_group_back(
    case: Path, log: Path, what: str
) -> None:
    subject = [case] if what == "case" else ["--log", log]
    found = told("bisect", *subject, "--enqueued", SECOND, "--releases", f"{OLD}..{LATER}")
    flip = found["flip"]
    assert (flip["before"]["answer"], flip["after"]["answer"]) == (True, False)
    assert flip["before"]["at"].startswith("v1.11.")
    assert flip["after"]["at"].startswith("v1.12.")
    assert flip["causes"] == [["enqueue_checks_ancestors"]]
    (row,) = flip["behaviours"]
    assert (row["values"], row["since"]) == (["no", "yes"], ["v1.12.0"])
    votes = [step for step in flip["after"]["steps"] if step["by"] == "capacity"]
    assert [vote["outcome"] for vote in votes] == ["reject"]
    assert votes[0]["numbers"]["queue"] == "shared"


def test_another_question_has_another_cause(case: Path) -> None:
    phase = ("--phase", "default/first=Inqueue")
    span = ("--releases", f"{OLD}..{LATER}")
    flip = told("bisect", case, *phase, *span, "--step", "1")["flip"]
    assert (flip["after"]["at"], flip["causes"]) == (LATER, [["running_when"]])
    ran = run("bisect", case, *phase, *span)
    assert ran.exit_code == 1
    assert f"no as each of the 9 releases from {OLD} to {LATER}\n" in ran.stdout


def test_a_phase_that_no_podgroup_has_is_an_error_that_lists_the_phases(case: Path) -> None:
    ran = run("bisect", case, "--phase", "default/first=Foo")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "no phase 'Foo'" in ran.stderr
    assert "choose from: Pending, Inqueue, Running, Unknown, Completed" in ran.stderr


@pytest.mark.parametrize(
    "way",
    [
        (),
        ("--halve",),
        ("--from", "@1"),
        ("--from", "rv:2", "--linear"),
        ("--from", "@1", "--halve"),
    ],
)
def test_the_event_from_which_on_a_pod_is_bound(tmp_path: Path, way: tuple[str, ...]) -> None:
    story = scenario(1)
    story["steps"] = [{"events": [event]} for event in story["steps"][0]["events"]]
    path, place = tmp_path / "a.case.json", tmp_path / "a.db"
    path.write_text(json.dumps(story), "utf-8")
    assert run("ingest", "--log", place, path).exit_code == 0
    flip = told("bisect", "--log", place, "--bound", "default/first-0", *way)["flip"]
    (event,) = flip["events"]
    assert (event["kind"], event["object"]) == ("pod.created", "default/first-0")
    assert flip["before"]["says"] == "no such pod"
    assert flip["after"]["says"] == "on n1"
    assert told("session", "--log", place, "--at", flip["after"]["at"])["binds"]
    assert not told("session", "--log", place, "--at", flip["before"]["at"])["binds"]


def test_what_comes_and_goes_is_found_session_by_session(case: Path) -> None:
    found = told("bisect", case, "--phase", "default/first=Inqueue", "--release", LATER)
    assert [probe["says"] for probe in found["probes"]] == ["Inqueue", "Running"]
    assert (found["flip"]["before"]["at"], found["flip"]["after"]["at"]) == ("step 1", "step 2")


def test_where_the_scheduler_begins_to_die(tmp_path: Path) -> None:
    story = dict(decided()["hdrf-1"]["case"])
    story["steps"] = story["steps"][:1]
    path, place = tmp_path / "a.case.json", tmp_path / "a.db"
    path.write_text(json.dumps(story), "utf-8")
    assert run("ingest", "--log", place, path).exit_code == 0
    flip = told("bisect", "--log", place, "--panic")["flip"]
    recorded = decided()["hdrf-1"][NEW]["steps"][0]["panic"]
    assert (flip["before"]["says"], flip["after"]["says"]) == ("alive", recorded)


def test_pending_is_the_opposite_of_bound_while_the_pod_is_there(log: Path) -> None:
    for at, bound, pending in (("@9", False, False), ("end", True, False)):
        asked = ("--log", log, "--from", at, "--to", at)
        (one,) = told("bisect", *asked, "--bound", "default/first-0")["probes"]
        (two,) = told("bisect", *asked, "--pending", "default/first-0")["probes"]
        assert (one["answer"], two["answer"]) == (bound, pending)
    (waits,) = told("bisect", "--log", log, "--from", "@14", "--pending", "default/second-0")[
        "probes"
    ]
    assert waits["answer"]
    assert waits["says"].startswith("pending: ")


def test_faults_of_a_bisection_say_what_now(log: Path, case: Path) -> None:
    for wrong, now in (
        (("bisect", "--log", log), "choose exactly one of --bound"),
        (("bisect", "--log", log, "--bound", "p"), "--bound default/train-0"),
        (("bisect", "--log", log, "--panic", "--releases", "v1.12.1"), "v1.11.0..v1.12.1"),
        (("bisect", "--log", log, "--panic", "--from", "@9", "--to", "@7"), "earlier point"),
        (("bisect", "--log", log, "--panic", "--from", "@9", "--to", "rv:11"), "@7 and @9"),
        (("bisect", "--log", log, "--panic", "--step", "1"), "plinian bisect --help"),
        (("bisect", case, "--panic", "--linear"), "plinian bisect --help"),
        (("bisect", case, "--panic", "--halve"), "plinian bisect --help"),
        (("bisect", "--log", log, "--panic", "--halve", "--linear"), "leave one out"),
        (("bisect", case, "--panic", "--step", "9"), "steps with a session: 1, 2"),
        (("bisect", case.with_name("none.case.json"), "--panic"), "no such file"),
    ):
        ran = run(*wrong)
        assert ran.exit_code == 2
        assert now in ran.output


# -- upgrade-check ------------------------------------------------------------------------------


def test_a_whole_log_is_grouped_by_what_makes_it_differ(log: Path) -> None:
    found = told("upgrade-check", "--log", log, "--from", OLD, "--to", LATER, "-j", "1")
    assert (found["differ"], found["logged"], found["sessions"]) == (True, True, 2)
    causes = {group["causes"][0][0]: group for group in found["groups"]}
    assert sorted(causes) == ["enqueue_checks_ancestors", "running_when"]
    held = causes["enqueue_checks_ancestors"]
    assert {(one["kind"], one["about"]) for one in held["decisions"]} == {
        ("enqueue", SECOND),
        ("phase", SECOND),
    }
    assert [one["about"] for one in causes["running_when"]["decisions"]] == ["default/first"] * 2
    for group in found["groups"]:
        for one in group["decisions"]:
            sides = told(
                *("session", "--log", log, "--at", one["at"]),
                *("--release", OLD, "--release", LATER),
            )
            assert {key: one[key] for key in ("kind", "about", "values")} in sides["decisions"]


def test_an_upgrade_check_says_whether_it_counts_the_log_or_a_part_of_it(log: Path) -> None:
    check = ("upgrade-check", "--log", log, "--from", OLD, "--to", LATER, "-j", "1")
    whole, part = run(*check).stdout, run(*check, "--at", "end").stdout
    assert whole == part
    known = json.loads(run(*check, "-o", "json").stdout)["known"]
    assert f"{known} in the log)." in whole
    early = json.loads(run(*check, "--at", "@13", "-o", "json").stdout)["known"]
    assert 0 < early < known
    assert f"{early} up to this moment)." in run(*check, "--at", "@13").stdout


def test_the_exit_code_of_an_upgrade(log: Path) -> None:
    check = ("upgrade-check", "--log", log, "-j", "1")
    differs = run(*check, "--from", OLD, "--to", NEW, "--exit-code")
    assert differs.exit_code == 1
    assert "enqueue_checks_ancestors" in differs.stdout
    assert run(*check, "--from", OLD, "--to", NEW).exit_code == 0
    same = run(*check, "--from", NEW, "--to", NEW, "--exit-code")
    assert (same.exit_code, same.stderr) == (0, "")
    assert run(*check, "--from", OLD, "--to", NEW, "--at", "rv:9", "--exit-code").exit_code == 2


def test_an_upgrade_begins_with_a_verdict(log: Path) -> None:
    check = ("upgrade-check", "--log", log, "-j", "1")
    ran = run(*check, "--from", OLD, "--to", LATER)
    assert ran.stdout.startswith("Verdict: only phases change (2 PodGroups in 2 sessions)\n")
    found = told(*check, "--from", OLD, "--to", LATER)
    assert found["verdict"] == "phases"
    (effect,) = found["effects"]
    assert (effect["level"], effect["objects"], effect["sessions"]) == ("phases", 2, 2)
    same = run(*check, "--from", NEW, "--to", NEW)
    assert same.stdout.startswith("Verdict: nothing changes\n")
    sample = run(*check, "--from", NEW, "--to", NEW, "--sample", "1").stdout
    assert sample.startswith("Verdict: nothing changes in the 1 of 2 sessions that were compared\n")
    some = run(*check, "--from", OLD, "--to", LATER, "--sample", "1").stdout
    assert some.splitlines()[0].endswith(", in the 1 of 2 sessions that were compared")
    assert told(*check, "--from", NEW, "--to", NEW)["verdict"] == "nothing"


def test_an_upgrade_also_changes_what_sessions_do_not_show(log: Path) -> None:
    ran = run("upgrade-check", "--log", log, "-j", "1", "--from", OLD, "--to", NEW)
    others = ("--part", "cache", "--part", "controllers")
    differing = told("release", "diff", OLD, NEW, *others)
    assert f"{len(differing)} behaviours of the cache and the controllers also differ" in ran.stderr
    assert f"plinian release diff {OLD} {NEW} {' '.join(others)}" in ran.stderr


def test_processes_and_hash_seeds_make_no_difference(log: Path) -> None:
    found = []
    for jobs, seed in (("1", "1"), ("2", "2")):
        ran = subprocess.run(
            [
                *(sys.executable, "-m", "plinian", "upgrade-check", "--log", log, "-j", jobs),
                *("--from", OLD, "--to", LATER, "-o", "json"),
            ],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        )
        found.append(ran.stdout)
    assert found[0] == found[1]
    assert json.loads(found[0])["differ"]


def test_a_sample_of_a_log_without_sessions(tmp_path: Path) -> None:
    story = scenario(1)
    story["steps"][0]["noSession"] = True
    path, place = tmp_path / "a.case.json", tmp_path / "a.db"
    path.write_text(json.dumps(story), "utf-8")
    assert run("ingest", "--log", place, path).exit_code == 0
    check = ("upgrade-check", "--log", place, "-j", "1", "--from", OLD, "--to", NEW)
    whole, some = told(*check), told(*check, "--sample", "3")
    assert (whole["logged"], whole["sessions"], whole["known"]) == (False, 10, 10)
    assert (some["sessions"], some["known"]) == (3, 10)
    assert some["groups"][0]["causes"] == [["enqueue_checks_ancestors"]]


@pytest.mark.slow
def test_however_many_processes_a_log_is_checked_by(tmp_path: Path) -> None:
    place = tmp_path / "demo.db"
    assert run("demo", "--log", place).exit_code == 0
    check = ("upgrade-check", "--log", place, "--from", OLD, "--to", "v1.15.1", "--sample", "12")
    alone, together = (told(*check, "--jobs", jobs) for jobs in ("1", "2"))
    assert alone == together
    assert alone["differ"]


def test_causes_are_those_that_make_a_difference_go(log: Path) -> None:
    """Every behaviour is tried by itself, as the check itself does not."""
    found = told("upgrade-check", "--log", log, "--from", OLD, "--to", LATER, "-j", "1")
    one, other = resolve(OLD), resolve(LATER)
    values = changed(one, other)
    with opened(str(log), read_only=True) as opened_log:
        for group in found["groups"]:
            for decision in group["decisions"]:
                key = Decision(decision["kind"], decision["about"])
                alone = []
                for name in values:
                    behaviours = partly(other, values, (name,))
                    answer = session_at(opened_log, decision["at"], release=behaviours)
                    if decisions_of(answer).get(key) == decision["values"][0]:
                        alone.append([name])
                assert alone == group["causes"]


def test_an_unknown_release_is_refused_before_anything_runs(log: Path) -> None:
    ran = run("upgrade-check", "--log", log, "--from", "v0.1.0", "--to", NEW)
    assert ran.exit_code == 2
    assert "known are" in ran.output
