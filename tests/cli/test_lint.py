"""``plinian lint``: files and states that are checked, and what a pipeline makes of the answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import Result
from linting import TREE, group, job, queue, task

from plinian.replay.lint.lint_rules import RULES

Run = Callable[..., Result]
SOUND = (queue("team", capability={"cpu": "4"}), queue("a", parent="team"))
UNSOUND = (
    queue("team", capability={"cpu": "4"}),
    queue("a", parent="team", capability={"cpu": "5"}),
)


def write(name: str, *documents: Any) -> str:
    """Write objects into a file of the present folder, and return its name."""
    Path(name).write_text(yaml.safe_dump_all(documents), "utf-8")
    return name


@pytest.fixture
def conf(run: Run) -> str:
    """Write a configuration with a tree of queues into the folder of ``run``."""
    assert run is not None
    Path("tree.conf").write_text(TREE, "utf-8")
    return "tree.conf"


def report(result: Result) -> dict[str, Any]:
    """Return what ``-o json`` printed."""
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_exit_codes_tell_clean_from_faulty_from_unreadable(run: Run, conf: str) -> None:
    clean, faulty = write("sound.yaml", *SOUND), write("unsound.yaml", *UNSOUND)
    options = ("--conf", conf, "--release", "v1.12.1")
    assert run("lint", clean, *options).exit_code == 0
    assert run("lint", faulty, *options).exit_code == 1
    assert run("lint", "missing.yaml", *options).exit_code == 2
    Path("broken.yaml").write_text("{{ .Values }}", "utf-8")
    assert run("lint", "broken.yaml", *options).exit_code == 2
    assert run("lint").exit_code == 2
    assert run("lint", clean, "--release", "v9.9.9").exit_code == 2
    assert run("lint", clean, "-o", "xml").exit_code == 2
    assert run("lint", clean, *options[:2], "--release", "v1.12.99", "--assume").exit_code == 0
    assert run("lint", clean, *options[:2], "--release", "all").exit_code == 1  # v1.8 has no tree


def test_a_warning_counts_only_if_it_is_asked_to(run: Run, conf: str) -> None:
    faulty = write("unsound.yaml", *UNSOUND)
    refused = ("--ignore", "queue-refused-below-parent")
    options = ("--conf", conf, "--release", "v1.15.1", *refused)
    assert run("lint", faulty, *options[:4]).exit_code == 1
    assert run("lint", faulty, *options).exit_code == 0
    assert run("lint", faulty, *options, "--strict").exit_code == 1
    ignoring = (*options, "--strict", "--ignore", "queue-exceeds-parent")
    assert run("lint", faulty, *ignoring).exit_code == 0
    misspelt = run("lint", faulty, *options, "--ignore", "queue-exceeds-parents")
    assert misspelt.exit_code == 2
    assert "queue-exceeds-parent" in misspelt.stderr


def test_a_finding_tells_in_which_releases_it_is_fatal(run: Run, conf: str) -> None:
    faulty = write("unsound.yaml", *UNSOUND)
    found = report(run("lint", faulty, "--conf", conf, "-o", "json"))
    of = {
        each["effect"]: each for each in found["findings"] if each["rule"] == "queue-exceeds-parent"
    }
    stops, logged = of["stops all scheduling"], of["does not do what it says"]
    assert stops["severity"] == "error"
    assert (stops["releases"][0], stops["releases"][-1]) == ("v1.11.0", "v1.13.3")
    assert (logged["releases"][0], logged["releases"][-1]) == ("v1.14.0", "v1.15.1")
    assert stops["object"] == {
        "group": "scheduling.volcano.sh",
        "kind": "Queue",
        "namespace": "",
        "name": "a",
    }
    assert stops["field"] == "spec.capability.cpu"
    assert (stops["file"], stops["document"]) == (faulty, 2)
    assert "cpu 5" in stops["message"]
    assert "cpu 4" in stops["message"]


def test_every_form_tells_the_same_findings(run: Run, conf: str) -> None:
    faulty = write("unsound.yaml", *UNSOUND)
    options = ("lint", faulty, "--conf", conf, "--release", "v1.12.1")
    (finding,) = report(run(*options, "-o", "json"))["findings"]
    assert yaml.safe_load(run(*options, "-o", "yaml").stdout)["findings"] == [finding]
    assert run(*options, "-o", "name").stdout == "queue.scheduling.volcano.sh/a\n"
    table = run(*options)
    header, line = table.stdout.splitlines()
    assert header.split()[:4] == ["WHERE", "SEVERITY", "OBJECT", "RULE"]
    assert line.split()[:2] == [f"{faulty}:{finding['line']}", "error"]
    assert finding["message"] in line
    assert "1 error in 3 objects" in table.stderr
    wide = run(*options, "-o", "wide").stdout
    assert finding["now"] in wide
    assert finding["effect"] in wide
    github = run(*options, "-o", "github").stdout
    lines = Path(faulty).read_text("utf-8").splitlines()
    key = next(at for at, text in enumerate(lines, 1) if text.strip() == "cpu: '5'")
    place = f"file={faulty},line={key}"
    assert github.startswith(f"::error {place},title=queue-exceeds-parent::Queue a: ")
    assert github.count("\n") == 1


def test_releases_are_told_as_runs(run: Run, conf: str) -> None:
    faulty = write("unsound.yaml", *UNSOUND)
    lines = run("lint", faulty, "--conf", conf).stdout.splitlines()
    stops = next(line for line in lines if "queue-exceeds-parent" in line and "error" in line)
    assert " v1.11.0..v1.13.3 " in stops
    several = ("--release", "v1.12.1", "--release", "v1.13.0")
    assert " all " in run("lint", faulty, "--conf", conf, *several).stdout


def test_standard_input_and_folders_are_read(run: Run, conf: str) -> None:
    text = yaml.safe_dump_all(UNSOUND)
    options = ("--conf", conf, "--release", "v1.12.1", "-o", "json")
    found = report(run("lint", "-", *options, input=text))["findings"]
    assert [each["file"] for each in found] == ["standard input"]
    Path("all").mkdir()
    write("all/queues.yaml", *UNSOUND)
    assert len(report(run("lint", "all", *options))["findings"]) == 1


def test_without_a_configuration_it_is_said_what_is_assumed(run: Run) -> None:
    faulty = write("unsound.yaml", *UNSOUND)
    result = run("lint", faulty, "--release", "v1.12.1")
    assert result.exit_code == 1
    assert "no scheduler configuration was given" in result.stderr
    plain = run(
        "lint", write("plain.yaml", queue("a", capability={"cpu": 2})), "--release", "v1.12.1"
    )
    assert plain.exit_code == 0
    assert "built-in configuration" in plain.stderr


def test_files_are_checked_against_the_cluster_at_a_point(
    run: Run, small_log: str, conf: str
) -> None:
    options = ("--log", small_log, "--conf", conf, "--release", "v1.12.1")
    # The log has the queue gold with 6 cpu, and with 4 before; and a job in it.
    below = write("below.yaml", queue("sub", parent="gold", capability={"cpu": "5"}))
    alone = report(run("lint", below, "--conf", conf, "--release", "v1.12.1", "-o", "json"))
    lost = {"queue-parent-missing", "queue-refused-without-parent"}
    assert {each["rule"] for each in alone["findings"]} == lost
    assert "--at" in alone["findings"][0]["now"]
    end = report(run("lint", below, "--at", "end", *options, "-o", "json"))
    assert {each["rule"] for each in end["findings"]} == {"queue-below-busy-queue"}
    early = report(run("lint", below, "--at", "rv:15", *options, "-o", "json"))
    assert "queue-exceeds-parent" in {each["rule"] for each in early["findings"]}
    first = report(run("lint", below, "--at", "rv:11", *options, "-o", "json"))
    assert {each["rule"] for each in first["findings"]} == {"queue-exceeds-parent"}


def test_with_a_log_alone_its_end_counts(
    run: Run, small_log: str, conf: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ("--conf", conf, "--release", "v1.12.1", "-o", "json")
    below = write("below.yaml", queue("sub", parent="gold", capability={"cpu": "5"}))
    found = report(run("lint", below, "--log", small_log, *options))["findings"]
    assert {each["rule"] for each in found} == {"queue-below-busy-queue"}
    assert run("lint", "--log", small_log, *options).exit_code == 0
    monkeypatch.setenv("PLINIAN_LOG", small_log)  # Files alone are checked by themselves.
    found = report(run("lint", below, *options))["findings"]
    assert {each["rule"] for each in found} == {
        "queue-parent-missing",
        "queue-refused-without-parent",
    }
    alone = run("lint", "-o", "json")  # There is nothing but the log.
    assert alone.exit_code in (0, 1)
    assert alone.stdout == run("lint", "--log", small_log, "-o", "json").stdout


def test_what_no_rule_checks_is_not_called_clean(run: Run) -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}}
    result = run("lint", write("service.yaml", service))
    assert result.exit_code == 2
    assert "nothing to check: there is only 1 Service" in result.stderr
    assert "nothing found" not in result.stderr


def test_what_was_wrong_before_is_not_told_of_new_files(
    run: Run, small_log: str, conf: str
) -> None:
    options = ("--at", "end", "--log", small_log, "--conf", conf, "--release", "v1.12.1")
    state = report(run("lint", *options, "-o", "json"))["findings"]
    assert {each["rule"] for each in state} == {"queue-weight-ignored"}
    wide = write("gold.yaml", queue("gold", capability={"cpu": "9"}))
    found = report(run("lint", wide, *options, "-o", "json"))["findings"]
    assert [(each["rule"], each["file"]) for each in found] == [("queue-exceeds-parent", wide)]
    other = write("job.yaml", job("j", task("w", 2), queue="gold", minAvailable=3))
    found = report(run("lint", other, *options, "-o", "json"))["findings"]
    assert {each["rule"] for each in found} == {"job-min-available-unreachable"}


def test_a_state_by_itself_can_be_checked(run: Run, demo_log: str) -> None:
    result = run("lint", "--at", "end", "--log", demo_log, "-o", "json")
    found = report(result)
    assert found["objects"] > 10
    assert all(
        each["file"] is None for each in found["findings"] if each["object"]["kind"] == "Queue"
    )
    assert result.exit_code == (1 if found["counts"]["error"] else 0)


def test_the_namespace_of_objects_can_be_given(run: Run, conf: str) -> None:
    document = group("g", "lost")
    del document["metadata"]["namespace"]
    path = write("group.yaml", queue("a"), document)
    options = ("--conf", conf, "--release", "v1.12.1", "-o", "json")
    (found,) = report(run("lint", path, *options, "-n", "ml"))["findings"]
    assert found["object"]["namespace"] == "ml"


def test_the_rules_can_be_listed(run: Run) -> None:
    listed = run("lint", "--rules")
    assert listed.exit_code == 0
    assert [line.split()[0] for line in listed.stdout.splitlines()[1:]] == [r.name for r in RULES]
    assert [each["rule"] for each in json.loads(run("lint", "--rules", "-o", "json").stdout)] == [
        rule.name for rule in RULES
    ]


def test_options_are_completed(run: Run) -> None:
    assert "lint" in run("__complete", "--", "li").stdout.split()
    options = run("__complete", "--", "lint", "--").stdout.split()
    assert {"--at", "--release", "--conf", "--strict", "--rules", "--ignore"} <= set(options)


def test_two_runs_with_other_hash_seeds_print_the_same(run: Run, conf: str) -> None:
    faulty = write(
        "unsound.yaml", *UNSOUND, group("g", "team", minMember=2), queue("lost", parent="x")
    )
    command = [sys.executable, "-m", "plinian", "lint", faulty, "--conf", conf, "-o", "json"]
    printed = {
        subprocess.run(
            command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=False
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1
    assert run is not None


def test_what_could_not_be_checked_is_told_with_the_reason(run: Run, conf: str) -> None:
    clean = write("sound.yaml", *UNSOUND[:1])
    alone = run("lint", clean, "--release", "v1.12.1", "-o", "json")
    reasons = {one["rule"]: one["reason"] for one in report(alone)["not_checked"]}
    assert reasons["resource-nowhere"] == "no node is known"
    assert reasons["argument-unknown"] == "no configuration of the scheduler is given"
    assert "job-queue-missing" not in reasons
    assert "not checked, as no node is known: " in alone.stderr
    with_conf = report(run("lint", clean, "--conf", conf, "-o", "json"))
    assert "argument-unknown" not in {one["rule"] for one in with_conf["not_checked"]}


def test_a_template_among_sound_files_is_told_and_the_rest_is_checked(run: Run, conf: str) -> None:
    write("unsound.yaml", *UNSOUND)
    Path("template.yaml").write_text("{{- if .Values.on }}\nkind: Queue\n{{- end }}\n", "utf-8")
    options = ("--conf", conf, "--release", "v1.12.1")
    result = run("lint", ".", *options)
    assert result.exit_code == 2
    assert "template.yaml:1" in result.stdout
    assert "queue-exceeds-parent" in result.stdout
    assert "not read in 1 place: render it first" in result.stderr
    found = report(run("lint", ".", *options, "-o", "json"))["findings"]
    assert [each["rule"] for each in found] == ["file-unreadable", "queue-exceeds-parent"]
    assert (found[0]["object"]["kind"], found[0]["file"]) == ("File", "template.yaml")
    assert run("lint", ".", *options, "-o", "name").stdout.splitlines()[0] == "template.yaml"
    assert run("lint", ".", *options, "--ignore", "file-unreadable").exit_code == 1
