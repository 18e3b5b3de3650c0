"""``plinian release``: the table of behaviours, release by release."""

from __future__ import annotations

import json
from dataclasses import is_dataclass
from importlib import import_module
from itertools import pairwise

from click.testing import CliRunner, Result

from plinian.engine.volcano.releases import RELEASES, effects_of
from plinian.engine.volcano.table import TABLE, Part, subjects_of
from plinian.replay.cli.main import app

FOLDERS = {Part.SESSION: "session", Part.CACHE: "cache", Part.CONTROLLERS: "controllers"}


def run(*arguments: str) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(app, ["release", *arguments])


def test_the_list_says_what_each_release_changed() -> None:
    listed = json.loads(run("list", "-o", "json").stdout)
    assert [line["name"] for line in listed] == [str(release) for release in RELEASES]
    for before, line in pairwise(listed):
        differing = json.loads(run("diff", before["name"], line["name"], "-o", "json").stdout)
        assert {
            part: [each["behaviour"] for each in differing if each["part"] == part]
            for part in ("session", "cache", "controllers")
        } == line["changed"]


def test_the_list_groups_by_part() -> None:
    shown = [line.split(maxsplit=2) for line in run("list").stdout.splitlines()]
    assert shown[0] == ["RELEASE", "PART", "DIFFERENCES FROM THE RELEASE ABOVE"]
    assert ["v1.12.1", "cache", "queue_status_write"] in shown
    assert ["v1.10.2", "<none>", "<none>"] in shown


def test_parts_of_volcano_may_be_chosen() -> None:
    def parts(*arguments: str) -> list[str]:
        shown = json.loads(run(*arguments, "-o", "json").stdout)
        return list(dict.fromkeys(each["part"] for each in shown))

    assert parts("show", "v1.12.1") == ["session", "cache", "controllers"]
    assert parts("show", "v1.12.1", "--part", "cache") == ["cache"]
    chosen = ("--part", "controllers", "--part", "session")
    assert parts("diff", "v1.8.2", "v1.12.1", *chosen) == ["session", "controllers"]
    ran = run("diff", "v1.8.2", "v1.12.1", "--part", "kubelet")
    assert ran.exit_code == 2
    assert "kubelet" in ran.output
    assert "session, cache or controllers" in ran.output


def test_a_backport_that_the_next_line_lacks_is_no_change_of_that_line() -> None:
    lines = {line["name"]: line for line in json.loads(run("list", "-o", "json").stdout)}
    assert lines["v1.13.0"]["lacking"]["preempt_in_queue_order"] == "v1.12.4"
    assert "nominated_pods_wait" not in lines["v1.13.0"]["lacking"]
    names = list(lines)
    for name, line in lines.items():
        assert set(line["lacking"]) <= {one for of in line["changed"].values() for one in of}
        for behaviour, first in line["lacking"].items():
            assert name.endswith(".0")
            before = names[names.index(first) - 1]
            assert not differs(behaviour, before, name)
            assert differs(behaviour, before, first)
    shown = run("list").stdout
    assert "preempt_in_queue_order (as before v1.12.4)" in shown
    assert shown.count("preempt_in_queue_order (as before v1.12.4)") == 1


def differs(behaviour: str, one: str, other: str) -> bool:
    """Return whether a behaviour differs between two releases."""
    return behaviour in {
        each["behaviour"] for each in json.loads(run("diff", one, other, "-o", "json").stdout)
    }


def test_behaviours_may_be_chosen_by_subject() -> None:
    def found(*arguments: str) -> list[tuple[str, str]]:
        shown = json.loads(run(*arguments, "-o", "json").stdout)
        return [(each["subject"], each["behaviour"]) for each in shown]

    every = found("diff", "v1.12.1", "v1.13.0")
    assert ("preempt", "nominated_pods_wait") in every
    for subject in {subject for subject, _ in every}:
        chosen = found("diff", "v1.12.1", "v1.13.0", "--subject", subject)
        assert chosen == [each for each in every if each[0] == subject]
    two = found("show", "v1.13.0", "--subject", "nodes", "--subject", "topology")
    assert {subject for subject, _ in two} == {"nodes", "topology"}
    assert found("show", "v1.13.0", "--subject", "jobflow", "--part", "session") == []
    wide = run("diff", "v1.12.1", "v1.13.0", "--subject", "preempt", "-o", "wide").stdout
    assert all("  preempt  " in line for line in wide.splitlines()[1:])
    ran = run("diff", "v1.8.2", "v1.12.1", "--subject", "preemption")
    assert ran.exit_code == 2
    assert "no subject 'preemption'" in ran.output
    assert "preempt, " in ran.output


