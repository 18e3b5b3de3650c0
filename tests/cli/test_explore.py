"""``plinian explore`` and ``plinian step`` at the terminal."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from click.testing import CliRunner, Result
from machine_cases import BREAKS, HOLDS, NODE, one_pod, scaled, steps, workload

import plinian
from plinian.replay.cli.main import app
from plinian.replay.explore import anomaly_releases as releases
from plinian.replay.explore.exploration import Verdicts
from plinian.replay.render.race_files import pytest_text

pytestmark = pytest.mark.slow

NO_TIME = {"time": None, "earliest": None, "latest": None}
PROMPT = "statefulsets,kubelets,scheduler"
ALL_ORDERS = ("--release", BREAKS, "--delays", "all", "--prompt", PROMPT)
SEARCH = (*ALL_ORDERS, "--steps", "7000")


def run(*arguments: str | Path, given: str = "") -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(app, [*map(str, arguments)], input=given)


class Explored(NamedTuple):
    """A search that wrote all files, and what it printed."""

    folder: Path
    printed: Any
    notes: str

    @property
    def token(self) -> str:
        """The token of the one anomaly."""
        return str(self.printed["anomalies"][0]["token"])


def written(folder: Path, case: Any, name: str = "scaled") -> Path:
    """Write a scenario."""
    path = folder / f"{name}.case.json"
    path.write_text(json.dumps(case), "utf-8")
    return path


@pytest.fixture(scope="module")
def explored(tmp_path_factory: pytest.TempPathFactory) -> Explored:
    """Explore with all files, and with three releases instead of all."""
    folder = tmp_path_factory.mktemp("explored")
    case = written(folder, scaled())
    files = ["--evidence", folder / "race.md", "--pytest", folder / "test_race.py"]
    files += ["--scenario", folder / "less.case.json", "--out", folder / "out"]
    with pytest.MonkeyPatch.context() as patch:
        few = tuple(r for r in releases.RELEASES if str(r) in {HOLDS, "v1.13.0", BREAKS})
        patch.setattr(releases, "RELEASES", few)
        ran = run("explore", case, *SEARCH, *files, "-o", "json")
    assert ran.exit_code == 0, ran.output
    return Explored(folder, json.loads(ran.stdout), ran.stderr)


def test_the_document_says_what_was_found_and_how(explored: Explored) -> None:
    printed = explored.printed
    assert (printed["strategy"], printed["seed"], printed["complete"]) == (
        "exhaustive",
        None,
        False,
    )
    assert printed["prompt"] == PROMPT.split(",")
    (anomaly,) = printed["anomalies"]
    assert anomaly["invariant"] == "I-04"
    assert anomaly["steps"][0] == "user acts"
    assert anomaly["releases"]["breaks"] == ["v1.13.0", BREAKS]
    assert anomaly["releases"]["holds"] == [HOLDS]
    assert [one["behaviour"] for one in anomaly["cure"]["behaviours"]] == [
        "statefulsets_skip_annotated_pods"
    ]


def test_which_components_never_lag_is_said_plainly(explored: Explored) -> None:
    said = f"every order; these components are never late: {', '.join(PROMPT.split(','))}."
    assert said in explored.notes
    assert "found I-04: Pod default/web-0" in explored.notes


def test_a_token_is_run_again_with_lanes_and_the_same_digest(explored: Explored) -> None:
    ran = run("explore", "--replay", explored.token)
    assert ran.exit_code == 0, ran.output
    assert f"scaled as {BREAKS}" in ran.stdout
    assert "STEP   user  statefulsets  podgroups" in ran.stdout
    said = " ".join(ran.stdout.split())
    assert "deletes PodGroup podgroup-statefulset-default-web-1 (uid podgroup-" in said
    digest = explored.printed["anomalies"][0]["digest"]
    assert ran.stdout.endswith(f"Digest of the end: {digest}\n")
    held = run("explore", "--replay", explored.token, "--release", HOLDS).stdout
    assert f"scaled as {HOLDS}" in held
    assert "Nothing is wrong in the end." in held
    document = json.loads(run("explore", "--replay", explored.token, "-o", "json").stdout)
    assert (document["digest"], document["breaks"]) == (digest, True)


def test_the_test_passes_in_an_empty_folder(explored: Explored, tmp_path: Path) -> None:
    copy = tmp_path / "test_race.py"
    copy.write_bytes((explored.folder / "test_race.py").read_bytes())
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", copy],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "2 passed" in ran.stdout, ran.stdout


def test_what_no_release_holds_has_a_test_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    two = tuple(r for r in releases.RELEASES if str(r) in {HOLDS, BREAKS})
    monkeypatch.setattr(releases, "RELEASES", two)
    monkeypatch.setattr(releases, "_cures", lambda *_: {})  # no text here depends on them
    result = plinian.explore(scaled(), release=BREAKS, prompt=PROMPT, delays=None, steps=7000)
    (anomaly,) = result.anomalies
    broken = anomaly._replace(releases=Verdicts((BREAKS,), ()))
    text = pytest_text(broken, BREAKS)
    assert "in_another_release" not in text
    assert "in_another_release" in pytest_text(anomaly, BREAKS)
    assert compile(text, "test_race.py", "exec")


def test_the_report_has_what_a_bug_report_needs(explored: Explored) -> None:
    text = (explored.folder / "race.md").read_text("utf-8")
    heads = [line for line in text.splitlines() if line.startswith("#")]
    assert heads[1:] == [
        "## What happened",
        "## What was expected",
        "## How to reproduce it",
        "### What users do",
        "### The complete concurrent path",
        "### What is late",
        "### With Plinian",
        "## Versions",
        "## What would fix it",
        "## What this is not",
    ]
    assert f"plinian explore --replay {explored.token}" in text
    assert "`statefulsets_skip_annotated_pods`, yes → no" in text
    blocks = text.split("```yaml\n")[1:]
    documents = [one for each in blocks for one in yaml.safe_load_all(each.partition("```")[0])]
    assert [one["kind"] for one in documents] == ["Node", *["StatefulSet"] * 3]


def test_the_scenario_that_is_written_has_the_same_race(explored: Explored) -> None:
    less = explored.folder / "less.case.json"
    ran = run("explore", less, *ALL_ORDERS, "--steps", "100")
    assert ran.exit_code == 0, ran.output
    kinds = [
        event["object"]["kind"]
        for step in json.loads(less.read_text("utf-8"))["steps"]
        for event in step["events"]
    ]
    assert kinds == ["Node", *["StatefulSet"] * 3]


def test_the_folder_has_the_files_of_each_anomaly(explored: Explored) -> None:
    assert sorted(path.name for path in (explored.folder / "out").iterdir()) == [
        *("I-04-1.case.json", "I-04-1.md", "I-04-1.token", "test_I-04-1.py"),
    ]


def test_a_run_is_a_branch_that_other_commands_read(explored: Explored) -> None:
    log = ("--log", explored.folder / "race.db", "--branch", "lost")
    ran = run("explore", "--replay", explored.token, *log)
    assert ran.exit_code == 0, ran.output
    assert "branch lost of" in ran.stderr
    assert "web-0   0/1     Running" in run("get", "pods", *log).stdout
    assert not run("get", "podgroups", *log).stdout
    assert run("get", "podgroups", "--at", "lost@11", *log).stdout.count("Inqueue") == 1
    past = run("history", "pod/web-0", *log).stdout
    assert "pod.created  by statefulsets" in past
    assert 'spec.nodeName: <none> → "n1"' in past
    assert "no PodGroup" in run("belief", *log, "--release", BREAKS).stdout
    assert "matches the API server" in run("drift", *log, "--release", BREAKS).stderr
    assert "~ pod/default/web-0" in run("diff", "@6", "end", *log).stdout
    found = run("check", *log, "--at", "end", "--settle", "0s", "--invariant", "I-04").stdout
    assert "I-04" in found
    assert plinian.write_run(explored.token, log[1], "from-python").fork == 0
    again = run("explore", "--replay", explored.token, *log)
    assert (again.exit_code, "a branch 'lost' already exists" in again.stderr) == (2, True)
    assert not again.stdout


def test_a_search_writes_what_it_finds_as_a_branch(
    explored: Explored, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = tuple(r for r in releases.RELEASES if str(r) == BREAKS)
    monkeypatch.setattr(releases, "RELEASES", one)
    log = explored.folder / "found.db"
    less = explored.folder / "less.case.json"
    ran = run("explore", less, *SEARCH, "--log", log, "--branch", "lost")
    assert ran.exit_code == 0, ran.output
    assert "lost     main     @0" in run("branch", "list", "--log", log).stdout
    words = ["explore", less, "--log", log, "--branch", "lost", "--budget", "1ms"]
    assert "already exists" in run(*words).stderr


def test_a_moment_of_a_log_is_explored_and_compared_with_what_came_of_it(
    explored: Explored, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = tuple(r for r in releases.RELEASES if str(r) in {HOLDS, BREAKS})
    monkeypatch.setattr(releases, "RELEASES", few)
    log = explored.folder / "recorded.db"
    plinian.write_run(explored.token, log, "lost")
    words = ["explore", "--log", log, "--at", "lost@5", "--object", "statefulset/web"]
    ran = run(*words, *ALL_ORDERS, "--steps", "4000", "-o", "json")
    assert ran.exit_code == 0, ran.output
    printed = json.loads(ran.stdout)
    shown = printed["anomalies"][0]
    assert shown["in_log"] == {"object": "Pod default/web-0", "position": 12, **NO_TIME}
    assert shown["releases"] == {
        "order": "in this order",
        "breaks": [BREAKS],
        "holds": [HOLDS],
        "complete": True,
    }
    assert "assumed: Taken as writes of users, in this order: scales" in ran.stderr
    assert "Taken as writes of users" in printed["about"]
    monkeypatch.setattr(releases, "_cures", lambda *_: {})  # they were compared above
    same = plinian.explore_log(
        log,
        "lost@5",
        objects="statefulset/web",
        release=BREAKS,
        prompt=PROMPT,
        delays=None,
        steps=4000,
    )
    assert [one.digest for one in same.anomalies] == [one["digest"] for one in printed["anomalies"]]
    again = run("explore", "--replay", shown["token"])
    assert (again.exit_code, shown["digest"] in again.stdout) == (0, True), again.output


def test_nothing_found_is_said_and_no_file_is_written(tmp_path: Path) -> None:
    case = written(tmp_path, one_pod(deleted=False))
    ran = run("explore", case, "--pytest", tmp_path / "test_race.py", "--delays", "all")
    assert ran.exit_code == 0, ran.output
    assert "no anomalies" in ran.stdout
    assert "all orders seen" in " ".join(ran.stdout.split())
    assert "nothing was found, so" in ran.stderr
    assert not (tmp_path / "test_race.py").exists()
    printed = json.loads(run("explore", case, "--delays", "all", "-o", "json").stdout)
    assert (printed["anomalies"], printed["complete"], printed["delays"]) == ([], True, None)


def test_orders_with_one_delay_are_tried_and_named_as_such(tmp_path: Path) -> None:
    case = written(tmp_path, one_pod())
    ran = run("explore", case)
    assert "Trying every order with at most 1 delay. Try more with --delays N" in ran.stderr
    assert "all orders with at most 1 delay seen" in " ".join(ran.stdout.split())
    printed = [
        json.loads(run("explore", case, "--delays", number, "-o", "json").stdout)
        for number in ("0", "1", "2")
    ]
    assert [one["complete"] for one in printed] == [True, True, True]
    assert [one["delays"] for one in printed] == [0, 1, 2]
    none, one, two = (each["states"] for each in printed)
    assert none < one < two


def test_what_may_fail_is_said_and_found_and_run_again(tmp_path: Path) -> None:
    case = written(tmp_path, {**one_pod(), "faults": {"request": 1}})
    words = ("--release", "v1.15.1", "--delays", "0", "--steps", "3000")
    ran = run("explore", case, *words, "--faults", "watch=1", "-o", "json")
    assert ran.exit_code == 0, ran.output
    found = json.loads(ran.stdout)
    assert found["faults"] == {"watch": 1}
    assert "in each may fail: watch 1" in ran.stderr
    assert any(kind.startswith("faults break") for kind in found["coverage"]["made"])
    assert not any("request" in kind for kind in found["coverage"]["made"])
    ran = run("explore", case, *words, "--faults", "none", "-o", "json")
    assert json.loads(ran.stdout)["faults"] == {}
    ran = run("explore", case, *words, "-o", "json")
    made = json.loads(ran.stdout)["coverage"]["made"]
    assert any("request 1 is refused" in kind for kind in made)


def test_an_interrupt_prints_what_was_found_so_far(tmp_path: Path) -> None:
    case = written(tmp_path, scaled())
    words = ["explore", str(case), *ALL_ORDERS, "--budget", "10m"]
    process = subprocess.Popen(
        [sys.executable, "-m", "plinian", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("found I-04"):
            break
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "plinian explore --replay plinian1." in out
    assert "interrupted, so there may be more" in out
    assert "the other releases were not tried" in out


def test_picked_orders_are_the_same_for_a_seed(tmp_path: Path) -> None:
    case = written(tmp_path, one_pod())
    words = ["explore", case, "--strategy", "delay", "--seed", "7", "--steps", "400", "-o", "json"]
    one, other = run(*words), run(*words)
    assert one.exit_code == 0, one.output
    assert one.stdout == other.stdout
    assert json.loads(one.stdout)["seed"] == 7


def test_several_processes_walk_with_one_seed_each(tmp_path: Path) -> None:
    case = written(tmp_path, one_pod())
    words = ["explore", case, "--strategy", "random", "--steps", "300", "-o", "json"]
    both = json.loads(run(*words, "--jobs", "2").stdout)
    alone = [json.loads(run(*words, "--seed", str(seed)).stdout) for seed in (0, 1)]
    assert both["turns"] == sum(one["turns"] for one in alone)


def test_walks_by_priorities_print_what_they_promise(tmp_path: Path) -> None:
    case = written(tmp_path, one_pod())
    ran = run("explore", case, "--strategy", "pct", "--steps", "300")
    assert ran.exit_code == 0, ran.output
    assert "Each walk finds a fault that depends on the order of 4 of its 120 steps" in ran.stdout
    assert "kinds of steps were made" in ran.stdout
    assert "steps/s" in ran.stderr
    printed = json.loads(
        run("explore", case, "--strategy", "pct", "--steps", "300", "-o", "json").stdout
    )
    assert printed["bound"]["walks"] == printed["ends"]
    assert 0 < printed["bound"]["of_one_walk"] < printed["bound"]["of_all_walks"] < 1


def test_the_race_for_the_device_list_is_explored_without_a_scenario() -> None:
    ran = run("explore", "--model", "device-list", "--release", "v1.8.2")
    assert ran.exit_code == 0, ran.output
    assert "v1.8.2 (unlocked): 5 anomalies; 1150 states" in ran.stdout
    words = ["explore", "--model", "device-list", "--release", "v1.9.0", "-o", "json"]
    printed = json.loads(run(*words).stdout)
    assert (printed["anomalies"], printed["complete"]) == ([], True)


def test_the_race_for_the_device_list_is_told_of_every_release() -> None:
    every = run("explore", "--model", "device-list", "--release", "all").stdout.splitlines()
    assert [line.split()[0] for line in every] == [
        *("RELEASES", "v1.8.0..v1.8.2", "v1.9.0..v1.13.3", "v1.14.0..v1.15.1"),
    ]
    words = ["explore", "--model", "device-list-as-compiled", "--release"]
    assert "5 anomalies; 399 states" in run(*words, "v1.8.2").stdout
    printed = json.loads(run(*words, "all", "-o", "json").stdout)
    assert {one["as_compiled"] for one in printed} == {True}
    assert [one["release"] for one in printed if one["anomalies"]] == ["v1.8.0", "v1.8.1", "v1.8.2"]


ABSENT = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n9"}}


@pytest.mark.parametrize(
    ("case", "words", "message"),
    [
        (scaled(), ["--budget", "0s"], "a budget of zero"),
        (scaled(), ["--budget", "long"], "--budget: "),
        (scaled(), ["--release", "v9.9.9"], "v9.9.9 is newer than"),
        (scaled(), ["--invariant", "I-77"], "no invariant 'I-77'"),
        (scaled(), ["--prompt", "rockets"], "no component 'rockets'"),
        (scaled(), ["--delays", "few"], "'few' is no number of delays"),
        (scaled(), ["--faults", "rain"], "no fault 'rain'"),
        (scaled(), ["--strategy", "luck"], "no strategy 'luck'"),
        (scaled(), ["--model", "heap"], "no model 'heap'"),
        (scaled(), ["--model", "device-list"], "CASE and --model are different things"),
        (scaled(), ["--replay", "plinian1.x"], "CASE and --replay are different things"),
        ({**scaled(), "mode": "x"}, [], "the scenario has the mode 'x'"),
        ({**scaled(), "conf": "actions: ["}, [], "rejects the configuration"),
        (
            {**scaled(), "steps": steps(("ADDED", NODE), ("DELETED", ABSENT))},
            [],
            "impossible user action: Node n9 is deleted at $.steps[1].events[0]",
        ),
        (
            {**scaled(), "steps": steps(("ADDED", workload(1, scheduler="other")))},
            [],
            "no pod of the scenario has schedulerName: volcano",
        ),
    ],
)
def test_what_cannot_be_explored_is_said_with_what_to_do(
    tmp_path: Path, case: Any, words: list[str], message: str
) -> None:
    ran = run("explore", written(tmp_path, case), *words)
    assert ran.exit_code == 2, ran.output
    assert message in ran.stderr
    assert not ran.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no scenario"),
        (["none.case.json"], "there is no such file"),
        (["--replay", "plinian1.AAAA"], "the token is damaged"),
        (["--replay", "plinian9.AAAA"], "the token has format 9"),
        (["--replay", "hello"], "'hello' is not a token"),
        (["--at", "end", "--log", "none.db"], "there is no such file"),
        (["--at", "end", "--replay", "plinian1.x"], "--at and --replay are different things"),
    ],
)
def test_a_wrong_file_or_token_is_an_error(words: list[str], message: str) -> None:
    ran = run("explore", *words)
    assert (ran.exit_code, message in ran.stderr) == (2, True), ran.output


def test_a_scenario_that_is_cut_short_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "cut.case.json"
    path.write_text(json.dumps(scaled())[:200], "utf-8")
    ran = run("explore", path)
    assert (ran.exit_code, f"{path}: not JSON" in ran.stderr) == (2, True), ran.output


# -- by hand -----------------------------------------------------------------------------------


def test_a_run_is_walked_forward_and_back(tmp_path: Path) -> None:
    case = written(tmp_path, one_pod())
    ran = run("step", case, given="n\n1\ns scheduler\ns api\nb\nw\ns\nq\nn\n")
    assert ran.exit_code == 0, ran.output
    assert "1      user        applies Pod p   natural" in ran.stdout
    assert "1. user: creates Pod p\n" in ran.stdout
    assert "Pod p: resourceVersion 1, phase Pending" in ran.stdout
    assert "back: 2. " in ran.stdout
    assert "Nothing is wrong if the cluster is left alone now." in ran.stdout
    assert "user, podgroups, kubelets, owners, scheduler, API server" in ran.stdout


def test_a_token_is_followed_by_hand_to_its_end(explored: Explored) -> None:
    steps_of = explored.printed["anomalies"][0]["steps"]
    ran = run("step", explored.token, given="t\n" * len(steps_of) + "w\nt\n")
    assert ran.exit_code == 0, ran.output
    assert f"{len(steps_of)}. " in ran.stdout
    assert "I-04: Pod default/web-0: it names PodGroup" in ran.stdout
    assert "the token has no step here" in ran.stderr


def test_a_line_that_says_nothing_known_changes_nothing(tmp_path: Path) -> None:
    case = written(tmp_path, one_pod())
    ran = run("step", case, given="x\n99\n0\nb\ns rocket\n٣\n" + "9" * 5000 + "\n")
    assert ran.exit_code == 0, ran.output
    for said in ("no such command: 'x'", "no step 99", "no step 0", "no component 'rocket'"):
        assert said in ran.stderr
    assert "This is the begin." in ran.stdout


def test_a_walk_of_something_else_is_an_error(tmp_path: Path) -> None:
    for words, message in (
        (["none.case.json"], "there is no such file"),
        (["plinian1.AAAA"], "the token is damaged"),
        ([written(tmp_path, {**scaled(), "mode": "x"}, "x")], "has the mode 'x'"),
        ([written(tmp_path, scaled()), "--release", "v9"], "not a release of Volcano"),
    ):
        ran = run("step", *words)
        assert (ran.exit_code, message in ran.stderr) == (2, True), ran.output


# -- from Python -------------------------------------------------------------------------------


def test_python_finds_what_the_command_finds(explored: Explored) -> None:
    again = plinian.replay_token(explored.token)
    assert plinian.document(again)["digest"] == explored.printed["anomalies"][0]["digest"]
    walk = plinian.step(one_pod())
    walk.make(walk.choice("n"))
    assert walk.moments[0].sentence == "creates Pod p"
    result = plinian.explore(one_pod(deleted=False), delays=None)
    assert (result.complete, result.anomalies) == (True, ())
    assert not plinian.explore_device_model(release="v1.9.0").anomalies