def test_every_behaviour_has_the_subject_of_the_module_that_declares_it() -> None:
    for part, rows in TABLE.items():
        subjects = subjects_of(part)
        assert subjects.keys() == {row.behaviour for row in rows}
        for name in set(subjects.values()):
            module = import_module(f"plinian.engine.volcano.{FOLDERS[part]}.{name}")
            declaring = [thing for thing in vars(module).values() if is_dataclass(thing)]
            assert {behaviour for each in declaring for behaviour in effects_of(each)} == {
                behaviour for behaviour, subject in subjects.items() if subject == name
            }


def test_what_controllers_do_is_told_like_what_sessions_do() -> None:
    shown = run("diff", "v1.12.2", "v1.12.3", "--part", "controllers", "-o", "wide").stdout
    line = next(line for line in shown.splitlines() if line.startswith("terminating_pods_kept"))
    cells = line.split()
    assert cells[1:4] == ["controllers", "no", "yes"]
    assert cells[-5:] == [
        "v1.12.3,v1.13.2,v1.14.0",
        "volcano-sh/volcano#4829",
        "pkg/controllers/job/job_controller_handler.go",
        "addPod,",
        "updatePod",
    ]


def test_a_release_shows_where_each_behaviour_is_from() -> None:
    shown = {
        held["behaviour"]: held for held in json.loads(run("show", "v1.11.0", "-o", "json").stdout)
    }
    assert shown["root_queue"]["value"] == "yes"
    assert shown["root_queue"]["since"] == ["v1.11.0"]
    assert all(held["why"] and held["source"] for held in shown.values())
    assert "root_queue" in run("show", "v1.11.0").stdout


def test_the_wide_form_tells_where_a_behaviour_is_from() -> None:
    for arguments in (("show", "v1.9.0"), ("diff", "v1.8.2", "v1.9.0")):
        shown = run(*arguments, "-o", "wide").stdout.splitlines()
        line = next(line for line in shown if line.startswith("overfull_nodes_crash"))
        assert line.split()[-3:] == ["volcano-sh/volcano#3391", "api/node_info.go", "FutureIdle"]
    held = json.loads(run("show", "v1.9.0", "-o", "json").stdout)
    pulls = {each["behaviour"]: each["pull"] for each in held}
    assert pulls["overfull_nodes_crash"] == "volcano-sh/volcano#3391"
    assert pulls["root_queue"] is None
    assert run("show", "v1.9.0", "-o", "yaml").exit_code == 2


def test_what_is_shown_tells_what_proves_it() -> None:
    held = {
        each["behaviour"]: each for each in json.loads(run("show", "v1.12.1", "-o", "json").stdout)
    }
    proof = held["enqueue_checks_ancestors"]["proof"]
    assert proof.endswith(" under v1.12.1")
    assert proof in run("show", "v1.12.1", "-o", "wide").stdout
    assert proof not in run("show", "v1.12.1").stdout


def test_what_is_not_proven_is_listed_with_the_reason() -> None:
    listed = json.loads(run("unproven", "-o", "json").stdout)
    told = run("unproven")
    assert f"{len(listed)} of " in told.output
    heads = ["BEHAVIOUR", "PART", "VALUE", "SINCE", "REASON"]
    assert told.stdout.splitlines()[0].split() == heads
    assert len(told.stdout.splitlines()) == 1 + len(listed)
    assert all(row["lack"] and row["source"] for row in listed)
    for row in listed[::8]:
        shown = json.loads(run("show", row["since"][-1], "-o", "json").stdout)
        (held,) = (each for each in shown if each["behaviour"] == row["behaviour"])
        assert (held["value"], held["proof"]) == (row["value"], None)


def test_two_releases_differ_the_same_from_both_sides_and_the_last_is_described() -> None:
    there = json.loads(run("diff", "v1.8.2", "v1.12.1", "-o", "json").stdout)
    back = json.loads(run("diff", "v1.12.1", "v1.8.2", "-o", "json").stdout)
    assert [each["values"][::-1] for each in there] == [each["values"] for each in back]
    assert there
    for found, release in ((there, "v1.12.1"), (back, "v1.8.2")):
        shown = json.loads(run("show", release, "-o", "json").stdout)
        texts = {each["behaviour"]: each["why"] for each in shown}
        assert [each["why"] for each in found] == [texts[each["behaviour"]] for each in found]
    assert json.loads(run("diff", "v1.12.1", "v1.12.1", "-o", "json").stdout) == []


def test_a_release_that_does_not_exist_is_named() -> None:
    ran = run("show", "v1.12.99")
    assert ran.exit_code == 2
    assert "v1.12.99" in ran.output
